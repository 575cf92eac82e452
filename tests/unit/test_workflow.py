"""The checks of outside contributions run existing targets, and request no permissions."""

import re
from typing import Any

import pytest
import yaml
from commands import FIGURES, ROOT

from dpbandits.config.conf_files import read_member

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = {".venv/ready", *re.findall(r"^([a-z-]+%?):", MAKEFILE, re.MULTILINE)}


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    content = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    content["on"] = content.pop(True)  # YAML 1.1 reads the word as true
    return dict(content)


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def asked(workflow: dict[str, Any]) -> set[str]:
    """Return the targets of `make` in the workflow and in the script that it runs."""
    scripts = [step["run"] for step in steps(workflow) if "run" in step]
    assert "bash .ci/run" in scripts
    scripts.append((ROOT / ".ci" / "run").read_text("utf-8"))
    lines = re.findall(r"^make (.+)$", "\n".join(scripts), re.MULTILINE)
    variables = re.compile(r'\w+="[^"]*"')
    return {target for line in lines for target in variables.sub("", line).split()}


def test_it_runs_for_pushes_pull_requests_and_at_night(workflow: dict[str, Any]) -> None:
    assert set(workflow["on"]) == {"push", "pull_request", "schedule"}
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]


def is_target(name: str) -> bool:
    return name in TARGETS or re.sub(r"-.*", "-%", name) in TARGETS


def test_the_targets_that_it_makes_exist(workflow: dict[str, Any]) -> None:
    targets = asked(workflow)
    assert {"lint", "test-all", "smoke", "gallery", "mutants", "paper-sajed2019"} <= targets
    assert [name for name in targets if not is_target(name)] == []


@pytest.mark.usefixtures("in_checkout")
def test_the_papers_of_the_night_have_figures(workflow: dict[str, Any]) -> None:
    papers = {read_member("figure", name)["paper"] for name in FIGURES}
    night = {t.removeprefix("paper-") for t in asked(workflow) if t.startswith("paper-")}
    assert night
    assert night <= papers


def test_it_may_read_and_no_more_and_ends_by_itself(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert 0 < job["timeout-minutes"] <= 180


def test_what_it_uses_of_others_is_pinned_to_a_major_version(workflow: dict[str, Any]) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", action)
