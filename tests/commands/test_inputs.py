"""An edit of any input of a caption, a sidecar or a verdict causes the files to be rewritten."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT

from dpbandits.kernel.roots import ISLAND
from dpbandits.tables import audits

# Cheap, with claims, private algorithms and audits of them.
FIGURE, TYPED = "adap-alpha", ("runs=2", "engine.workers=1")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy of the checkout, with its figure made once."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("src", "conf", "figures"):
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)
    assert "; drawn;" in run(folder)
    assert "pictures are up to date" in run(folder)
    (folder / "out").rename(folder / "first")
    return folder


def run(folder: Path, **more: str) -> str:
    done = subprocess.run(
        [*DPBANDITS, "run", FIGURE, *TYPED],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")} | more,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def texts(folder: Path) -> str:
    """Return caption, sidecar without the time, and verdict."""
    out = folder / "out" / FIGURE / "runs=2"
    sidecar = json.loads((out / f"{FIGURE}.json").read_text())
    sidecar["provenance"].pop("written")
    caption, verdict = (out / f"{FIGURE}.txt").read_text(), (out / "verdict.json").read_text()
    return f"{caption}{json.dumps(sidecar)}{verdict}"


def replaced(file: str, old: str, new: str) -> tuple[str, Callable[[str], str]]:
    return file, lambda text: text.replace(old, new, 1)


def audited(text: str) -> str:
    # Bound of AdaP-UCB at epsilon = 1, as the sidecar states it.
    return re.sub(r"(?m)^(adap-ucb,.* 1\.0}.*)$", lambda m: m[1].replace("0.99", "0.33"), text)


EDITS = {
    "audits": (audits.FILE, audited),
    "claims": replaced("conf/claims/azize2022.yaml", "α=1 works better", "α=1 works well"),
    "the figure's file": replaced(f"conf/figure/{FIGURE}.yaml", "Regret over", "The regret over"),
    "releases": replaced("src/dpbandits/algorithms/adap_ucb.py", "scale=", "scale=0.5 * "),
    "the name of an instance": replaced("conf/environment/c1.yaml", "name: C1", "name: First"),
    "the words of a caption": replaced(
        "src/dpbandits/factory/captions.py", "composes to", "amounts to"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_any_input_writes_the_files_again(copy: Path, edit: str) -> None:
    file, change = EDITS[edit]
    path, out = copy / file, copy / "out"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(copy / "first", out)  # as made from the unchanged inputs
    before, original = texts(copy), path.read_text("utf-8")
    path.write_text(change(original), "utf-8")
    assert path.read_text("utf-8") != original
    # Machine code of edited kernels would stay in the user's folder.
    kernels = file.removeprefix("src/dpbandits/").startswith(ISLAND)
    own = {"DPBANDITS_CACHE": str(copy / "kernels")} if kernels else {}
    record = (copy / audits.FILE).with_suffix(".json")
    recorded = record.read_text("utf-8")
    digest = hashlib.sha256((copy / audits.FILE).read_bytes()).hexdigest()
    record.write_text(json.dumps(json.loads(recorded) | {"sha256": digest}), "utf-8")
    try:
        assert "; drawn;" in run(copy, **own)
        assert texts(copy) != before
    finally:
        path.write_text(original, "utf-8")
        record.write_text(recorded, "utf-8")
