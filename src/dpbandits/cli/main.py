"""Command line `dpbandits <verb> ...`; the verbs are in VERBS."""

# All other imports are late, inside `guarded`: an interrupt before it would print a traceback.
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, NamedTuple

EPILOG = """\
Overrides are Hydra's: `dpbandits run adap-ksweep runs=5 figure.horizon=100_000`,
`profile=smoke`, `engine.workers=1`, `paths.out=elsewhere`. A figure for each of
several values: `python experiments/run.py -m figure=adap-ksweep seed=1,2`; with
a table and a picture of all of them, docs/sweeps.md.
"""


def main() -> None:
    """Run the command line: the entry point of the console script."""
    guarded(_command)


def _command() -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="dpbandits",
        description="Figures of differentially private bandits, at the papers' own scale.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Git is only called if the version is asked for.
    version = _version() if "--version" in sys.argv else ""
    parser.add_argument("--version", action="version", version=version, help="and the revision")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar=" | ".join(VERBS))
    actions: dict[str, list[argparse.Action]] = {}
    for name, verb in VERBS.items():
        sub = verbs.add_parser(
            name,
            help=verb.help,
            description=verb.help,
            epilog=EPILOG if "overrides" in verb.takes else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for argument in verb.takes:
            action = sub.add_argument(argument, **ARGUMENTS[argument])
            actions.setdefault(argument, []).append(action)
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for completion
        from dpbandits.cli.completion import complete

        complete(parser, actions)
    # Before Python 3.13, argparse does not accept overrides after an option.
    parsed, more = parser.parse_known_args()
    arguments = vars(parsed)
    verb = VERBS[arguments.pop("verb")]
    several = ("overrides", "parameters", "words")
    typed = next((name for name in several if name in verb.takes), None)
    if more and (typed is None or any(text.startswith("-") for text in more)):
        hint = _hint(more) if {"overrides", "words"} & {*verb.takes} else ""
        parser.error(f"unrecognized arguments: {' '.join(more)}{hint}")
    if typed and more:
        arguments[typed] = [*arguments[typed], *more]
    return verb.do(**arguments)


def _version() -> str:
    from importlib.metadata import version

    from dpbandits.files.provenance import git_revision

    revision = git_revision()
    return f"dpbandits {version('dpbandits')}{f' (revision {revision})' if revision else ''}"


def _hint(more: list[str]) -> str:
    # For options that are Hydra overrides, or that only experiments/run.py has.
    from dpbandits.config.overrides import from_options

    if written := from_options(sys.argv[1:], more):
        return f"; overrides are written without dashes: {written}"
    if {"-m", "--multirun"} & {*more}:
        return "; several values: python experiments/run.py -m figure=<name> key=1,2"
    return ""


def status_of(action: Callable[[], int]) -> int:
    """Run an action and return its exit status.

    A UserError or a MemoryError is reported in one line, with status 2.
    """
    from dpbandits.core.errors import UserError
    from dpbandits.core.messages import in_one_line

    try:
        return action()
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
    except MemoryError as error:
        print(f"dpbandits: {in_one_line(error)}; what was written is kept", file=sys.stderr)
    return 2


def guarded(action: Callable[[], int]) -> None:
    """Run an action and exit with its status, 130 after an interrupt."""
    _interrupt_once()
    try:
        import io
        import logging

        logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
        # A path that the terminal cannot encode must not end a run of hours with an error.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        status = status_of(action)
        sys.stdout.flush()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # exiting already
        print(
            "\ndpbandits: interrupted; the blocks that were done are kept, the same command goes on"
            " from there",
            file=sys.stderr,
        )
        status = 130
    except BrokenPipeError:  # the reader of the output has closed it
        status = 0
    # Not sys.exit: it would wait for a kernel that still plays in a thread.
    os._exit(status)


def _interrupt_once() -> None:
    # A second Ctrl-C within a second must not interrupt the cleanup after the first. A later one
    # counts again: the first may have hit a library's destructor, which discards exceptions.
    last: float | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if last is None or now - last > 1:
            last = now
            raise KeyboardInterrupt

    # A background process of a script ignores interrupts, and must keep doing so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def show_list() -> int:
    """Print the names that can be used on the command line."""
    from dpbandits.cli.listing import lines

    for line in lines():
        print(line)
    return 0


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


def gallery(words: list[str], out: str | None) -> int:
    """Write the pages of every figure, claim and algorithm, or of some figures."""
    from pathlib import Path

    load_factory()
    from dpbandits import gallery

    return gallery.from_words(words, None if out is None else Path(out))


def load_factory() -> ModuleType:
    """Return the module that produces figures; import the libraries that read the environment.

    Raises UserError if an environment variable prevents their import.
    """
    import importlib

    from dpbandits.core.errors import variables_of

    with variables_of("matplotlib", "MPL", "MATPLOTLIB"):
        importlib.import_module("matplotlib")
    load_joblib()
    with variables_of("numpy", "SOURCE_DATE_EPOCH"):
        time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    from dpbandits.factory import produce

    return produce


def load_joblib() -> None:
    """Import joblib, which reads environment variables; raise UserError if one prevents it."""
    import importlib

    from dpbandits.core.errors import variables_of

    with variables_of("joblib", "JOBLIB_", "LOKY_"):
        importlib.import_module("joblib").cpu_count()


def tune(figure: str, overrides: list[str], trials: int) -> int:
    """Search for the values with which a curve ends at the least regret."""
    load_factory()
    from dpbandits.sweeps.tune import tune

    return tune(figure, overrides, trials)


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


def privacy(algorithms: list[str], epsilon: str, horizon: str, arms: str, delta: str | None) -> int:
    """Print what algorithms promise and what their releases compose to."""
    import json

    from dpbandits.cli.privacy import show

    def number(text: str | None) -> Any:
        # Text that is no number is rejected later, by the check of its parameter.
        try:
            return None if text is None else json.loads(text.replace("_", ""))
        except ValueError:
            return text

    return show(algorithms, *map(number, (epsilon, horizon, arms, delta)))


def audit(
    algorithm: str,
    parameters: list[str],
    epsilon: str,
    plays: str,
    many_arms: str,
    changed_reward: str | None,
    seed: int,
    workers: int | None,
) -> int:
    """Audit an algorithm on neighbouring tables: print lower bounds on its privacy loss."""
    load_joblib()  # and no drawing library
    from dpbandits.cli.audit import audit

    return audit(algorithm, parameters, epsilon, plays, many_arms, changed_reward, seed, workers)


class Verb(NamedTuple):
    """A command: its help text, its arguments and its function."""

    help: str
    takes: tuple[str, ...]
    do: Callable[..., int]


VERBS = {
    "list": Verb("the figures, algorithms and environments that there are", (), show_list),
    "run": Verb("compute what is missing and draw", ("figure", "overrides"), run),
    "run-all": Verb("run every figure, or every one of a paper", ("--paper", "overrides"), run_all),
    "plot": Verb("draw again from the cache, compute nothing", ("figure", "overrides"), plot),
    "explain": Verb(
        "every cell: its key, what of it is cached, and why the rest is not",
        ("figure", "overrides"),
        explain,
    ),
    "tune": Verb(
        "search in key=low..high for the least final regret of a curve; needs Optuna",
        ("figure", "overrides", "--trials"),
        tune,
    ),
    "check": Verb(
        "compare figures, played anew with few runs, with their references", ("words",), check
    ),
    "export": Verb(
        "the curves of a figure from the cache, for another program",
        ("figure", "overrides", "--format", "--output"),
        export,
    ),
    "privacy": Verb(
        "what algorithms promise, and what their releases compose to",
        ("algorithms", "--epsilon", "--horizon", "--arms", "--delta"),
        privacy,
    ),
    "audit": Verb(
        "play an algorithm on neighbouring rewards: how much privacy it loses at least",
        (
            *("algorithm", "parameters", "--epsilon", "--plays", "--many-arms"),
            *("--changed-reward", "--seed", "--workers"),
        ),
        audit,
    ),
    "gallery": Verb(
        "figures, all or some, with their claims and algorithms as pages; plays nothing",
        ("words", "--out"),
        gallery,
    ),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "figure": {"help": "its name; `dpbandits list` shows them"},
    # Without a default, the error for a missing figure would ask for overrides too.
    "overrides": {"nargs": "*", "default": [], "metavar": "key=value"},
    "words": {"nargs": "*", "default": [], "metavar": "figure | key=value"},
    "algorithms": {"nargs": "*", "metavar": "algorithm", "help": "all private ones if not said"},
    "--epsilon": {"default": "1", "metavar": "EPSILON", "help": "the budget that is given; 1"},
    "algorithm": {"help": "its name; `dpbandits list` shows them"},
    "parameters": {
        "nargs": "*",
        "default": [],
        "metavar": "name=value",
        "help": "of the algorithm",
    },
    "--plays": {"default": "10_000_000", "metavar": "N", "help": "games in all; ten million"},
    "--many-arms": {
        "default": "64",
        "metavar": "K",
        "help": "how many there are in games of many arms, beside those of two; 64",
    },
    "--changed-reward": {
        "metavar": "N",
        "help": "change the N-th reward of an arm; 1, 2, 3, 4 and 16 by default",
    },
    "--seed": {"type": int, "default": 1, "metavar": "N", "help": "of the games; 1"},
    "--workers": {"type": int, "metavar": "N", "help": "threads; all cores if not said"},
    "--horizon": {
        "default": "1_000_000",
        "metavar": "T",
        "help": "rounds; a million (DP-UCB-INT takes minutes beyond 10^10)",
    },
    "--arms": {"default": "5", "metavar": "K", "help": "how many; 5"},
    "--delta": {"metavar": "DELTA", "help": "of all that have one; else the default, or 10^-6"},
    "--paper": {"metavar": "KEY", "help": "the figures of this paper alone, such as azize2022"},
    "--trials": {"type": int, "default": 20, "metavar": "N", "help": "how many values to try; 20"},
    "--format": {
        "default": "csv",
        "choices": ("csv", "json", "pgfplots"),
        "help": "a tidy table, strict JSON, or a picture for LaTeX; csv",
    },
    "--out": {
        "metavar": "FOLDER",
        "help": "where to; if not said, out/gallery, or of the words a folder in out/galleries",
    },
    "--output": {"metavar": "FILE", "help": "written whole or not at all; else standard output"},
}


if __name__ == "__main__":
    main()
