"""The figures of the tutorials: their overrides are accepted, or refused as the page prints."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from dpbandits.config.compose import load
from dpbandits.core.errors import UserError

PAGES = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


def figures() -> Iterator[tuple[str, str]]:
    """Yield every command that names a figure, and the block printed below it."""
    for page in sorted(PAGES.glob("*.md")):
        blocks = re.findall(r"^```\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for block, below in pairwise([*blocks, ""]):
            for line in block.splitlines():
                if line.startswith(("dpbandits run ", "dpbandits explain ")):
                    yield line, below


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(("command", "below"), [*figures()])
def test_a_command_is_accepted_or_refused_as_printed(command: str, below: str) -> None:
    _, _, figure, *overrides = shlex.split(command)
    if below.startswith("dpbandits: "):
        with pytest.raises(UserError) as refused:
            load(figure, overrides)
        assert str(refused.value) == below.strip().removeprefix("dpbandits: ")
    else:
        assert load(figure, overrides)[0].cells()


def test_the_tutorials_have_commands() -> None:
    assert len([*figures()]) > 6
