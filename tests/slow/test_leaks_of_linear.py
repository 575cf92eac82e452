"""`dpbandits audit` detects leaks of linear algorithms, which it plays on arms as unit vectors.

It misses those that cost a few times the budget, such as half of the noise: the events that it sees
show about a quarter of the loss at delta = 10^-6. AdaC-GOPE without noise decides alike on both
tables of a pair, unless the changed reward is the very one at the edge. The noise check finds them
(tests/contract/test_noise_of_vectors.py).
"""

from pathlib import Path

import pytest
from test_planted_leaks import ROOT, audited, planted

PHASES, EPISODES = "algorithms/gope.py", "algorithms/rs_oful.py"
OF_A_PHASE = "        add_noise(params, rng, statistics,"
OF_AN_EPISODE = "            add_noise(params, rng, episode)\n"
LEAKS = {
    "a tenth of the noise": (
        "adac-gope",
        ((PHASES, OF_A_PHASE, OF_A_PHASE + " 0.1 *"),),
    ),
    "one noise for all components": (
        "adac-gope",
        (
            (
                "algorithms/adac_gope.py",
                "    for k in range(statistics.size):\n"
                "        statistics[k] += gaussian(rng, sensitivity, params.rho)\n",
                "    noise = gaussian(rng, sensitivity, params.rho)\n"
                "    for k in range(statistics.size):\n        statistics[k] += noise\n",
            ),
        ),
    ),
    "raw estimates choose": (
        "adac-oful",
        (
            (EPISODES, "    theta, episodes =", "    raw = np.zeros(d)\n    theta, episodes ="),
            (
                EPISODES,
                OF_AN_EPISODE,
                "            for k in range(d):\n                raw[k] += episode[k]\n"
                f"{OF_AN_EPISODE}",
            ),
            (EPISODES, "dot(since[k], sums)", "dot(since[k], raw)"),
        ),
    ),
    "no noise after the first episode": (
        "adac-oful",
        ((EPISODES, OF_AN_EPISODE, f"            if episodes < 1:\n    {OF_AN_EPISODE}"),),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(name: str, tmp_path: Path) -> None:
    algorithm, edits = LEAKS[name]
    package = planted(edits, tmp_path)
    command = (algorithm, "rho=1", "--plays=1000000")
    assert audited(package, tmp_path / "kernels", *command, seed=1)["refuted"]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["adac-gope", "adac-oful"])
def test_unchanged_sources_fail_no_audit(algorithm: str, tmp_path: Path) -> None:
    package = ROOT / "src" / "dpbandits"
    for rho in (0.1, 1, 4):
        result = audited(package, tmp_path, algorithm, f"rho={rho}", "--plays=1000000", seed=1)
        assert not result["refuted"]
        assert result["all arms"][-1] > 0.1 * result["declared"]
