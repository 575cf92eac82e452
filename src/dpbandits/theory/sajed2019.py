"""Bounds of sajed2019 on the number of samples of its private stopping rules.

`mean`: mu, in [-R, R] and not 0; `radius`: R; `epsilon`: the budget. A rule's estimate is within a
factor 1 +- `alpha` of mu with probability 1 - `beta`. Logarithms are natural. The functions raise
UserError if a theorem does not apply. The bounds on the regret of DP-SE have the constants that
follow from Algorithm 3, as the paper states none.
"""

import math
from collections.abc import Sequence

from dpbandits.algorithms import dp_se
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Arms, Fraction, Positive, Rounds


def allowed_failures(beta: Fraction) -> float:
    """Return beta, with which an estimate may miss mu by alpha |mu| or more: section 2."""
    return beta


def t_0(mean: float, radius: Positive, alpha: Fraction, beta: Fraction) -> float:
    """Return R^2 log((1/beta) log(R/(alpha |mu|)))/(alpha mu)^2 of Theorem 3.3, beta <= 0.08."""
    signal = _signal(mean, radius, "Theorem 3.3")
    return _iterated(signal, alpha, beta) / (alpha * signal) ** 2


def t_1(mean: float, radius: Positive, epsilon: Positive, alpha: Fraction, beta: Fraction) -> float:
    """Return R log((1/beta) log(R/(alpha |mu|)))/(epsilon |mu|) of Theorem 3.3, beta <= 0.08."""
    signal = _signal(mean, radius, "Theorem 3.3")
    return _iterated(signal, alpha, beta) / (epsilon * signal)


def t_2(mean: float, radius: Positive, epsilon: Positive, alpha: Fraction, beta: Fraction) -> float:
    """Return R log(1/beta)/(epsilon alpha |mu|) of Theorem 3.3, beta <= 0.08."""
    if not beta <= 0.08:
        raise UserError(f"Theorem 3.3 is for beta <= 0.08, got {beta:g}")
    return -math.log(beta) / (epsilon * alpha * _signal(mean, radius, "Theorem 3.3"))


def stopping_upper_bound(
    mean: float, radius: Positive, epsilon: Positive, alpha: Fraction, beta: Fraction
) -> float:
    """Return t_U = 2000 (t_0 + t_1 + t_2) of Theorem 3.3.

    With probability 1 - beta, Algorithm 2 halts within t_U samples. For beta <= 0.08 and
    log(R/(alpha |mu|)) > beta; otherwise t_0 and t_1 are not positive.
    """
    private = t_1(mean, radius, epsilon, alpha, beta) + t_2(mean, radius, epsilon, alpha, beta)
    return 2000.0 * (t_0(mean, radius, alpha, beta) + private)


def stopping_lower_bound(
    mean: float, radius: Positive, epsilon: Positive, alpha: Fraction, beta: Fraction
) -> float:
    """Return Theorem 3.4 with the constant of its proof: R log(1/beta)/(12 epsilon alpha |mu|).

    With probability 1/4 a private rule takes more samples of -R or R than that, for beta < 1/4.
    """
    if not beta < 0.25:
        raise UserError(f"Theorem 3.4 is for beta < 1/4, got {beta:g}")
    signal = _signal(mean, radius, "Theorem 3.4")
    return -math.log(beta) / (epsilon * alpha * signal) / 12.0


def stopping_lower_bound_shape(
    mean: float, radius: Positive, epsilon: Positive, alpha: Fraction, beta: Fraction
) -> float:
    """Return Corollary 3.6: R^2 log(1/beta)/(alpha mu)^2 + R log(1/beta)/(epsilon alpha |mu|).

    Only the shape of the bound: the paper gives no constants, and both are 1 here.
    """
    signal = _signal(mean, radius, "Corollary 3.6")
    sampling = -math.log(beta) / (alpha * signal) ** 2
    return sampling - math.log(beta) / (epsilon * alpha * signal)


def dp_se_upper_bound(means: Sequence[float], horizon: Rounds, epsilon: Positive) -> float:
    """Return Theorem 4.3 with constants: sum_a Delta_a (pulls of Lemma 4.2) + max_a Delta_a.

    While all confidence intervals hold, which they do with probability 1 - 1/T, an arm of gap
    Delta is gone after the first epoch e with 2^-e <= Delta: it has at most sum_(i<=e) ceil(R_i)
    pulls, of epochs with all K arms. Otherwise the regret is at most T times the largest gap.
    """
    gaps = [max(means) - mean for mean in means]
    pulls = (_pulls_of_gap(gap, len(means), horizon, epsilon) for gap in gaps)
    return sum(gap * n for gap, n in zip(gaps, pulls, strict=True)) + max(gaps)


def dp_se_minimax_upper_bound(arms: Arms, horizon: Rounds, epsilon: Positive) -> float:
    """Return Theorem 4.4 with constants: the largest Theorem 4.3 if all gaps are 2^-e, and 1.

    Arms of smaller gaps cost at most as much as T pulls of one of them.
    """
    regrets = []
    for e in range(1, 60):
        pulls = (arms - 1) * _pulls_of_gap(2.0**-e, arms, horizon, epsilon)
        regrets.append(2.0 ** (1 - e) * min(pulls, horizon))
    return max(regrets) + 1.0


def fact_2_1(a: Positive, b: Fraction, x: Positive) -> float:
    """Return log(a log x)/(x b), which Fact 2.1 puts above 1 for small x and below 1 for large."""
    return math.log(a * math.log(x)) / (x * b)


def _pulls_of_gap(gap: float, arms: int, horizon: int, epsilon: float) -> float:
    params, epoch, total = dp_se.Params(epsilon, horizon), 0, 0.0
    while gap > 0.0 and total < horizon:
        epoch += 1
        total += math.ceil(dp_se.passes_of_epoch(params, epoch, arms))
        if 2.0**-epoch <= gap:
            return min(total, float(horizon))
    return float(horizon)


def _signal(mean: float, radius: float, theorem: str) -> float:
    # |mu|/R
    if not 0.0 < abs(mean) <= radius:
        raise UserError(
            f"{theorem} is for a mean in [-R, R] other than 0, got {mean:g} and R = {radius:g}"
        )
    return abs(mean) / radius


def _iterated(signal: float, alpha: float, beta: float) -> float:
    # log((1/beta) log(R/(alpha |mu|)))
    if not beta <= 0.08:
        raise UserError(f"Theorem 3.3 is for beta <= 0.08, got {beta:g}")
    log = -math.log(alpha * signal)
    if not log > beta:
        raise UserError(f"Theorem 3.3 is for log(R/(alpha |mu|)) > beta, got {log:g} and {beta:g}")
    return math.log(log / beta)
