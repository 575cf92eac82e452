"""Process of a command: typed values, libraries, errors in one line, and the exit status."""

import importlib
import io
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console

from dpbandits.kernel.errors import UserError, in_one_line, shown, variables_of
from dpbandits.run import ExitStatus


def value_of(text: str) -> str | bool | int | float:
    """Return the number, the truth value or else the text that a word stands for, unchecked."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def values_of(words: Sequence[str]) -> dict[str, Any]:
    """Return the values of words `name=value`. Raises UserError for any other or a repeated one."""
    values: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not (name and value):
            raise UserError(f"parameters are written as name=value, got {shown(word)}")
        if name in values:
            raise UserError(f"{name} is set twice")
        values[name] = value_of(value)
    return values


def console() -> Console:
    """Return a console of rich that prints texts as they are, 100 columns wide in a file."""
    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 100)


def status_of(action: Callable[[], int]) -> int:
    """Run an action and return its exit status; report an error in one line.

    An unexpected exception is reported below its traceback, with the status FAILED.
    """
    try:
        status = action()
        sys.stdout.flush()
        return status
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        cause: BaseException | None = error  # OmegaConf may turn an interrupt into an error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # exiting already
            message = "completed blocks are kept, and the same command continues from there"
            print(f"\ndpbandits: interrupted; {message}", file=sys.stderr)  # below the ^C
            return ExitStatus.INTERRUPTED
        if isinstance(error, BrokenPipeError):  # the reader of the output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitStatus.DONE
        status, message = ExitStatus.MISTAKE, str(error)
        if isinstance(error, MemoryError):
            message = f"{in_one_line(error)}; what was written is kept"
        elif not isinstance(error, UserError):
            from dpbandits.run.user_algorithms import error_place

            if not (message := error_place(error)):
                traceback.print_exception(error)
                status = ExitStatus.FAILED
                please = "this is an error of the program: please report it with the lines above"
                message = f"{in_one_line(error)}; {please}"
        print(f"dpbandits: {message}", file=sys.stderr)
        return status


def guarded(action: Callable[[], int]) -> None:
    """Run an action and exit with its status, as `status_of` returns it."""
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path that it cannot encode
    sys.exit(status_of(action))


def load_joblib() -> None:
    """Import joblib; raise UserError if an environment variable prevents it."""
    with variables_of("joblib", "JOBLIB_", "LOKY_"):
        importlib.import_module("joblib").cpu_count()


def load_factory(module: str = "dpbandits.factory.produce") -> Any:
    """Return the module that produces figures, or another one that draws and plays them.

    Raises UserError if an environment variable prevents the import of a library for it.
    """
    with variables_of("matplotlib", "MPL", "MATPLOTLIB"):
        importlib.import_module("matplotlib")
    load_joblib()
    with variables_of("numpy", "SOURCE_DATE_EPOCH"):
        time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    return importlib.import_module(module)
