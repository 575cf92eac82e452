"""Environment variables: an invalid value gets one line, any other value changes no result."""

import os
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import DPBANDITS, PROGRESS, ROOT, RUN_PY
from complaints import readable

from dpbandits.core import kernel

# One cell of one run. UCB promises no privacy, so its caption needs no results of audits.
FIGURE = (
    *("figure.horizon=1000", "runs=1", "~figure.curves", "+figure.curves.u.algorithm=ucb"),
    *("~figure.panels.b", "~figure.panels.c", "~figure.panels.d"),
)
KINDS = ("pdf", "svg", "png", "csv")

Variables = Mapping[str, str | None]  # None: the variable is not set


@dataclass
class Done:
    """Result of a command."""

    status: int
    out: str
    err: str
    folder: Path  # in which paths.out is `out`

    def files(self) -> dict[str, bytes]:
        (table,) = (self.folder / "out" / "adap-c2").rglob("adap-c2.csv")
        made = table.parent  # named by the overrides
        return {kind: (made / f"adap-c2.{kind}").read_bytes() for kind in KINDS}


def run(folder: Path, variables: Variables, command: tuple[str, ...]) -> Done:
    """Run a command with changed variables; `@` in their values and its words is its folder."""
    environment = dict(os.environ)
    for name, value in variables.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value.replace("@", str(folder))
    command = tuple(word.replace("@", str(folder)) for word in command)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return Done(done.returncode, done.stdout, PROGRESS.sub("", done.stderr), folder)


def figure(folder: Path) -> tuple[str, ...]:
    paths = (f"paths.cache='{folder / 'cache'}'", f"paths.out='{folder / 'out'}'")
    return (*DPBANDITS, "run", "adap-c2", *FIGURE, *paths)


# In plain Python where the variable does not concern the compiler: the same bits, faster.
PLAIN = {"NUMBA_DISABLE_JIT": "1"}

ASCII = "no assertions and docstrings, and nothing but ASCII"
# Variables that no two readers share are set together: each command draws a whole figure.

HARMLESS: dict[str, Variables] = {
    "none": {},
    "a cache of the user's own kernels": {"NUMBA_CACHE_DIR": "@/numba"},
    "nonsense without an effect, and another look, date and repository": {
        **PLAIN,
        **{"TERM": "dumb", "COLUMNS": "abc", "LINES": "-1", "NO_COLOR": "1", "FORCE_COLOR": "1"},
        **{"TMPDIR": "/proc/nothing", "JOBLIB_TEMP_FOLDER": "/proc/nothing"},
        **{"LOKY_MAX_CPU_COUNT": "0", "OMP_NUM_THREADS": "nonsense"},
        **{"MATPLOTLIBRC": "@/matplotlibrc", "SOURCE_DATE_EPOCH": "1000000000"},
        **{"GIT_DIR": "/proc", "GIT_WORK_TREE": "/proc"},
    },
    "no home and a stricter Python": {
        **PLAIN,
        **{"HOME": None, "XDG_CACHE_HOME": "@", "DPBANDITS_CACHE": ""},
        **{"PYTHONWARNINGS": "error", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "5"},
    },
    ASCII: {
        **PLAIN,
        "PYTHONOPTIMIZE": "2",
        **{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        "PYTHONIOENCODING": "ascii",
    },
}

REFUSED: dict[str, tuple[str, str]] = {
    "NUMBA_DISABLE_JIT=nonsense": ("numba", "could not be parsed"),
    "NUMBA_NUM_THREADS=0": ("numba", "must be > 0"),
    "MPLBACKEND=nonsense": ("matplotlib", "'agg'"),
    "LOKY_MAX_CPU_COUNT=nonsense": ("joblib", "'nonsense'"),
    "SOURCE_DATE_EPOCH=nonsense": ("numpy", "'nonsense'"),
}

OTHERS: dict[str, tuple[Variables, tuple[str, ...]]] = {
    "Hydra's short errors": ({"HYDRA_FULL_ERROR": "0"}, (*RUN_PY, "figure=adap-c2", "profile=x")),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Results of all commands, run side by side: nearly all their time is Python's start."""
    jobs: dict[str, tuple[Variables, tuple[str, ...]]] = {}
    jobs |= {f"harmless {name}": (variables, ()) for name, variables in HARMLESS.items()}
    for refused in REFUSED:
        variable, _, value = refused.partition("=")
        plain = {} if variable.startswith("NUMBA") else PLAIN
        jobs[f"refused {refused}"] = ({**plain, variable: value}, ())
    jobs |= {f"other {name}": job for name, job in OTHERS.items()}
    folders = {}
    for name in jobs:
        folders[name] = tmp_path_factory.mktemp("Größe" if "ASCII" in name else "folder")
        (folders[name] / "numba").mkdir()
        (folders[name] / "matplotlibrc").write_text(
            "font.size: 30\naxes.facecolor: red\naxes.titlepad: 40\n"
        )
    with ThreadPoolExecutor(3) as pool:
        running = {
            name: pool.submit(run, folders[name], variables, command or figure(folders[name]))
            for name, (variables, command) in jobs.items()
        }
    return {name: future.result() for name, future in running.items()}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_figure_has_the_same_bytes_for_all_variables(done: dict[str, Done], name: str) -> None:
    usual, here = done["harmless none"], done[f"harmless {name}"]
    assert (here.status, here.err) == (0, "")
    assert here.out.startswith("adap-c2: 1 run computed, 0 from the cache; drawn; ")
    assert here.files() == usual.files()


def test_a_path_that_the_terminal_cannot_encode_is_printed_with_escapes(
    done: dict[str, Done],
) -> None:
    assert r"Gr\udcc3\udcb6\udcc3\udc9fe" in done[f"harmless {ASCII}"].out


def test_the_users_own_folder_of_numba_is_left_alone(done: dict[str, Done]) -> None:
    own = done["harmless a cache of the user's own kernels"].folder / "numba"
    assert not list(own.iterdir())


@pytest.mark.parametrize("variable", REFUSED)
def test_a_variable_that_a_library_rejects_gets_one_line(
    done: dict[str, Done], variable: str
) -> None:
    here, (library, reason) = done[f"refused {variable}"], REFUSED[variable]
    assert (here.status, here.out) == (2, "")
    readable(here.err)
    start = f"dpbandits: {library} cannot work with the environment variable {variable} ("
    assert here.err.startswith(start)
    assert reason in here.err
    assert here.err.endswith("): correct it or unset it\n")
    assert not (here.folder / "out").exists()


def test_hydra_is_not_asked_for_its_short_errors(done: dict[str, Done]) -> None:
    here = done["other Hydra's short errors"]
    assert (here.status, here.out) == (2, "")
    readable(here.err)
    assert here.err.startswith("dpbandits: unknown profile 'x'; valid: ci, paper, smoke")


# The folder of the machine code ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "base", "folder"),
    [
        ("/own", "/base", "/own"),
        ("~/own", "/base", "{home}/own"),
        ("", "/base", "/base/dpbandits"),
        (None, "base", "{home}/.cache/dpbandits"),  # relative: ignored
        (None, None, "{home}/.cache/dpbandits"),
    ],
)
def test_the_variables_set_the_folder_of_the_machine_code(
    own: str | None, base: str | None, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in (("DPBANDITS_CACHE", own), ("XDG_CACHE_HOME", base)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert kernel.user_cache() == Path(folder.format(home=tmp_path))


@pytest.mark.parametrize(
    ("variables", "fragments"),
    [
        ({"DPBANDITS_CACHE": "@/file"}, ("(DPBANDITS_CACHE=@/file: ", "Not a directory")),
        ({"DPBANDITS_CACHE": "/proc/nothing"}, ("(DPBANDITS_CACHE=/proc/nothing: ",)),
        ({"DPBANDITS_CACHE": "~nobody-here"}, ("(DPBANDITS_CACHE=~nobody-here: ", "home")),
        ({"HOME": "@/file"}, ("Not a directory: '@/file/.cache/",)),
    ],
    ids=str,
)
def test_a_folder_of_machine_code_that_cannot_be_used_is_reported(
    variables: dict[str, str],
    fragments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    for name in ("DPBANDITS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("@", str(tmp_path)))
    assert kernel.folder.__wrapped__() is None
    (message,) = caplog.messages
    readable(message)
    for part in (*fragments, "set DPBANDITS_CACHE to a folder that can be written"):
        assert part.replace("@", str(tmp_path)) in message
