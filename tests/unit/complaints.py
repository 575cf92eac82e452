"""Commands called in this process, and error messages: one readable line for every mistake."""

import contextlib
import io
import re
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from commands import Done

from dpbandits.cli.main import run_command
from dpbandits.cli.process import status_of
from dpbandits.config.compose import load
from dpbandits.kernel.errors import UserError

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


def called(*typed: str) -> Done:
    """Call `dpbandits` with these words, without a process of its own, and return its result."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch("sys.argv", ["dpbandits", *typed]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        return Done(int(status_of(run_command)), out.getvalue(), err.getvalue())
