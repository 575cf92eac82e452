"""Write docs/commands.md from the verbs and arguments: `python scripts/make_commands.py`."""

import sys
from pathlib import Path

from dpbandits.cli.arguments import ARGUMENTS
from dpbandits.cli.verbs import VERBS

FILE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
HEAD = """\
# Commands

`dpbandits <command> ...`; each takes `--help`. This page is written by `scripts/make_commands.py`.

Overrides are [Hydra's](https://hydra.cc): `runs=5`, `profile=smoke`, `engine.workers=1`,
`figure.horizon=100_000`, `figure.curves.adap-ucb.alpha=1`. A project's settings and those of
dpbandits are in `conf/`.

| variable | effect |
|---|---|
| `DPBANDITS_RESULTS` | folder of the result blocks, in place of `cache` |
| `DPBANDITS_CACHE` | folder of the machine code, in place of `~/.cache/dpbandits` |
| `DPBANDITS_PROJECT` | folder of the project, in place of the current one |
| `DPBANDITS_SCALARS` | if set, kernels use loops over scalars; needs an empty `DPBANDITS_CACHE` |
"""


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for name, verb in VERBS.items():
        words = [_word(argument) for argument in verb.takes]
        parts.append(
            f"## {name}\n\n`{' '.join(['dpbandits', name, *words])}`\n\n{_sentence(verb.help)}\n"
        )
        rows = [
            f"| `{_in_table(argument)}` | {_sentence(str(about['help']))} |"
            for argument in verb.takes
            if "help" in (about := ARGUMENTS[argument])
        ]
        if rows:
            parts.append("\n".join(["| argument | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _sentence(text: str) -> str:
    return _escaped(f"{text[0].upper()}{text[1:]}.")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _in_table(argument: str) -> str:
    return argument if argument.startswith("--") else _escaped(_name(argument))


def _word(argument: str) -> str:
    # The argument in the line of usage.
    about = ARGUMENTS[argument]
    if argument.startswith("--"):
        flag = argument if about.get("action") == "store_true" else f"{argument} {_name(argument)}"
        return f"[{flag}]"
    return f"[{_name(argument)} ...]" if about.get("nargs") == "*" else _name(argument)


def _name(argument: str) -> str:
    # The name under which the line of usage has the argument, or its value if it is an option.
    return str(ARGUMENTS[argument].get("metavar", argument.strip("-")))


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    sys.exit(0)
