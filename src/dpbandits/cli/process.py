"""Process of a command: its exit status, its errors and Ctrl-C."""

# All other imports are late, inside `guarded`: an interrupt before it would print a traceback.
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from dpbandits.run.exit_status import ExitStatus

# Objects made since the last search for reference cycles that start the next one. Python's 700 are
# for programs with many cycles; here a fifth of the time of a composition or a compilation would
# go into searches of what is imported.
NEW_OBJECTS = 50_000


def status_of(action: Callable[[], int]) -> int:
    """Run an action and return its exit status.

    A UserError or a MemoryError is reported in one line, with the status MISTAKE.
    """
    from dpbandits.core.errors import UserError
    from dpbandits.core.messages import in_one_line

    try:
        return action()
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
    except MemoryError as error:
        print(f"dpbandits: {in_one_line(error)}; what was written is kept", file=sys.stderr)
    return ExitStatus.MISTAKE


def guarded(action: Callable[[], int]) -> None:
    """Run an action and exit with its status.

    The status is INTERRUPTED after Ctrl-C, and FAILED after an unexpected exception, whose
    traceback is printed. An exception of a project's or plugin's source is reported in one line,
    with the status MISTAKE.
    """
    _interrupt_once()
    gc.set_threshold(NEW_OBJECTS)
    try:
        import io
        import logging

        logging.basicConfig(format="%(name)s: %(message)s", level=logging.WARNING)
        # A path that the terminal cannot encode must not end a run of hours with an error.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            status = status_of(action)
        except BrokenPipeError:
            raise
        except Exception as error:
            status = _failed(error)
        sys.stdout.flush()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # exiting already
        print(
            "\ndpbandits: interrupted; completed blocks are kept, and the same command continues"
            " from there",
            file=sys.stderr,
        )
        status = ExitStatus.INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it
        status = ExitStatus.DONE
    # Not sys.exit: it would wait for a kernel that still plays in a thread.
    os._exit(status)


def _failed(error: Exception) -> int:
    import traceback

    from dpbandits.config.interrupts import reraise_interrupt
    from dpbandits.core.messages import in_one_line
    from dpbandits.run.own_errors import of_own_source

    reraise_interrupt(error)
    if own := of_own_source(error):
        print(f"dpbandits: {own}", file=sys.stderr)
        return ExitStatus.MISTAKE
    traceback.print_exception(error)
    print(
        f"dpbandits: {in_one_line(error)}; this is an error of the program: please report it with"
        " the lines above",
        file=sys.stderr,
    )
    return ExitStatus.FAILED


def _interrupt_once() -> None:
    # A second Ctrl-C within a second must not interrupt the cleanup after the first. A later one
    # counts again: the first may have hit a library's destructor, which discards exceptions.
    last: float | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if last is None or now - last > 1:
            last = now
            raise KeyboardInterrupt

    # A background process of a script ignores interrupts, and must keep doing so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
