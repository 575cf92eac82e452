"""Process of a command: its libraries, its errors in one line, and its exit status."""

import importlib
import io
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from dpbandits.core.errors import UserError, variables_of
from dpbandits.core.messages import in_one_line
from dpbandits.run.exit_status import ExitStatus


def status_of(action: Callable[[], int]) -> int:
    """Run an action and return its exit status; report an error or an interrupt in one line.

    An unexpected exception is reported below its traceback, with the status FAILED.
    """
    try:
        status = action()
        sys.stdout.flush()
        return status
    except BaseException as error:
        return _reported(error)


def _reported(error: BaseException) -> int:
    cause: BaseException | None = error  # OmegaConf may turn an interrupt into an error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    if cause is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # exiting already
        message = "completed blocks are kept, and the same command continues from there"
        print(f"\ndpbandits: interrupted; {message}", file=sys.stderr)  # below the terminal's ^C
        return ExitStatus.INTERRUPTED
    if isinstance(error, SystemExit | GeneratorExit):
        raise error
    if isinstance(error, BrokenPipeError):  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.DONE
    from dpbandits.run.user_sources import error_place

    status, message = ExitStatus.MISTAKE, str(error)
    if isinstance(error, MemoryError):
        message = f"{in_one_line(error)}; what was written is kept"
    elif not isinstance(error, UserError) and not (message := error_place(error)):
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


def load_factory() -> Any:
    """Return the module that produces figures, with the libraries that draw and play them.

    Raises UserError if an environment variable prevents an import.
    """
    with variables_of("matplotlib", "MPL", "MATPLOTLIB"):
        importlib.import_module("matplotlib")
    load_joblib()
    with variables_of("numpy", "SOURCE_DATE_EPOCH"):
        time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    return importlib.import_module("dpbandits.factory.produce")
