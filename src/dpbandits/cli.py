"""The command line: dpbandits list | run | plot | explain."""

import argparse
import logging
import os
import sys
from collections.abc import Callable

from dpbandits import project, registry
from dpbandits.errors import UserError

EPILOG = """\
Overrides are Hydra's: `dpbandits run adap-ksweep runs=5 figure.horizon=100_000`,
`profile=smoke`, `engine.workers=1`, `paths.out=elsewhere`.
"""


def main() -> None:
    """The entry point of the console script."""
    parser = argparse.ArgumentParser(
        prog="dpbandits",
        description="Figures of differentially private bandits, at the papers' own scale.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list | run | plot | explain")
    verbs.add_parser("list", help="the figures, algorithms and environments that there are")
    for verb, help_text in (
        ("run", "compute what is missing and draw"),
        ("plot", "draw again from the cache, compute nothing"),
        (
            "explain",
            "every cell: its key, what of it is cached, and why the rest is not",
        ),
    ):
        sub = verbs.add_parser(verb, help=help_text, epilog=EPILOG)
        sub.add_argument("figure")
        sub.add_argument("overrides", nargs="*", metavar="key=value")
    arguments = parser.parse_args()
    if arguments.verb == "list":
        guarded(show_list)
    guarded(lambda: _figure_verb(arguments.verb, arguments.figure, arguments.overrides))


def status_of(action: Callable[[], int]) -> int:
    """The exit status of an action; a UserError is told in one line and gives status 2."""
    try:
        return action()
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return 2


def guarded(action: Callable[[], int]) -> None:
    """Run an action and exit with its status, 130 after an interrupt."""
    logging.basicConfig(format="dpbandits: %(message)s", level=logging.WARNING)
    try:
        status = status_of(action)
        sys.stdout.flush()
    except KeyboardInterrupt:
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


def show_list() -> int:
    """Print what there is."""
    for name in project.names("figure"):
        content = project.read_member("figure", name)
        print(f"figure       {name:<16} {content.get('paper', ''):<12} {content.get('title', '')}")
    for name in registry.algorithm_names():
        print(f"algorithm    {name:<16} {_first_sentence(registry.algorithm(name).__doc__)}")
    for name in registry.environment_names():
        print(f"law          {name:<16} {_first_sentence(registry.environment(name).__doc__)}")
    for name in project.names("environment"):
        print(f"environment  {name}")
    return 0


def _first_sentence(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def _figure_verb(verb: str, figure: str, overrides: list[str]) -> int:
    # Imported late: `list` and a wrong argument need neither Hydra nor matplotlib.
    from dpbandits import config

    spec, settings = config.load(figure, overrides)
    if verb == "explain":
        from dpbandits.explain import explain
        from dpbandits.store import Store

        for line in explain(spec, Store(settings.cache)):
            print(line)
        return 0
    from dpbandits import factory

    return factory.produce(spec, settings) if verb == "run" else factory.redraw(spec, settings)


if __name__ == "__main__":
    main()
