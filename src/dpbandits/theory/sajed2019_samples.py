"""Samples that Algorithm 2 of sajed2019 needs, by the condition in the proof of its Theorem 3.3.

`alpha`, `beta`: an estimate is within a factor 1 +- alpha of mu with probability 1 - beta. Averages
are in units of R; logarithms are natural.
"""

import math

import numpy as np

from dpbandits.kernel.parameters import Fraction, Positive, Rounds, Seed


def needed_average(samples: Rounds, alpha: Fraction, beta: Fraction) -> float:
    """Return h_t (1 + 1/alpha)/R, at which Algorithm 2 halts without noise; t = 2^k."""
    h = math.sqrt(2.0 / samples * math.log(16.0 * math.log2(samples) ** 2 / beta))
    return h * (1.0 + 1.0 / alpha)


def samples_without_noise(alpha: Fraction, beta: Fraction) -> float:
    """Return the t = 2^k at which Algorithm 2 halts if all samples are R and there is no noise."""
    t = 2
    while needed_average(t, alpha, beta) > 1.0:
        t *= 2
    return float(t)


def theorem_3_3_failures(points: Rounds, least: Positive, seed: Seed) -> float:
    """Return at how many random points the proof does not let Algorithm 2 halt by t_U.

    At the last query t = 2^k up to t_U, the proof needs |mu|/R >= h_t (2 + 1/alpha) + noise/(t
    epsilon). log(R/(alpha |mu|)) is drawn from `least` to 30 times that, beta from 10^-300 to .08
    and epsilon from 10^-30 to 10^9, all log-uniform; alpha is uniform where |mu| <= R.
    """
    rng = np.random.default_rng(seed)
    beta = 10.0 ** rng.uniform(-300.0, math.log10(0.08), points)
    log = least * 30.0 ** rng.uniform(0.0, 1.0, points)
    signal = np.exp(-log)  # alpha |mu|/R
    alpha = signal + (1.0 - signal) * rng.uniform(0.0, 1.0, points)
    mean, epsilon = signal / alpha, 10.0 ** rng.uniform(-30.0, 9.0, points)
    iterated = np.log(log / beta)
    t_u = 2000.0 * (
        iterated / signal**2 + iterated / (epsilon * mean) - np.log(beta) / (epsilon * signal)
    )
    k = np.floor(np.log2(t_u))
    h = np.sqrt(2.0 / 2.0**k * np.log(16.0 * k * k / beta))
    noise = 24.0 * np.log(4.0 / beta) + 24.0 * np.log(8.0 * k * k / beta)
    noise += 4.0 * np.log(4.0 / beta) / alpha
    return float(np.sum(mean < h * (2.0 + 1.0 / alpha) + noise / (epsilon * 2.0**k)))


def tree_variance(horizon: Rounds, epsilon: Positive) -> float:
    """Return the variance of a tree's noise, as a mean over the rounds t < T; T is a power of two.

    The sum of t rewards needs as many nodes as t has binary ones; each has Lap(log2(T)/epsilon).
    """
    nodes = np.bitwise_count(np.arange(horizon, dtype=np.uint64)).mean()
    return float(nodes) * 2.0 * (math.log2(horizon) / epsilon) ** 2
