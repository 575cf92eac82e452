"""Noise of the Laplace mechanism, and of the sparse vector technique in one draw or in many.

tests/contract/test_recorded_releases.py compares what the algorithms draw with what they declare.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpbandits.mechanisms.laplace import first_lifted, laplace
from dpbandits.privacy.releases import SparseVector, composed_epsilon
from dpbandits.stopping import dp_nas, nas
from dpbandits.stopping._samples import Params, SampleStream, releases

SENSITIVITY, EPSILON = 2.0, 0.5
SCALE = 3 * SENSITIVITY / EPSILON
DRAWS = 20_000


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 1.0), (0.01, 0.1), (2.0, 8.0)])
def test_the_laplace_mechanism_draws_laplace_noise(sensitivity: float, epsilon: float) -> None:
    n, scale = 100_000, sensitivity / epsilon
    rng = np.random.default_rng(13)
    noise = np.array([laplace(rng, sensitivity, epsilon) for _ in range(n)])
    # The fourth moment is 24 scale^4, so a square has variance (24 - 4) scale^4.
    standard_error = math.sqrt(20 / n) * scale**2
    assert abs(np.mean(noise**2) - 2 * scale**2) < 5 * standard_error
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-4


# Sparse vector technique -------------------------------------------------------------------------


def in_one_draw(below: float, queries: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    drawn = [first_lifted(rng, SENSITIVITY, EPSILON, below, queries) for _ in range(DRAWS)]
    return np.array(drawn)


def in_many_draws(below: float, queries: int) -> np.ndarray:
    noise = np.random.default_rng(2).laplace(0, SCALE, (DRAWS, queries))
    lifted = noise >= below
    first, found = lifted.argmax(axis=1), lifted.any(axis=1)
    number = np.where(found, first + 1, queries)
    return np.column_stack([number, np.where(found, noise[np.arange(DRAWS), first], -math.inf)])


@pytest.mark.parametrize("below", [0.1, SCALE, 4 * SCALE])
@pytest.mark.parametrize("queries", [1, 3, 60])
def test_the_first_lifted_query_and_its_noise_have_the_law_of_one_noise_a_query(
    below: float, queries: int
) -> None:
    drawn = ours, theirs = in_one_draw(below, queries), in_many_draws(below, queries)
    counts = [np.bincount(d[:, 0].astype(int), minlength=queries + 1) for d in drawn]
    table = np.array(counts)[:, np.sum(counts, axis=0) > 0]
    # 9 cases of 3 comparisons: a correct function fails any of them with probability 10^-4.
    limit = 1e-4 / 27
    if table.shape[1] > 1:
        assert stats.chi2_contingency(table).pvalue > limit
    found = [d[np.isfinite(d[:, 1]), 1] for d in (ours, theirs)]
    lifted = np.array([[len(noise), DRAWS - len(noise)] for noise in found])
    assert stats.chi2_contingency(lifted + 1).pvalue > limit
    assert stats.ks_2samp(*found).pvalue > limit
    assert found[0].min() >= below


def test_a_query_within_reach_is_asked_alone_with_noise_of_either_sign() -> None:
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    drawn = [first_lifted(rng, SENSITIVITY, EPSILON, -1.0, 1) for _ in range(100)]
    assert drawn == [(1, again.laplace(0, SCALE)) for _ in range(100)]


def test_queries_far_below_are_never_lifted_however_many_they_are() -> None:
    rng = np.random.default_rng(4)
    for below in (800 * SCALE, 1e9 * SCALE):
        assert first_lifted(rng, SENSITIVITY, EPSILON, below, 2**53) == (2**53, -math.inf)


def test_the_answer_spends_the_budget_on_the_threshold_and_twice_on_the_queries() -> None:
    release, _ = releases(Params(2 * EPSILON, 0.5, 0.1), SENSITIVITY / 2)  # EPSILON to halt
    assert isinstance(release, SparseVector)
    assert release.threshold_scale == release.query_scale == SCALE
    assert composed_epsilon([release]) == pytest.approx(EPSILON, rel=1e-15)
    halved = release._replace(query_scale=SCALE / 2)
    assert composed_epsilon([halved]) == pytest.approx(EPSILON * 5 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("distance", "samples"), [(0.0, 1), (1.9, 1), (7.0, 3), (2.0**60, 2**53), (math.inf, 2**53)]
)
@pytest.mark.parametrize("rule", [nas, dp_nas])
def test_a_sum_out_of_reach_has_at_most_2_to_the_53_samples(
    rule: ModuleType, distance: float, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def take(stream: SampleStream, n: int) -> float:
        taken.append(n)
        return 0.0

    def threshold(params: Any, radius: float, t: int, *query: int) -> float:
        # Either rule halts when it asks again. DP-NAS leaves half of the gap to the noise.
        return 0.0 if taken else distance * (2.0 if rule is dp_nas else 1.0)

    monkeypatch.setattr(rule, "take", take)
    monkeypatch.setattr(rule, "threshold", threshold)
    if rule is dp_nas:
        monkeypatch.setattr(rule, "sparse_vector_noise", lambda *_: 0.0)
        monkeypatch.setattr(rule, "first_lifted", lambda rng, moved, half, below, n: (n, 0.0))
    rng = np.random.default_rng(1)
    halt = getattr(rule.play, "py_func", rule.play)
    halt(Params(EPSILON, 0.5, 0.1), SampleStream(2.0, 0.5, rng), rng)
    assert taken == [samples]
