"""Exit statuses of the commands; docs/files.md explains them to users."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of a command; a command that does several things returns the largest."""

    DONE = 0
    ALARM = 1  # a curve is outside its band, a promise is refuted, or a check of `verify` fails
    MISTAKE = 2  # a UserError: in what was typed or in a file, or an obstacle such as a full disk
    FAILED = 3  # runs failed, or the program itself has an error
    INTERRUPTED = 130  # Ctrl-C, as shells have it: 128 + SIGINT
