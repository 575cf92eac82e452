"""Algorithms whose noise is not what they declare, made of one that is sound."""

from collections.abc import Mapping

SOUND = '''\
"""Epsilon-greedy on private means of 1, 2, 4, ... rewards of an arm, each with its own noise."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_many
from dpbandits.kernel.bandit import rounds_left, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Gaussian, Laplace

LABEL = "DP-greedy"


class Params(NamedTuple):
    """The privacy budget, and how much is explored."""

    epsilon: Positive
    c: Positive = 1.0


@kernel
def play(params, bandit, rng):
    arms = number_of_arms(bandit)
    size, pulls = np.ones(arms), np.zeros(arms)  # of the running batch
    total, mean = np.zeros(arms), np.full(arms, math.inf)
    while playing(bandit):
        explores = rng.random() < params.c / math.sqrt(rounds_played(bandit) + 1.0)
        arm = rng.integers(0, arms) if explores else argmax(mean)
        total[arm] += pull(bandit, arm)
        pulls[arm] += 1.0
        if pulls[arm] == size[arm]:
            n = size[arm]
            mean[arm] = total[arm] / n + laplace(rng, 1.0 / n, params.epsilon)
            size[arm] *= 2.0
            total[arm], pulls[arm] = 0.0, 0.0


def releases(params, arms, horizon) -> Iterator[Laplace]:
    for arm in range(arms):
        n = 1
        while 2 * n - 1 <= horizon:
            yield Laplace(arm, n, 2 * n - 1, sensitivity=1.0 / n, scale=1.0 / (n * params.epsilon))
            n *= 2


guarantee = guaranteed(Notion.GLOBAL, "no paper; every reward is in one mean")
'''
NOISE = "laplace(rng, 1.0 / n, params.epsilon)"
MEAN = f"mean[arm] = total[arm] / n + {NOISE}"
START = "    while playing(bandit):\n"
ARM = "        arm = rng.integers(0, arms) if explores else argmax(mean)\n"
EMPTIED = "total[arm], pulls[arm] = 0.0, 0.0"

Edits = tuple[tuple[str, str], ...]


def steered_by(condition: str) -> Edits:
    """Return the change by which a condition chooses an arm."""
    return ((ARM, f"{ARM}        if {condition}:\n            arm = 0\n"),)


SOME = "no declaration allows a release"
RAW = "without noise"

# By name: what the check says, and the changes of the source.
BROKEN: Mapping[str, tuple[str, Edits]] = {
    "none-at-64": (RAW, ((NOISE, f"({NOISE} if n != 64.0 else 0.0)"),)),
    "none-at-the-third": (RAW, ((NOISE, f"({NOISE} if n != 4.0 else 0.0)"),)),
    "none-after-round-3000": (
        RAW,
        ((NOISE, f"({NOISE} if rounds_played(bandit) < 3000 else 0.0)"),),
    ),
    "a-tenth": (SOME, ((NOISE, "laplace(rng, 1.0 / n, 10.0 * params.epsilon)"),)),
    "a-tenth-of-the-draw": (SOME, ((NOISE, f"0.1 * {NOISE}"),)),
    "half-of-the-sensitivity": (SOME, (("sensitivity=1.0 / n", "sensitivity=0.5 / n"),)),
    "a-raw-sum-steers": (
        RAW,
        ((ARM, f"{ARM}        arm = 0 if pulls[0] > 30 and total[0] > 20.0 else arm\n"),),
    ),
    "a-raw-sum-breaks-ties": (RAW, ((MEAN, f"{MEAN} + 1e-9 * total[arm]"),)),
    "a-raw-sum-sets-a-length": (
        RAW,
        (
            (
                "            size[arm] *= 2.0\n",
                "            size[arm] *= 2.0\n            raw = total[arm]\n",
            ),
            (
                EMPTIED,
                f"{EMPTIED}\n            pull_many(bandit, arm, 1 if raw > 2.0 else 0)",
            ),
        ),
    ),
    "a-raw-sum-is-a-parameter": (
        RAW,
        ((ARM, f"{ARM}        arm = 0 if rng.beta(1.0 + total[0], 1.0) > 0.999 else arm\n"),),
    ),
    "a-rounded-sum-steers": (RAW, steered_by("round(total[0]) == 9")),
    "a-remainder-steers": (RAW, steered_by("total[0] % 2.0 == 1.0")),
    "a-product-steers": (RAW, steered_by("total[0] * total[0] > 99.0")),
    "a-power-steers": (RAW, steered_by("total[0] ** 2 > 99.0")),
    "a-sum-of-all-arms-steers": (RAW, steered_by("np.round(total)[0] + np.sum(total) > 20.0")),
    "an-error-hides-a-raw-sum": (
        RAW,
        (
            (
                ARM,
                f"{ARM}        try:\n            arm = int(total[0] > 9.0)\n"
                "        except Exception:\n            pass\n",
            ),
        ),
    ),
    "none-for-a-small-budget": (RAW, ((NOISE, f"({NOISE} if params.epsilon > 0.1 else 0.0)"),)),
    "none-for-a-large-budget": (RAW, ((NOISE, f"({NOISE} if params.epsilon < 2.0 else 0.0)"),)),
    "none-from-the-eighth-arm-on": (RAW, ((NOISE, f"({NOISE} if arm < 7 else 0.0)"),)),
    "none-if-the-noise-is-large": (
        RAW,
        (
            (
                MEAN,
                f"z = total[arm] / n + {NOISE}\n"
                "            mean[arm] = z if z < 5.0 else total[arm] / n",
            ),
        ),
    ),
    "that-cancels": (
        "uses a noise for a second release",
        ((MEAN, f"z = {NOISE}\n            mean[arm] = total[arm] / n + (z - z)"),),
    ),
    "of-two-halves": (SOME, ((NOISE, f"0.5 * ({NOISE} + {NOISE})"),)),
    "one-for-all-arms": (
        "uses a noise for a second release",
        ((MEAN, f"mean = total / n + {NOISE}"),),
    ),
    "for-two-releases": (
        "uses a noise for a second release",
        (
            (START, f"    shared = laplace(rng, 1.0, params.epsilon)\n{START}"),
            (NOISE, "shared / n"),
        ),
    ),
    "subtracted-again": (
        "uses a noise for a second release",
        ((MEAN, f"z = {NOISE}\n            {MEAN.replace(NOISE, 'z')} - 0.9 * z"),),
    ),
    "known": (
        "uses a noise for a second release",
        (
            (
                MEAN,
                f"z = {NOISE}\n            {MEAN.replace(NOISE, 'z')}\n"
                "            mean[arm] += 1.0 if z < 0.0 else 0.0",
            ),
        ),
    ),
    "not-added": (RAW, ((MEAN, f"unused = {NOISE}\n            mean[arm] = total[arm] / n"),)),
    "of-another-arm": (
        SOME,
        ((NOISE, "laplace(rng, 1.0 / size[(arm + 1) % arms], params.epsilon)"),),
    ),
    "of-another-field": (SOME, ((NOISE, "laplace(rng, 1.0 / n, params.c)"),)),
    "of-a-constant": (SOME, ((NOISE, "laplace(rng, 1.0 / n, 1.0)"),)),
    "of-one-arm-only": (RAW, ((NOISE, f"({NOISE} if arm < 2 else 0.0)"),)),
    "of-another-law": (SOME, ((NOISE, "rng.normal(0.0, 1.0 / (n * params.epsilon))"),)),
    "of-no-law": (RAW, ((NOISE, "rng.exponential(1.0 / (n * params.epsilon))"),)),
    "of-lifetime-means": (
        SOME,
        (
            (EMPTIED, "pulls[arm] = 0.0"),
            (MEAN, f"mean[arm] = total[arm] / (2.0 * n - 1.0) + {NOISE}"),
        ),
    ),
    "drawn-twice": (
        SOME,
        (
            (
                MEAN,
                f"first = total[arm] / n + {NOISE}\n"
                f"            {MEAN.replace('= ', '= first / 2 + ', 1)}",
            ),
        ),
    ),
    "of-both-arms": (
        "one release reads the arms [0, 1]",
        ((MEAN, f"mean[arm] = (total[0] + total[1]) / n + {NOISE}"),),
    ),
    "declared-and-not-drawn": (
        "never drawn, though games go on beyond its rewards",
        (
            (
                "        n = 1\n",
                "        n = 1\n        yield Laplace(arm, 1, 1, 0.0, 1.0)\n",
            ),
        ),
    ),
    "gaussian-of-half": (
        SOME,
        (
            ("epsilon: Positive", "rho: Positive"),
            (NOISE, "gaussian(rng, 0.5 / n, params.rho)"),
            ("Laplace(arm", "Gaussian(arm"),
            ("1.0 / (n * params.epsilon)", "1.0 / (n * math.sqrt(2.0 * params.rho))"),
            ("Notion.GLOBAL", "Notion.CONCENTRATED"),
        ),
    ),
}
GAUSSIAN = BROKEN["gaussian-of-half"][1]
# Written otherwise, and as private.
EQUAL: Mapping[str, Edits] = {
    "sound": (),
    "gaussian": tuple((a, b.replace("0.5 / n", "1.0 / n")) for a, b in GAUSSIAN),
    "of-a-method": ((NOISE, "rng.laplace(0.0, 1.0 / (n * params.epsilon))"),),
    "around-the-mean": (
        (MEAN, "mean[arm] = rng.laplace(total[arm] / n, 1.0 / (n * params.epsilon))"),
    ),
    "of-the-sum": ((MEAN, "mean[arm] = (total[arm] + laplace(rng, 1.0, params.epsilon)) / n"),),
    "subtracted": ((NOISE, f"-{NOISE}"), (" + -laplace", " - laplace")),
    "of-two-gaussians": (
        *((a, b.replace("0.5 / n", "1.0 / n")) for a, b in GAUSSIAN),
        (
            "gaussian(rng, 1.0 / n, params.rho)",
            "(rng.normal(0.0, 1.0 / n) + rng.normal(0.0, 1.0 / n)) / (2.0 * math.sqrt(params.rho))",
        ),
    ),
    "in-other-arrays": (
        ("total, mean = np.zeros(arms)", "total, mean = np.linspace(0.0, 0.0, arms)"),
        ("rng.random() <", "rng.uniform(low=0.0, high=1.0) <"),
    ),
    "at-once": (
        (START, f"    noise = np.zeros(arms)\n{START}"),
        (MEAN, f"noise[arm] = {NOISE}\n            mean[arm] = total[arm] / n + noise[arm]"),
    ),
    # No check sees that these are the means; they are named as not checked.
    "by-known-means": (
        ('LABEL = "DP-greedy"\n', 'LABEL = "DP-greedy"\nTRUE_MEANS = np.array([0.9, 0.5])\n'),
        ("else argmax(mean)", "else argmax(TRUE_MEANS)"),
    ),
    "clipped": ((MEAN, f"{MEAN.replace('= ', '= min(1.0, max(0.0, ')}))"),),
    "in-batches": (
        ("total[arm] += pull(bandit, arm)", "total[arm] += pull_many(bandit, arm, int(size[arm]))"),
        ("pulls[arm] += 1.0", "pulls[arm] = size[arm]"),
    ),
}


def source(edits: Edits) -> str:
    """Return the sound source with changes."""
    text = SOUND
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    return text
