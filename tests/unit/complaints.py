"""Assertions on error messages: one readable line for every mistake."""

import re
from collections.abc import Sequence

import pytest

from dpbandits.config.compose import load
from dpbandits.core.errors import UserError

# Words that mean nothing to a user: the vocabulary of Python, and of Hydra's parser and merging.
JARGON = re.compile(
    r"__|NoneType|object|attribute|iterable|format code|subscriptable|viable alternative|ANTLR"
    r"|Lexer|Traceback|\w+Error|while composing|defaults list|group override"
)


def readable(message: str) -> None:
    """Assert that a message is one short line in the words of the project."""
    assert len(message.splitlines()) == 1, message
    assert len(message) < 500, message
    assert not JARGON.search(message), message


def complaint(figure: str, overrides: Sequence[str]) -> str:
    """Return the error message of a mistake."""
    with pytest.raises(UserError) as caught:
        load(figure, overrides)
    readable(str(caught.value))
    return str(caught.value)
