"""The command line: dpbandits list | run | plot | explain | check."""

# All else is imported late, inside of `guarded`: an interrupt before it is Python's, a traceback.
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, ModuleType

EPILOG = """\
Overrides are Hydra's: `dpbandits run adap-ksweep runs=5 figure.horizon=100_000`,
`profile=smoke`, `engine.workers=1`, `paths.out=elsewhere`. A figure for each of
several values: `python experiments/run.py -m figure=adap-ksweep seed=1,2`.
"""


def main() -> None:
    """The entry point of the console script."""
    guarded(_command)


def _command() -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="dpbandits",
        description="Figures of differentially private bandits, at the papers' own scale.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="list | run | plot | explain | check"
    )
    verbs.add_parser("list", help="the figures, algorithms and environments that there are")
    for verb, help_text in (
        ("run", "compute what is missing and draw"),
        ("plot", "draw again from the cache, compute nothing"),
        (
            "explain",
            "every cell: its key, what of it is cached, and why the rest is not",
        ),
    ):
        sub = verbs.add_parser(
            verb,
            help=help_text,
            description=help_text,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("figure", help="its name; `dpbandits list` shows them")
        # A default, or else the error of a missing figure asks for overrides too.
        sub.add_argument("overrides", nargs="*", default=[], metavar="key=value")
    described = "compare figures, played anew with few runs, with their references"
    sub = verbs.add_parser("check", help=described, description=described)
    sub.add_argument("words", nargs="*", default=[], metavar="figure | key=value")
    arguments = parser.parse_args()
    if arguments.verb == "list":
        return show_list()
    if arguments.verb == "check":
        return _check(arguments.words)
    return _figure_verb(arguments.verb, arguments.figure, arguments.overrides)


def status_of(action: Callable[[], int]) -> int:
    """The exit status of an action; an error that a person can mend is one line and status 2."""
    from dpbandits.errors import UserError
    from dpbandits.messages import in_one_line

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
        # A path that the terminal has no letters for must not end a run of hours in an error.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        status = status_of(action)
        sys.stdout.flush()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # we are leaving
        print(
            "\ndpbandits: interrupted; the blocks that were done are kept, the same command goes on"
            " from there",
            file=sys.stderr,
        )
        status = 130
    except BrokenPipeError:  # whoever read our output has seen enough
        status = 0
    # Not sys.exit: a kernel that still plays in a thread would hold the process until it is done.
    os._exit(status)


def _interrupt_once() -> None:
    # An impatient second Ctrl-C must not interrupt the clearing up after the first. A later one
    # counts again: the first may have met a destructor of a library, which loses exceptions.
    last: float | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if last is None or now - last > 1:
            last = now
            raise KeyboardInterrupt

    # In the background of a script an interrupt is ignored, and stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def show_list() -> int:
    """Print what there is."""
    from dpbandits import project, registry

    for name in project.names("figure"):
        content = project.read_member("figure", name)
        print(f"figure       {name:<16} {content.get('paper', ''):<12} {content.get('title', '')}")
    for name in registry.algorithm_names():
        print(f"algorithm    {name:<16} {_first_sentence(registry.algorithm(name).__doc__)}")
    for name in registry.stopping_rule_names():
        print(f"rule         {name:<16} {_first_sentence(registry.stopping_rule(name).__doc__)}")
    for name in registry.environment_names():
        print(f"law          {name:<16} {_first_sentence(registry.environment(name).__doc__)}")
    for name in project.names("environment"):
        print(f"environment  {name}")
    return 0


def _first_sentence(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]  # none under PYTHONOPTIMIZE=2


def _figure_verb(verb: str, figure: str, overrides: list[str]) -> int:
    from dpbandits import config

    spec, settings = config.load(figure, overrides)
    if verb == "explain":
        from dpbandits.explain import explain
        from dpbandits.store import Store

        for line in explain(spec, Store(settings.cache)):
            print(line)
        return 0
    factory = load_factory()
    return factory.produce(spec, settings) if verb == "run" else factory.redraw(spec, settings)


def _check(words: list[str]) -> int:
    from dpbandits import project
    from dpbandits.check import check
    from dpbandits.errors import UserError, nearest, shown

    known = project.names("figure")
    figures = [word for word in words if "=" not in word]
    for figure in figures:
        if figure not in known:
            raise UserError(f"unknown figure {shown(figure)}; {nearest(figure, known)}")
    return check(figures or known, [word for word in words if "=" in word])


def load_factory() -> ModuleType:
    """The module dpbandits.factory and the libraries that read variables of the environment."""
    import importlib

    from dpbandits.errors import variables_of

    with variables_of("matplotlib", "MPL", "MATPLOTLIB"):
        importlib.import_module("matplotlib")
    with variables_of("joblib", "JOBLIB_", "LOKY_"):
        importlib.import_module("joblib").cpu_count()
    with variables_of("numpy", "SOURCE_DATE_EPOCH"):
        time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    from dpbandits import factory

    return factory


if __name__ == "__main__":
    main()
