"""NAS, DP-NAS and DP-exponential-NAS against literal versions of sajed2019.

The literal versions draw every sample and every noise, and check where the algorithm boxes check.
They share no code with the kernels, which take many samples in one step.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dpbandits.cells.bandit_cell import StoppingCell, Stream
from dpbandits.cells.play_stopping_rule import simulate
from dpbandits.core import registry
from dpbandits.stopping import nas

STREAMS = 10_000
LONGEST = 2048  # samples; no literal stream below takes more

ALPHA, BETA, EPSILON = 0.8, 0.2, 6.0
MEAN, RADIUS = 1.3, 2.0

Drawn = tuple[np.ndarray, np.ndarray]  # samples used, estimates


def literal_nas(mean: float, radius: float, rng: np.random.Generator) -> Drawn:
    means, t = running_means(mean, radius, rng)
    h = radius * np.sqrt(2 / t * np.log(4 * t**2 / BETA))
    return halted(means, np.abs(means) >= h * (1 / ALPHA + 1), 0.0)


def literal_dp_nas(mean: float, radius: float, rng: np.random.Generator) -> Drawn:
    sigma_1, sigma_2, sigma_3 = 12 * radius / EPSILON, 12 * radius / EPSILON, 4 * radius / EPSILON
    means, t = running_means(mean, radius, rng)
    b = rng.laplace(0, sigma_1, (STREAMS, 1))
    a = rng.laplace(0, sigma_2, means.shape)
    h = radius * np.sqrt(2 / t * np.log(16 * t**2 / BETA))
    c = sigma_1 * math.log(4 / BETA) + sigma_2 * np.log(8 * t**2 / BETA)
    c = c + sigma_3 / ALPHA * math.log(4 / BETA)
    halts = np.abs(means) >= h * (1 + 1 / ALPHA) + (c + b + a) / t
    return halted(means, halts, rng.laplace(0, sigma_3, STREAMS))


def literal_dp_exponential_nas(mean: float, radius: float, rng: np.random.Generator) -> Drawn:
    sigma_1, sigma_2, sigma_3 = 12 * radius / EPSILON, 12 * radius / EPSILON, 4 * radius / EPSILON
    means, _ = running_means(mean, radius, rng)
    b = rng.laplace(0, sigma_1, STREAMS)
    halts = np.zeros(means.shape, bool)
    for k in range(1, 1 + int(math.log2(LONGEST))):
        column = 2**k - 1
        a = rng.laplace(0, sigma_2, STREAMS)
        c = sigma_1 * math.log(4 / BETA) + sigma_2 * math.log(8 * k**2 / BETA)
        c += sigma_3 / ALPHA * math.log(4 / BETA)
        h = radius * math.sqrt(2 / 2**k * math.log(16 * k**2 / BETA))
        halts[:, column] = np.abs(means[:, column]) >= h * (1 + 1 / ALPHA) + (c + b + a) / 2**k
    return halted(means, halts, rng.laplace(0, sigma_3, STREAMS))


def running_means(mean: float, radius: float, rng: np.random.Generator) -> Drawn:
    t = np.arange(1.0, LONGEST + 1)
    up = rng.random((STREAMS, LONGEST)) < (1 + mean / radius) / 2
    return np.cumsum(np.where(up, radius, -radius), axis=1) / t, t


def halted(means: np.ndarray, halts: np.ndarray, noise: np.ndarray | float) -> Drawn:
    assert halts.any(axis=1).all()
    first = halts.argmax(axis=1)
    t = first + 1.0
    return t, means[np.arange(STREAMS), first] + noise / t


LITERAL: dict[str, Callable[[float, float, np.random.Generator], Drawn]] = {
    "nas": literal_nas,
    "dp-nas": literal_dp_nas,
    "dp-exponential-nas": literal_dp_exponential_nas,
}


def kernel(rule: str, mean: float, radius: float, epsilon: float = EPSILON) -> Drawn:
    cls = registry.stopping_rule(rule).Params
    params = cls(ALPHA, BETA) if rule == "nas" else cls(epsilon, ALPHA, BETA)
    samples, estimates = simulate(
        StoppingCell(rule, params, Stream(mean, radius), 3), range(STREAMS)
    )[0].T
    return samples, estimates


def p_values(ours: Drawn, theirs: Drawn) -> list[float]:
    return [float(stats.ks_2samp(a, b).pvalue) for a, b in zip(ours, theirs, strict=True)]


def test_every_rule_has_its_literal_version() -> None:
    assert set(LITERAL) == set(registry.stopping_rule_names())


@pytest.mark.parametrize("mean", [MEAN, -MEAN])
@pytest.mark.parametrize("rule", LITERAL)
def test_a_rule_has_the_law_of_the_literal_one(rule: str, mean: float) -> None:
    literal = LITERAL[rule](mean, RADIUS, np.random.default_rng(1))
    # By Bonferroni over both, a correct rule fails this with probability 10^-4.
    assert min(p_values(kernel(rule, mean, RADIUS), literal)) > 1e-4 / 2


@pytest.mark.parametrize("rule", ["dp-nas", "dp-exponential-nas"])
def test_a_tenth_less_noise_is_noticed(rule: str) -> None:
    literal = LITERAL[rule](MEAN, RADIUS, np.random.default_rng(1))
    assert min(p_values(kernel(rule, MEAN, RADIUS, EPSILON / 0.9), literal)) < 1e-4 / 2


def test_a_mean_shifted_by_a_hundredth_is_noticed_by_nas() -> None:
    literal = literal_nas(MEAN, RADIUS, np.random.default_rng(1))
    assert min(p_values(kernel("nas", MEAN * 1.01, RADIUS), literal)) < 1e-4 / 2


def test_nas_on_samples_that_never_vary_halts_at_the_first_t_of_its_formula() -> None:
    def reached(t: int) -> bool:
        h = math.sqrt(2 / t * math.log(4 * t * t / 0.05))
        return h * (1 / 0.5 + 1) <= 1

    first = next(t for t in range(1, 10_000) if reached(t))
    cell = StoppingCell("nas", nas.Params(0.5, 0.05), Stream(1.0, 1.0), 1)
    np.testing.assert_array_equal(simulate(cell, range(3))[0], [[first, 1.0]] * 3)


def test_dp_nas_without_privacy_is_nas_at_a_quarter_of_the_failures() -> None:
    # Noise and c_t vanish; Algorithm 1 keeps h_t with 16/beta where NAS has 4/beta.
    private = registry.stopping_rule("dp-nas").Params(1e12, ALPHA, BETA)
    samples = [
        simulate(StoppingCell(rule, params, Stream(MEAN, RADIUS), 3), range(STREAMS))[0][:, 0]
        for rule, params in (("dp-nas", private), ("nas", nas.Params(ALPHA, BETA / 4)))
    ]
    # Other batches of the same stream: the same law, not the same bits.
    assert stats.ks_2samp(*samples).pvalue > 1e-4
