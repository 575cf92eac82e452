"""Law of the arm with the largest sample: the arms above a level against one draw per arm."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from cells import SAMPLERS
from played import final_outcomes
from scipy import stats

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, dp_ts, lazy_dp_ts, ts
from dpbandits.algorithms._ftpl import numbers
from dpbandits.algorithms.lazy_dp_ts import Log, RaisedMeans, raised_numbers
from dpbandits.contract.conditions import p_value
from dpbandits.environments import bernoulli, beta
from dpbandits.experiments.regret import scheme
from dpbandits.fast import _largest_sample
from dpbandits.fast import lazy_dp_ts as fast_lazy
from dpbandits.fast._largest_sample import OFTEN, chance_above, sample_above
from dpbandits.kernel.bandit import new_bandit

C2, GAP = (0.75, 0.625, 0.5, 0.375, 0.25), (0.8, 0.05, 0.05, 0.05, 0.05)
CLOSE = (0.6, 0.5)
MANY = tuple(0.3 + 0.02 * arm for arm in range(17))
LEADER = tuple(0.45 + 0.05 * arm for arm in range(5))  # the worst arm is the first
# Algorithm, parameters with a short start, means, horizon (for the last ones long enough for levels
# that are rarer), runs.
GAMES: list[tuple[str, Any, tuple[float, ...], int, int]] = [
    ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 0.01), CLOSE, 1500, 800),
    ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 0.01), LEADER, 22_000, 150),
    ("dp-ftpl-beta", dp_ftpl_beta.Params(1e6, 0.01), CLOSE, 1500, 800),
    ("dp-ftpl-beta", dp_ftpl_beta.Params(1e6, 0.01), MANY, 2500, 400),
    ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.01, 1500), CLOSE, 1500, 800),
    ("dp-ftpl-new", dp_ftpl_new.Params(0.2, 0.0, 2500), MANY, 2500, 400),
    ("ts", ts.Params(), C2, 3000, 800),
    ("ts", ts.Params(), GAP, 3000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(500.0), C2, 4000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(5.0, Log.NATURAL), (0.5, 0.5), 3000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(10.0), MANY, 6000, 400),
    ("dp-ts", dp_ts.Params(500.0), C2, 4000, 800),
    ("dp-ts", dp_ts.Params(20.0, Log.NATURAL), C2, 8000, 400),
    ("dp-ts", dp_ts.Params(100.0), MANY, 6000, 400),
]
INNER = (50, 500, 1400)
# A correct scheme fails any of the comparisons with probability 10^-4.
LIMIT = 1e-4 / sum(len(means) + 1 + len(INNER) for _, _, means, _, _ in GAMES)


def outcomes(
    game: tuple[str, Any, tuple[float, ...], int, int], per_round: bool, law: Any
) -> np.ndarray:
    """Return the regret on the way and at the end, and the pulls of each arm, a row per run."""
    algorithm, params, means, horizon, runs = game
    arms = law.law(law.Params(means))
    return final_outcomes(
        algorithm, params, arms, len(means), horizon, 3 + per_round, runs, per_round, INNER
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "law"),
    [*((game, bernoulli) for game in GAMES), (GAMES[0], beta), (GAMES[4], beta)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_scheme_has_the_law_of_the_definition(
    game: tuple[str, Any, tuple[float, ...], int, int], law: Any
) -> None:
    assert {name for name, *_ in GAMES} == {*SAMPLERS}
    scheme, plain = (outcomes(game, per_round, law) for per_round in (False, True))
    for column in range(scheme.shape[1]):
        assert p_value(scheme[:, column], plain[:, column]) > LIMIT
    assert len(np.unique(scheme[:, -1])) > 1
    assert (scheme != plain).any()


# The pieces ------------------------------------------------------------------------------------

GAUSS = dp_ftpl_gauss.Params(1.0, 0.01)
BETA = dp_ftpl_beta.Params(1.0, 0.01)


def upper_quantile(law: Any, a: float, b: float, chance: Any) -> Any:
    if law is GAUSS:
        return stats.norm.isf(chance, a, b)
    return stats.beta.isf(chance, a, b)


LAWS = {"gauss": GAUSS, "beta": BETA}


@pytest.mark.parametrize("chance", [0.24, 0.05, 0.001])
@pytest.mark.parametrize(("total", "n"), [(60.0, 97.0), (3.0, 120.0), (700.5, 1000.0)])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_what_is_above_a_level_has_the_law_of_samples_that_are(
    law: Any, total: float, n: float, chance: float
) -> None:
    assert all(scheme(name, params) for name, params, *_ in GAMES)  # imports register laws
    rng, draws = np.random.default_rng(8), 20_000
    a, b = numbers(law, total, n)
    level = upper_quantile(law, a, b, chance)
    bound = chance_above(law, a, b, level)
    assert bound >= chance * (1 - 1e-9)
    drawn = np.array([sample_above(law, rng, a, b, level) for _ in range(draws)])
    above = drawn[drawn > -math.inf]
    assert np.all(above >= level)
    # 45 cases of 2 comparisons.
    limit = 1e-4 / 90
    assert stats.binomtest(above.size, draws, min(chance / bound, 1.0)).pvalue > limit
    if bound == pytest.approx(chance, rel=1e-9):
        assert above.size == draws
    # The excess over the level, compared with plain samples above it.
    u = 1.0 - chance * np.random.default_rng(9).random(draws)
    plain = upper_quantile(law, a, b, 1.0 - u)
    assert stats.ks_2samp(above, plain).pvalue > limit


@pytest.mark.parametrize("epsilon", [5.0, 0.5])
def test_a_game_takes_every_branch(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: arms that are hit, arms drawn below the level, and clipped arms.
    taken: Counter[str] = Counter()
    rng = [np.random.Generator(np.random.PCG64([4, role])) for role in range(2)]
    law = bernoulli.law(bernoulli.Params(C2))
    bandit = new_bandit(law, 5, 15_000, np.array([15_000]), rng[0])

    def counted(name: str) -> None:
        real = getattr(_largest_sample, name)

        def call(*arguments: Any) -> Any:
            taken[name] += 1
            return real(*arguments)

        monkeypatch.setattr(_largest_sample, name, call)

    for name in ("largest_hit", "sample_above", "new_level", "enter", "first"):
        counted(name)
    play: Any = fast_lazy.play
    getattr(play, "py_func", play)(lazy_dp_ts.Params(epsilon), bandit, rng[1])
    assert taken["sample_above"] > 20
    assert taken["new_level"] > 2
    assert taken["first"] > 20
    assert taken["largest_hit"] < 5_000, "most rounds sample the leader alone"


def test_the_chance_of_an_arm_on_the_line_grows_with_t() -> None:
    # So that the chance at the end of a window is the largest one of the window.
    rng, checked = np.random.default_rng(6), 0
    for _ in range(4000):
        n = float(2 ** rng.integers(0, 18))
        arm = np.array([n]), np.array([rng.uniform(-0.2, 1.0)]), np.array([rng.exponential() / n])
        means, log_t = RaisedMeans(*arm), rng.uniform(1.0, 20.0)
        later = log_t * (1.0 + rng.exponential() * 0.05)
        a, b = raised_numbers(means, 0, later)
        level = float(stats.beta.isf(10.0 ** rng.uniform(-6.0, -0.61), a, b))
        if not 0.0 < level < 1.0 or not chance_above(means, a, b, level) < OFTEN:
            continue
        now = chance_above(means, *raised_numbers(means, 0, log_t), level)
        assert now <= chance_above(means, a, b, level) * (1 + 1e-9)
        checked += 1
    assert checked > 2000
