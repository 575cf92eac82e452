"""`dpbandits audit` detects leaks: they are planted in a copy of the sources, one at a time.

Every leak is audited at two budgets with several seeds; the share of seeds that detect it is the
power of the audit. The same audits of the unchanged sources flag nothing. The results are printed
(`pytest -m slow -s`) and stored in out/leaks, from which scripts/make_leaks.py makes the table of
docs/checks.md.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import git_revision

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
EPSILONS = (1, 2)
PLAYS = 4_000_000
PATIENCE = 3600  # seconds for an audit, which takes one or two minutes on an idle machine

EPISODES, DP_SE = "algorithms/adap_ucb.py", "algorithms/dp_se.py"
NOISE_OF_EPISODE = "noise(params, rng, 1.0 / episode)"


@dataclass(frozen=True)
class Leak:
    """Arguments of the audit, text of the files, and its leaking replacement."""

    typed: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    plays: int = PLAYS
    event: str = "all arms"  # kind of event that detects it; or "one choice"
    is_detected: bool = True  # False for a leak that the audit misses


HALF = (("mechanisms/laplace.py", "scale = sensitivity", "scale = 0.5 * sensitivity"),)
LEAKS = {
    "Laplace scale halved (AdaP-UCB)": Leak(("adap-ucb",), HALF),
    "Laplace scale halved (AdaP-KLUCB)": Leak(("adap-klucb",), HALF),
    "Laplace scale halved (DP-SE)": Leak(("dp-se",), HALF),
    "no noise on the first arm (AdaP-UCB)": Leak(
        ("adap-ucb",),
        (
            (EPISODES, f"+ {NOISE_OF_EPISODE}", f"+ (chosen > 0) * {NOISE_OF_EPISODE}"),
            (
                EPISODES,
                "+ noise(params, rng, 1.0 / m[arm])",
                "+ (arm > 0) * noise(params, rng, 1.0 / m[arm])",
            ),
        ),
    ),
    "one noise for all arms (DP-SE)": Leak(
        ("dp-se",),
        (
            (
                DP_SE,
                "        private_mean = np.empty(arms)\n",
                "        private_mean = np.empty(arms)\n"
                "        drawn = noise(params, rng, 1.0 / r)\n",
            ),
            (DP_SE, "sums[i] / r + noise(params, rng, 1.0 / r)", "sums[i] / r + drawn"),
        ),
    ),
    "the whole history's mean with the noise of the episode (AdaP-UCB)": Leak(
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
    "fresh noise in every round (DP-UCB-INT)": Leak(
        ("dp-ucb-int",),
        (
            (
                "algorithms/dp_ucb_int.py",
                "(waits[arm] and params.noise == Noise.EVERY_ROUND)",
                "waits[arm]",
            ),
        ),
        plays=10_000_000,
    ),
    "no start phase (DP-FTPL-Gauss, one choice, delta = 10^-5, 256 arms)": Leak(
        ("dp-ftpl-gauss", "delta=1e-5", "method=plain", "--many-arms=256"),
        (
            (
                "algorithms/dp_ftpl_gauss.py",
                "    half = 0.5 / params.delta\n",
                "    if params.delta > 0.0:\n        return 1.0\n    half = 0.5 / params.delta\n",
            ),
        ),
        plays=30_000_000,
        event="one choice",
    ),
}


def without_noise_from(release: int) -> tuple[tuple[str, str, str], ...]:
    """Return the edit of AdaP-UCB after which release `release` of an arm, and later ones, leak."""
    first = 2 ** (release - 2)  # rewards in this release
    noise = f"({NOISE_OF_EPISODE} if episode < {first} else 0.0)"
    return ((EPISODES, f"+ {NOISE_OF_EPISODE}", f"+ {noise}"),)


FEWER = 1_000_000
# Leaks of later releases. The 7th release of an arm reads its rewards 33 to 64.
LATER = {
    "no noise from release 2 on (AdaP-UCB)": Leak(("adap-ucb",), without_noise_from(2), FEWER),
    "no noise from release 3 on (AdaP-UCB)": Leak(("adap-ucb",), without_noise_from(3), FEWER),
    "no noise from release 7 on (AdaP-UCB)": Leak(
        ("adap-ucb",), without_noise_from(7), FEWER, is_detected=False
    ),
    "no noise from release 7 on (AdaP-UCB, `--changed-reward 33`)": Leak(
        ("adap-ucb", "--changed-reward=33"), without_noise_from(7), FEWER
    ),
}


FINDING = re.compile(
    r"  (all arms|one choice), on .*\n"
    r"(?:    declared: (?:epsilon = ([^\s,]+)|no bound)[ ,].*\n)?"
    r"    audited: (.*)"
)


def audited(package: Path, kernels: Path, *typed: str, seed: int) -> dict[str, Any]:
    """Return the results of the command: any refutation, and the declared and proved epsilons."""
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits.cli.main", "audit", *typed, f"--seed={seed}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package.parent), "DPBANDITS_CACHE": str(kernels)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode in (0, 1), done.stderr
    print(f"\n{' '.join(typed)}, seed {seed}")
    result: dict[str, Any] = {"seed": seed, "refuted": done.returncode == 1}
    for which, declared, bounds in FINDING.findall(done.stdout):
        print(f"  {which}: {bounds}")
        if declared:
            result["declared"] = float(declared)
        # At delta = 0, and at the delta of the promise where there is one.
        result[which] = [float(bound) for bound in re.findall(r"\bepsilon >= (\S+?)[; ]", bounds)]
    for which in re.findall("  (all arms|one choice): no difference", done.stdout):
        result[which] = [0.0]
    assert "all arms" in result, done.stderr
    return result


def planted(edits: Iterable[tuple[str, str, str]], folder: Path) -> Path:
    """Return a copy of the sources with these edits."""
    package = folder / "dpbandits"
    shutil.copytree(
        ROOT / "src" / "dpbandits", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for place, old, new in edits:
        file = package / place
        assert file.read_text().count(old) == 1, (place, old)
        file.write_text(file.read_text().replace(old, new))
    return package


def keep(kind: str, number: int, epsilon: int, audits: list[dict[str, Any]], **more: Any) -> None:
    """Write the measurement where the script reads it."""
    file = ROOT / "out" / "leaks" / f"{kind}-{number}-{epsilon}.json"
    content = {"revision": git_revision(), "number": number, "epsilon": epsilon, "audits": audits}
    write_atomically(file, (json.dumps({**content, **more}, indent=1) + "\n").encode())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("kind", "name"), [*(("leak", name) for name in LEAKS), *(("later", name) for name in LATER)]
)
def test_a_planted_leak_is_found(kind: str, name: str, epsilon: int, tmp_path: Path) -> None:
    leaks = LEAKS if kind == "leak" else LATER
    leak = leaks[name]
    package = planted(leak.edits, tmp_path)
    command = (*leak.typed, f"--epsilon={epsilon}", f"--plays={leak.plays}")
    audits = [audited(package, tmp_path / "kernels", *command, seed=seed) for seed in SEEDS]
    found = sum(audit["refuted"] for audit in audits)
    print(f"{name}, epsilon = {epsilon}: found with {found} of {len(SEEDS)} seeds")
    keep(kind, [*leaks].index(name), epsilon, audits, name=name, plays=leak.plays, event=leak.event)
    assert found == (len(SEEDS) if leak.is_detected else 0)


AUDITED = {
    kind: [*dict.fromkeys((leak.typed, leak.plays) for leak in leaks.values())]
    for kind, leaks in (("none", LEAKS), ("unchanged", LATER))
}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("kind", "number"),
    [(kind, n) for kind, audited in AUDITED.items() for n in range(len(audited))],
)
def test_unchanged_sources_fail_no_audit(
    kind: str, number: int, epsilon: int, tmp_path: Path
) -> None:
    command, plays = AUDITED[kind][number]
    arguments = (*command, f"--epsilon={epsilon}", f"--plays={plays}")
    package = ROOT / "src" / "dpbandits"
    audits = [audited(package, tmp_path, *arguments, seed=seed) for seed in SEEDS]
    keep(kind, number, epsilon, audits)
    assert not any(audit["refuted"] for audit in audits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (("dp-ucb-bound", "counter=hybrid-full"), True),
        (("dp-ucb-bound", "counter=hybrid-split"), False),
        (("private-ucb", "split=none"), False),
    ],
    ids=str,
)
def test_half_of_the_noise_of_a_counter_is_found_where_one_draw_has_all_of_epsilon(
    typed: tuple[str, ...], found: bool, tmp_path: Path
) -> None:
    # The limits of the audit that docs/privacy.md states; an audit that detects more changes it.
    package = planted(HALF, tmp_path)
    arguments = (*typed, "--epsilon=1", "--plays=1000000")
    assert audited(package, tmp_path / "kernels", *arguments, seed=1)["refuted"] == found
