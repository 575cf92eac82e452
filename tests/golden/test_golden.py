"""Every run equals, to the last bit, the run recorded in rows.jsonl.

Golden rows cannot show a change that affects no choice in these few runs. Other tests check that
the law is right; these check that it does not change unnoticed.
"""

from enum import IntEnum
from pathlib import Path
from typing import Any

import golden_rows
import pytest
from cells import is_quick
from golden_rows import COMMAND, Case, cases, difference

from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project
from dpbandits.kernel import parameters, registry

ROOT = Path(__file__).resolve().parents[2]
PLAYED = sorted(path.stem for path in (ROOT / "conf" / "algorithm").glob("*.yaml"))

pytestmark = pytest.mark.usefixtures("in_checkout")


def advice(name: str) -> str:
    made_with, _ = golden_rows.read()
    here = golden_rows.made_with()
    others = [f"{k} {made_with.get(k)}, not {here[k]}" for k in here if made_with.get(k) != here[k]]
    last_bits = f"\nThe golden rows are of {'; '.join(others)}: last bits may differ for that alone"
    meant = f"If a law or a stream was changed on purpose: {COMMAND} {name}"
    return meant + (last_bits if others else "")


def compiles_longer_than_it_plays(case: Case) -> bool:
    """Return whether `make test` plays a case without the compiler, to the same bits."""
    cell = case.cell
    return (
        isinstance(cell, RegretExperiment)
        and not is_quick(cell.member, cell.environment)
        and cell.horizon <= golden_rows.COMMON["horizon"]
    )


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["soon", "compiled"]
)
def test_the_runs_are_the_golden_ones(name: str, compiled: bool) -> None:
    _, rows = golden_rows.read()
    differences = []
    for case in cases():
        if case.plays == name:
            played = golden_rows.play(case, compiled or not compiles_longer_than_it_plays(case))
            differences.append(difference(rows.get(case.name, []), played))
    assert not any(differences), "\n".join([*filter(None, differences), advice(name)])


@pytest.mark.parametrize("name", PLAYED)
def test_the_golden_runs_of_a_set_differ(name: str) -> None:
    # Runs with identical results would stay golden whatever happened to the rewards.
    _, rows = golden_rows.read()
    case = next(case for case in cases() if case.plays == name)  # the plainest case is first
    runs = [{**row, "run": None} for row in rows[case.name][1:]]
    assert any(run != runs[0] for run in runs), f"{case.name}: give it a game in golden_rows.GAMES"


def test_every_case_member_and_reading_has_golden_rows_and_nothing_else_has() -> None:
    _, rows = golden_rows.read()
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert rows.keys() == set(names), f"{COMMAND} makes the rows that are missing, and drops others"
    assert {case.plays for case in cases()} == {*project.names("algorithm")} == {*PLAYED}
    assert {case.on for case in cases()} >= {*project.names("environment")}
    kinds = {"algorithm": "params", "rule": "params", "environment": "instance"}
    described = [(row, kind) for row, *_ in rows.values() for kind in kinds if kind in row]
    modules: list[tuple[str, Any]] = [
        (name, registry.algorithm(name)) for name in registry.algorithm_names()
    ]
    modules += [(name, registry.algorithm(name)) for name in registry.names("stopping")]
    modules += [(name, registry.environment(name)) for name in registry.environment_names()]
    assert {name for name, _ in modules} == {row[kind] for row, kind in described}
    # Descriptions leave out a field of the value that it had before it was added.
    cells = [case.cell for case in cases()]
    played = [(cell.member, cell.params) for cell in cells]
    played += [(c.environment, c.instance) for c in cells if isinstance(c, RegretExperiment)]
    golden = {
        (name, field, str(value))
        for name, params in played
        for field, value in parameters.as_json(params).items()
    }
    variants = {
        (name, field, parameters.variant_name(m) if isinstance(m, IntEnum) else str(m))
        for name, module in modules
        for field, annotation in parameters.fields(module.Params).items()
        for m in golden_rows.members(annotation)
    }
    assert ("private-ucb", "split", "none") in variants
    assert not variants - golden, f"{COMMAND} makes the rows that are missing"


def test_the_golden_rows_are_of_the_locked_versions() -> None:
    made_with, _ = golden_rows.read()
    locked = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    for library in ("numba", "numpy"):
        made = f"{library}=={made_with[library]}"
        assert made in locked, f"the golden rows are of {made}; after an upgrade: {COMMAND}"
