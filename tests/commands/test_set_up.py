"""The set-up reports in few lines what it installs, and why it cannot."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import set_up
from commands import ROOT

RETRYING = (
    "WARNING: Retrying (Retry(total={left}, connect=None, read=None, redirect=None, status=None))"
    " after connection broken by '{error}': /simple/numpy/"
)
REFUSED = (
    "NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f12>:"
    " Failed to establish a new connection: [Errno 111] Connection refused')"
)
NO_NAME = (
    'NameResolutionError("<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f12>:'
    " Failed to resolve 'an.index' ([Errno -3] Temporary failure in name resolution)\")"
)
SILENT = "ReadTimeoutError(\"HTTPSConnectionPool(host='an.index', port=443): Read timed out.\")"
NOTHING = [
    "ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from"
    " versions: none)",
    "ERROR: No matching distribution found for numpy==2.4.6",
]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (REFUSED, "Connection refused"),
        (NO_NAME, "Temporary failure in name resolution"),
        (SILENT, "ReadTimeoutError"),
    ],
)
def test_an_unreachable_index_is_reported_in_one_line(error: str, why: str) -> None:
    tries = [RETRYING.format(left=left, error=error) for left in (1, 0)]
    assert set_up.reason([*tries, *NOTHING]) == (
        f"pip cannot reach a package index ({why}): connect to the network or name an index or"
        " proxy (PIP_INDEX_URL, PIP_PROXY), then repeat the command"
    )


def test_any_other_failure_prints_the_last_lines_of_pip() -> None:
    full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    for output in (
        ["Collecting numpy==9.9.9", *NOTHING],  # an index that lacks it
        [RETRYING.format(left=4, error=REFUSED), "Collecting numpy", full],  # a retry worked
    ):
        first, *last = set_up.reason(output).splitlines()
        assert first == "the environment cannot be made; its installer's last lines:"
        assert last == output
    assert len(set_up.reason([str(n) for n in range(100)]).splitlines()) == 1 + set_up.LAST_LINES


def printing(*lines: str, status: int = 0) -> tuple[str, ...]:
    """Return a command that prints lines and ends with a status."""
    return (sys.executable, "-c", f"import sys; print(*{lines!r}, sep='\\n'); sys.exit({status})")


PIP = (
    "Collecting numpy==2.4.6 (from -r requirements.lock (line 26))",
    *("Collecting scipy==1.17.1", "  Downloading scipy-1.17.1-cp311.whl (35.0 MB)"),
    "Requirement already satisfied: python-dateutil in ./lib (from matplotlib)",
    *("Installing collected packages: numpy, scipy", "Successfully installed"),
)


def test_a_step_is_one_line_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    log: list[str] = []
    set_up.run(set_up.Step(printing(*PIP), "2 packages", 2), log)
    assert capsys.readouterr() == ("", "  2 packages, 0 s\n")
    assert log == list(PIP)


def test_a_step_that_takes_long_says_now_and_then_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up, "LINE_EVERY", 0.0)
    set_up.run(set_up.Step(printing(*PIP), "2 packages", 2), [])
    lines = [line.rpartition(",")[0].strip() for line in capsys.readouterr().err.splitlines()]
    assert list(dict.fromkeys(lines)) == [
        "package 1 of 2: numpy==2.4.6",
        "package 2 of 2: scipy==1.17.1",
        "package 2 of 2: Downloading scipy-1.17.1-cp311.whl (35.0 MB)",
        "package 2 of 2",
        "unpacking 2 packages",
        "2 packages",
    ]


def test_a_step_that_fails_ends_the_set_up_with_its_words() -> None:
    with pytest.raises(set_up.Failed, match=r"last lines:\nno space$"):
        set_up.run(set_up.Step(printing("no space", status=1), "done", 0), [])


def test_the_set_up_counts_the_packages_of_the_lock(tmp_path: Path) -> None:
    made, locked, own, _ = set_up.steps(tmp_path / "none")
    lock = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line.strip()]
    assert (made.packages, locked.packages, own.packages) == (0, len(lock), 0)
    assert locked.done == f"{len(lock)} packages of requirements.lock"
    # An existing environment is not made again.
    assert len(set_up.steps(Path(sys.prefix))) == 3


def test_bytecode_is_written_even_if_python_is_to_write_none() -> None:
    run = "import set_up, sys; set_up.run(set_up.Step((sys.executable, '-c', "
    run += "'import sys; print(sys.dont_write_bytecode)'), '', 0), log := []); print(*log)"
    ended = subprocess.run(
        [sys.executable, "-c", run],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT / "scripts",
        capture_output=True,
        check=True,
    )
    assert ended.stdout.split() == [b"False"]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_without_a_network_make_reports_it_and_fails(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    own = {n: v for n, v in os.environ.items() if not n.startswith(("MAKE", "MFLAGS", "PIP_"))}
    # Port 9 of this machine, on which nothing listens.
    pip = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_RETRIES": "1",
    }
    done = subprocess.run(
        ("make", "list", f"PYTHON={sys.executable}"),
        cwd=tmp_path,
        env={**own, **pip, "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    first, venv, why, failed = done.stderr.splitlines()
    assert first.startswith("Setting up .venv, once, about a minute: Python 3.")
    assert venv.startswith("  an empty environment, ")
    assert why.startswith("dpbandits: pip cannot reach a package index (Connection refused): ")
    assert failed.startswith("make: *** ")
    assert not (tmp_path / ".venv" / "ready").exists()
    assert "Retrying" in (tmp_path / ".venv" / "set-up.log").read_text("utf-8")
