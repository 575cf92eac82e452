"""What EXP3 and its private versions share: the probabilities (2.1) of tossou2017.

    p_i = (1 - gamma) exp(v_i)/sum_j exp(v_j) + gamma/K,    v_i = gamma/K times the estimated
                                                            cumulative gain of arm i.

A weight is exp(v_i - shift). A round changes v of one arm alone, so it costs one exponential; the
shift follows the largest v when that is STEP above it, so that no weight overflows, however long
the game is, and the largest is never below 1.
"""

import math

from dpbandits.core.kernel import inlined

# More than 1, by which v of an arm grows at most in a round, as p is never below gamma/K.
STEP = 30.0


@inlined
def exploration(arms, rounds):
    """gamma = sqrt(K ln K/((e-1) T)), for T rounds; 1 at most (Auer et al. 2002)."""
    return min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * rounds)))


@inlined
def draw_arm(weights, gamma, rng):
    """An arm, and the probability p_i with which it was drawn."""
    total = 0.0
    for arm in range(weights.size):
        total += weights[arm]
    exploitation, floor = (1.0 - gamma) / total, gamma / weights.size
    arm, p = 0, exploitation * weights[0] + floor
    left = rng.random() - p
    while left >= 0.0 and arm < weights.size - 1:
        arm += 1
        p = exploitation * weights[arm] + floor
        left -= p
    return arm, p


@inlined
def add_gain(v, weights, shift, arm, gain):
    """Add an estimated gain, gamma/K times g/p, to v of an arm; returns the shift from now on."""
    v[arm] += gain
    # One way out, for either case: with two a round takes 15 % longer.
    if v[arm] - shift > STEP:
        # No other arm is above the step: this one is the largest.
        shift = v[arm]
        for other in range(v.size):
            weights[other] = math.exp(v[other] - shift)
    weights[arm] = math.exp(v[arm] - shift)
    return shift
