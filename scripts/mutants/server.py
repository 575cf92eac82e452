"""`python server.py <checkout>`: run tests of a copy of the checkout, each request in a fork.

This process imports the libraries once, and dpbandits never: a fork imports the sources that the
copy holds at that moment. A request is a JSON object in a line of the standard input: `tests`
(files or node ids, in their order), `seconds` and `each` (limits of all and of each), `options` of
pytest, and `lines` (a file for the lines that each test executes). The answer is a line of the
standard output: the exit status, the first test that failed, the number of tests that reached their
limit, and the seconds of those that passed.
"""

import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

LIBRARIES = (
    *("hydra", "joblib", "matplotlib.pyplot", "numba", "numpy"),
    *("scipy.integrate", "scipy.optimize", "scipy.stats", "yaml"),
)
# Products of hashes wrap around, with a warning outside of kernels.
OPTIONS = ("--tb=no", "-W", "ignore:overflow encountered in scalar:RuntimeWarning")
PATIENCE = 10  # slow tests of a file, after which the rest is skipped
LATE = 14  # status of a run that reached its limit


class Record:
    """Pytest plugin: results of tests, and the first failure."""

    def __init__(self) -> None:
        self.failed, self.seconds = "", dict[str, float]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the result of a test."""
        if report.failed and not self.failed:
            self.failed = report.nodeid
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = round(report.duration, 4)

    def pytest_collectreport(self, report: Any) -> None:
        """Keep a file that cannot be imported."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Limit:
    """Pytest plugin: a test fails at its limit, and after some of them the rest is skipped."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.late = seconds, 0

    def pytest_runtest_setup(self) -> None:
        """Skip the rest of a file that needs the compiler."""
        if self.late == PATIENCE:
            pytest.skip("too slow without the compiler")

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Generator[None, Any, Any]:
        """Limit the time of a test."""
        signal.signal(signal.SIGALRM, self._stop)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _stop(self, _: int, frame: FrameType | None) -> None:
        below = frame
        while below:
            if "/coverage/" in below.f_code.co_filename:  # may hold a lock, which would stay locked
                signal.setitimer(signal.ITIMER_REAL, 0.001)
                return
            below = below.f_back
        self.late += 1
        raise TimeoutError(f"more than {self.seconds} seconds without the compiler")


class Lines:
    """Pytest plugin: the lines of the package that each test executes."""

    def __init__(self, package: Path) -> None:
        from coverage import Coverage

        self.package = package
        self.coverage = Coverage(data_file=None, include=[f"{package}/*"], config_file=False)
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Assign the lines from now on to a test."""
        self.coverage.switch_context(nodeid)

    def of_tests(self) -> dict[str, dict[str, list[int]]]:
        """Return the lines of every file that each test executed."""
        self.coverage.stop()
        data = self.coverage.get_data()
        result: dict[str, dict[str, list[int]]] = {}
        for file in data.measured_files():
            name = Path(file).relative_to(self.package).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                for test in filter(None, tests):
                    result.setdefault(test, {}).setdefault(name, []).append(line)
        return result


def run(request: dict[str, Any], checkout: Path) -> dict[str, Any]:
    """Run the tests of a request in this process."""
    record, limit, lines = Record(), Limit(request["each"]), None
    plugins: list[Any] = [record, limit]
    if request.get("lines"):
        lines = Lines(checkout / "src" / "dpbandits")
        plugins.append(lines)
    options = [*OPTIONS, *request.get("options", ())]
    status = int(pytest.main([*options, *request["tests"]], plugins))
    if lines:
        Path(request["lines"]).write_text(json.dumps(lines.of_tests()))
    return {
        "status": status,
        "failed": record.failed,
        "seconds": record.seconds,
        "late": limit.late,
    }


def in_fork(request: dict[str, Any], checkout: Path) -> dict[str, Any]:
    """Run a request in a fork, which is killed at its limit."""
    reading, writing = os.pipe()
    begin = time.monotonic()
    if not (child := os.fork()):
        os.close(reading)
        os.setsid()
        os.chdir(checkout)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        sys.path.insert(0, str(checkout / "src"))
        status: dict[str, Any] = {"status": 3, "failed": "", "seconds": {}, "late": 0}
        try:
            status = run(request, checkout)
        except BaseException:
            status["failed"] = traceback.format_exc()
        finally:
            with os.fdopen(writing, "w") as pipe:
                json.dump(status, pipe)
            os._exit(0)
    os.close(writing)

    def stop(*_: Any) -> None:
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    os.waitpid(child, 0)
    took = round(time.monotonic() - begin, 1)
    late: dict[str, Any] = {"status": LATE, "failed": "", "seconds": {}, "late": 0}
    return (json.loads(text) if text else late) | {"took": took}


def keep_plain_functions() -> None:
    """Let kernels have `py_func` without the compiler too: many tests play that."""
    import numba

    compiled = numba.njit

    def njit(*arguments: Any, **options: Any) -> Any:
        decorated = compiled(*arguments, **options)

        def decorate(function: Any) -> Any:
            function.py_func = function
            return decorated(function)

        return decorate

    numba.njit = njit


def serve(checkout: Path) -> None:
    """Answer the requests of the standard input one after the other."""
    for library in LIBRARIES:
        importlib.import_module(library)
    keep_plain_functions()
    for line in sys.stdin:
        print(json.dumps(in_fork(json.loads(line), checkout)), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
