"""The sparse vector technique (sajed2019, section 2; Dwork and Roth 2014, section 3.6).

Which of a sequence of queries is the first at or above a threshold? The threshold gets one noise
Lap(3 GS/epsilon), every query one of its own. The answer is epsilon-DP for queries of sensitivity
GS, however many of them come before it: all together they spend GS/b on the threshold and 2 GS/b on
the queries, b the scale of the noise.
"""

import math
from collections.abc import Iterator

from dpbandits.core.kernel import inlined
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import SparseVector


@inlined
def sparse_vector_noise(rng, sensitivity, epsilon):
    """Noise of the threshold, or of a query."""
    return laplace(rng, 3.0 * sensitivity, epsilon)


@inlined
def first_lifted(rng, sensitivity, epsilon, below, queries):
    """Of queries that lie `below` or more under the threshold the first whose noise is that large.

    Returns its number and its noise; where none of them is lifted so far, their number and -inf.
    One draw or two, whatever the number of queries, by the law of drawing a noise for each: it
    exceeds `below` with probability e^(-below/b)/2, independently, so that the number of the first
    is geometric, and by what it exceeds it is exponential.
    """
    if below <= 0.0:  # the next query may be it with any noise
        return 1, sparse_vector_noise(rng, sensitivity, epsilon)
    scale = 3.0 * sensitivity / epsilon
    rate = -math.log1p(-0.5 * math.exp(-below / scale))  # 0 where the probability has no float
    waited = rng.standard_exponential()  # its integer part in units of 1/rate: those not lifted
    if waited >= rate * queries:
        return queries, -math.inf
    return int(waited / rate) + 1, below + scale * rng.standard_exponential()


def sparse_vector_releases(
    arm: int, last: float, sensitivity: float, epsilon: float
) -> Iterator[SparseVector]:
    """The one release: which query was the first."""
    scale = 3.0 * sensitivity / epsilon
    yield SparseVector(arm, 1, last, sensitivity, threshold_scale=scale, query_scale=scale)
