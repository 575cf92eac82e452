"""`dpbandits audit` detects leaks through the time and the answer with which a run stops."""

from pathlib import Path

import pytest
from test_planted_leaks import ROOT, audited, planted

LOOP = "algorithms/_top_two.py"
COMMAND = ("adap-tt", "threshold=as-drawn", "risk=0.5", "--many-arms=3", "--plays=400000")
# The raw mean of each arm's last phase.
RAW = (
    (LOOP, "    led, pulled =", "    raw = mean.copy()\n    led, pulled ="),
    (
        LOOP,
        "        if is_new:\n            n =",
        "        if is_new:\n            raw[chosen] = running[chosen] /"
        " (pulls[chosen] - begun[chosen])\n            n =",
    ),
)
STOP, ANSWER = "is_new and stops(params, fixed, mean, used,", "answer(bandit, argmax(mean))"
LEAKS = {
    "a run stops by raw means": (*RAW, (LOOP, STOP, "is_new and stops(params, fixed, raw, used,")),
    "the answer by raw means": (*RAW, (LOOP, ANSWER, "answer(bandit, argmax(raw))")),
    "a threshold that depends on raw rewards": (
        *RAW,
        (LOOP, STOP, "is_new and stops(params, fixed, mean, used * (0.2 + raw[0]),"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(name: str, tmp_path: Path) -> None:
    package = planted(LEAKS[name], tmp_path)
    assert audited(package, tmp_path / "kernels", *COMMAND, "--epsilon=1", seed=1)["refuted"]


@pytest.mark.slow
def test_unchanged_sources_fail_no_audit(tmp_path: Path) -> None:
    package = ROOT / "src" / "dpbandits"
    for epsilon in (0.1, 1, 3):
        result = audited(package, tmp_path, *COMMAND, f"--epsilon={epsilon}", seed=1)
        assert not result["refuted"]
