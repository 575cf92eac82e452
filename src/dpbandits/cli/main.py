"""Command line `dpbandits <verb> ...`: the parser of the verbs in cli.verbs."""

# All other imports are late, inside `guarded`: an interrupt before it would print a traceback.
import os
import sys
from typing import TYPE_CHECKING

from dpbandits.cli.process import guarded

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

EPILOG = """\
Overrides are Hydra's: `dpbandits run adap-ksweep runs=5 figure.horizon=100_000`,
`profile=smoke`, `engine.workers=1`, `paths.out=elsewhere`. For several values,
`dpbandits multirun figure=adap-ksweep seed=1,2` makes a figure for each value, a
table and a picture of all of them (docs/sweeps.md).
"""


def main() -> None:
    """Run the command line: the entry point of the console script."""
    guarded(command)


def command() -> int:
    """Parse the command line and call the verb; return its exit status."""
    import argparse

    from dpbandits.cli.arguments import ARGUMENTS, SEVERAL
    from dpbandits.cli.verbs import VERBS

    if sys.argv[1:2] == ["multirun"]:  # Hydra parses the rest
        return VERBS["multirun"].do(words=sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="dpbandits",
        description="Figures of differentially private bandits, at the papers' own scale.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Git is only called if the version is asked for.
    version = _version() if "--version" in sys.argv else ""
    parser.add_argument(
        "--version", action="version", version=version, help="print version and git revision"
    )
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
    if len(sys.argv) == 1 and "_ARGCOMPLETE" not in os.environ:
        parser.print_help()
        return 0
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for completion
        from dpbandits.cli.completion import complete

        complete(parser, actions)
    _refuse_unknown(parser, VERBS)
    # Before Python 3.13, argparse does not accept overrides after an option.
    parsed, more = parser.parse_known_args()
    arguments = vars(parsed)
    verb = VERBS[arguments.pop("verb")]
    open_ended = next((name for name in SEVERAL if name in verb.takes), None)
    if more and (open_ended is None or any(text.startswith("-") for text in more)):
        hint = _hint(more) if {"overrides", "words"} & {*verb.takes} else ""
        parser.error(f"unrecognized arguments: {' '.join(more)}{hint}")
    if open_ended and more:
        arguments[open_ended] = [*arguments[open_ended], *more]
    return verb.do(**arguments)


def _refuse_unknown(parser: "argparse.ArgumentParser", verbs: "Iterable[str]") -> None:
    # Exits with a proposal if the verb is misspelt; argparse only lists all verbs.
    from dpbandits.core.errors import nearest, shown

    first = next(iter(sys.argv[1:]), "-")
    if not first.startswith("-") and first not in verbs:
        parser.error(f"unknown command {shown(first)}; {nearest(first, verbs)}")


def _version() -> str:
    from importlib.metadata import version

    from dpbandits.files.provenance import revision

    return f"dpbandits {version('dpbandits')} (revision {revision()})"


def _hint(more: list[str]) -> str:
    # For options that are Hydra overrides, or that only `dpbandits multirun` has.
    from dpbandits.config.overrides import from_options

    if written := from_options(sys.argv[1:], more):
        return f"; overrides are written without dashes: {written}"
    if {"-m", "--multirun"} & {*more}:
        return "; several values: dpbandits multirun figure=<name> key=1,2"
    return ""


if __name__ == "__main__":
    main()
