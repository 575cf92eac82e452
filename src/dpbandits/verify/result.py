"""Results of checks."""

import re
from enum import Enum
from typing import NamedTuple


class Status(Enum):
    """Outcome of a check; the value is the word of the report."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_APPLICABLE = "not applicable"


class Result(NamedTuple):
    """Outcome of one check, with its numbers and, if it failed, the remedy."""

    check: str
    status: Status
    numbers: str
    remedy: str = ""


def passed(check: str, numbers: str) -> Result:
    """Return the result of a check that passed."""
    return Result(check, Status.PASSED, numbers)


def failed(check: str, numbers: str, remedy: str) -> Result:
    """Return the result of a check that failed."""
    return Result(check, Status.FAILED, numbers, remedy)


def not_applicable(check: str, reason: str) -> Result:
    """Return the result of a check that does not apply."""
    return Result(check, Status.NOT_APPLICABLE, reason)


def reason(error: Exception) -> str:
    """Return an exception in one line; of numba's many lines, the one that gives the reason."""
    lines = [line.strip() for line in full_text(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Failed in nopython mode")]
    line = re.sub(r"( of type \w+)\(.*", r"\1", next(iter(telling), ""))
    return f"{type(error).__name__}: {line}"


def full_text(error: Exception) -> str:
    """Return the text of an exception without the colours of a terminal."""
    return re.sub(r"\x1b\[\d*m", "", str(error))
