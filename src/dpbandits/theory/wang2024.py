"""Bounds of wang2024 on the regret, and the regret of the start phase of DP-FTPL-Gauss.

Regret is in units of reward; `means`: one per arm; `arms`: their number K; `horizon`: T, rounds;
`epsilon`, `delta`: the budget; logarithms are natural. The functions raise UserError if a theorem
does not apply.
"""

import math
from collections.abc import Sequence
from typing import Annotated

from scipy.special import lambertw

from dpbandits.algorithms import dp_ftpl_gauss
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Budget, Constraint, Delta, Positive, Probability, Rounds
from dpbandits.theory.wang2024_privacy import Lemma15

Exponent = Annotated[float, Constraint(lambda x: 0 <= x < 1, "in [0, 1)")]


def global_lower_bound(
    horizon: Rounds, epsilon: Budget, delta: Delta, c0: Positive, exponent: Exponent
) -> float:
    """Return Theorem 4, for arms of means 1/2 and 1/4 and (epsilon, delta)-global DP.

    (1/(16 epsilon)) log[((e^epsilon - 1) S + 5 delta S)/(40 c0 (e^epsilon - 1) + 5 delta S)] with
    S = T^(1-alpha), or 0 if that is negative. `c0`, `exponent` (alpha): on any two arms the policy
    has a regret of at most c0 T^alpha.
    """
    if epsilon == 0.0 and delta == 0.0:
        raise UserError("Theorem 4 is for epsilon or delta above 0, got 0 and 0")
    s = float(horizon) ** (1.0 - exponent)
    if epsilon == 0.0:
        log = (s - 40.0 * c0) / (5.0 * delta * s)
    else:
        p, q = -math.expm1(-epsilon), math.exp(-epsilon)
        log = math.log1p(p * (s - 40.0 * c0) / (40.0 * c0 * p + 5.0 * delta * s * q)) / epsilon
    if not horizon >= 3.0 * log:
        raise UserError(f"Theorem 4 is for T >= {3.0 * log:.6g} here, got {horizon}")
    return max(0.0, log / 16.0)


def ftpl_new_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Delta
) -> float:
    """Return Theorem 16: sum_i max{16 log T/Delta_i, 4 radius} + 4 N, over the suboptimal arms i.

    radius = (1/epsilon) log[(T (e^epsilon - 1) + 2 T delta)/(2 (e^epsilon - 1) + 2 T delta)]; N is
    the number of all arms.
    Deviation: the paper prints the sum over all arms, which the best arm makes infinite.
    """
    private = 4.0 * Lemma15(epsilon, delta).radius(horizon)
    leading = sum(
        max(16.0 * math.log(horizon) / (max(means) - mean), private)
        for mean in means
        if mean < max(means)
    )
    return leading + 4.0 * len(means)


def gdp_elim_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Delta
) -> float:
    """Return Theorem 18, for a unique best arm:

    sum_i (1024 Delta_i log T/Delta_min^2 + 32 Delta_i radius/Delta_min) + 4 N, where radius =
    (1/epsilon) log[(T^2 (e^epsilon - 1) + T^2 delta)/(2 (e^epsilon - 1) + T^2 delta)].
    """
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    if len(gaps) < len(means) - 1:
        raise UserError("Theorem 18 is for a unique best arm")
    # Algorithm 4 draws from Lemma 15 at delta/2 and allows failures of 1/T^2.
    private = 32.0 * Lemma15(epsilon, 0.5 * delta).radius(float(horizon) * horizon)
    least = min(gaps)
    per_gap = 1024.0 * math.log(horizon) / least**2 + private / least
    return per_gap * sum(gaps) + 4.0 * len(means)


def gauss_start_regret(
    means: Sequence[float], horizon: int, epsilon: Budget, delta: Probability
) -> float:
    """Return the regret of the start phase of DP-FTPL-Gauss.

    It pulls each arm in turn ceil(N_G*) times, at most T rounds in total.
    """
    start = max(1.0, dp_ftpl_gauss.start(dp_ftpl_gauss.Params(epsilon, delta)))  # N_G*
    pulls, left, total = math.ceil(min(start, horizon)), horizon, 0.0
    for mean in means:
        total += (max(means) - mean) * min(pulls, left)
        left -= min(pulls, left)
    return total


def gauss_start_deltas(arms: int, horizon: int, epsilon: Budget) -> tuple[float, ...]:
    """Return the deltas at which N_G*'s terms are equal and at which K N_G* = T, sorted.

    The latter only if N_G* is its first term there. For epsilon >= 1 the second term is never the
    larger one.
    """
    values = []  # of y = 1/(4 pi delta^2): the terms are y and (1 + log y)/epsilon^2
    squared = epsilon * epsilon
    if 0.0 < squared < 1.0:
        values.append(-float(lambertw(-squared / math.e, -1).real) / squared)
    full = horizon / arms
    if squared * full <= 1.0 + math.log(full):
        values.append(full)
    return tuple(sorted(0.5 / math.sqrt(math.pi * y) for y in values))


def gauss_start_epsilons(arms: int, horizon: int, delta: Probability) -> tuple[float, ...]:
    """Return the epsilons at which N_G*'s terms are equal and at which K N_G* = T, sorted.

    The latter only if N_G* is its second term there. Empty for delta >= 1/sqrt(4 pi) = .282, where
    the first term is at most 1 and therefore N_G* = 1.
    """
    y = 0.25 / (math.pi * delta * delta)
    if y <= 1.0:
        return ()
    log = 1.0 + math.log(y)
    epsilons = [math.sqrt(log / y)]
    if y > horizon / arms:
        epsilons.append(math.sqrt(log * arms / horizon))
    return tuple(sorted(epsilons))
