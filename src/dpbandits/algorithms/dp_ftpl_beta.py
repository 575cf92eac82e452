"""DP-FTPL-Beta (wang2024): Algorithm 2. Every round alone is (ε, δ)-DP, Theorem 13."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._beta_draw import sample_beta
from dpbandits.algorithms._ftpl import claim_of_a_round, first_pulls, long_start, no_delta, samples
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    follow_largest,
    numbers,
    sample,
    sample_above,
)
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Budget, Delta
from dpbandits.privacy.notions import Guarantee
from dpbandits.privacy.releases import ApproximateDP

LABEL = "DP-FTPL-Beta"


class Params(NamedTuple):
    """Budget of one round (ε may be 0), and the method that draws the largest sample."""

    epsilon: Budget
    delta: Delta
    method: Method = Method.EXACT

    def problem(self) -> tuple[str, str] | None:
        """Return a problem if δ = 0, for which N* is infinite; else None."""
        return no_delta(self, LABEL)


@inlined
def start(params):
    """Return N_B*, a real number.

    max{min{40e/(9 π δ²), 8000 log(e/(2 π δ²))/(81 ε²)}, 1000e/(9 π)}.
    """
    # Divided step by step: delta^2 and epsilon^2 may underflow.
    least = 1000.0 * math.e / (9.0 * math.pi)
    needed = 40.0 * math.e / (9.0 * math.pi) / params.delta / params.delta
    if params.epsilon > 0.0:
        log_part = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(params.delta)
        needed = min(needed, 8000.0 / 81.0 * log_part / params.epsilon / params.epsilon)
    return max(needed, least)


@numbers.register(Params)
def beta_numbers(params, total, n):
    """Return a + k = R + 1 + k and b + k = N - R + 1 + k (line 9)."""
    k = math.floor(n / 8.0) + 1.0
    return total + 1.0 + k, n - total + 1.0 + k


@sample.register(Params)
def beta_sample(params, rng, a, b):
    """Draw θ ~ B(a, b); both parameters include k."""
    return sample_beta(rng, a, b) if params.method == Method.EXACT else rng.beta(a, b)


@inlined
def fall(a, b, level):
    """Return minus the derivative of the log density of B(a, b) at the level."""
    return (b - 1.0) / (1.0 - level) - (a - 1.0) / level


@inlined
def stirling(a):
    """Return log Γ(a) - [(a - 1/2) log a - a + log(2 π)/2]; error < 10⁻¹¹ for a ≥ 14."""
    square = a * a
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / a


@chance_above.register(Params)
def beta_chance_above(params, a, b, level):
    """Return the bound f(c)/s, where f is the density and log f, concave, falls with slope s at c.

    c is the level.
    """
    slope = fall(a, b, level)
    if slope <= 0.0:
        return 1.0
    n = a + b
    log_density = a * math.log(level * n / a) + b * math.log((1.0 - level) * n / b)
    log_density += stirling(n) - stirling(a) - stirling(b)
    root = math.sqrt(a * b / (2.0 * math.pi * n))
    return math.exp(log_density) * root / (level * (1.0 - level) * slope)


@sample_above.register(Params)
def beta_sample_above(params, rng, a, b, level):
    """Draw an exponential beyond level c, accepted with probability f(x)/(f(c) exp(-s (x - c)))."""
    slope = fall(a, b, level)
    beyond = rng.standard_exponential() / slope
    spare = rng.standard_exponential()
    if beyond >= 1.0 - level:
        return -math.inf
    log_ratio = (a - 1.0) * math.log1p(beyond / level)
    log_ratio += (b - 1.0) * math.log1p(-beyond / (1.0 - level)) + slope * beyond
    return level + beyond if spare >= -log_ratio else -math.inf


@kernel
def play(params, bandit, rng):
    """Pull each arm N_B* times, then the arm of largest θᵢ ~ B(aᵢ+kᵢ, bᵢ+kᵢ).

    Algorithm 2. For rewards other than 0 and 1 the sum Rᵢ and both parameters are real numbers.
    """
    sums, pulls = first_pulls(bandit, start(params))
    follow_largest(params, params.method, bandit, rng, sums, pulls)


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 13, for every round alone."""
    return claim_of_a_round(params, "Theorem 13")


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Return a warning if the start takes all rounds; else None."""
    return long_start(start(params), arms, horizon)
