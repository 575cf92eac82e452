"""Process of a command: typed values, libraries, errors in one line, and the exit status."""

import importlib
import io
import logging
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console

from dpbandits.kernel.errors import UserError, in_one_line, shown, variables_of
from dpbandits.run import ExitStatus

LEAST_MEMORY = 1 << 30  # bytes of address space


def value_of(text: str) -> str | bool | int | float:
    """Return the number, the truth value or else the text that a word stands for, unchecked."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def values_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the values of pairs `name=value`. Raises UserError for any other or a repeated one."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if not (name and value):
            raise UserError(f"parameters are written as name=value, got {shown(pair)}")
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
    except BaseException as error:
        status, message = _outcome(error)
        with suppress(OSError):
            print(message, end="", file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # Python would fail with what it still holds
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return status


def _outcome(error: BaseException) -> tuple[int, str]:
    # The exit status of a command that an exception ended, and what is printed.
    cause: BaseException | None = error  # OmegaConf may turn an interrupt into an error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    if cause is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # exiting already
        message = "completed blocks are kept, and the same command continues from there"
        return ExitStatus.INTERRUPTED, f"\ndpbandits: interrupted; {message}\n"  # below the ^C
    by_rich = isinstance(error, SystemExit)  # it ends the process when a pipe is closed
    if isinstance(error.__context__ if by_rich else error, BrokenPipeError):
        return ExitStatus.DONE, ""
    if isinstance(error, SystemExit | GeneratorExit):
        raise error
    status, message, trace = ExitStatus.MISTAKE, str(error), ""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        message = "the current folder no longer exists: change to another one"
    elif isinstance(error, OSError) and error.filename is None:  # no file, but a stream
        message = f"the output cannot be written: {error.strerror}; other files are kept"
    elif isinstance(error, MemoryError):
        message = f"{in_one_line(error)}; what was written is kept"
    elif not isinstance(error, UserError):
        from dpbandits.run.user_algorithms import error_place

        if not (message := error_place(error)):
            trace, status = "".join(traceback.format_exception(error)), ExitStatus.FAILED
            please = "this is an error of the program: please report it with the lines above"
            message = f"{in_one_line(error)}; {please}"
    return status, f"{trace}dpbandits: {message}\n"


def guarded(action: Callable[[], int]) -> None:
    """Run an action and exit with its status, as `status_of` returns it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed: a file that is opened later must not get its place
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it can do without its own cache
    warnings.formatwarning = lambda message, *_, **__: f"dpbandits: {message}\n"
    os.environ["MPLBACKEND"] = "agg"  # a notebook's may not be installed, and no window is opened
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path that it cannot encode
    sys.exit(status_of(action))


def load_joblib() -> None:
    """Import joblib; raise UserError if an environment variable or a limit prevents it."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < LEAST_MEMORY:  # OpenBLAS would wait without end
        raise UserError(
            f"this process may use {most >> 10:,} kB of memory (ulimit -v), and the libraries need"
            f" {LEAST_MEMORY >> 10:,}"
        )
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
