"""Bounds of tossou2017 on the regret and the privacy loss of EXP3, DP-EXP3-Lap and EXP3_tau.

`arms`: K; `horizon`: T, rounds; `epsilon`, `delta`: the budget; `tau`: rounds per batch. Regret is
in units of gain, a privacy loss is an epsilon; logarithms are natural. A function with `printed` in
its name evaluates the paper's text where its proof gives something else: see the paper's report.
"""

import math
from collections.abc import Sequence

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Count, Positive, Probability, Rounds


def exp3_upper_bound(arms: int, horizon: int) -> float:
    """Return 2 sqrt((e-1) T K ln K): Auer et al. 2002, Corollary 3.2, with T as the best gain."""
    return 2.0 * math.sqrt((math.e - 1.0) * horizon * (arms * math.log(arms)))


def dp_exp3_lap_upper_bound(arms: int, horizon: int, epsilon: Positive) -> float:
    """Return Corollary 3.1 as it follows from Theorem 3.1.

    With gains in [-b, b+1] EXP3 has 2b + 1 times its regret:
    (4 ln T/epsilon + 2) sqrt((e-1) T K ln K) + 2K + sqrt(32 T)/epsilon.
    """
    printed = dp_exp3_lap_printed_upper_bound(arms, horizon, epsilon)
    return printed + exp3_upper_bound(arms, horizon)


def dp_exp3_lap_printed_upper_bound(arms: int, horizon: int, epsilon: Positive) -> float:
    """Return Corollary 3.1: 4 ln T/epsilon sqrt((e-1) T K ln K) + 2K + sqrt(32 T)/epsilon."""
    scaled = 2.0 * math.log(horizon) / epsilon * exp3_upper_bound(arms, horizon)
    return scaled + 2.0 * arms + math.sqrt(32.0 * horizon) / epsilon


def dp_lambda_lap_ucb_upper_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return Theorem 3.1, (3.1), for UCB as base on arms with means, b = ln T/epsilon.

    UCB's bound (Auer, Cesa-Bianchi, Fischer 2002, Theorem 1) on gaps Delta/(2b+1) in units of 2b+1,
    sum_a (8 (2b+1)^2 ln T/Delta_a + (1 + pi^2/3) Delta_a), plus 2K + sqrt(32 T)/epsilon.
    """
    width = 2.0 * math.log(horizon) / epsilon + 1.0
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    scaled = sum(8.0 * width * width * math.log(horizon) / gap for gap in gaps)
    finite = (1.0 + math.pi**2 / 3.0) * sum(gaps)
    return scaled + finite + 2.0 * len(means) + math.sqrt(32.0 * horizon) / epsilon


def exp3_tau_budget_upper_bound(
    arms: int, horizon: int, epsilon: Positive, delta: Probability
) -> float:
    """Return the regret of Corollary 3.3 against switching costs: Theorem 3.4 at its tau, m = 1."""
    cube = horizon * (4.0 * epsilon - 2.0 * math.log(delta)) / epsilon**2
    return exp3_tau_upper_bound(arms, horizon, max(2, math.ceil(math.cbrt(cube))), 1)


def exp3_tau_upper_bound(arms: int, horizon: int, tau: Rounds, memory: Count) -> float:
    """Return Theorem 3.4: sqrt(7 T tau K ln K) + T m/tau + tau, with the adversary's memory m.

    Raises UserError unless m < tau.
    """
    if memory >= tau:
        raise UserError(f"Theorem 3.4 is for a memory below tau = {tau}, got {memory}")
    return math.sqrt(7.0 * horizon * tau * (arms * math.log(arms))) + horizon * memory / tau + tau


def exp3_tau_switching_upper_bound(arms: int, horizon: int) -> float:
    """Return Corollary 3.2: 2 (7 K ln K)^(1/3) T^(2/3) + (7 K ln K)^(-1/3) T^(1/3)."""
    root = (7.0 * (arms * math.log(arms))) ** (1.0 / 3.0)
    return 2.0 * root * horizon ** (2.0 / 3.0) + horizon ** (1.0 / 3.0) / root


def exp3_privacy_loss(arms: int, horizon: int, gamma: Probability) -> float:
    """Return Theorem 3.3, with the third term that the Chernoff bound gives.

    min{2T, T ln((K (1-gamma) + gamma)/gamma), 2 (1-gamma) T + sqrt(2 T ln T)}; the third term holds
    only with probability 1 - 1/T.
    """
    return _exp3_privacy_loss(arms, horizon, gamma, math.sqrt(2.0 * horizon * math.log(horizon)))


def exp3_printed_privacy_loss(arms: int, horizon: int, gamma: Probability) -> float:
    """Return Theorem 3.3, with the third term as printed: 2 (1-gamma) T + 2 sqrt(2 ln T/T)."""
    printed = 2.0 * math.sqrt(2.0 * math.log(horizon) / horizon)
    return _exp3_privacy_loss(arms, horizon, gamma, printed)


def exp3_tau_privacy_loss(horizon: int, tau: Rounds, delta: Probability) -> float:
    """Return Theorem 3.5 with T/tau^3 inside the root: 4T/tau^3 + sqrt(8 ln(1/delta) T/tau^3)."""
    ratio = horizon / tau**3
    return 4.0 * ratio + math.sqrt(-8.0 * math.log(delta) * ratio)


def exp3_tau_printed_privacy_loss(horizon: int, tau: Rounds, delta: Probability) -> float:
    """Return Theorem 3.5: 4T/tau^3 + sqrt(8 ln(1/delta)) T/tau^3."""
    ratio = horizon / tau**3
    return 4.0 * ratio + math.sqrt(-8.0 * math.log(delta)) * ratio


def exp3_tau_budget_loss(horizon: int, epsilon: Positive, delta: Probability) -> float:
    """Return the epsilon that the choices of EXP3_tau compose to at the tau of Corollary 3.3.

    Advanced composition of T/tau choices that each lose at most 1/tau, at `delta`.
    """
    tau = math.cbrt(horizon * (4.0 * epsilon - 2.0 * math.log(delta)) / epsilon**2)
    choices, loss = horizon / tau, 1.0 / tau
    return choices * loss * math.expm1(loss) + loss * math.sqrt(-2.0 * choices * math.log(delta))


def _exp3_privacy_loss(arms: int, horizon: int, gamma: float, deviation: float) -> float:
    # A choice without privacy loss has probability gamma; `deviation` bounds that of their number.
    mixed = horizon * math.log((arms * (1.0 - gamma) + gamma) / gamma)
    return min(2.0 * horizon, mixed, 2.0 * (1.0 - gamma) * horizon + deviation)
