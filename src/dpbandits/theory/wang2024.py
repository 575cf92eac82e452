"""wang2024: the perturbed distributions of Figs. 1-3, what Lemma 8 asks of them, and the bounds.

Distributions are functions of `x`. `pulls`: N_i; `successes`: R_i; F is the CDF of theta_i, F' that
of its neighbour, for which one observation is a 1 in place of a 0. The region is where Lemma 8 lets
F' be at (`epsilon`, `delta`): both inequalities, in both directions, as neighbours are symmetric.
Regret is in units of reward; `means`: one per arm; logarithms are natural. UserError where a
function does not apply.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated

from dpbandits.errors import UserError
from dpbandits.parameters import Budget, Constraint, Delta, Positive, Probability, Rounds
from dpbandits.theory import _perturbations as perturbed
from dpbandits.theory._perturbations import Tails

Successes = Annotated[int, Constraint(lambda n: n >= 0, "a whole number, 0 or more")]
Exponent = Annotated[float, Constraint(lambda x: 0 <= x < 1, "in [0, 1)")]

# DP-FTPL-Gauss, Fig. 1 ---------------------------------------------------------------------------


def gauss_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """F of DP-FTPL-Gauss: Normal(R/N, variance 2/N)."""
    _check(pulls, successes)
    return perturbed.gauss(x, pulls, successes).below


def gauss_neighbour_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """F' of DP-FTPL-Gauss: R + 1 successes."""
    return gauss_cdf(x, pulls, _changed(pulls, successes))


def gauss_region_low(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """max{0, (F - delta)/e^epsilon, 1 - e^epsilon (1 - F) - delta} for DP-FTPL-Gauss."""
    _check(pulls, successes)
    return perturbed.lowest(perturbed.gauss(x, pulls, successes), epsilon, delta)


def gauss_region_high(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """min{1, e^epsilon F + delta, 1 - (1 - F - delta)/e^epsilon} for DP-FTPL-Gauss."""
    _check(pulls, successes)
    return perturbed.highest(perturbed.gauss(x, pulls, successes), epsilon, delta)


def gauss_smallest_delta(pulls: Rounds, epsilon: Budget) -> float:
    """The smallest delta at which Lemma 8 holds for DP-FTPL-Gauss after N pulls; exact.

    It falls with N. To about 10^-14 sqrt(N) of its value.
    """
    return perturbed.gauss_delta(pulls, epsilon)


def gauss_start(epsilon: Budget, delta: Probability) -> float:
    """N_G* = min{1/(4 pi delta^2), log(e/(4 pi delta^2))/epsilon^2}, at least 1; not rounded.

    The first term at epsilon = 0. The second is negative for delta > sqrt(e/(4 pi)) = .465.
    """
    without_epsilon = (1.0 / delta) * (1.0 / delta) / (4.0 * math.pi)
    if epsilon == 0.0:
        return max(1.0, without_epsilon)
    log = 1.0 - math.log(4.0 * math.pi) - 2.0 * math.log(delta)
    return max(1.0, min(without_epsilon, _over_square(log, epsilon)))


def gauss_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """The fewest pulls from which on Lemma 8 holds for DP-FTPL-Gauss."""
    return _fewest(lambda pulls: perturbed.gauss_delta(pulls, epsilon) <= delta)


def gauss_start_regret(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Probability
) -> float:
    """What the start phase of DP-FTPL-Gauss costs: ceil(N_G*) pulls of arm after arm, T at most."""
    pulls, left, total = math.ceil(min(gauss_start(epsilon, delta), horizon)), horizon, 0.0
    for mean in means:
        total += (max(means) - mean) * min(pulls, left)
        left -= min(pulls, left)
    return total


def gauss_start_deltas(arms: int, horizon: int, epsilon: Budget) -> tuple[float, ...]:
    """The delta where N_G*'s terms are equal, and where K N_G* = T if that is by its first term.

    For epsilon >= 1 the second term is never the larger one.
    """
    from scipy.special import lambertw

    found = []  # of y = 1/(4 pi delta^2): the terms are y and (1 + log y)/epsilon^2
    squared = epsilon * epsilon
    if 0.0 < squared < 1.0:
        found.append(-float(lambertw(-squared / math.e, -1).real) / squared)
    full = horizon / arms
    if squared * full <= 1.0 + math.log(full):
        found.append(full)
    return tuple(sorted(0.5 / math.sqrt(math.pi * y) for y in found))


def gauss_start_epsilons(arms: int, horizon: int, delta: Probability) -> tuple[float, ...]:
    """The epsilon where N_G*'s terms are equal, and where K N_G* = T if that is by its second.

    Only for delta < 1/sqrt(4 pi) = .282: else the first term is below 1, and so is N_G*.
    """
    y = 0.25 / (math.pi * delta * delta)
    if y <= 1.0:
        return ()
    log = 1.0 + math.log(y)
    found = [math.sqrt(log / y)]
    if y > horizon / arms:
        found.append(math.sqrt(log * arms / horizon))
    return tuple(sorted(found))


# DP-FTPL-Beta, Fig. 2 ----------------------------------------------------------------------------


def beta_cdf(x: float, pulls: Rounds, successes: Successes, with_k: bool) -> float:
    """F of DP-FTPL-Beta: Beta(R + 1 + k, N - R + 1 + k), k = floor(N/8) + 1 or without k."""
    _check(pulls, successes)
    return perturbed.beta(x, pulls, successes, with_k).below


def beta_neighbour_cdf(x: float, pulls: Rounds, successes: Successes, with_k: bool) -> float:
    """F' of DP-FTPL-Beta: R + 1 successes."""
    return beta_cdf(x, pulls, _changed(pulls, successes), with_k)


def beta_region_low(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """`gauss_region_low` for DP-FTPL-Beta."""
    _check(pulls, successes)
    return perturbed.lowest(perturbed.beta(x, pulls, successes, with_k), epsilon, delta)


def beta_region_high(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """`gauss_region_high` for DP-FTPL-Beta."""
    _check(pulls, successes)
    return perturbed.highest(perturbed.beta(x, pulls, successes, with_k), epsilon, delta)


def beta_smallest_delta(pulls: Rounds, epsilon: Budget, with_k: bool) -> float:
    """The smallest delta at which Lemma 8 holds for DP-FTPL-Beta after N pulls, whatever they gave.

    It falls with N; without k not to 0, but to 1/e at epsilon = 0 and .1633 at epsilon = 1.
    """
    return perturbed.beta_delta(pulls, epsilon, with_k)


def beta_start(epsilon: Budget, delta: Probability) -> float:
    """N_B*, not rounded; at epsilon = 0 without the second term.

    max{min{40 e/(9 pi delta^2), 8000 log(e/(2 pi delta^2))/(81 epsilon^2)}, 1000 e/(9 pi)}.
    """
    least = 1000.0 * math.e / (9.0 * math.pi)
    without_epsilon = 40.0 * math.e / (9.0 * math.pi) * (1.0 / delta) * (1.0 / delta)
    if epsilon == 0.0:
        return max(without_epsilon, least)
    log = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(delta)
    return max(min(without_epsilon, _over_square(8000.0 * log / 81.0, epsilon)), least)


def beta_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """The fewest pulls from which on Lemma 8 holds for DP-FTPL-Beta, with k."""
    return _fewest(lambda pulls: perturbed.beta_delta(pulls, epsilon, True) <= delta)


# DP-FTPL-New, Fig. 3 -----------------------------------------------------------------------------


def new_cdf(
    x: float,
    pulls: Rounds,
    successes: Successes,
    horizon: Rounds,
    epsilon: Budget,
    delta: Delta,
) -> float:
    """F of DP-FTPL-New: Lemma 15 with x_0 = R/N + sqrt(log T/N) + radius/N of Algorithm 3."""
    return _new(x, pulls, successes, horizon, epsilon, delta).below


def new_neighbour_cdf(
    x: float,
    pulls: Rounds,
    successes: Successes,
    horizon: Rounds,
    epsilon: Budget,
    delta: Delta,
) -> float:
    """F' of DP-FTPL-New: R + 1 successes."""
    return new_cdf(x, pulls, _changed(pulls, successes), horizon, epsilon, delta)


def new_region_low(
    x: float,
    pulls: Rounds,
    successes: Successes,
    horizon: Rounds,
    epsilon: Budget,
    delta: Delta,
) -> float:
    """`gauss_region_low` for DP-FTPL-New, at the epsilon and delta of its distribution."""
    tails = _new(x, pulls, successes, horizon, epsilon, delta)
    return perturbed.lowest(tails, epsilon, delta)


def new_region_high(
    x: float,
    pulls: Rounds,
    successes: Successes,
    horizon: Rounds,
    epsilon: Budget,
    delta: Delta,
) -> float:
    """`gauss_region_high` for DP-FTPL-New, at the epsilon and delta of its distribution."""
    tails = _new(x, pulls, successes, horizon, epsilon, delta)
    return perturbed.highest(tails, epsilon, delta)


def new_smallest_delta(pulls: Rounds, epsilon: Budget, delta: Delta) -> float:
    """The smallest delta at which Lemma 8 holds for the distribution of `epsilon` and `delta`.

    It is `delta` itself up to 1/2, and above that 1 - e^-epsilon ((e^epsilon - 1)/(4 delta)
    + 1 - delta), which is less. Neighbours are 1/N apart and the distribution scales with 1/N:
    `pulls` changes nothing, and is here to be drawn beside the others.
    """
    perturbed.check_budget(epsilon, delta, "Lemma 15")
    if delta <= 0.5:
        return delta
    return 1.0 + math.expm1(-epsilon) / (4.0 * delta) - math.exp(-epsilon) * (1.0 - delta)


def _new(x: float, pulls: int, successes: int, horizon: int, epsilon: float, delta: float) -> Tails:
    _check(pulls, successes)
    perturbed.check_budget(epsilon, delta, "Lemma 15")
    centre = successes + math.sqrt(pulls * math.log(horizon))  # N x_0, without the radius
    u = pulls * x - centre - perturbed.radius(horizon, epsilon, delta)
    return perturbed.new(u, epsilon, delta)


# Bounds on the regret ----------------------------------------------------------------------------


def global_lower_bound(
    horizon: Rounds, epsilon: Budget, delta: Delta, c0: Positive, exponent: Exponent
) -> float:
    """Theorem 4, for the arms 1/2 and 1/4 and (epsilon, delta)-global differential privacy.

    (1/(16 epsilon)) log[((e^epsilon - 1) S + 5 delta S)/(40 c0 (e^epsilon - 1) + 5 delta S)] with
    S = T^(1-alpha); 0 where that is negative. `c0`, `exponent`: the policy has no more regret than
    c0 T^exponent on any two arms.
    """
    perturbed.check_budget(epsilon, delta, "Theorem 4")
    s = float(horizon) ** (1.0 - exponent)
    if epsilon == 0.0:
        log = (s - 40.0 * c0) / (5.0 * delta * s)
    else:
        p, q = -math.expm1(-epsilon), math.exp(-epsilon)
        log = math.log1p(p * (s - 40.0 * c0) / (40.0 * c0 * p + 5.0 * delta * s * q)) / epsilon
    if not horizon >= 3.0 * log:
        raise UserError(f"Theorem 4 is for T >= {3.0 * log:.6g} here, got {horizon}")
    return max(0.0, log / 16.0)


def ftpl_gauss_leading_sum(
    means: Sequence[float],
    horizon: int,
    epsilon: Budget,
    delta: Probability,
    lambda_: Budget,
) -> float:
    """The sum of Theorem 11: sum_i max{2 Delta_i log T/(Delta_i - 2 lambda)^2, N_G* Delta_i}.

    A shape and no bound: it lacks Theta(N/lambda^4), of which the paper gives no constant. For
    lambda < Delta_min/2; the sum is least at 0, where the term that it lacks is infinite.
    """
    start = gauss_start(epsilon, delta)
    return _leading_sum(means, horizon, start, 2.0, lambda_, "Theorem 11")


def ftpl_beta_leading_sum(
    means: Sequence[float],
    horizon: int,
    epsilon: Budget,
    delta: Probability,
    lambda_: Budget,
) -> float:
    """The sum of Theorem 13: sum_i max{5 Delta_i log T/(2 (Delta_i - 5 lambda/2)^2), N_B* Delta_i}.

    A shape and no bound, as `ftpl_gauss_leading_sum` is; for lambda < 2 Delta_min/5.
    """
    start = beta_start(epsilon, delta)
    return _leading_sum(means, horizon, start, 2.5, lambda_, "Theorem 13")


def ftpl_new_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Delta
) -> float:
    """Theorem 16: sum_i max{16 log T/Delta_i, 4 radius} + 4 N over the suboptimal arms.

    radius = (1/epsilon) log[(T (e^epsilon - 1) + 2 T delta)/(2 (e^epsilon - 1) + 2 T delta)].
    Deviation: printed is the sum over every arm, of which the best makes it infinite.
    """
    perturbed.check_budget(epsilon, delta, "Theorem 16")
    private = 4.0 * perturbed.radius(horizon, epsilon, delta)
    leading = sum(max(16.0 * math.log(horizon) / gap, private) for gap in _gaps(means))
    return leading + 4.0 * len(means)


def gdp_elim_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Delta
) -> float:
    """Theorem 18, for a unique best arm:

    sum_i (1024 Delta_i log T/Delta_min^2 + 32 Delta_i radius/Delta_min) + 4 N, where radius =
    (1/epsilon) log[(T^2 (e^epsilon - 1) + T^2 delta)/(2 (e^epsilon - 1) + T^2 delta)].
    """
    perturbed.check_budget(epsilon, delta, "Theorem 18")
    gaps = _gaps(means)
    if len(gaps) < len(means) - 1:
        raise UserError("Theorem 18 is for a unique best arm")
    # Algorithm 4 draws from Lemma 15 at delta/2 and allows failures of 1/T^2.
    private = 32.0 * perturbed.radius(float(horizon) * horizon, epsilon, 0.5 * delta)
    least = min(gaps)
    per_gap = 1024.0 * math.log(horizon) / least**2 + private / least
    return per_gap * sum(gaps) + 4.0 * len(means)


def _leading_sum(
    means: Sequence[float],
    horizon: int,
    start: float,
    factor: float,
    lambda_: float,
    theorem: str,
) -> float:
    # sum_i max{c Delta_i log T/(Delta_i - c lambda)^2, N* Delta_i}, c the factor of either theorem.
    gaps, margin = _gaps(means), factor * lambda_
    if gaps and not margin < min(gaps):
        limit = min(gaps) / factor
        raise UserError(f"{theorem} is for lambda < {limit:g} here, got {lambda_:g}")
    log_t = math.log(horizon)
    return sum(gap * max(factor * log_t / (gap - margin) ** 2, start) for gap in gaps)


# Shared ------------------------------------------------------------------------------------------


def _check(pulls: int, successes: int) -> None:
    if successes > pulls:
        raise UserError(f"of {pulls} pulls at most {pulls} give 1, got {successes}")


def _changed(pulls: int, successes: int) -> int:
    # The successes of the neighbour.
    if not successes < pulls:
        raise UserError(f"the neighbour has one more 1: at most {pulls - 1}, got {successes}")
    return successes + 1


def _over_square(value: float, epsilon: float) -> float:
    # value/epsilon^2 without underflow of the square.
    return value / epsilon / epsilon


def _fewest(enough: Callable[[int], bool]) -> float:
    # What is enough stays enough, for the smallest delta falls with the pulls.
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def _gaps(means: Sequence[float]) -> list[float]:
    # Of the suboptimal arms.
    best = max(means)
    return [best - mean for mean in means if mean < best]
