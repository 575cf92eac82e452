"""NAS by hand, and DP-NAS without privacy; test_oracles_sajed2019.py compares whole runs."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbandits.core import registry
from dpbandits.core.sample_stream import SampleStream, out_of_reach
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.stopping import nas

STREAMS = 10_000
ALPHA, BETA = 0.8, 0.2
MEAN, RADIUS = 1.3, 2.0


def test_nas_on_samples_that_never_vary_halts_at_the_first_t_of_its_formula() -> None:
    def reached(t: int) -> bool:
        h = math.sqrt(2 / t * math.log(4 * t * t / 0.05))
        return h * (1 / 0.5 + 1) <= 1

    first = next(t for t in range(1, 10_000) if reached(t))
    cell = StoppingExperiment("nas", nas.Params(0.5, 0.05), Stream(1.0, 1.0), 1)
    np.testing.assert_array_equal(cell.play(range(3))[0], [[first, 1.0]] * 3)


@pytest.mark.parametrize(
    ("distance", "samples"), [(0.0, 1), (1.9, 1), (7.0, 3), (2.0**60, 2**53), (math.inf, 2**53)]
)
def test_a_sum_out_of_reach_has_at_most_2_to_the_53_samples(distance: float, samples: int) -> None:
    stream = SampleStream(RADIUS, 0.5, np.random.default_rng(1))
    assert out_of_reach(stream, distance) == samples


def test_dp_nas_without_privacy_is_nas_at_a_quarter_of_the_failures() -> None:
    # Noise and c_t vanish; Algorithm 1 keeps h_t with 16/beta where NAS has 4/beta.
    private = registry.stopping_rule("dp-nas").Params(1e12, ALPHA, BETA)
    samples = [
        simulate(StoppingExperiment(rule, params, Stream(MEAN, RADIUS), 3), range(STREAMS))[0][:, 0]
        for rule, params in (("dp-nas", private), ("nas", nas.Params(ALPHA, BETA / 4)))
    ]
    # Other batches of the same stream: the same law, not the same bits.
    assert stats.ks_2samp(*samples).pvalue > 1e-4
