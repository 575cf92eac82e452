"""`dpbandits verify` catches planted mistakes of every kind, and passes sound algorithms."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT, Done, Process

SOUND = (ROOT / "template" / "algorithms" / "my_algorithm.py").read_text("utf-8")
SHORT = ("pulls: Count = 1000", "pulls: Count = 20")  # an audit sees more of short phases
LAST = "    pull_many(bandit, argmax(private_mean), rounds_left(bandit))"

# By name: the check that must fail, a fragment of its remedy, and the changes of the source.
MISTAKES: Mapping[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "no-claim": ("the file is complete", "define releases", (("def claim(", "def claims("),)),
    "ends-early": (
        "plays to the horizon",
        "pull until `playing(bandit)` is false",
        ((LAST, "    pull_many(bandit, argmax(private_mean), rounds_left(bandit) - 1)"),),
    ),
    "own-numbers": (
        "same bits alone and in company",
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
        "batched and single pulls have one law",
        "must not depend on its rewards",
        ((LAST, f"    if bandit.per_round:\n        private_mean[0] += 0.2\n{LAST}"),),
    ),
    "no-such-arm": (
        "declared releases are possible",
        "arms count from 0",
        (("yield Laplace(arm, 1", "yield Laplace(arm + 1, 1"),),
    ),
    "too-little-noise": (
        "releases compose to the claim",
        "more noise in `play`",
        (("scale=1.0 /", "scale=0.5 /"),),
    ),
    "no-noise": (
        "an audit finds no greater loss",
        "with less noise than declared",
        (("= mean + laplace(rng, 1.0 / params.pulls, params.epsilon)", "= mean"),),
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
    "reads-the-regret": (
        "the policy sees only its rewards",
        "and nothing else of the bandit",
        ((LAST, f"    if bandit.curve[0] > 1.0:\n        private_mean[0] += 1.0\n{LAST}"),),
    ),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Report of every planted algorithm, and of the sound one that they are made of."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("conf", "algorithms"):
        (folder / name).mkdir()
    (folder / "dpbandits.toml").write_text('package = "planted"\n')
    for name, (_, _, changes) in {**MISTAKES, "sound": ("", "", ())}.items():
        text = SOUND
        for before, after in (*changes, SHORT):
            assert before in text, name
            text = text.replace(before, after)
        (folder / "algorithms" / f"{name.replace('-', '_')}.py").write_text(text, "utf-8")
    done = dpbandits(folder, *MISTAKES, "sound")
    assert done.status == 1, done.err
    assert done.out.rstrip().endswith("checks failed")
    parts = done.out.split("(algorithms/")[1:]
    return {part.partition(".py)")[0].replace("_", "-"): part for part in parts}


def dpbandits(folder: Path, *words: str) -> Done:
    return Process(
        *DPBANDITS, "verify", *words, folder=str(folder), PYTHONPATH=str(ROOT / "src")
    ).done()


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
    assert "to mend it: " in caught[0]


def test_a_sound_algorithm_passes_every_check(reports: dict[str, str]) -> None:
    assert "FAILED" not in reports["sound"]
    assert reports["sound"].count("  passed ") == 10


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "which algorithm?"),
        (("dp-sé",), "unknown algorithm"),
        (("dp-see",), "did you mean 'dp-se'"),
        (("dp-se", "epsilon=0"), "epsilon must be positive and finite, got 0"),
        (("dp-se", "alpha=1"), "unknown parameter 'alpha'"),
        (("dp-se", "horizon=100"), "horizon cannot be set"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: tuple[str, ...], reason: str) -> None:
    done = dpbandits(ROOT, *words)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert reason in line
