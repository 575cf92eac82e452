"""Privacy that single games of EXP3 and EXP3_tau lose, exactly: no true theorem is below it.

Two games differ in the gains of one round, as in tossou2017, Definition 2.2. `arms`: K; `horizon`:
T, rounds; `gamma`: the exploration of EXP3; `tau`: rounds per batch of EXP3_tau; `delta`: as in the
theorem. The result is an epsilon; logarithms are natural.
"""

import math

import numpy as np

from dpbandits.algorithms.exp3 import exploration
from dpbandits.kernel.parameters import Arms, Probability, Rounds
from dpbandits.privacy.accounting import epsilon_between

MOST = 64  # gains of 1 after the first round that are tried


def exp3_game_privacy_loss(arms: Arms, horizon: Rounds, gamma: Probability) -> float:
    """Return the log-likelihood ratio of the arms 1, 1, ..., 1 between two games of EXP3.

    Arm 1 gains 1 in the first round of one game and 0 in that of the other. In both it gains 1 in
    the next m rounds and 0 in all later ones; m is the best of 0 to 64.
    """
    v, changed = 0.0, gamma  # gamma/K times the estimated gains of arm 1 after the first round
    passed, largest = 0.0, 0.0
    for m in range(min(MOST, horizon - 1) + 1):
        p, of_changed = _chance(arms, gamma, v), _chance(arms, gamma, changed)
        loss = math.log(of_changed / p)
        largest = max(largest, passed + loss * (horizon - 1 - m))
        passed += loss
        v, changed = v + gamma / arms / p, changed + gamma / arms / of_changed
    return largest


def exp3_late_game_privacy_loss(arms: Arms, horizon: Rounds, gamma: Probability) -> float:
    """Return the log-likelihood ratio of a sequence of arms between two games with late changes.

    First arm 2 is played and gains 1, until arm 1 is chosen at random alone. Arm 1 is played in all
    other rounds: it gains in the first of one game and not of the other, in the next m, and never
    again. m, the best of 0 to 64, brings its weight near that of arm 2.
    """
    rate, leader, first = gamma / arms, 0.0, 0  # rate/p: what a gain of 1 adds to v
    while first < horizon and _chance(arms, gamma, 0.0, leader) > 2.0 * rate:
        leader += rate / _chance(arms, gamma, leader, 0.0)
        first += 1
    v, changed = 0.0, rate / _chance(arms, gamma, 0.0, leader)
    passed, largest = 0.0, 0.0
    for m in range(min(MOST, horizon - first - 1) + 1):
        p, of_changed = _chance(arms, gamma, v, leader), _chance(arms, gamma, changed, leader)
        loss = math.log(of_changed / p)
        largest = max(largest, passed + loss * (horizon - first - 1 - m))
        passed += loss
        v, changed = v + rate / p, changed + rate / of_changed
    return largest


def exp3_tuned_loss(arms: Arms, horizon: Rounds) -> float:
    """Return the loss of that sequence of arms per round, at the gamma of EXP3 for this horizon."""
    gamma = exploration(arms, horizon)
    return exp3_late_game_privacy_loss(arms, horizon, gamma) / horizon


def exp3_least_loss_or_regret(arms: Arms, horizon: Rounds) -> float:
    """Return the least over gamma of the larger of loss and regret of exploration, per round.

    A random arm is played with probability gamma; where one arm alone gains, it loses 1 - 1/K.
    """
    gammas = np.geomspace(exploration(arms, horizon), 1.0, 50)
    return min(
        max(
            exp3_late_game_privacy_loss(arms, horizon, float(gamma)) / horizon,
            float(gamma) * (1.0 - 1.0 / arms),
        )
        for gamma in gammas
    )


def fixed_arm_switching_regret(arms: Arms, horizon: Rounds) -> float:
    """Return the expected regret of one random arm, played throughout, against switching costs.

    Every other arm loses the gap of Dekel et al., (K/T)^(1/3)/(9 log2 T), in each round.
    """
    gap = (arms / horizon) ** (1.0 / 3.0) / (9.0 * math.log2(horizon))
    return (1.0 - 1.0 / arms) * gap * horizon


def exp3_tau_game_privacy_loss(
    arms: Arms, horizon: Rounds, tau: Rounds, delta: Probability
) -> float:
    """Return the smallest epsilon at `delta` between two games of EXP3_tau.

    The gains of one round of the first batch are 1 in one game and 0 in the other, as are all
    other gains in both. The later choices are then independent, and the number of those of the
    first batch's arm, a binomial number, tells the games apart. gamma is that of T/tau batches.
    """
    from scipy.stats import binom  # late: scipy takes long to import

    later = -(-horizon // tau) - 1
    gamma = exploration(arms, horizon // tau)
    number = np.arange(later + 1)
    chances = _chance(arms, gamma, 0.0), _chance(arms, gamma, gamma / tau)
    logs = [binom.logpmf(number, later, chance) for chance in chances]
    return epsilon_between(logs[0], logs[1], delta)


def _chance(arms: int, gamma: float, v: float, other: float = 0.0) -> float:
    # (2.1) for an arm with this v, while one other arm has `other` and the rest 0.
    rest = math.exp(other - v) + (arms - 2) * math.exp(-v)
    return (1.0 - gamma) / (1.0 + rest) + gamma / arms
