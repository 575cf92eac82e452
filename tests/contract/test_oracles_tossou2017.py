"""EXP3, its private versions, uniform play and the adversaries of tossou2017 against oracles.

Both sides play whole games on the same tables of gains and the same streams: every arm, every draw
and every regret are compared. The oracles are written from the paper and import nothing from
dpbandits (tests/oracles/).
"""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import environments as described
import numpy as np
import pytest
import streams
import tossou2017 as oracle
from played import Played, assert_same_run, play_bandit
from streams import Draws

from dpbandits.algorithms import dp_exp3_lap, dp_lambda_lap, exp3, exp3_tau, uniform
from dpbandits.algorithms.exp3_tau import BatchGamma, Calibration, TauRounding, batch_length
from dpbandits.environments import adversaries
from dpbandits.environments.adversaries import (
    GainTable,
    Kind,
    ObliviousStart,
    SwitchFeedback,
    Walk,
)
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.parameters import variant_name

# Adversaries --------------------------------------------------------------------------------------


def described_table(params: adversaries.Params, rounds: int, rng: Any) -> described.Gains:
    """Return the table of the oracle for these parameters."""
    if params.kind is Kind.DETERMINISTIC:
        return described.deterministic(rounds, params.arms)
    if params.kind is Kind.STOCHASTIC:
        return described.stochastic(rounds, params.arms, rng)
    if params.kind is Kind.FULLY_OBLIVIOUS:
        return described.fully_oblivious(rounds, params.arms, rng)
    if params.kind is Kind.OBLIVIOUS:
        first = params.oblivious_start is ObliviousStart.DRAW
        return described.oblivious(rounds, params.arms, rng, first)
    return described.switching(rounds, params.arms, rng, params.walk is Walk.PLAIN)


def every_adversary(arms: int) -> Iterator[adversaries.Params]:
    """Yield every kind in every variant that affects it."""
    for kind in Kind:
        walks = Walk if kind is Kind.SWITCHING else (Walk.MULTISCALE,)
        starts = ObliviousStart if kind is Kind.OBLIVIOUS else (ObliviousStart.DRAW,)
        costs = SwitchFeedback if kind is Kind.SWITCHING else (SwitchFeedback.OBSERVED,)
        for cost, walk, start in itertools.product(costs, walks, starts):
            yield adversaries.Params(kind, arms, cost, walk, start)


@pytest.mark.parametrize("arms", [2, 3, 6])
def test_every_adversary_is_that_of_section_4(arms: int) -> None:
    for seed, params in enumerate(every_adversary(arms)):
        ours = adversaries.table(params, 700, streams.reward_stream(seed))
        literal = described_table(params, 700, streams.reward_stream(seed))
        np.testing.assert_allclose(ours.gains, literal, rtol=0, atol=1e-13)
        switches = params.kind is Kind.SWITCHING
        assert ours.feedback == (params.switch_feedback if switches else SwitchFeedback.NONE)


# Algorithms ---------------------------------------------------------------------------------------

Oracle = Callable[[described.TableGame, Any], Any]


@cache
def some_tables(rounds: int, arms: int) -> list[tuple[described.Gains, SwitchFeedback]]:
    """Return a table of every kind, drawn by the oracle, and one of the walk for every cost."""
    tables = []
    for seed, params in enumerate(every_adversary(arms)):
        if params.walk is Walk.MULTISCALE and params.oblivious_start is ObliviousStart.DRAW:
            switches = params.kind is Kind.SWITCHING
            feedback = params.switch_feedback if switches else SwitchFeedback.NONE
            gains = described_table(params, rounds, streams.reward_stream(seed))
            tables.append((gains, feedback))
    return tables


def play_ours(
    policy: Callable[..., None],
    params: Any,
    gains: described.Gains,
    generator: Any,
    feedback: SwitchFeedback = SwitchFeedback.NONE,
    memory: int = 1,
) -> Played:
    """Play a policy of the package on a table."""
    rounds, arms = len(gains), len(gains[0])
    best = np.append(0.0, np.cumsum(gains, axis=0).max(axis=1))
    law = GainTable(np.array(gains), best, feedback, np.zeros(1), np.array([-1, 0]), memory)
    every = np.arange(1, rounds + 1)
    bandit = new_bandit(law, arms, rounds, every, streams.reward_stream(0))
    return play_bandit(policy, params, bandit, Draws(generator))


def assert_alike(
    policy: Callable[..., None], params: Any, literal: Oracle, rounds: int, arms: int = 3
) -> None:
    """Play both on the same tables and streams and compare everything."""
    for seed, (gains, feedback) in enumerate(some_tables(rounds, arms)):
        ours = play_ours(policy, params, gains, streams.policy_stream(seed), feedback)
        game = described.TableGame(gains, variant_name(feedback))
        draws = Draws(streams.policy_stream(seed))
        literal(game, draws)
        assert_same_run(ours, game.played, draws.log)
        np.testing.assert_allclose(ours.regrets, game.regret(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("rounds", [5, 600])
def test_exp3_draws_from_the_probabilities_2_1(rounds: int) -> None:
    assert_alike(exp3.play, exp3.Params(rounds), oracle.play_exp3, rounds)


@pytest.mark.parametrize("base", dp_lambda_lap.Base)
@pytest.mark.parametrize("epsilon", [0.3, 4.0, 243.292])
def test_dp_lambda_lap_is_the_literal_one(epsilon: float, base: dp_lambda_lap.Base) -> None:
    params = dp_lambda_lap.Params(epsilon, 400, base)
    literal = partial(oracle.play_dp_lambda_lap, epsilon=epsilon, base=variant_name(base))
    assert_alike(dp_lambda_lap.play, params, literal, 400)


@pytest.mark.parametrize("memory", [1, 2, 5])
def test_an_adversary_remembers_so_many_rounds(memory: int) -> None:
    for seed, (gains, feedback) in enumerate(some_tables(300, 3)):
        ours = play_ours(
            exp3.play, exp3.Params(300), gains, streams.policy_stream(seed), feedback, memory
        )
        game = described.TableGame(gains, variant_name(feedback), memory)
        oracle.play_exp3(game, Draws(streams.policy_stream(seed)))
        assert ours.arms == game.played
        np.testing.assert_allclose(ours.regrets, game.regret(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 4.0, 243.292])
def test_dp_exp3_lap_is_algorithm_1(epsilon: float) -> None:
    assert_alike(
        dp_exp3_lap.play,
        dp_exp3_lap.Params(epsilon, 500),
        partial(oracle.play_dp_exp3_lap, epsilon=epsilon),
        500,
    )


class Borders:
    """Generator whose numbers lie next to a border of the choice, so that the least change shows.

    A uniform number is 10^-7 from a cumulative probability of the oracle. Noise takes a gain of 0
    or 1 to an end of [-b, b+1], give or take b/100.
    """

    def __init__(self, seed: int, b: float = 1.0) -> None:
        self.rng = streams.policy_stream(seed)
        self.p: list[float] = []  # of the coming choice
        ends = [-1.01 * b, -0.99 * b, 1 + 0.99 * b, 1 + 1.01 * b]
        self.noises = [end - gain for end in ends for gain in (0.0, 1.0)]

    def random(self) -> float:
        border = sum(self.p[: self.rng.integers(1, len(self.p))])
        return float(border + self.rng.choice([-1e-7, 1e-7]))

    def laplace(self, location: float, scale: float) -> float:
        return float(self.rng.choice(self.noises))


class Replay:
    """Generator that returns recorded numbers."""

    def __init__(self, log: list[streams.Draw]) -> None:
        self.values = {
            method: iter([draw.value for draw in log if draw.method == method])
            for method in ("random", "laplace")
        }

    def random(self) -> float:
        return next(self.values["random"])

    def laplace(self, location: float, scale: float) -> float:
        return next(self.values["laplace"])


TAU = math.ceil(oracle.tau_for_regret(3, 400))
SENSITIVE: dict[str, tuple[Any, Any, Oracle]] = {
    "exp3": (exp3, exp3.Params(400), oracle.play_exp3),
    **{
        f"dp-exp3-lap, b {side} 1": (
            *(dp_exp3_lap, dp_exp3_lap.Params(epsilon, 400)),
            partial(oracle.play_dp_exp3_lap, epsilon=epsilon),
        )
        for side, epsilon in (("above", 0.5), ("below", 30.0))
    },
    **{
        f"exp3-tau, gamma of {variant.name}": (
            *(exp3_tau, exp3_tau.Params(400, 60.0, 0.01, batch_gamma=variant)),
            partial(oracle.play_exp3_tau, tau=TAU, gamma_of_batches=variant is BatchGamma.BATCHES),
        )
        for variant in BatchGamma
    },
}


@pytest.mark.parametrize("name", SENSITIVE)
def test_choices_next_to_a_border_are_those_of_the_oracle(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, params, literal = SENSITIVE[name]
    described_p = oracle.EXP3.probabilities

    def probabilities(self: oracle.EXP3) -> list[float]:
        self.rng.rng.p = described_p(self)
        return list(self.rng.rng.p)

    monkeypatch.setattr(oracle.EXP3, "probabilities", probabilities)
    gains = described.stochastic(400, 3, streams.reward_stream(1))
    b = math.log(400) / getattr(params, "epsilon", 1.0)
    game, draws = described.TableGame(gains, "none"), Draws(Borders(1, b))
    ignored = literal(game, draws)
    if ignored is not None:
        assert 120 < ignored < 280
    ours = play_ours(module.play, params, gains, Replay(draws.log))
    assert_same_run(ours, game.played, draws.log)


@pytest.mark.parametrize("rounding", TauRounding)
@pytest.mark.parametrize("batch_gamma", BatchGamma)
@pytest.mark.parametrize("calibration", Calibration)
def test_exp3_tau_is_that_of_section_3_2(
    calibration: Calibration, batch_gamma: BatchGamma, rounding: TauRounding
) -> None:
    rounds, arms, epsilon, delta = 607, 3, 60.0, 0.01
    params = exp3_tau.Params(rounds, epsilon, delta, calibration, batch_gamma, rounding)
    real = (
        oracle.tau_for_regret(arms, rounds)
        if calibration is Calibration.REGRET
        else oracle.tau_for_budget(rounds, epsilon, delta)
    )
    tau = math.ceil(real) if rounding is TauRounding.CEIL else math.floor(real)
    assert batch_length(params, arms) == tau
    assert rounds % tau  # a last interval with fewer rounds
    by_batches = batch_gamma is BatchGamma.BATCHES
    assert_alike(
        exp3_tau.play,
        params,
        partial(oracle.play_exp3_tau, tau=tau, gamma_of_batches=by_batches),
        rounds,
    )


def test_uniform_play_draws_every_arm_alike() -> None:
    assert_alike(uniform.play, uniform.Params(), oracle.play_uniform, 300)


@pytest.mark.parametrize("arms", [2, 5, 64])
@pytest.mark.parametrize("horizon", [100, 2**18, 10**9])
def test_tau_is_that_of_the_corollaries(arms: int, horizon: int) -> None:
    for epsilon, delta in [(0.2, 1e-6), (3.0, 0.1), (90.0, 1e-12)]:
        for calibration, real in (
            (Calibration.REGRET, oracle.tau_for_regret(arms, horizon)),
            (Calibration.BUDGET, oracle.tau_for_budget(horizon, epsilon, delta)),
        ):
            for rounding, whole in ((TauRounding.CEIL, math.ceil), (TauRounding.FLOOR, math.floor)):
                params = exp3_tau.Params(
                    horizon, epsilon, delta, calibration, tau_rounding=rounding
                )
                assert batch_length(params, arms) == min(max(1, whole(real)), horizon)
