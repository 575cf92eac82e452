"""`dpbandits audit` finds leaks: they are planted in a copy of the sources, one at a time.

Every leak is audited at two budgets with several seeds; the share of them in which it was found is
the power of the audit, and is printed (`pytest -m slow -s`). The same audits of the sources as they
are accuse nobody.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
EPSILONS = (1, 2)
PLAYS = 4_000_000
PATIENCE = 3600  # seconds for an audit, which takes one or two minutes where nobody else is

EPISODES, DP_SE = "algorithms/_adaptive_episodes.py", "algorithms/dp_se.py"
NOISE_OF_EPISODE = "laplace(rng, 1.0 / episode, params.epsilon)"


@dataclass(frozen=True)
class Leak:
    """What is typed, what stands in the files and what stands there instead."""

    typed: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    plays: int = PLAYS


HALF = (("mechanisms/laplace.py", "scale = sensitivity", "scale = 0.5 * sensitivity"),)
LEAKS = {
    "Laplace scale halved (AdaP-UCB)": Leak(("adap-ucb",), HALF),
    "Laplace scale halved (AdaP-KLUCB)": Leak(("adap-klucb",), HALF),
    "Laplace scale halved (DP-SE)": Leak(("dp-se",), HALF),
    "no noise on the first arm": Leak(
        ("adap-ucb",),
        (
            (EPISODES, f"+ {NOISE_OF_EPISODE}", f"+ (chosen > 0) * {NOISE_OF_EPISODE}"),
            (
                EPISODES,
                "+ laplace(rng, 1.0 / m[arm], params.epsilon)",
                "+ (arm > 0) * laplace(rng, 1.0 / m[arm], params.epsilon)",
            ),
        ),
    ),
    "one noise for all arms": Leak(
        ("dp-se",),
        (
            (
                DP_SE,
                "        private_mean = np.empty(arms)\n",
                "        private_mean = np.empty(arms)\n"
                "        noise = laplace(rng, 1.0 / r, params.epsilon)\n",
            ),
            (DP_SE, "sums[i] / r + laplace(rng, 1.0 / r, params.epsilon)", "sums[i] / r + noise"),
        ),
    ),
    "the mean of the whole history with the noise of the episode": Leak(
        ("adap-ucb",),
        (
            (
                EPISODES,
                "    indices = np.empty(arms)\n",
                "    indices = np.empty(arms)\n    history = np.zeros(arms)\n"
                "    for arm in range(arms):\n        history[arm] = bandit.law.table[arm, 0]\n",
            ),
            (
                EPISODES,
                "private_mean[chosen] = total / episode",
                "history[chosen] += total\n"
                "        private_mean[chosen] = history[chosen] / pulls[chosen]",
            ),
        ),
    ),
    "noise that is drawn anew in every round (DP-UCB-INT)": Leak(
        ("dp-ucb-int",),
        (
            (
                "algorithms/dp_ucb_int.py",
                "(waits[arm] and params.noise == Noise.EVERY_ROUND)",
                "waits[arm]",
            ),
            (
                "algorithms/dp_ucb_int.py",
                "        if params.noise == Noise.EVERY_ROUND:\n            n = 1",
                "        if params.noise == Noise.PER_RELEASE:\n            n = 1",
            ),
        ),
        plays=10_000_000,
    ),
    "no start phase (DP-FTPL-Gauss)": Leak(
        ("dp-ftpl-gauss", "delta=1e-5", "method=plain", "--many-arms=256"),
        (
            (
                "algorithms/dp_ftpl_gauss.py",
                "    half = 0.5 / params.delta\n",
                "    if params.delta > 0.0:\n        return 1.0\n    half = 0.5 / params.delta\n",
            ),
        ),
        plays=30_000_000,
    ),
}


def audited(package: Path, kernels: Path, *typed: str) -> tuple[int, str]:
    """The status of the command, and the bounds that it told."""
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits.cli", "audit", *typed],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package.parent), "DPBANDITS_CACHE": str(kernels)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    told = "; ".join(re.findall(r"audited: (.*)", done.stdout))
    assert done.returncode in (0, 1), done.stderr
    assert told, done.stderr  # a crash has the status 1 too
    return done.returncode, told


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(name: str, epsilon: int, tmp_path: Path) -> None:
    leak, package = LEAKS[name], tmp_path / "dpbandits"
    shutil.copytree(
        ROOT / "src" / "dpbandits", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for place, old, new in leak.edits:
        file = package / place
        assert file.read_text().count(old) == 1, (place, old)
        file.write_text(file.read_text().replace(old, new))
    typed = (*leak.typed, f"--epsilon={epsilon}", f"--plays={leak.plays}")
    found = 0
    for seed in SEEDS:
        status, told = audited(package, tmp_path / "kernels", *typed, f"--seed={seed}")
        print(f"\n{name}, epsilon = {epsilon}, seed {seed}: {told}")
        found += status == 1
    print(f"{name}, epsilon = {epsilon}: found with {found} of {len(SEEDS)} seeds")
    assert found == len(SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("typed", dict.fromkeys(leak.typed for leak in LEAKS.values()), ids=str)
def test_without_a_leak_nobody_is_accused(
    typed: tuple[str, ...], epsilon: int, tmp_path: Path
) -> None:
    plays = max(leak.plays for leak in LEAKS.values() if leak.typed == typed)
    typed = (*typed, f"--epsilon={epsilon}", f"--plays={plays}")
    for seed in SEEDS:
        status, told = audited(ROOT / "src" / "dpbandits", tmp_path, *typed, f"--seed={seed}")
        print(f"\n{typed}, epsilon = {epsilon}, seed {seed}: {told}")
        assert status == 0
