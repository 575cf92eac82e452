"""Gallery: every figure, claim and algorithm as web pages in one folder.

Nothing is computed: the curves are read from the cache or from the committed references
(factory.stored_results). The pages need no network and no server.
"""

import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import track

from dpbandits.checks.comparisons import counted
from dpbandits.config import compose
from dpbandits.files import project
from dpbandits.files.atomic import check_writable
from dpbandits.gallery import algorithms, origins, pages
from dpbandits.gallery.figures import place_of, show
from dpbandits.gallery.folders import REMEDY, folder_name
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.run import ExitStatus

MARK = '<meta name="generator" content="dpbandits gallery">'


def from_words(words: Sequence[str], out: Path | None) -> int:
    """Write the gallery for the figures and overrides of a command; return its status.

    Without `out`, the gallery of all figures without overrides goes to the folder `gallery` of
    paths.out, any other to a folder of its own beside it. Raises UserError for an unknown figure,
    or for overrides that no figure accepts.
    """
    overrides = tuple(word for word in words if "=" in word or word.startswith("~"))
    figures = list(dict.fromkeys(word for word in words if word not in overrides))
    known = project.names("figure")
    for name in figures:
        if name not in known:
            raise UserError(f"unknown figure {shown(name)}; {nearest(name, known)}")
    names = figures or known
    if not overrides:
        settings, _ = compose.settings_of((), "gallery")
    errors = []
    for name in names if overrides else ():
        try:
            _, settings = compose.load(name, overrides)
            break
        except UserError as error:
            errors.append(error)
    else:
        if errors:  # an error in every figure is the command's, and is raised before all else
            raise errors[0]
    return build(out or settings.out / folder_name(figures, overrides), names, overrides)


def build(out: Path, names: Sequence[str] | None = None, overrides: tuple[str, ...] = ()) -> int:
    """Write the gallery of some figures, or of all, to the folder `out`, whole or not at all.

    Returns the status: FAILED if a figure failed; its page has the error, and the rest is as usual.
    """
    chosen = project.names("figure") if names is None else list(names)
    with _replaced(out.resolve()) as folder:
        shown_names = track(
            chosen,
            "gallery",
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        figures = [show(name, folder / "figures", overrides) for name in shown_names]
        figures.sort(key=lambda page: place_of(page.paper, page.original, page.name))
        pages.write(folder, figures, algorithms.collect(figures))
    failed = [figure for figure in figures if figure.failure]
    for figure in failed:
        print(f"dpbandits: {figure.name}: {figure.failure}", file=sys.stderr)
    drawn = origins.in_words(figure.origin for figure in figures)
    claims = len({claim.judged.id for figure in figures for claim in figure.claims})
    print(f"gallery: {drawn}; {counted(claims, 'claim')}; {out / 'index.html'}")
    return ExitStatus.FAILED if failed else ExitStatus.DONE


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    # A new folder, which replaces the old one when it is complete.
    _check_ours(folder)
    check_writable(folder.parent, REMEDY)
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
    # A folder that is not a gallery must not be deleted.
    if folder.is_dir() and not any(folder.iterdir()):
        return
    try:
        ours = MARK in (folder / "index.html").read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        ours = not folder.exists()
    except (OSError, UnicodeDecodeError):
        ours = False
    if not ours:
        raise UserError(
            f"{folder} exists and is not a gallery; a gallery replaces the whole folder: name"
            " another with --out, or move this one away"
        )
