"""One site: the documentation, and a page for every figure, algorithm and stopping rule.

Nothing is computed: curves are read from the cache or from the committed references
(factory.stored_results). Pages are Markdown, which MkDocs Material turns into HTML; they need no
network and no server. A project without a mkdocs.yml has its own figures and algorithms there.
"""

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dpbandits.checks.comparisons import plural
from dpbandits.config import compose
from dpbandits.files import project
from dpbandits.files.atomic import check_writable
from dpbandits.kernel.errors import UserError, installing, nearest, shown
from dpbandits.kernel.roots import discovery
from dpbandits.run import ExitStatus
from dpbandits.run.progress import reported

if TYPE_CHECKING:
    from dpbandits.site.figures import FigurePage

NEEDED = (  # extra `site`
    *("altair", "ipykernel", "latex2mathml", "material", "mkdocs", "nbconvert", "pymdownx"),
    "vl_convert",
)
MARK = "assets/charts.js"  # a folder with this file is a site of ours


def from_arguments(arguments: Sequence[str], out: Path | None) -> int:
    """Write the site with the figures and overrides of a command; return its status.

    The figures are those of the project, in a checkout all, unless some are named. Raises UserError
    for an unknown figure or without what the site needs.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        lacking = ", ".join(missing)
        raise UserError(f"the site needs {lacking}, not installed here: {installing('site')}")
    overrides = tuple(arg for arg in arguments if "=" in arg or arg.startswith("~"))
    figures = list(dict.fromkeys(arg for arg in arguments if arg not in overrides))
    valid, mine = project.names("figure"), discovery().project
    for name in figures:
        if name not in valid:
            raise UserError(f"unknown figure {shown(name)}; {nearest(name, valid)}")
    if not figures:
        figures = [n for n in valid if not mine or project.home("figure", n) == mine.folder]
    settings, _ = compose.settings_of((), "site")
    return build(out or settings.out / "site", figures, overrides)


def build(out: Path, names: Sequence[str], overrides: tuple[str, ...] = ()) -> int:
    """Write the site with some figures to the folder `out`, whole or not at all.

    Returns the status: FAILED if a figure failed; its page has the error, and the rest is as usual.
    """
    from dpbandits.site import pages  # which needs what `from_arguments` checks

    out = out.resolve()
    _check_ours(out)
    check_writable(out.parent, "Make room, or name another folder with --out")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and tidy up
    with tempfile.TemporaryDirectory(prefix=".site-", dir=out.parent) as temporary:
        docs, fresh = Path(temporary, "docs"), Path(temporary, "site")
        figures = pages.write(docs, names, overrides)
        with reported(lambda seconds: f"site: pages become HTML, {seconds:.0f} s"):
            _convert(docs, fresh, figures)
        if out.exists():
            out.rename(Path(temporary, "old"))
        fresh.rename(out)
    for figure in (failed := [figure for figure in figures if figure.failure]):
        print(f"dpbandits: {figure.name}: {figure.failure}", file=sys.stderr)
    absent = sum(not figure.failure and not figure.files for figure in figures)
    lacking = f", {absent} of them not computed yet" * bool(absent)
    print(f"site: {plural(len(figures), 'figure')}{lacking}; {out / 'index.html'}")
    return ExitStatus.FAILED if failed else ExitStatus.DONE


def _convert(docs: Path, site: Path, figures: Sequence["FigurePage"]) -> None:
    # Markdown to HTML, by the project's own mkdocs.yml if it has one.
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # an advertisement
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config
    from mkdocs.exceptions import MkDocsException

    from dpbandits.site import pages

    (handler := logging.StreamHandler()).setLevel(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(handler)  # without it, MkDocs would only count warnings
    here, mine = Path(__file__).parent, discovery().project
    config_file = (mine.folder if mine else project.layers()[-1]) / "mkdocs.yml"
    try:
        config = load_config(
            str(config_file if config_file.is_file() else here / "mkdocs.yml"),
            docs_dir=str(docs),
            site_dir=str(site),
            site_name=None if config_file.is_file() or not mine else mine.package,
        )
        config.nav = pages.navigation(config.nav or [], docs, figures)
        config.plugins.on_startup(command="build", dirty=False)
        mkdocs_build(config)
        config.plugins.on_shutdown()
    except MkDocsException as error:
        raise UserError(f"MkDocs cannot build the site: {error}") from error


def _check_ours(folder: Path) -> None:
    # A folder that is not a site must not be deleted.
    is_ours = (folder / MARK).is_file() or (folder.is_dir() and not any(folder.iterdir()))
    if folder.exists() and not is_ours:
        raise UserError(
            f"{folder} exists and is not a site of dpbandits; a site replaces the whole folder:"
            " name another with --out, or move this one away"
        )
