"""Moving the noise undoes a change of any sample that a stopping rule read, at the declared cost.

The sparse vector answers at query h: |S_t| >= threshold + B + A_h there, and at no earlier query.
Another value of one sample moves every |S_t| by at most GS = 2R. With B + GS the earlier queries
stay below, with A_h - 2 GS query h still reaches the threshold, and a moved L hides the change of
the sum. The costs GS/scale(B), 2 GS/scale(A_h) and GS/scale(L) add up to epsilon (Dwork and Roth
2014, Theorem 3.23). The noises are chosen such that the games are as tight as possible: every query
misses the threshold by little, and the last one hardly reaches it.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from planted_leaks import Leak, planted

from dpbandits.kernel import registry
from dpbandits.mechanisms.laplace import sparse_vector_noise
from dpbandits.privacy.releases import Laplace, SparseVector, composed_epsilon
from dpbandits.stopping import dp_exponential_nas, dp_nas
from dpbandits.stopping._samples import Params, threshold

QUERY_TIMES = {"dp-nas": lambda query: query, "dp-exponential-nas": lambda query: 2**query}
PRIVATE = [
    rule for rule in registry.names("stopping") if hasattr(registry.algorithm(rule), "releases")
]


class Stream(NamedTuple):
    """Samples that are given, and how many of them were read."""

    radius: float
    values: np.ndarray
    read: list[int]


class Noises:
    """Generator that returns the given Laplace noises and records their scales."""

    def __init__(self, noises: Iterable[float]) -> None:
        self._noises = iter(noises)
        self.scales: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.scales.append(scale)
        return next(self._noises)


class Halt(NamedTuple):
    """Samples used, the estimate, and the scale of every noise that was drawn."""

    t: int
    estimate: float
    scales: list[float]


def take(samples: Stream, n: int) -> float:
    first = samples.read[0]
    samples.read[0] += n
    assert samples.read[0] <= len(samples.values), "the rule did not halt where it had to"
    return float(samples.values[first : first + n].sum())


def first_lifted(rng: Any, sensitivity: float, epsilon: float, below: float, queries: int) -> Any:
    # One noise per query; tests/unit/test_noise.py shows that the law is the same.
    for number in range(1, queries + 1):
        noise = -sparse_vector_noise(rng, sensitivity, epsilon)
        if noise > below:
            return number, noise
    return queries, -math.inf


@pytest.fixture(autouse=True, scope="module")
def in_plain_python() -> Iterator[None]:
    with (
        patch.object(dp_nas, "take", take),
        patch.object(dp_exponential_nas, "take", take),
        patch.object(dp_nas, "first_lifted", first_lifted),
    ):
        yield


def halted(
    rule: str, params: Params, radius: float, values: np.ndarray, noises: Iterable[float]
) -> Halt:
    """Return when and with which estimate a rule halts."""
    rng = Noises(noises)
    halt: Any = registry.algorithm(rule).play
    samples = Stream(radius, values, [0])
    t, estimate = getattr(halt, "py_func", halt)(params, samples, rng)
    return Halt(t, estimate, rng.scales)


class Scripted(NamedTuple):
    """Game of a stopping rule that halts at query `last`: its samples and noises B, A_1.., L."""

    rule: str
    params: Params
    radius: float
    values: np.ndarray  # one sample more than are read
    noises: np.ndarray
    last: int

    @property
    def t(self) -> int:
        """Number of samples that are read."""
        return int(QUERY_TIMES[self.rule](self.last))


def scripted(
    rule: str,
    params: Params,
    radius: float,
    values: np.ndarray,
    last: int,
    b: float,
    margins: np.ndarray | Sequence[float],
) -> Scripted:
    """Return the game in which query k misses the threshold by `margins[k - 1]`.

    Query `last` exceeds it by the last margin.
    """
    sums = np.cumsum(values)
    noises = [b]
    for query in range(1, last + 1):
        t = QUERY_TIMES[rule](query)
        edge = abs(sums[t - 1]) - threshold(params, radius, t, query) - b
        noises.append(edge - margins[query - 1] if query == last else edge + margins[query - 1])
    return Scripted(rule, params, radius, values, np.array([*noises, 0.7]), last)


def check(game: Scripted, steps: int = 1) -> list[float]:
    """Change every `steps`-th sample, move the noise, and return the costs.

    Raises AssertionError if the rule does not halt at the same query with the same estimate, or if
    its noises are not the declared ones.
    """
    rule, params, radius, values, noises, last = game
    before = halted(rule, params, radius, values, noises)
    assert before.t == game.t
    vector, mean = registry.algorithm(rule).releases(params, radius)
    assert isinstance(vector, SparseVector)
    assert isinstance(mean, Laplace)
    declared = [vector.threshold_scale, *[vector.query_scale] * last, mean.scale]
    assert before.scales == pytest.approx(declared, rel=1e-12)
    reach = 2.0 * radius
    assert vector.sensitivity == mean.sensitivity == reach
    costs = []
    for i in range(0, game.t, steps):
        other = values.copy()
        other[i] = -other[i]
        by = float(values[i] - other[i])
        moved = noises.copy()
        moved[0] += reach
        moved[last] -= 2.0 * reach
        moved[-1] += by
        after = halted(rule, params, radius, other, moved)
        assert after.t == before.t, f"sample {i + 1} of {game.t}"
        assert after.estimate == pytest.approx(before.estimate, rel=1e-9, abs=1e-9)
        assert after.scales == before.scales
        b, a, m = before.scales[0], before.scales[last], before.scales[-1]
        costs.append(reach / b + 2.0 * reach / a + abs(by) / m)
    return costs


def games(rule: str) -> Iterator[Scripted]:
    """Yield tight games that halt at queries 1 to 7, and games with random margins."""
    rng = np.random.default_rng(31)
    for last, epsilon, radius in itertools.product((1, 2, 3, 4, 7), (0.3, 4.0), (1.0, 2.5)):
        params = Params(epsilon, 0.5, 0.05)
        for tight in (True, False):
            t = QUERY_TIMES[rule](last)
            values = radius * rng.choice([-1.0, 1.0], t + 1, p=[0.3, 0.7])
            margins = np.full(last, 1e-6) if tight else rng.exponential(20.0 / epsilon, last)
            b = 12.0 * radius / epsilon * rng.laplace()
            yield scripted(rule, params, radius, values, last, b, margins)


@pytest.mark.parametrize("rule", PRIVATE)
def test_moved_noise_undoes_a_change_of_any_sample_and_costs_epsilon(rule: str) -> None:
    for game in games(rule):
        costs = check(game, steps=1 if game.t < 20 else 13)
        assert costs == pytest.approx([game.params.epsilon] * len(costs), rel=1e-12)
        releases = registry.algorithm(rule).releases(game.params, game.radius)
        assert composed_epsilon(releases) == pytest.approx(game.params.epsilon, rel=1e-12)


LAST_LINE = "threshold(params, radius, t, t) + b"
NEXT_GAP = "threshold(params, radius, t + 1, t + 1) + b"
EVERY_K = "threshold(params, radius, t, k) + b + a"
GAP = "        gap = "
ESTIMATE = "(total + laplace(rng, moved, half)) / t"
# Rule, what leaks, edits.
LEAKS: list[tuple[str, str, tuple[tuple[str, str], ...]]] = [
    (
        "dp-nas",
        "no noise on the threshold after the first query",
        (
            (LAST_LINE, LAST_LINE.replace("+ b", "+ (b if t < 2 else 0.0)")),
            (NEXT_GAP, NEXT_GAP.replace("+ b", "+ (b if t < 1 else 0.0)")),
        ),
    ),
    (
        "dp-nas",
        "no noise on the query that halts",
        (("abs(total) + noise >=", "abs(total) + min(noise, below) >="),),
    ),
    (
        "dp-nas",
        "a new noise on the threshold at the third query",
        ((GAP, f"        b = sparse_vector_noise(rng, moved, half) if t == 2 else b\n{GAP}"),),
    ),
    *(
        ("dp-exponential-nas", name, ((EVERY_K, EVERY_K.replace(*edit)),))
        for name, edit in (
            ("no noise on the threshold after query 1", ("+ b", "+ (b if k < 2 else 0.0)")),
            ("no noise on the threshold after query 2", ("+ b", "+ (b if k < 3 else 0.0)")),
            ("no noise on queries after the second", ("+ a", "+ (a if k < 3 else 0.0)")),
        )
    ),
    ("dp-exponential-nas", "the query's noise in the estimate", ((ESTIMATE, "(total + a) / t"),)),
    *((rule, "no noise in the estimate", ((ESTIMATE, "total / t"),)) for rule in QUERY_TIMES),
]


@pytest.mark.parametrize(("rule", "name", "edits"), LEAKS)
def test_a_planted_leak_is_detected(
    rule: str, name: str, edits: tuple[tuple[str, str], ...]
) -> None:
    def checks_all_games() -> None:
        for game in games(rule):
            check(game, steps=1 if game.t < 20 else 13)

    leak = Leak(name, rule, (registry.algorithm(rule),), "play", edits, "")
    with planted(leak), pytest.raises((AssertionError, StopIteration)):
        checks_all_games()
