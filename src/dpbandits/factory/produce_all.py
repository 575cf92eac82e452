"""Production of all figures, or of all of a paper, in one process."""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial

from dpbandits.config import compose, conf_files
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError, in_one_line, nearest, shown
from dpbandits.factory import produce
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.files import project
from dpbandits.files.atomic import check_writable
from dpbandits.run import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.run.user_algorithms import error_place
from dpbandits.spec.figure import FigureSpec


def produce_all(paper: str | None, overrides: Sequence[str]) -> int:
    """Compute and draw the figures, each with the overrides; return the largest status.

    A figure that fails does not stop the others. Raises UserError if the paper is unknown, if no
    figure can be loaded, or if the output folder is not writable.
    """
    start = time.monotonic()
    names = figures_of(paper)
    # All figures are loaded before the first is computed, so that mistakes are reported at once. If
    # every figure fails to load, the command is at fault: its error is raised, once.
    loaded, errors = [], dict[str, UserError]()
    for name in names:
        try:
            spec, settings = compose.load(name, overrides)
            refuse_undrawable(spec)
            loaded.append((spec, settings))
        except UserError as error:
            errors[name] = error
        except Exception as error:
            if not (place := error_place(error)):
                raise
            errors[name] = UserError(f"{name}: {place}")
    if not loaded:
        raise next(iter(errors.values()))
    check_writable(loaded[0][1].out)
    for mistake in errors.values():
        print(f"dpbandits: {mistake}", file=sys.stderr)
    statuses: dict[str, int] = dict.fromkeys(errors, ExitStatus.MISTAKE)
    for spec, settings in loaded:
        statuses[spec.name] = produce_one(spec, settings)
        sys.stdout.flush()  # each line appears at once, in a file too
    failed = [name for name in names if statuses[name] != ExitStatus.DONE]
    print(
        f"{len(names) - len(failed)} of {len(names)} figures are complete;"
        f" {duration(time.monotonic() - start)}"
    )
    if failed:
        sys.stdout.flush()
        print(f"dpbandits: {', '.join(failed)} failed, for the reasons above", file=sys.stderr)
    return max(statuses.values())


def figures_of(paper: str | None) -> list[str]:
    """Return the figures whose file has `paper: <paper>`, or all figures without a paper.

    Raises UserError for an unknown paper.
    """
    names = project.names("figure")
    if paper is None:
        return names
    papers = {name: str(conf_files.read_member("figure", name).get("paper")) for name in names}
    if paper not in papers.values():
        raise UserError(f"unknown paper {shown(paper)}; {nearest(paper, papers.values())}")
    return [name for name in names if papers[name] == paper]


def produce_one(spec: FigureSpec, settings: Settings) -> int:
    """Compute and draw a figure; print an error and turn it into a status."""
    return status_of(spec.name, partial(produce.produce, spec, settings))


def status_of(figure: str, action: Callable[[], int]) -> int:
    """Return the status of what computes and draws a figure; print its error."""
    try:
        return action()
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return ExitStatus.MISTAKE
    except MemoryError as error:
        print(f"dpbandits: {figure}: {in_one_line(error)}", file=sys.stderr)
        return ExitStatus.MISTAKE
    except Exception as fault:  # such as of a drawing function, whose author needs the traceback
        if place := error_place(fault):
            print(f"dpbandits: {figure}: {place}", file=sys.stderr)
            return ExitStatus.MISTAKE
        traceback.print_exc()
        print(f"dpbandits: {figure}: {in_one_line(fault)}", file=sys.stderr)
        return ExitStatus.FAILED
