"""What a mistake must be answered with: one line that people can read."""

import re
from collections.abc import Sequence

import pytest

from dpbandits.config.compose import load
from dpbandits.core.errors import UserError

# What a person cannot make sense of: how Python, Hydra's parser and its merging speak.
JARGON = re.compile(
    r"__|NoneType|object|attribute|iterable|format code|subscriptable|viable alternative|ANTLR"
    r"|Lexer|Traceback|\w+Error|while composing|defaults list|group override"
)


def readable(message: str) -> None:
    """A message is one line, not a long one, in the words of the project."""
    assert len(message.splitlines()) == 1, message
    assert len(message) < 500, message
    assert not JARGON.search(message), message


def complaint(figure: str, overrides: Sequence[str]) -> str:
    """The message of a mistake."""
    with pytest.raises(UserError) as caught:
        load(figure, overrides)
    readable(str(caught.value))
    return str(caught.value)
