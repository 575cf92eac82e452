"""`dpbandits check` fails where an algorithm is wrong: bugs are planted, one at a time.

Every bug is played with several seeds. The power of the check is the share of seeds for which the
check of the figures with that algorithm detects the bug; it is printed (`pytest -m slow -s`).
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
PATIENCE = 900  # seconds for a check

ADAP = ("adap-c2", "adap-c3", "adap-alpha", "adap-regimes")
DP_SE = ("dpse-epsilon", "adap-c1")


@dataclass(frozen=True)
class Bug:
    """Text of a file, its wrong replacement, and the figures that should detect it."""

    file: str
    edits: tuple[tuple[str, str], ...]
    figures: tuple[str, ...]
    labels: tuple[str, ...]  # prefixes of the labels of the wrong curves


EPISODES, DP_SE_FILE = "algorithms/_adaptive_episodes.py", "algorithms/dp_se.py"
NOISE_OF_EPISODE = "laplace(rng, sensitivity, params.epsilon)"
NOISE_OF_EPOCH = "laplace(rng, 1.0 / r, params.epsilon)"
INDICES = "    indices = np.empty(arms)\n"
MEANS = "        private_mean = np.empty(arms)\n"
BOTH = ("AdaP-UCB", "AdaP-KLUCB")
UCBS = ("dpucb-2arms", "dpucb-10arms")

BUGS = {
    "Laplace scale halved (AdaP)": Bug(
        EPISODES, ((NOISE_OF_EPISODE, f"0.5 * {NOISE_OF_EPISODE}"),), ADAP, BOTH
    ),
    "Laplace scale halved (DP-SE)": Bug(
        DP_SE_FILE, ((NOISE_OF_EPOCH, f"0.5 * {NOISE_OF_EPOCH}"),), DP_SE, ("DP-SE",)
    ),
    "Laplace scale halved (mechanism)": Bug(
        "mechanisms/laplace.py",
        (("scale = sensitivity", "scale = 0.5 * sensitivity"),),  # of the kernels
        DP_SE,
        ("DP-SE", "AdaP"),
    ),
    "Laplace scale halved (counters of DP-UCB)": Bug(
        "mechanisms/hybrid.py",
        (("noise = laplace(", "noise = 0.5 * laplace("),),
        UCBS,
        ("DP-UCB",),
    ),
    "Laplace scale halved (trees of Private-UCB)": Bug(
        "mechanisms/binary.py",
        (("noise = laplace(", "noise = 0.5 * laplace("),),
        ("dpse-epsilon",),
        ("DP-UCB",),
    ),
    "alpha of AdaP-UCB's index 20 % too large": Bug(
        "algorithms/adap_ucb.py",
        (("params.alpha * log_t / m", "1.2 * params.alpha * log_t / m"),),
        ADAP,
        ("AdaP-UCB",),
    ),
    "constant of UCB's index 20 % too small": Bug(
        "fast/ucb.py",
        (("math.sqrt(2.0 / n)", "math.sqrt(1.6 / n)"),),
        UCBS,
        ("UCB",),
    ),
    "the arm before that of the largest index": Bug(
        EPISODES, (("= argmax(indices)", "= max(argmax(indices) - 1, 0)"),), ADAP, BOTH
    ),
    "|S| as it was before any elimination": Bug(
        DP_SE_FILE,
        (
            (
                "arms = active.size\n",
                "arms = active.size\n        every = number_of_arms(bandit)\n",
            ),
            (
                "real_passes = passes_of_epoch(params, epoch, arms)",
                "real_passes = passes_of_epoch(params, epoch, every)",
            ),
        ),
        DP_SE,
        ("DP-SE",),
    ),
    "one noise draw for all arms of DP-SE": Bug(
        DP_SE_FILE,
        (
            (MEANS, f"{MEANS}        shared = {NOISE_OF_EPOCH}\n"),
            (f"/ r + {NOISE_OF_EPOCH}", "/ r + shared"),
        ),
        DP_SE,
        ("DP-SE",),
    ),
    "AdaP reads the mean of the episode before the last": Bug(
        EPISODES,
        (
            (INDICES, f"    newest = private_mean.copy()\n{INDICES}"),
            (
                "        private_mean[chosen] = total",
                "        private_mean[chosen] = newest[chosen]\n        newest[chosen] = total",
            ),
        ),
        ADAP,
        BOTH,
    ),
    "gamma of EXP3_tau for T": Bug(
        "algorithms/exp3_tau.py",
        (("params.horizon if per_round else batches", "params.horizon"),),
        ("exp3-deterministic", "exp3-stochastic", "exp3-switching"),
        ("EXP3_tau",),
    ),
    # One bug in each algorithm of the papers that followed.
    "TS counts half of its rewards": Bug(
        "fast/ts.py",
        (
            (
                "total + 1.0, n - total + 1.0",
                "0.5 * total + 1.0, 0.5 * (n - total) + 1.0",
            ),
        ),
        ("lazyts-vs-ts",),
        ("TS",),
    ),
    "bonus of Lazy-DP-TS 20 % too small": Bug(
        "algorithms/lazy_dp_ts.py",
        (("3.0 / (epsilon * n)", "2.4 / (epsilon * n)"),),
        ("lazyts-gap",),
        ("Lazy-DP-TS", "Anytime-Lazy-UCB"),  # both release in the same way
    ),
    "bonus of DP-TS 20 % too small": Bug(
        "algorithms/dp_ts.py",
        (("6.0 * math.sqrt(8.0)", "4.8 * math.sqrt(8.0)"),),
        ("lazyts-gap",),
        ("DP-TS",),
    ),
    "DP-KLUCB at log t^1.2": Bug(
        "algorithms/dp_klucb.py",
        (("math.log(t_l) / n", "1.2 * math.log(t_l) / n"),),
        ("dpklucb-c2",),
        ("DP-KLUCB",),
    ),
    "DP-IMED with four fifths of its divergence": Bug(
        "algorithms/dp_imed.py",
        (("(n * private_divergence", "(0.8 * n * private_divergence"),),
        ("dpklucb-c2",),
        ("DP-IMED",),
    ),
    "IMED without log N": Bug(
        "algorithms/imed.py",
        ((" + math.log(n))", ")"),),
        ("dpklucb-c2",),
        ("IMED",),
    ),
    "private width of AdaC-UCB 40 % too large": Bug(
        "algorithms/adac_ucb.py",
        (("1.0 / (params.rho * m * m)", "2.0 / (params.rho * m * m)"),),
        ("adac-price",),
        ("AdaC-UCB",),
    ),
    "width of Adaptive UCB 20 % too large": Bug(
        "algorithms/adaptive_ucb.py",
        (("0.5 / m * params.beta", "0.72 / m * params.beta"),),
        ("adac-price",),
        ("AdaC-UCB",),  # drawn against Adaptive UCB
    ),
    "LDP-UCB-B answers at twice its budget": Bug(
        "mechanisms/randomised_response.py",
        (("math.exp(-epsilon)", "math.exp(-2.0 * epsilon)"),),
        ("ldp-ucb",),
        ("LDP-UCB-B",),
    ),
    "private width of LDP-UCB-L 15 % too small": Bug(
        "algorithms/ldp_ucb_l.py",
        (("math.sqrt(32.0 / n)", "math.sqrt(23.0 / n)"),),
        ("ldp-ucb",),
        ("LDP-UCB-L",),
    ),
}


def plant(bug: Bug, copy: Path) -> None:
    """Write the bug into the copy's file."""
    file = copy / "src" / "dpbandits" / bug.file
    text = file.read_text()
    for right, wrong in bug.edits:
        assert text.count(right) == 1, f"{file.name} has changed, plant another bug: {right}"
        text = text.replace(right, wrong)
    file.write_text(text)


@pytest.mark.parametrize("name", BUGS)
def test_the_right_text_is_in_the_file_once(name: str) -> None:
    bug = BUGS[name]
    text = (ROOT / "src" / "dpbandits" / bug.file).read_text()
    assert all(text.count(right) == 1 for right, _ in bug.edits)


def checked(copy: Path, figures: tuple[str, ...], seed: int) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "dpbandits.cli.main", "check", *figures, f"seed={seed}")
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "DPBANDITS_CACHE": str(copy / "kernels"),
    }
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the checkout, which a test may modify."""
    for folder in ("src", "conf", "figures"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    return tmp_path


def wrong_curves(output: str) -> set[str]:
    """Return the labels of the curves that a check reports outside their bands."""
    return set(re.findall(r"^  \(\w\) (.*) at [\d.,e+-]+: ", output, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_the_check_notices(name: str, copy: Path) -> None:
    bug = BUGS[name]
    plant(bug, copy)
    caught = []
    for seed in SEEDS:
        done = checked(copy, bug.figures, seed)
        assert done.returncode in (0, 1), done.stderr
        wrong = wrong_curves(done.stdout)
        assert (done.returncode == 1) == bool(wrong), done.stdout
        # No other curve is flagged.
        assert all(label.startswith(bug.labels) for label in wrong), wrong
        caught.append(bool(wrong))
    print(f"\n{name}: noticed with {sum(caught)} of {len(caught)} seeds")
    assert all(caught), f"noticed with {sum(caught)} of {len(caught)} seeds"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_check_is_quiet_where_nothing_is_wrong(seed: int, copy: Path) -> None:
    figures = tuple(dict.fromkeys(figure for bug in BUGS.values() for figure in bug.figures))
    done = checked(copy, figures, seed)
    assert done.returncode == 0, done.stdout + done.stderr
