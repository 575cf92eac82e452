"""`dpbandits verify` catches planted mistakes of every kind, and passes sound algorithms."""

import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from commands import DPBANDITS, ROOT, Done, Process

from dpbandits import contract

SOUND = (ROOT / "template" / "algorithms" / "my_algorithm.py").read_text("utf-8")
SHORT = ("pulls: Count = 1000", "pulls: Count = 20")  # an audit sees more of short phases
LAST = "    pull_many(bandit, argmax(private_mean), rounds_left(bandit))"

# By name: the check that must fail, a fragment of its remedy, and the changes of the source.
MISTAKES: Mapping[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "no-guarantee": (
        "the file is complete",
        "define guarantee(",
        (("def guarantee(", "def guarantees("),),
    ),
    "no-kernel": ("the file is complete", "decorate it with @kernel", (("@kernel\n", ""),)),
    "undecorated-helper": (
        "plays to the horizon",
        "algorithms/undecorated_helper.py, line 36, in play: TypingError: Untyped global name",
        (
            ("@kernel\n", "def half(x):\n    return x / 2\n\n\n@kernel\n"),
            ("= mean + laplace", "= half(mean) + laplace"),
        ),
    ),
    "misspelt": (
        "plays to the horizon",
        "misspelt.py, line 33, in play: NameError: name 'argmaxx' is not defined",
        ((LAST, LAST.replace("argmax(", "argmaxx(")),),
    ),
    "no-such-attribute": (
        "plays to the horizon",
        "line 33, in play: TypingError: Unknown attribute 'means' of type Bandit",
        ((LAST, LAST.replace("private_mean)", "bandit.means)")),),
    ),
    "no-such-field": (
        "plays to the horizon",
        "line 31, in play: TypingError: Unknown attribute 'pull' of type Params",
        (("pull_many(bandit, arm, params.pulls)", "pull_many(bandit, arm, params.pull)"),),
    ),
    "arm-of-float": (
        "plays to the horizon",
        "line 31, in play: NumbaTypeError: Unsupported array index type float64",
        (("pull_many(bandit, arm, params.pulls)", "pull_many(bandit, arm * 1.0, params.pulls)"),),
    ),
    "one-end": (
        "plays to the horizon",
        "line 33, in play: TypingError: missing a required argument: 'high'",
        ((LAST, f"    rng.integers(3)\n{LAST}"),),
    ),
    "wrong-helper": (
        "plays to the horizon",
        "algorithms/wrong_helper.py, line 28, in half: TypingError: Unknown attribute 'mean'",
        (
            ("@kernel\n", "@inlined\ndef half(x):\n    return x.mean() / 2\n\n\n@kernel\n"),
            ("= mean + laplace", "= half(mean) + laplace"),
            ("import kernel", "import inlined, kernel"),
        ),
    ),
    "never-pulls": (
        "plays to the horizon",
        "in play: Endless: its games do not end within",
        ((LAST, f"    while True:\n        private_mean[0] = 0.0\n{LAST}"),),
    ),
    "pulls-nothing": (
        "plays to the horizon",
        "in play: Endless: its games do not end within",
        ((LAST, f"    while rounds_left(bandit):\n        pull_many(bandit, 0, 0)\n{LAST}"),),
    ),
    "pulls-of-float": (
        "plain Python gives the same bits",
        "pulls_of_float.py, line 31, in play: TypeError: 'float' object cannot be interpreted",
        (("pull_many(bandit, arm, params.pulls)", "pull_many(bandit, arm, params.pulls * 1.5)"),),
    ),
    "beyond-the-horizon": (
        "declared releases are possible",
        "rewards from 1 within the horizon",
        (("Laplace(arm, 1, n,", "Laplace(arm, 1, 313,"),),
    ),
    "ends-early": (
        "plays to the horizon",
        "pull until `playing(bandit)` is false",
        ((LAST, "    pull_many(bandit, argmax(private_mean), rounds_left(bandit) - 1)"),),
    ),
    "own-numbers": (
        "same bits alone and alongside other runs",
        "draw every random number from `rng`",
        (("mean + laplace(rng, ", "mean + 0.3 * np.random.random() + laplace(rng, "),),
    ),
    "horizon-used": (
        "the horizon has no effect",
        "give Params a field `horizon: Rounds`",
        (
            ("    private_mean =", "    n = rounds_left(bandit) // 9 + 1\n    private_mean ="),
            (
                "pull_many(bandit, arm, params.pulls) / params.pulls",
                "pull_many(bandit, arm, n) / n",
            ),
        ),
    ),
    "other-law": (
        "batched and single pulls follow the same distribution",
        "must not depend on its rewards",
        ((LAST, f"    if bandit.per_round:\n        private_mean[0] += 0.2\n{LAST}"),),
    ),
    "no-such-arm": (
        "declared releases are possible",
        "arms count from 0",
        (("yield Laplace(arm, 1", "yield Laplace(arm + 1, 1"),),
    ),
    "too-little-noise": (
        "releases compose to the guarantee",
        "add noise in `play`, or correct the scale",
        (("scale=1.0 /", "scale=0.5 /"),),
    ),
    "no-noise": (
        "an audit finds no greater loss",
        "with noise of its sensitivity: some reward has less than declared",
        (("= mean + laplace(rng, 1.0 / params.pulls, params.epsilon)", "= mean"),),
    ),
    "a-tenth-of-the-noise": (
        "the noise drawn is the noise declared",
        "make `play` and `releases` agree",
        (("/ params.pulls, params.epsilon)", "/ params.pulls, 10.0 * params.epsilon)"),),
    ),
    "horizon-used-late": (
        "the horizon has no effect",
        "give Params a field `horizon: Rounds`",
        ((LAST, f"    private_mean[0] += 1.0 if rounds_left(bandit) > 5000 else 0.0\n{LAST}"),),
    ),
    "divides-by-zero": (
        "plain Python gives the same bits",
        "do not divide by zero",
        ((LAST, f"    private_mean[0] += 0.0 / (params.pulls // 100_000)\n{LAST}"),),
    ),
    "reads-the-means": (
        "the policy sees only its rewards",
        "and nothing else of the bandit",
        ((LAST, LAST.replace("argmax(private_mean)", "argmax(bandit.law.means)")),),
    ),
    "reads-by-position": (
        "the policy sees only its rewards",
        "`play` reads: bandit.law, bandit.pulls.",
        ((LAST, f"    private_mean[0] += 0.0 * bandit[4][0]\n    law = bandit[0]\n{LAST}"),),
    ),
    "reads-the-regret": (
        "the policy sees only its rewards",
        "and nothing else of the bandit",
        ((LAST, f"    if bandit.curve[0] > 1.0:\n        private_mean[0] += 1.0\n{LAST}"),),
    ),
}

# zCDP, as the last lines of the template and the page of the contract have it.
GAUSSIAN = (
    ("epsilon: Positive", "rho: Positive"),
    (
        "laplace(rng, 1.0 / params.pulls, params.epsilon)",
        "gaussian(rng, 1.0 / params.pulls, params.rho)",
    ),
    ("yield Laplace(", "yield Gaussian("),
    ("scale=1.0 / (n * params.epsilon)", "scale=1.0 / (n * math.sqrt(2.0 * params.rho))"),
    ("Notion.GLOBAL, params.epsilon", "Notion.CONCENTRATED, params.rho"),
    ("releases import Laplace", "releases import Gaussian, Laplace"),
    ("laplace import laplace", "perturbation import gaussian"),
    ("from typing", "import math\nfrom typing"),
)


def project(folder: Path, **sources: str) -> Path:
    """Write a project with these algorithms and return its folder."""
    for name in ("conf", "algorithms"):
        (folder / name).mkdir()
    (folder / "dpbandits.toml").write_text('package = "planted"\n')
    for name, text in sources.items():
        (folder / "algorithms" / f"{name}.py").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Report of every planted algorithm, and of the sound one that they are made of."""
    sources = {}
    # Output is no part of the answer of plain Python.
    loud = (("class Params", "print('it loads')\n\n\nclass Params"),)
    for name, (_, _, changes) in {**MISTAKES, "sound": ("", "", loud)}.items():
        text = SOUND
        for before, after in (*changes, SHORT):
            assert before in text, name
            text = text.replace(before, after)
        sources[name.replace("-", "_")] = text
    (sources["counting"],) = examples("contract.md", "Epsilon-greedy")
    sources["gaussian"] = sources["sound"]
    for before, after in GAUSSIAN:
        assert before in sources["gaussian"], before
        sources["gaussian"] = sources["gaussian"].replace(before, after, 1)
    folder = project(tmp_path_factory.mktemp("project"), **sources)
    done = dpbandits(folder, "verify", *MISTAKES, "sound", "counting", "gaussian")
    assert done.status == 1, done.err
    assert done.out.rstrip().endswith("checks failed")
    parts = done.out.split("(algorithms/")[1:]
    return {part.partition(".py)")[0].replace("_", "-"): part for part in parts}


def examples(page: str, first: str) -> list[str]:
    """Return the Python files of a page whose docstrings begin with a word."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf'^```python\n("""{first}.*?)^```$', text, re.MULTILINE | re.DOTALL)


def dpbandits(folder: Path, *words: str) -> Done:
    """Run a command in a folder."""
    source = str(ROOT / "src")
    return Process(*DPBANDITS, *words, folder=str(folder), PYTHONPATH=source).done()


def failures(report: str) -> list[str]:
    """Return the checks that failed, each with its numbers and its remedy, in one line."""
    one_line = " ".join(report.split())
    parts = one_line.replace(" passed ", " | passed ").replace(" FAILED ", " | FAILED ")
    parts = parts.replace(" not applicable ", " | not applicable ")
    return [part.removeprefix(" FAILED ") for part in parts.split("|") if "FAILED" in part]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_caught_with_its_remedy(name: str, reports: dict[str, str]) -> None:
    check, remedy, _ = MISTAKES[name]
    caught = [failure for failure in failures(reports[name]) if failure.startswith(check)]
    assert len(caught) == 1, reports[name]
    assert remedy in caught[0]
    assert "to fix it: " in caught[0]


@pytest.mark.parametrize(("name", "passed"), [("sound", 12), ("counting", 10), ("gaussian", 12)])
def test_a_sound_algorithm_passes_every_check(
    name: str, passed: int, reports: dict[str, str]
) -> None:
    assert "FAILED" not in reports[name]
    assert reports[name].count("  passed ") == passed


CLIPPED = (ROOT / "template" / "environments" / "clipped_gaussian.py").read_text("utf-8")
REWARD = "min(max(rng.normal(law.centres[arm], law.sd), 0.0), 1.0)"
COINS = (ROOT / "src/dpbandits/environments/bernoulli.py").read_text("utf-8")
GAPS = "means.max() - means"
MEANS = "[mean(centre, params.sd) for centre in params.centres]"
SUM = "rng.binomial(n, law.means[arm])"

# By name: what the report says, the source and the changes of it.
DISTRIBUTIONS: Mapping[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "out-of-range": (
        "FAILED rewards are in their range: a reward of arm",
        CLIPPED,
        ((", 0.0)", ", -1.0)"),),
    ),
    "no-number": ("a reward of arm 1 is nan", CLIPPED, ((REWARD, "math.nan"),)),
    "no-gap": ("by arm 3 in round", CLIPPED, ((GAPS, "means - means"),)),
    "other-means": ("FAILED gaps are those of the means", CLIPPED, ((MEANS, "params.centres"),)),
    "changes": (
        "FAILED gaps are those of the means",
        CLIPPED,
        ((REWARD, REWARD.replace("[arm]", "[arm if t < 5000 else 2 - arm]")),),
    ),
    "misnamed": ("and 0.9 by `means`", CLIPPED, (("centres", "means"),)),
    "not-compiled": (
        "not_compiled.py, line 54, in draw_reward: TypingError: missing a required argument",
        CLIPPED,
        ((REWARD, f"rng.integers(3) + {REWARD}"),),
    ),
    "other-sum": ("FAILED sums are those of", COINS, ((SUM, SUM.replace("n,", "n, 0.95 *")),)),
    "gapless": (
        "must have `gaps`, an array of 3 numbers",
        CLIPPED,
        ((f", {GAPS}", ""), ("    gaps: np.ndarray\n", "")),
    ),
    "negative": (
        "numbers in [0, 1], 0 for the best arm",
        CLIPPED,
        ((GAPS, "means - means.max()"),),
    ),
    "sound": ("the largest mean is in [0.84", CLIPPED, ()),
    "coins": ("9 two-sample tests of 2,000 sums", COINS, ()),
}


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project with planted reward distributions, and the one whose means change of the page."""
    folder = project(tmp_path_factory.mktemp("laws"))
    (folder / "environments").mkdir()
    (changing,) = examples("contract.md", "Coins")
    sources = {"changing-coins": changing}
    for name, (_, text, changes) in DISTRIBUTIONS.items():
        for before, after in changes:
            assert before in text, name
            text = text.replace(before, after)
        sources[name] = text
    for name, text in sources.items():
        (folder / "environments" / f"{name.replace('-', '_')}.py").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wrong_distribution_is_refused_and_a_sound_one_passes(name: str, laws: Path) -> None:
    said, text, _ = DISTRIBUTIONS[name]
    means = "means" if text is COINS or name == "misnamed" else "centres"
    done = dpbandits(laws, "verify", name, f"{means}=0.9,0.7,0.5")
    report = " ".join((done.out + done.err).split())
    assert said in report
    is_sound = name in ("sound", "coins")
    assert (done.status == 0) == is_sound == ("all checks passed" in report)


def test_means_that_change_are_played_with_the_regret_of_their_file(laws: Path) -> None:
    values = "before=0.9,0.1", "after=0.3,0.6", "change=100"
    assert "all checks passed" in dpbandits(laws, "verify", "changing-coins", *values).out
    second = "def play(params, bandit, rng):\n    pull_many(bandit, 1, rounds_left(bandit))"
    program = (
        "import dpbandits as dp\nfrom dpbandits.kernel.bandit import pull_many, rounds_left\n"
        f"{second}\ngame = {{'family': 'changing-coins', 'before': [0.9, 0.1],"
        " 'after': [0.3, 0.6]}\n"
        "found = dp.play(play, environment=game | {'change': 100}, horizon=300, runs=1)\n"
        "print(found.regret[0, -1])"
    )
    source = str(ROOT / "src")
    done = Process(sys.executable, "-c", program, folder=str(laws), PYTHONPATH=source).done()
    assert float(done.out) == pytest.approx(80.0), done.err


def test_checks_leave_the_main_thread_to_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = list[threading.Thread]()

    def check(subject: object) -> str:
        threads.append(threading.current_thread())
        return ""

    monkeypatch.setitem(cast(dict[str, object], contract.CHECKS), "the file is complete", check)
    next(contract.findings(contract.load("ucb", {})))
    assert threads[0] is not threading.main_thread()


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """Project whose algorithm divides by log T, which is 0 at T = 1, and one with a field `T`."""
    text = SOUND.replace("pulls: Count = 1000", "horizon: Count\n    pulls: Count = 20")
    text = text.replace("    n = params.pulls\n", "    n = max(1, int(0.1 / math.log(horizon)))\n")
    text = text.replace("from typing", "import math\nfrom typing", 1)
    needs = SOUND.replace("pulls: Count = 1000", "T: Count\n    pulls: Count = 20")
    return project(tmp_path, divides=text, needs_t=needs)


PLACE = "horizon=1) in algorithms/divides.py, line {}: ZeroDivisionError: "


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("verify", "which algorithm?"),
        ("verify dp-see", "did you mean 'dp-se'"),
        ("verify dp-se epsilon=0", "epsilon must be from 1e-100 to 1e100, got 0"),
        ("verify dp-se horizon=100", "horizon cannot be set"),
        ("verify needs-t", "needs-t: T is missing"),
        ("audit divides --plays 1000", PLACE),
        ("privacy divides --horizon 1", PLACE),
    ],
)
def test_a_mistake_or_an_error_of_a_projects_source_is_one_line(
    words: str, reason: str, faulty: Path
) -> None:
    done = dpbandits(faulty, *words.split())
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    text = (faulty / "algorithms" / "divides.py").read_text()
    assert reason.format(text.partition("math.log(horizon)")[0].count("\n") + 1) in line
