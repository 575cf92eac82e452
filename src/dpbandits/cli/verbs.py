"""Verbs of the command line: the help text, the arguments and the function of each.

A function imports what it needs when it is called, so that no verb waits for the libraries of
another.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpbandits.cli.libraries import load_factory, load_joblib


def show_list() -> int:
    """Print the names that can be used on the command line."""
    from dpbandits.cli.listing import lines

    for line in lines():
        print(line)
    return 0


def init(name: str) -> int:
    """Write a small project of one's own."""
    from dpbandits.cli.init import init

    return init(name)


def run(figure: str, overrides: list[str]) -> int:
    """Compute the missing runs of a figure and draw it."""
    from dpbandits.config import compose

    loaded = compose.load(figure, overrides)
    return load_factory().produce(*loaded)


def run_all(paper: str | None, overrides: list[str]) -> int:
    """Compute the missing runs of every figure, or of those of a paper, and draw them."""
    load_factory()
    from dpbandits.factory.produce_all import produce_all

    return produce_all(paper, overrides)


def plot(figure: str, overrides: list[str]) -> int:
    """Draw a figure from the cache alone."""
    from dpbandits.config import compose

    loaded = compose.load(figure, overrides)
    return load_factory().redraw(*loaded)


def explain(figure: str, overrides: list[str]) -> int:
    """Print which cells of a figure are cached, and why the others are not."""
    from dpbandits.config import compose
    from dpbandits.store.blocks import Store
    from dpbandits.store.explain import explain

    spec, settings = compose.load(figure, overrides)
    for line in explain(spec, Store(settings.cache)):
        print(line)
    return 0


def tune(figure: str, overrides: list[str], trials: int) -> int:
    """Search for the values with which a curve ends at the least regret."""
    load_factory()
    from dpbandits.sweeps.tune import tune

    return tune(figure, overrides, trials)


def multirun(words: list[str]) -> int:
    """Run Hydra's program with the words of the command line."""
    from dpbandits.cli.multirun import several

    return several(words)


def compare(rivals: list[str]) -> int:
    """Play algorithms in one game, draw their regret, and print the table and a verdict."""
    load_factory()
    from dpbandits.cli.compare import compare

    return compare(rivals)


def check(words: list[str]) -> int:
    """Compare the given figures, or all, with their references."""
    from dpbandits.checks.against_reference import check
    from dpbandits.files import project

    figures = [word for word in words if "=" not in word]
    return check(figures or project.names("figure"), [word for word in words if "=" in word])


def export(figure: str, overrides: list[str], format: str, output: str | None) -> int:
    """Write the curves of a figure for another program."""
    from pathlib import Path

    from dpbandits.config import compose

    spec, settings = compose.load(figure, overrides)
    load_factory()
    from dpbandits.factory.export import export

    return export(spec, settings, format, Path(output) if output else None)


def privacy(
    algorithms: list[str], epsilon: str, rho: str, horizon: str, arms: str, delta: str | None
) -> int:
    """Print the claimed budgets of algorithms and the budgets that their releases compose to."""
    from dpbandits.cli.privacy import show
    from dpbandits.cli.values import value_of

    def number(text: str | None) -> Any:
        # Text that is no number is rejected later, by the check of its parameter.
        return None if text is None else value_of(text)

    return show(algorithms, *map(number, (epsilon, horizon, arms, delta, rho)))


def audit(**arguments: Any) -> int:
    """Audit an algorithm on neighbouring tables: print lower bounds on its privacy loss."""
    load_joblib()  # and no drawing library
    from dpbandits.cli.audit import audit

    return audit(**arguments)


def verify(subjects: list[str]) -> int:
    """Check that algorithms keep the contract."""
    load_joblib()  # the audit plays on all cores
    from dpbandits.cli.verify import verify

    return verify(subjects)


def cite(names: list[str]) -> int:
    """Print BibTeX entries."""
    from dpbandits.cli.cite import cite

    return cite(names)


def gallery(words: list[str], out: str | None) -> int:
    """Write the pages of every figure, claim and algorithm, or of some figures."""
    from pathlib import Path

    load_factory()
    from dpbandits import gallery

    return gallery.from_words(words, None if out is None else Path(out))


def report(papers: list[str], gather: bool, texts: str | None) -> int:
    """Write the reproducibility reports of some papers, or of all."""
    load_factory()
    from pathlib import Path

    from dpbandits.report.write import report

    return report(papers, gather, Path(texts) if texts else None)


class Verb(NamedTuple):
    """A command: its help text, its arguments and its function."""

    help: str
    takes: tuple[str, ...]  # names in arguments.ARGUMENTS
    do: Callable[..., int]


VERBS = {
    "list": Verb("list the figures, algorithms and environments", (), show_list),
    "init": Verb(
        "write a small project with an algorithm, an instance and a figure of one's own",
        ("name",),
        init,
    ),
    "run": Verb("compute the missing runs of a figure and draw it", ("figure", "overrides"), run),
    "run-all": Verb(
        "run every figure, or every figure of one paper", ("--paper", "overrides"), run_all
    ),
    "multirun": Verb("run several figures, or a figure for several values", ("words",), multirun),
    "plot": Verb("draw a figure from cached runs; compute nothing", ("figure", "overrides"), plot),
    "explain": Verb(
        "list the cells of a figure: key, number of cached runs, reason why others are missing",
        ("figure", "overrides"),
        explain,
    ),
    "tune": Verb(
        "search the range key=low..high for the least final regret of a curve; needs Optuna",
        ("figure", "overrides", "--trials"),
        tune,
    ),
    "compare": Verb(
        "play algorithms in one game and draw their regret, with the lower bound and a verdict",
        ("rivals",),
        compare,
    ),
    "check": Verb(
        "play figures again with few runs and compare them with their references",
        ("words",),
        check,
    ),
    "export": Verb(
        "write the curves of a figure from the cache, for another program",
        ("figure", "overrides", "--format", "--output"),
        export,
    ),
    "privacy": Verb(
        "print the privacy that algorithms claim and the budgets that their releases compose to",
        ("algorithms", "--epsilon", "--rho", "--horizon", "--arms", "--delta"),
        privacy,
    ),
    "audit": Verb(
        "play an algorithm on neighbouring rewards and bound its privacy loss from below",
        (
            *("algorithm", "parameters", "--epsilon", "--plays", "--many-arms"),
            *("--changed-reward", "--seed", "--workers"),
        ),
        audit,
    ),
    "verify": Verb(
        "check that algorithms keep the contract of this project; each failure with its remedy",
        ("subjects",),
        verify,
    ),
    "cite": Verb(
        "print BibTeX of this project and of the papers behind figures or algorithms",
        ("names",),
        cite,
    ),
    "report": Verb(
        "write the reproducibility reports of papers, docs/reproducibility/",
        ("papers", "--gather", "--texts"),
        report,
    ),
    "gallery": Verb(
        "write pages of all figures, or of some, with their claims and algorithms; play nothing",
        ("words", "--out"),
        gallery,
    ),
}
