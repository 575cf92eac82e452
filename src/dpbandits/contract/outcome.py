"""Two ways in which a check can end without its numbers, and errors in one line."""

import inspect
import re
from pathlib import Path
from traceback import extract_tb
from unittest import SkipTest

from dpbandits.core import registry
from dpbandits.run.user_algorithms import error_place


class Broken(AssertionError):
    """A check failed: its numbers, and what to change."""

    def __init__(self, numbers: str, remedy: str) -> None:
        super().__init__(f"{numbers}; to fix it: {remedy}")
        self.numbers, self.remedy = numbers, remedy


class NotApplicable(SkipTest):
    """The check does not apply, for the reason given."""


def reason(error: Exception, algorithm: str) -> str:
    """Return an error in one line: file and line of the algorithm, and the cause.

    Of the many lines of numba's errors, the cause is a name that is not defined, or the first one.
    """
    if place := error_place(error):
        return place
    text = re.sub(r"\x1b\[\d*m|Failed in nopython mode.*", "", str(error))
    causes = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    cause = next((line for line in causes if "NameError" in line), causes[0])
    cause = re.sub(r"( of type \w+)\(.*", r"\1", cause)
    file = registry.member("algorithm", algorithm).shown
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    places += [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)][::-1]
    lines = [line for path, line in places if Path(path).name == Path(file).name]
    if name := re.search(r"name '(\w+)' is not defined", cause):  # numba gives no place
        source = inspect.getsource(registry.algorithm(algorithm)).splitlines()
        lines += [n for n, line in enumerate(source, 1) if re.search(rf"\b{name[1]}\b", line)]
    where = f"{file}, line {lines[0]}" if lines else file
    return f"{where}: {type(error).__name__}: {cause}"
