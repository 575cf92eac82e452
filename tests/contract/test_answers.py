"""Algorithms that stop with an answer keep the contract, and their planted leaks are found."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from planted_leaks import Leak, planted

import dpbandits as dp
from dpbandits import contract
from dpbandits.algorithms import (
    _top_two,
    adap_tt,
    adap_tt_star,
    ctb_tt,
    dp_se_identify,
    dp_tt,
)
from dpbandits.audit import kernels
from dpbandits.audit.kernels import alphabet, features, tally_with_answers
from dpbandits.audit.subject import Subject
from dpbandits.contract.declared import Undeclared, matched, most_spent
from dpbandits.contract.traced import Game, Unreleased, of_choices, plain_python, played
from dpbandits.environments._entries import Entries
from dpbandits.experiments import kinds
from dpbandits.kernel import registry
from dpbandits.kernel.answers import answer
from dpbandits.kernel.bandit import new_bandit, pull
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.notions import approximate
from dpbandits.privacy.releases import composed_epsilon

IDENTIFY = registry.names("identification")
PRIVATE = [name for name in IDENTIFY if hasattr(registry.algorithm(name), "guarantee")]
TOP_TWO = (_top_two, adap_tt, adap_tt_star, ctb_tt, dp_tt)
ROUNDS = 400
QUICK = {
    "the file is complete",
    "its parameters can be configured",
    "declared releases are possible",
    "releases compose to the guarantee",
}

# Edits of the loop of Top Two, after which it has the raw mean of each arm's last phase.
RAW = (
    ("    led, pulled =", "    raw = mean.copy()\n    led, pulled ="),
    (
        "        if is_new:\n            n =",
        "        if is_new:\n            raw[chosen] = running[chosen] /"
        " (pulls[chosen] - begun[chosen])\n            n =",
    ),
)
STOP, ANSWER = "stops(params, fixed, mean, used,", "answer(bandit, argmax(mean))"
WITHOUT, OTHER = "without noise", "no declaration allows a release of rewards"
NEW = "= new_mean(params, rng, sums, used, chosen, running[chosen], n)"
LEAKS = [
    Leak("a run stops by raw means", "adap-tt", TOP_TWO, "play", (
        *RAW, (STOP, "stops(params, fixed, raw, used,"),
    ), WITHOUT),
    Leak("the answer by raw means", "adap-tt", TOP_TWO, "play", (
        *RAW, (ANSWER, "answer(bandit, argmax(raw))"),
    ), WITHOUT),
    Leak("a threshold that depends on raw rewards", "adap-tt", TOP_TWO, "play", (
        *RAW, (STOP, "stops(params, fixed, mean, used * (0.5 + raw[0]),"),
    ), WITHOUT),
    Leak("no noise from the third phase on", "adap-tt", TOP_TWO, "play", (
        (NEW, f"{NEW} if n < 2 else running[chosen] / n"),
    ), WITHOUT),
    Leak("the noise of half the rewards", "adap-tt-star", TOP_TWO, "play", (
        (NEW, NEW.replace("running[chosen]", "2.0 * running[chosen]")),
    ), OTHER),
    Leak("the last sum of rewards once more", "dp-tt", TOP_TWO, "play", (
        ("            running[chosen], begun[chosen] = 0.0, pulls[chosen]",
         "            begun[chosen] = pulls[chosen]"),
    ), OTHER),
    Leak("the noise of one arm for all", "dp-se-identify", (dp_se_identify,), "play", (
        ("        private_mean = np.empty(arms)",
         "        private_mean = np.empty(arms)\n"
         "        drawn = laplace(rng, 1.0 / r, params.epsilon)"),
        ("+ laplace(rng, 1.0 / r, params.epsilon)", "+ drawn"),
    ), "second release"),
]  # fmt: skip


def settings_of(name: str, risk: float = 0.5) -> dict[str, Any]:
    """Return settings with which some short games end with an answer."""
    settings: dict[str, Any] = {"epsilon": 4.0, "risk": risk}
    if name == "adap-tt":
        settings["threshold"] = "as-drawn"
    return settings


def games_of(name: str, seeds: range = range(6)) -> Iterator[tuple[Game, float]]:
    """Play traced games; yield each with the epsilon that its releases may spend."""
    subject, module = Subject(name, tuple(settings_of(name).items())), registry.algorithm(name)
    rounds = 8000 if name == "dp-se-identify" else ROUNDS
    declared = list(subject.releases(2, rounds))
    with plain_python():
        for seed in seeds:
            rng = np.random.default_rng(seed)
            table = (rng.random((2, rounds)) < np.array([[0.95], [0.1]])) * 1.0
            game = Game(table, rng.laplace(size=rounds), rng.random(rounds))
            played(module, subject.params(rounds), rounds, game, per_round=False)
            matches = matched(game, declared)
            assert sum(len(match.recorded) for match in matches) == len(of_choices(game))
            yield game, composed_epsilon(declared)


@pytest.mark.parametrize("name", sorted({*PRIVATE} - {"ctb-tt"}))
def test_releases_up_to_an_answer_are_those_declared(name: str) -> None:
    largest, answered = 0.0, 0
    for game, epsilon in games_of(name):
        assert most_spent(game) <= epsilon * (1 + 1e-9)
        largest, answered = max(largest, most_spent(game) / epsilon), answered + game.ended
    assert largest == pytest.approx(1.0)
    assert answered or name == "adap-tt-star"


@pytest.mark.parametrize("leak", LEAKS, ids=str)
def test_a_planted_leak_is_detected(leak: Leak) -> None:
    with planted(leak), pytest.raises((Undeclared, Unreleased), match=leak.message):
        list(games_of(leak.algorithm))


class Script(NamedTuple):
    """Arms of a game, and its answer."""

    arms: tuple[int, ...]
    answer: int


@pytest.mark.parametrize("script", [Script((0, 1, 0), 1), Script((1, 0), 0), Script((1,) * 5, -1)])
def test_what_is_seen_of_a_game_is_its_arms_and_then_its_answer(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(params: Any, bandit: Any, rng: Any) -> None:
        for arm in script.arms:
            pull(bandit, arm)
        if script.answer >= 0:
            answer(bandit, script.answer)

    arms, rounds = 2, 5
    found = features(arms, rounds, True)
    counts, zeros = np.zeros(found[-1].stop, np.uint32), np.zeros(arms, np.int64)
    law = Entries(np.ones((arms, rounds)), zeros, np.zeros(rounds + 1, np.int64))
    rng = np.random.default_rng(0)
    bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), rng)
    monkeypatch.setattr(kernels, "play", play)
    with np.errstate(over="ignore"):
        tally_with_answers(None, bandit, rng, 3, 1, counts)  # type: ignore[no-untyped-call]
    symbols, length = alphabet(arms, rounds, True)
    end = 2 * arms if script.answer < 0 else arms + script.answer
    sequence = [*script.arms, *[end] * (length - len(script.arms))]
    numbers = [sequence.count(symbol) for symbol in range(symbols)]
    for feature, cell in zip(found, [*sequence, *numbers], strict=False):
        assert counts[feature.first + cell] == 3, feature
        assert counts[feature.first : feature.stop].sum() == 3
    assert all(counts[f.first : f.stop].max() == 3 for f in found[-3:])


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("risk", [0.001, 0.5])
def test_risk_is_no_delta_and_changes_no_budget(name: str, risk: float) -> None:
    for epsilon in (0.1, 3.0):
        subject = contract.load(name, {"epsilon": epsilon, "risk": risk})
        assert isinstance(subject, Subject)
        for arms, rounds in ((2, 100_000), (5, 10**6)):
            guarantee = approximate(subject.guarantee(arms, rounds))
            assert (guarantee.epsilon, guarantee.delta, guarantee.differs) == (epsilon, 0.0, "")
            assert subject.composed(arms, rounds) == pytest.approx(epsilon)
        for _, experiment in kinds.of_member(name).cases(name, dict(subject.settings)):
            assert kinds.delta_of(experiment) == 0.0
    found = dp.budget(name, epsilon=2.0, risk=risk, horizon=100_000)
    assert (found.delta, found.claimed) == (0.0, 2.0)
    assert found.composed == pytest.approx(2.0)
    with pytest.raises(UserError, match="delta"):
        dp.budget(name, epsilon=2.0, risk=risk, delta=1e-6)


def test_an_audit_of_an_algorithm_without_privacy_is_refused() -> None:
    for name in sorted({*IDENTIFY} - {*PRIVATE}):
        with pytest.raises(UserError, match="promises no privacy"):
            dp.run_audit(name, plays=1000)
    with pytest.raises(UserError, match=r"plays? no arms"):
        dp.run_audit("nas", plays=1000)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=[] if check.title in QUICK else [pytest.mark.long])
        for check in contract.checks(*IDENTIFY)
    ],
    ids=str,
)
def test_an_algorithm_that_answers_keeps_the_contract(check: contract.Check) -> None:
    check()
