"""Every run equals, to the last bit, the run recorded in rows.jsonl.

Golden rows cannot show a change that affects no choice in these few runs. Other tests check that
the law is right; these check that it does not change unnoticed.
"""

import copy
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import golden_rows
import golden_streams
import make_golden as script
import pytest
from cells import is_quick
from golden_rows import COMMAND, Case, Rows, cases, difference

from dpbandits.core import parameters, registry
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project

ROOT = Path(__file__).resolve().parents[2]
PLAYED = sorted(path.stem for path in (ROOT / "conf" / "algorithm").glob("*.yaml"))

Members = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def advice(name: str) -> str:
    made_with, _ = golden_rows.read()
    here = golden_rows.made_with()
    others = [f"{k} {made_with.get(k)}, not {here[k]}" for k in here if made_with.get(k) != here[k]]
    last_bits = (
        f"\nThe golden rows are of {'; '.join(others)}: the last bits may differ for that alone."
    )
    meant = f"If a law or a stream was changed on purpose: {COMMAND} {name}"
    return meant + (last_bits if others else "")


# Runs in step are sixteen at a time, also in plain Python: they take five times as long as the
# compilation.
IN_STEP = ("dp-ucb", "adversaries")


def compiles_longer_than_it_plays(case: Case) -> bool:
    """Return whether `make test` plays a case without the compiler, to the same bits."""
    cell = case.cell
    return (
        isinstance(cell, RegretExperiment)
        and not is_quick(cell.member, cell.environment)
        and (cell.member, cell.environment) != IN_STEP
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
            if case.name not in rows:
                differences.append(f"{case.name}: there are no golden rows")
            elif words := difference(rows[case.name], played):
                differences.append(words)
    assert not differences, "\n".join([*differences, advice(name)])


@pytest.mark.parametrize("name", PLAYED)
def test_the_golden_runs_of_a_set_differ(name: str) -> None:
    # Runs with identical results would stay golden whatever happened to the rewards.
    _, rows = golden_rows.read()
    case = next(case for case in cases() if case.plays == name)  # the plainest case is first
    runs = [{**row, "run": None} for row in rows.get(case.name, [])[1:]]
    assert runs, f"{case.name}: there are no golden rows\n{advice(name)}"
    assert any(run != runs[0] for run in runs), f"{case.name}: give it a game in golden_rows.GAMES"


@pytest.mark.parametrize(
    ("kind", "members", "key"),
    [
        ("file of conf/algorithm", lambda: project.names("algorithm"), "plays"),
        ("file of conf/environment", lambda: project.names("environment"), "on"),
        ("algorithm", registry.algorithm_names, "algorithm"),
        ("stopping rule", registry.stopping_rule_names, "rule"),
        ("law", registry.environment_names, "environment"),
    ],
    ids=["set of hyper-parameters", "environment", "algorithm", "stopping rule", "law"],
)
def test_every_member_has_golden_rows(kind: str, members: Members, key: str) -> None:
    _, rows = golden_rows.read()
    golden = {
        getattr(case, key, rows[case.name][0].get(key)) for case in cases() if case.name in rows
    }
    missing = [name for name in members() if name not in golden]
    assert not missing, (
        f"no golden rows of the {kind} {', '.join(missing)}; once there is a file of it in conf/,"
        f" this makes them: {COMMAND} {' '.join(missing)}"
    )


def test_every_reading_has_golden_rows() -> None:
    _, rows = golden_rows.read()
    golden = {
        (row[kind], field, str(value))
        for row, *_ in rows.values()
        for kind, params in (
            ("algorithm", "params"),
            ("rule", "params"),
            ("environment", "instance"),
        )
        if kind in row
        for field, value in row[params].items()
    }
    modules = [(name, registry.algorithm(name)) for name in registry.algorithm_names()]
    modules += [(name, registry.stopping_rule(name)) for name in registry.stopping_rule_names()]
    modules += [(name, registry.environment(name)) for name in registry.environment_names()]
    readings = {
        (name, field, parameters.reading_name(m) if isinstance(m, IntEnum) else str(m))
        for name, module in modules
        for field, annotation in parameters.fields(module.Params).items()
        for m in golden_rows.members(annotation)
    }
    assert ("private-ucb", "split", "none") in readings
    missing = sorted(readings - golden)
    assert not missing, f"no golden rows of {missing}; this makes them: {COMMAND}"


def test_no_golden_rows_are_of_a_case_that_is_gone() -> None:
    _, rows = golden_rows.read()
    gone = sorted(set(rows) - {case.name for case in cases()})
    assert not gone, f"rows of what is golden no more, {', '.join(gone)}; {COMMAND} drops them"


def test_no_two_cases_have_one_name() -> None:
    assert len({case.name for case in cases()}) == len(cases())


def test_the_golden_rows_are_of_the_locked_versions() -> None:
    made_with, _ = golden_rows.read()
    locked = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    for library in ("numba", "numpy"):
        made = f"{library}=={made_with[library]}"
        assert made in locked, f"the golden rows are of {made}; after an upgrade: {COMMAND}"


GOLDEN: Rows = [
    {"case": "a on b", "params": {"alpha": 3.1}, "rounds": [1, 10]},
    {"case": "a on b", "run": 0, "regret": [0.5, 1.5], "pulls": [3, 7]},
]


@pytest.mark.parametrize(
    ("row", "key", "value", "words"),
    [
        (0, "params", {"alpha": 3.0}, "a on b: params.alpha is 3.0, golden 3.1"),
        (0, "rounds", [1, 12], "a on b: rounds number 2 is 12, golden 10"),
        (
            1,
            "regret",
            [0.5, 1.5000000000000002],
            "a on b, run 0: regret at round 10 is 1.5000000000000002, golden 1.5",
        ),
        (1, "pulls", [4, 6], "a on b, run 0: pulls of arm 1 is 4, golden 3"),
        (1, "pulls", [3, 7, 0], "a on b, run 0: pulls is [3, 7, 0], golden [3, 7]"),
    ],
)
def test_a_difference_of_one_bit_is_told_with_both_numbers(
    row: int, key: str, value: Any, words: str
) -> None:
    played = copy.deepcopy(GOLDEN)
    assert difference(GOLDEN, played) is None
    played[row][key] = value
    assert difference(GOLDEN, played) == words
    assert difference(GOLDEN, GOLDEN[:1]) == "a on b: 0 runs, golden 1"


def test_a_run_that_moved_is_told_before_a_parameter_that_is_new() -> None:
    played = copy.deepcopy(GOLDEN)
    played[0]["params"]["new"] = 1.0
    assert difference(GOLDEN, played) == "a on b: params.new is 1.0, golden None"
    played[1]["pulls"] = [4, 6]
    assert difference(GOLDEN, played) == "a on b, run 0: pulls of arm 1 is 4, golden 3"


def test_the_script_makes_what_is_named_and_tells_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = golden_rows.FILE.read_text("utf-8")
    made_with, rows = golden_rows.read()
    streams = golden_streams.FILE.read_text("utf-8")
    names = golden_streams.read()
    monkeypatch.setattr(golden_rows, "FILE", tmp_path / "rows.jsonl")
    monkeypatch.setattr(golden_streams, "FILE", tmp_path / "streams.jsonl")
    monkeypatch.setattr(golden_rows, "made_with", lambda: made_with)  # on any machine
    spoiled = copy.deepcopy(rows)
    spoiled["nas on a wall"] = [{"case": "nas on a wall"}]
    for name in ("klucb on beta", "uniform on beta"):
        spoiled[name][2]["pulls"][0] = 0
    del spoiled["se on beta"]
    golden_rows.write(spoiled.values())
    policy = names["klucb on beta"]["policy"]["name"]
    for name in ("klucb on beta", "uniform on beta"):
        names[name]["policy"]["name"] = "another"
    del names["ucb on beta"]
    golden_streams.write(names)
    assert script.main(["klucb"]) == 0
    golden = rows["klucb on beta"][2]["pulls"][0]
    assert capsys.readouterr().out.splitlines() == [
        "gone: nas on a wall",
        *("changed: klucb on beta, policy stream: name is", f"  {policy}", "golden", "  another"),
        f"changed: klucb on beta, run 1: pulls of arm 1 is {golden}, golden 0",
        "new: se on beta",
        "new: ucb on beta",
    ]
    assert script.main(["uniform"]) == 0
    assert golden_rows.FILE.read_text("utf-8") == content
    assert golden_streams.FILE.read_text("utf-8") == streams
    assert script.main(["klucb"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing changed"
    assert script.main(["kl-ucb"]) == 2
