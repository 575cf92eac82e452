"""Write docs/commands.md from the command line's help: `python scripts/make_commands.py`."""

import re
import sys
from pathlib import Path

from dpbandits.cli.main import APP, OVERRIDES

FILE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
HEAD = """\
# Commands

`dpbandits <command> ...`; each takes `--help`. `dpbandits --install-completion` lets a shell
complete commands and names. This page is written by `scripts/make_commands.py`.

Overrides are [Hydra's](https://hydra.cc): `runs=5`, `profile=smoke`, `engine.workers=1`,
`paths.out=elsewhere`, `figure.horizon=100_000`, `figure.curves.adap-ucb.alpha=1`. Several values of
a key are for `multirun`.

|variable |effect|
|---|---|
|`DPBANDITS_RESULTS` |folder of the result blocks, in place of `cache`|
|`DPBANDITS_CACHE` |folder of the machine code, in place of `~/.cache/dpbandits`|
|`DPBANDITS_PROJECT` |folder of the project, in place of the current one|
"""


def page() -> str:
    """Return the text of the page: without the summary of the commands, which repeats it."""
    commands = "".join(APP.generate_docs().partition("## dpbandits list")[1:])
    commands = commands.replace(f": {OVERRIDES}", ": [see above](#commands)")
    return f"{HEAD}\n{re.sub(r'(?m)^## dpbandits ', '## ', commands).rstrip()}\n"


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    sys.exit(0)
