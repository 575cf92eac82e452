"""The gallery: every figure, claim and algorithm as pages of one folder, to be read anywhere.

Nothing is computed: the curves are those of the cache or the committed ones (dpbandits.results).
The pages need no network and no server.
"""

import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import track

from dpbandits import project
from dpbandits.atomic import check_writable
from dpbandits.errors import UserError
from dpbandits.gallery import algorithms, pages
from dpbandits.gallery.figures import Shown, show

MARK = '<meta name="generator" content="dpbandits gallery">'


def build(out: Path, names: Sequence[str] | None = None) -> int:
    """Write the gallery of some figures, or of all, to the folder `out`, whole or not at all.

    Returns the status: 1 where a figure failed; its page says so and the rest is as usual.
    """
    chosen = project.names("figure") if names is None else list(names)
    with _replaced(out.resolve()) as folder:
        shown = [show(name, folder / "figures") for name in _progress(chosen)]
        shown.sort(key=lambda figure: figure.order)
        pages.write(folder, shown, algorithms.collect(shown))
    failed = [figure for figure in shown if figure.failure]
    for figure in failed:
        print(f"dpbandits: {figure.name}: {figure.failure}", file=sys.stderr)
    print(f"gallery: {_summary(shown)}; {out / 'index.html'}")
    return 1 if failed else 0


def _summary(shown: Sequence[Shown]) -> str:
    places: dict[str, int] = {}
    for figure in shown:
        places[figure.from_where] = places.get(figure.from_where, 0) + 1
    told = ", ".join(f"{number} {place}" for place, number in sorted(places.items()))
    claims = sum(len(figure.judged) for figure in shown)
    return f"{len(shown)} figures ({told}), {claims} claims"


def _progress(names: Sequence[str]) -> Iterator[str]:
    terminal = Console(stderr=True)
    yield from track(
        names, "gallery", console=terminal, transient=True, disable=not sys.stderr.isatty()
    )


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    # A new folder that takes the place of the old one when all is well.
    _check_ours(folder)
    check_writable(folder.parent)
    token = secrets.token_hex(8)
    fresh = folder.with_name(f".{folder.name}.{token}.partial")
    old = folder.with_name(f".{folder.name}.{token}.old")
    try:
        yield fresh
        try:
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
        except OSError as error:
            raise UserError(f"cannot write {folder}: {error.strerror or error}") from error
        finally:
            if old.exists() and not folder.exists():
                old.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _check_ours(folder: Path) -> None:
    # What is not a gallery must not be thrown away.
    if folder.is_dir() and not any(folder.iterdir()):
        return
    try:
        ours = MARK in (folder / "index.html").read_text("utf-8")
    except FileNotFoundError:
        ours = not folder.exists()
    except (OSError, UnicodeDecodeError):
        ours = False
    if not ours:
        raise UserError(
            f"{folder} is there and is no gallery; a gallery replaces the whole folder: name"
            " another with --out, or move it away"
        )
