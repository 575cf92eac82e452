"""Trials of mutants in copies of the checkout, several at a time; every result is kept at once."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutants import concerned
from mutants.concerned import TIME_LIMIT, Selection
from mutants.mutations import Mutant
from mutants.server import LATE

SERVER = Path(__file__).with_name("server.py")
ALL = 900.0  # seconds for all tests that concern a mutant
STUCK = 40.0  # seconds after which a test of a mutant does not end; it took EACH at most
NOT_FOUND = 4  # pytest's status if the mutant changes a parameter, and with it a test's name
PASSED, NO_TESTS = 0, 5  # pytest's statuses
FAILED = (1, 2)  # pytest's statuses: a test failed, or a file could not be imported
EACH = 8.0  # seconds of a test without the compiler; slower ones do not take part
# Tests with the compiler, or of commands in processes of their own, by what begins the name of a
# module. They follow if no test without the compiler notices a mutant.
FOLLOWING = {
    "algorithms/": ("contract/test_schemes.py",),
    "api/": ("unit/test_api.py", "unit/test_api_in_memory.py"),
    "audit/": ("unit/test_audit.py", "unit/test_audit_figures.py"),
    "checks/": ("unit/test_check.py", "unit/test_against.py", "unit/test_judge_committed.py"),
    "cli/": ("commands/test_cli.py", "commands/test_bad_command_line.py"),
    "cli/compare.py": ("commands/test_compare.py",),
    "cli/hydra_program.py": ("commands/test_multirun.py",),
    "cli/main.py": ("commands/test_cli.py", "commands/test_verify.py", "unit/test_audit.py"),
    "config/": ("unit/test_config.py", "unit/test_changes.py", "commands/test_multirun.py"),
    "contract/": ("commands/test_verify.py",),
    "drawing/": ("unit/test_drawing.py", "unit/test_pictures.py"),
    "drawing/plotting.py": ("commands/test_own_project.py",),
    "environments/": ("contract/test_tables.py", "unit/test_api_in_memory.py"),
    "experiments/": ("unit/test_runner.py", "unit/test_stopping_figures.py"),
    "experiments/audit.py": ("unit/test_audit_figures.py",),
    "factory/": (
        *("unit/test_captions.py", "unit/test_captions_recomputed.py"),
        "commands/test_cli.py",
    ),
    "fast/": ("contract/test_schemes.py", "contract/test_largest_sample.py"),
    "fast/_noise.py": ("unit/test_noise_ahead.py",),
    "kernel/": ("unit/test_kernel.py", "unit/test_registry.py"),
    "kernel/samples.py": ("commands/test_verify.py",),
    "privacy/accounting.py": ("unit/test_accounting.py",),
    "run/": ("unit/test_runner.py", "commands/test_faults.py"),
    "run/dask_cluster.py": ("commands/test_cluster.py",),
    "site/": ("commands/test_site.py",),
    "spec/": ("unit/test_captions.py", "unit/test_changes.py", "unit/test_api.py"),
    "sweeps/": ("commands/test_multirun.py",),
    "tables/": ("unit/test_against.py", "unit/test_published.py", "unit/test_references.py"),
    "tables/audits.py": ("unit/test_audit_figures.py", "unit/test_captions.py"),
}


class Copy:
    """Copy of the checkout, and a process that runs its tests."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        listed = subprocess.run(
            ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            cwd=checkout,
            check=True,
            capture_output=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (checkout / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(checkout / name, folder / name)
        self.folder, self.package = folder, folder / "src" / "dpbandits"
        self.passed: set[tuple[str, ...]] = set()  # commands whose tests pass without a mutant
        variables = {"NUMBA_DISABLE_JIT": "1", "MPLBACKEND": "agg", "PYTHONHASHSEED": "0"}
        # Plugins of libraries that the server has imported already, and xdist, are of no use here.
        variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        caching = {"DPBANDITS_CACHE": str(folder / "machine-code"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            (sys.executable, str(SERVER), str(folder)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | variables | threads | caching,
            text=True,
        )

    def run(self, tests: Sequence[str], seconds: float, **more: Any) -> dict[str, Any]:
        """Run tests and return the answer of the server."""
        assert self.process.stdin
        assert self.process.stdout
        request = {"tests": list(tests), "seconds": seconds, **more}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline()))

    @contextmanager
    def with_mutant(self, mutant: Mutant) -> Iterator[None]:
        """Put a mutant in the place of its file."""
        file = self.package / mutant.file
        source = file.read_bytes()
        file.write_bytes(mutant.of(source))
        try:
            yield
        finally:
            file.write_bytes(source)

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


class Copies:
    """Some copies, each used by one task at a time."""

    def __init__(self, checkout: Path, folder: Path, number: int) -> None:
        self.number, self.free = number, SimpleQueue[Copy]()
        self.all = [Copy(checkout, folder / f"copy-{n}") for n in range(number)]
        for copy in self.all:
            self.free.put(copy)

    def run_all(self, tasks: Sequence[Any], do: Callable[[Copy, Any], Any]) -> Iterator[Any]:
        """Yield the results of the tasks as they end."""

        def with_a_copy(task: Any) -> Any:
            copy = self.free.get()
            try:
                return do(copy, task)
            finally:
                self.free.put(copy)

        with ThreadPoolExecutor(self.number) as pool:
            for future in as_completed([pool.submit(with_a_copy, task) for task in tasks]):
                yield future.result()

    def close(self) -> None:
        """End all processes."""
        for copy in self.all:
            copy.close()


def measure(copy: Copy, test_file: str, result: Path) -> str:
    """Run a file of tests without mutants and without the compiler; keep the lines of each test."""
    lines = result.with_suffix(".lines")
    answer = copy.run([test_file], ALL, each=EACH, lines=str(lines))
    if answer["status"] not in (PASSED, *FAILED, NO_TESTS):  # or every mutant would survive
        raise RuntimeError(f"{test_file}: pytest ended with {answer['status']}")
    measured = json.loads(lines.read_text("utf-8")) if lines.exists() else {}
    lines.unlink(missing_ok=True)
    content = {"file": test_file, "seconds": answer["seconds"], "lines": measured}
    result.write_text(json.dumps(content), "utf-8")
    passed = len(answer["seconds"])
    return f"{test_file}: {passed} tests in {answer['took']} s, status {answer['status']}"


def killer(copy: Copy, mutant: Mutant, selection: Selection) -> dict[str, Any]:
    """Return what killed a mutant: the test and its group, or nothing."""
    tests = selection.all_of(mutant)
    first = selection.first_of(tests)
    seconds, ran = 0.0, 0
    with copy.with_mutant(mutant):
        for chosen in (first, [test for test in tests if test not in first]):
            if not chosen:
                continue
            names = [test.name for test in chosen]
            answer = copy.run(names, ALL, each=STUCK, options=["-x"])
            if answer["status"] == NOT_FOUND:
                files = dict.fromkeys(f"tests/{test.file}" for test in chosen)
                answer = copy.run([*files], ALL, each=STUCK, options=["-x"])
            seconds, ran = seconds + answer["took"], ran + len(chosen)
            if answer["status"]:
                return _death(answer, names) | {"seconds": round(seconds, 1)}
    if following := following_tests(mutant.file):
        return _following_killer(copy, mutant, following)
    return {"killed": "", "test": "", "tests": ran, "seconds": round(seconds, 1)}


def following_tests(module: str) -> list[str]:
    """Return the tests of FOLLOWING of the longest beginning of a module's name."""
    begin = max((begin for begin in FOLLOWING if module.startswith(begin)), default="", key=len)
    return [f"tests/{file}" for file in FOLLOWING.get(begin, ())]


def _following_killer(copy: Copy, mutant: Mutant, tests: list[str]) -> dict[str, Any]:
    # In a process of their own, with the compiler.
    command = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", *tests)
    env = {"PYTHONPATH": f"{copy.folder / 'src'}", "DPBANDITS_CACHE": f"{copy.folder / 'compiled'}"}
    options: Any = {"cwd": copy.folder, "env": os.environ | env, "capture_output": True}
    begin = time.monotonic()
    with copy.with_mutant(mutant):
        try:
            done = subprocess.run(command, timeout=ALL, **options)
        except subprocess.TimeoutExpired:
            return {"killed": TIME_LIMIT, "test": tests[0], "seconds": ALL}
    seconds = {"seconds": round(time.monotonic() - begin, 1)}
    if not done.returncode:
        copy.passed.add(command)
        return {"killed": "", "test": "", "tests": len(tests), **seconds}
    if command not in copy.passed and subprocess.run(command, **options).returncode:
        raise RuntimeError(f"{', '.join(tests)} fail without a mutant too")
    copy.passed.add(command)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout.decode(), re.MULTILINE)
    crashed = done.returncode < 0  # a wrong index writes anywhere
    if not crashed and (done.returncode not in FAILED or failed is None):
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout.decode()[-500:]}")
    test = failed[1] if failed else tests[0]
    return {"killed": concerned.group_of(test), "test": test, **seconds}


def _death(answer: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    # Raises RuntimeError if the tests ended for another reason than a failure or a limit.
    if answer["status"] == NOT_FOUND:  # of whole files: what conftest.py imports is broken
        return {"killed": concerned.group_of(names[0]), "test": "tests/conftest.py"}
    if answer["late"] or answer["status"] == LATE:
        return {"killed": TIME_LIMIT, "test": answer["failed"] or names[0]}
    if answer["status"] not in FAILED or not answer["failed"]:
        raise RuntimeError(f"pytest ended with {answer['status']}: {answer['failed']} {names[:3]}")
    return {"killed": concerned.group_of(answer["failed"]), "test": answer["failed"]}
