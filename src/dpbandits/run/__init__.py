"""Planning and playing of missing runs, on threads or on a cluster, and how commands end."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of a command; a command that does several things returns the largest.

    docs/files.md explains them to users.
    """

    DONE = 0
    ALARM = 1  # a curve is outside its band, a guarantee is refuted, or a check of `verify` fails
    MISTAKE = 2  # a UserError: in what was typed or in a file, or an obstacle such as a full disk
    FAILED = 3  # runs failed, or the program itself has an error
    INTERRUPTED = 130  # Ctrl-C, as shells have it: 128 + SIGINT
