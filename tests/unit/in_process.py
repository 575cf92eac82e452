"""Commands of `dpbandits` called in this process, where a process of its own is not the point."""

import contextlib
import io
from unittest.mock import patch

from commands import Done

from dpbandits.cli.main import command
from dpbandits.cli.process import status_of


def called(*typed: str) -> Done:
    """Call `dpbandits` with these words and return its result."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch("sys.argv", ["dpbandits", *typed]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = status_of(command)
    return Done(int(status), out.getvalue(), err.getvalue())
