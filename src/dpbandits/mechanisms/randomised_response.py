"""Randomised response to a reward in [0, 1] (Warner 1965; ren2020): a private bit per reward."""

import math

from dpbandits.core.kernel import inlined


@inlined
def randomised_response(rng, reward, epsilon):
    """Draw a bit of probability (r e^ε + 1 - r)/(1 + e^ε), which is ε-locally private.

    Both of its values are at most e^ε times as likely for one reward as for another, and exactly
    e^ε times for the rewards 0 and 1.
    """
    return 1.0 if rng.random() < chance_of_one(reward, epsilon) else 0.0


@inlined
def chance_of_one(reward, epsilon):
    """Return the probability (r e^ε + 1 - r)/(1 + e^ε) of the bit 1, for any ε >= 0."""
    lie = math.exp(-epsilon)
    return (reward + (1.0 - reward) * lie) / (1.0 + lie)
