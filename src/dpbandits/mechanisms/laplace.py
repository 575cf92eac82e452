"""Laplace mechanism (Dwork and Roth 2014, Theorem 3.6) and the sparse vector technique.

The latter (sajed2019, section 2; Dwork and Roth 2014, section 3.6) releases which query of a
sequence is the first at or above a threshold. The threshold gets one noise Lap(3 GS/epsilon), and
every query its own. For queries of sensitivity GS the answer is epsilon-DP, however many queries
precede it: with noise of scale b, all queries together spend GS/b on the threshold and 2 GS/b on
the query that is released.
"""

import math

from dpbandits.kernel.compilation import by_class, inlined


@by_class
def laplace(rng, sensitivity, epsilon):
    """Draw Lap(sensitivity/epsilon), which makes a statistic of this L1 sensitivity epsilon-DP."""
    scale = sensitivity / epsilon
    return rng.laplace(0.0, scale)


@inlined
def sparse_vector_noise(rng, sensitivity, epsilon):
    """Draw the noise of the threshold or of one query: Lap(3 sensitivity/epsilon)."""
    return laplace(rng, 3.0 * sensitivity, epsilon)


@inlined
def first_lifted(rng, sensitivity, epsilon, below, queries):
    """Return the number (from 1) and the noise of the first query whose noise exceeds `below`.

    Each of the `queries` queries lies at least `below` under the threshold, so only a query with
    such a noise can reach it. If no noise exceeds `below`, returns (queries, -inf); if below <= 0,
    returns 1 and the noise of the first query. The result is distributed as with one draw a query,
    but takes at most two: a noise of scale b exceeds `below` with probability e^(-below/b)/2,
    independently, so the number of the first such query is geometric and its excess exponential.
    """
    if below <= 0.0:  # the next query may reach the threshold with any noise
        return 1, sparse_vector_noise(rng, sensitivity, epsilon)
    scale = 3.0 * sensitivity / epsilon
    rate = -math.log1p(-0.5 * math.exp(-below / scale))  # 0 if the probability underflows
    waited = rng.standard_exponential()  # floor(waited/rate): queries before the first
    if waited >= rate * queries:
        return queries, -math.inf
    return int(waited / rate) + 1, below + scale * rng.standard_exponential()
