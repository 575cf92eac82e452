"""Environment variables: an invalid value gets one line, any other value changes no result."""

import os
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import DPBANDITS, PROGRESS, ROOT, Done
from complaints import readable

from dpbandits.kernel import compilation

# One cell of one run. UCB promises no privacy, so its caption needs no results of audits.
FIGURE = (
    *("figure.horizon=1000", "runs=1", "~figure.curves", "+figure.curves.u.algorithm=ucb"),
    *("~figure.panels.b", "~figure.panels.c", "~figure.panels.d"),
)
Variables = Mapping[str, str | None]  # None: the variable is not set


def run(folder: Path, variables: Variables) -> Done:
    """Make the figure in a folder with changed variables; `@` in their values is the folder."""
    folder.mkdir()
    (folder / "numba").mkdir()
    look = "font.size: 30\naxes.facecolor: red\naxes.titlepad: 40\n"
    (folder / "matplotlibrc").write_text(look)
    changed = {k: v and v.replace("@", str(folder)) for k, v in variables.items()}
    environment = {k: v for k, v in {**os.environ, **changed}.items() if v is not None}
    paths = (f"paths.cache='{folder / 'cache'}'", f"paths.out='{folder / 'out'}'")
    command = (*DPBANDITS, "run", "adap-c2", *FIGURE, *paths)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return Done(done.returncode, done.stdout, PROGRESS.sub("", done.stderr))


def files(folder: Path) -> dict[str, bytes]:
    (table,) = (folder / "out" / "adap-c2").rglob("adap-c2.csv")
    return {k: table.with_suffix(f".{k}").read_bytes() for k in ("pdf", "svg", "png", "csv")}


# In plain Python where the variable does not concern the compiler: the same bits, faster.
PLAIN = {"NUMBA_DISABLE_JIT": "1"}

ASCII = "Größe"  # the folder, where output is ASCII, without assertions and docstrings
# Variables that no two readers share are set together: each command draws a whole figure.
HARMLESS: dict[str, Variables] = {
    "none": {},
    "kernels": {"NUMBA_CACHE_DIR": "@/numba"},
    "nonsense": {
        **PLAIN,
        **{"TERM": "dumb", "COLUMNS": "abc", "LINES": "-1", "NO_COLOR": "1", "FORCE_COLOR": "1"},
        "MPLBACKEND": "nonsense",
        **{"TMPDIR": "/proc/nothing", "JOBLIB_TEMP_FOLDER": "/proc/nothing"},
        **{"LOKY_MAX_CPU_COUNT": "0", "OMP_NUM_THREADS": "nonsense"},
        **{"MATPLOTLIBRC": "@/matplotlibrc", "SOURCE_DATE_EPOCH": "1000000000"},
        **{"GIT_DIR": "/proc", "GIT_WORK_TREE": "/proc"},
    },
    "no home": {
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
    "LOKY_MAX_CPU_COUNT=nonsense": ("joblib", "'nonsense'"),
    "SOURCE_DATE_EPOCH=nonsense": ("numpy", "'nonsense'"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("variables")


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    """Results of all commands, run side by side: nearly all their time is Python's start."""
    jobs = dict(HARMLESS)
    for refused in REFUSED:
        variable, _, value = refused.partition("=")
        jobs[refused] = {**({} if variable.startswith("NUMBA") else PLAIN), variable: value}
    with ThreadPoolExecutor(3) as pool:
        return dict(
            zip(jobs, pool.map(run, map(folder.joinpath, jobs), jobs.values()), strict=True)
        )


@pytest.mark.parametrize("name", HARMLESS)
def test_a_figure_has_the_same_bytes_for_all_variables(
    done: dict[str, Done], folder: Path, name: str
) -> None:
    assert (done[name].status, done[name].err) == (0, "")
    assert done[name].out.startswith("adap-c2: 1 run computed, 0 from the cache; drawn; ")
    assert files(folder / name) == files(folder / "none")
    assert not list((folder / name / "numba").iterdir())  # the user's folder is left alone


def test_a_path_that_the_terminal_cannot_encode_is_printed_with_escapes(
    done: dict[str, Done],
) -> None:
    assert r"Gr\udcc3\udcb6\udcc3\udc9fe" in done[ASCII].out


@pytest.mark.parametrize("variable", REFUSED)
def test_a_variable_that_a_library_rejects_gets_one_line(
    done: dict[str, Done], folder: Path, variable: str
) -> None:
    here, (library, reason) = done[variable], REFUSED[variable]
    assert (here.status, here.out) == (2, "")
    readable(here.err)
    start = f"dpbandits: {library} cannot work with the environment variable {variable} ("
    assert here.err.startswith(start)
    assert reason in here.err
    assert here.err.endswith("): correct it or unset it\n")
    assert not (folder / variable / "out").exists()


@pytest.mark.parametrize(
    ("own", "base", "expected"),
    [
        ("/own", "/base", "/own"),
        ("", "/base", "/base/dpbandits"),
        (None, "base", "{home}/.cache/dpbandits"),  # relative: ignored
    ],
)
def test_the_variables_set_the_folder_of_the_machine_code(
    own: str | None,
    base: str | None,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in (("DPBANDITS_CACHE", own), ("XDG_CACHE_HOME", base)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert compilation.user_cache() == Path(expected.format(home=tmp_path))


@pytest.mark.parametrize(
    ("name", "value", "fragment"),
    [
        ("DPBANDITS_CACHE", "@/file", "(DPBANDITS_CACHE=@/file: "),
        ("DPBANDITS_CACHE", "~nobody-here", "(DPBANDITS_CACHE=~nobody-here: "),
        ("HOME", "@/file", "Not a directory: '@/file/.cache/"),
        ("DPBANDITS_CACHE", "@/shared", "other users can write to @/shared/kernels"),
    ],
)
def test_a_folder_of_machine_code_that_cannot_be_used_is_reported(
    name: str,
    value: str,
    fragment: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    (tmp_path / "shared" / "kernels").mkdir(parents=True)
    (tmp_path / "shared" / "kernels").chmod(0o777)
    for variable in ("DPBANDITS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, value.replace("@", str(tmp_path)))
    assert compilation._folder.__wrapped__("made-up") is None
    (message,) = caplog.messages
    readable(message)
    for part in (fragment, "set DPBANDITS_CACHE to a folder that you"):
        assert part.replace("@", str(tmp_path)) in message
