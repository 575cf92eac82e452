"""Layers of files, files that are written whole or refused, and the provenance of sources."""

import errno
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT

from dpbandits.files import project, provenance
from dpbandits.files.atomic import check_writable, to_json, write_atomically
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import PACKAGE, Discovery, Root


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Root]:
    """A project and a plugin, each with one source."""
    made = {name: Root(name, tmp_path / name) for name in ("mine", "plugged")}
    for name, root in made.items():
        for folder in ("algorithms", "conf/figure"):
            (root.folder / folder).mkdir(parents=True)
        (root.folder / "algorithms" / "first.py").write_text(f"# {name}\n")
    found = Discovery(made["mine"], (), (PACKAGE, *made.values()))
    for module in (project, provenance):
        monkeypatch.setattr(module, "discovery", lambda: found)
    return made


def digest(name: str) -> str:
    return hashlib.sha256(f"\0algorithms/first.py\0# {name}\n".encode()).hexdigest()[:12]


@pytest.mark.parametrize("committed", [False, True])
def test_a_project_and_its_plugins_are_named_by_their_sources_and_a_commit_of_their_own(
    committed: bool, roots: dict[str, Root], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, head = roots["mine"].folder, None
    git = ("git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x")
    if committed:
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
            subprocess.run((*git, *words), check=True)
        head = subprocess.check_output((*git, "rev-parse", "HEAD"), text=True)[:12]
    monkeypatch.setenv("GIT_DIR", "elsewhere")  # as in a hook of another repository
    said = provenance.provenance()
    assert said["project"] == {"package": "mine", "revision": head, "sources": digest("mine")}
    assert said["plugins"] == {"plugged": digest("plugged")}


def test_a_project_comes_first_and_what_no_layer_has_is_in_the_last(roots: dict[str, Root]) -> None:
    folder, file = roots["mine"].folder, "conf/figure/one.yaml"
    (folder / file).write_text("title: One\n")
    assert project.layers() == (folder, project.SHIPPED)
    assert (project.find(file), project.home("figure", "one")) == (folder / file, folder)
    assert project.find("conf/none.yaml") == project.SHIPPED / "conf/none.yaml"
    assert project.home("figure", "adap-c2") == project.SHIPPED
    owners = [project.owner(layer) for layer in (folder, roots["plugged"].folder, project.SHIPPED)]
    assert owners == ["mine", "plugged", ""]
    (folder / "conf").rename(folder / "cnf")
    with pytest.raises(UserError, match=rf"^{folder} has no folder conf/, in which a project"):
        project.layers()


def test_a_checkout_is_found_from_below_and_has_both_folders(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout / "conf" / "figure")
    assert project.folder() == project.layers()[-1] == checkout
    (tmp_path / "half" / "conf").mkdir(parents=True)
    (tmp_path / "half" / "conf" / "config.yaml").touch()
    monkeypatch.chdir(tmp_path / "half")
    assert project.layers() == (ROOT,)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError(errno.ENOSPC, "No space left"), "No space left"), (OSError("odd"), "odd")],
)
def test_a_refusal_of_the_system_is_told_with_the_file_and_the_remedy(
    error: OSError, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    writes: tuple[Callable[[str], None], ...] = (
        lambda remedy: write_atomically(tmp_path / "x", b"", remedy),
        lambda remedy: check_writable(tmp_path / "x", remedy),
    )
    for act in writes:
        for remedy, end in (("make room", ". make room"), ("", "")):
            with pytest.raises(UserError) as caught:
                act(remedy)
            assert str(caught.value) == f"cannot write {tmp_path / 'x'}: {reason}{end}"
    assert to_json({"a": [1]}) == b'{\n "a": [\n  1\n ]\n}\n'
