"""The wheel and the source archive, installed apart from the checkout and used there."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commands import ROOT, Done

WITHOUT_INDEX = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel that is built from the source archive, as an index would serve both."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("dpbandits-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Interpreter of a new environment with the wheel and, by a link, the libraries of this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", *WITHOUT_INDEX, str(wheel)]
    subprocess.run(command, check=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (own,) = (path for path in map(Path, sys.path) if (path / "numba").is_dir())
    for library in own.iterdir():
        # All but this project, which is installed here in editable form.
        name = library.name.lower()
        taken = (packages / library.name).exists() or "dpbandits" in name
        if not taken and library.suffix != ".pth":
            (packages / library.name).symlink_to(library)
    return python


def run(python: Path, folder: Path, *words: str) -> Done:
    """Run a command of the installed package in a folder."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(python.parent / "dpbandits"), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return Done(done.returncode, done.stdout, done.stderr)


def test_commands_work_in_any_folder(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "run", "adap-c2", "profile=smoke")
    assert done.counts == (32, 0, "drawn")
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "out"}
    sidecar = json.loads((tmp_path / "out/smoke/adap-c2/adap-c2.json").read_text())
    version = re.escape(sidecar["provenance"]["versions"]["dpbandits"])
    assert re.fullmatch(rf"{version}\+[0-9a-f]{{12}}", sidecar["provenance"]["revision"])
    assert run(python, tmp_path, "run", "adap-c2", "profile=smoke").counts[:2] == (0, 32)
    for words in (
        ("list",),
        ("export", "adap-c2", "profile=smoke"),
        ("privacy", "dp-se"),
        ("audit", "dp-se", "--plays", "20_000"),
        ("multirun", "figure=adap-c2", "profile=smoke", "seed=1,2"),
        ("check", "lower-bounds"),
        ("init", "my-own-paper"),
    ):
        done = run(python, tmp_path, *words)
        assert done.status == 0, (words, done.err)
        assert done.out


def test_reports_are_those_of_the_checkout_and_never_change_the_package(
    python: Path, tmp_path: Path
) -> None:
    done = run(python, tmp_path, "report", "sajed2019", "--gather")
    assert (done.status, done.out) == (2, "")
    assert "would change the installed package" in done.err
    assert [*tmp_path.iterdir()] == []
    assert run(python, tmp_path, "report", "sajed2019").status == 0
    for page in ("sajed2019.md", "README.md"):
        path = f"docs/reproducibility/{page}"
        assert (tmp_path / path).read_bytes() == (ROOT / path).read_bytes()


def test_the_wheel_has_the_mark_of_types_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "dpbandits/py.typed" in names
    assert "dpbandits/_shipped/conf/config.yaml" in names
    assert "dpbandits/_shipped/template/dpbandits.toml" in names
    assert not [name for name in names if name.startswith(("tests", "scripts")) or ".pyc" in name]
