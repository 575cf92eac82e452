"""Every figure, or every figure of a paper, in one process: one start, one compilation."""

import gc
import sys
import time
import traceback
from collections.abc import Sequence

from dpbandits.config import compose, conf_files
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.messages import in_one_line
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.files.atomic import check_writable
from dpbandits.run.progress import duration
from dpbandits.spec.figure import FigureSpec

OK, FAILED, MISTAKEN = 0, 1, 2  # the statuses of a command: runs or drawing failed; a UserError


def produce_all(paper: str | None, overrides: Sequence[str]) -> int:
    """Compute and draw the figures, each with the overrides; returns the largest status.

    A figure that fails does not stop the others. UserError where nothing can be made at all.
    """
    start = time.monotonic()
    names = figures_of(paper)
    loaded, statuses = _load(names, overrides)
    for spec, settings in loaded:
        statuses[spec.name] = produce_one(spec, settings)
        sys.stdout.flush()  # a line as each is done, also into a file
        gc.collect()  # pictures hold themselves in cycles; a garbage collection by itself is late
    failed = [name for name in names if statuses[name] != OK]
    print(
        f"{len(names) - len(failed)} of {len(names)} figures are there;"
        f" {duration(time.monotonic() - start)}"
    )
    if failed:
        sys.stdout.flush()
        print(f"dpbandits: {', '.join(failed)} failed, for the reasons above", file=sys.stderr)
    return max(statuses.values())


def figures_of(paper: str | None) -> list[str]:
    """The figures whose file says `paper: <paper>`, or all. UserError for an unknown paper."""
    names = project.names("figure")
    if paper is None:
        return names
    papers = {name: str(conf_files.read_member("figure", name).get("paper")) for name in names}
    if paper not in papers.values():
        raise UserError(f"unknown paper {shown(paper)}; {nearest(paper, papers.values())}")
    return [name for name in names if papers[name] == paper]


def _load(
    names: Sequence[str], overrides: Sequence[str]
) -> tuple[list[tuple[FigureSpec, Settings]], dict[str, int]]:
    # All before the first is computed: a mistake shows at once. One that every figure has is that
    # of the command, and told once.
    loaded, errors = [], dict[str, UserError]()
    for name in names:
        try:
            loaded.append(compose.load(name, overrides))
        except UserError as error:
            errors[name] = error
    if not loaded:
        raise next(iter(errors.values()))
    check_writable(loaded[0][1].out)
    for told in errors.values():
        print(f"dpbandits: {told}", file=sys.stderr)
    return loaded, dict.fromkeys(errors, MISTAKEN)


def produce_one(spec: FigureSpec, settings: Settings) -> int:
    """Compute and draw a figure; an error is told and becomes a status."""
    try:
        return produce.produce(spec, settings)
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return MISTAKEN
    except MemoryError as error:
        print(f"dpbandits: {spec.name}: {in_one_line(error)}", file=sys.stderr)
        return MISTAKEN
    except Exception as fault:  # of a drawing function, say: whoever mends it needs all of it
        traceback.print_exc()
        print(f"dpbandits: {spec.name}: {in_one_line(fault)}", file=sys.stderr)
        return FAILED
