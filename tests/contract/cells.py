"""Cells of every algorithm in the folder, so that a new file is tested without a new line here."""

import itertools
import math
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from tossou2017 import corollary_3_2_epsilon

from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.roots import PACKAGE
from dpbandits.store.key import sources

ALGORITHMS = registry.algorithm_names()
LAWS = [  # of arms with means
    name
    for name in registry.environment_names()
    if registry.environment(name).law and "means" in registry.environment(name).Params._fields
]
TABLES = [  # gains generated before the game
    name for name in registry.environment_names() if registry.environment(name).table
]

# A hybrid counter puts every item in both of its parts; one draw for each sum has no budget.
HYBRID = {"HYBRID_FULL": 2.0, "HYBRID_SPLIT": 1.0, "SINGLE": math.nan}

# They pull in batches at their start alone, which ends before round 4000 if epsilon is 1 or more;
# or never, but share code with those that do.
BATCHED_START = {
    *("dp-ftpl-beta", "dp-ftpl-gauss", "dp-ftpl-new"),
    *("anytime-lazy-ucb", "dp-ts", "lazy-dp-ts", "ts"),
}

# The algorithms that read no reward, or eliminate no arm in games of close arms: a test of their
# law on longer games is in test_oracles_linear.py.
BLIND = {"uniform", "gope", "adac-gope"}

# Algorithms that `make test` compiles for laws besides Bernoulli's: all that figures play on them,
# those that have tests of their own there, and some that compile in a moment. Compiling a kernel
# for one more law takes up to ten seconds, so `make slow` plays all others.
COMPILED = {
    "adversaries": {"dp-exp3-lap", "exp3", "exp3-tau", "ucb", "uniform"},
    "beta": {"adap-ucb", "dp-se", "dp-ucb-bound", "exp3", "klucb", "private-ucb", "se", "ucb"},
}

# Epsilon to which the releases of an algorithm compose over K arms, where it differs from the
# epsilon requested; nan: far more, and growing with the horizon. `dpbandits privacy`
# prints the reason of each.
SPENT: dict[str, Callable[[Any, int], float]] = {
    "private-ucb": lambda params, arms: (
        # A reward enters only one of the K counters; fed in every round, a node has ln T levels.
        (params.epsilon / arms if params.split.name == "ARMS" else params.epsilon)
        * (
            params.horizon.bit_length() / max(math.log(params.horizon), 1.0)
            if params.feed.name == "EVERY_ROUND"
            else 1.0
        )
    ),
    "dp-ucb": lambda params, arms: HYBRID[params.counter.name] * params.epsilon,
    "dp-ucb-bound": lambda params, arms: HYBRID[params.counter.name] * params.epsilon,
    # A mean released in every round has no budget.
    "dp-ucb-int": lambda params, arms: (
        math.inf if params.noise.name == "EVERY_ROUND" else params.epsilon
    ),
    # The papers promise privacy of each round alone; every round draws fresh noise for the same
    # rewards.
    "dp-ftpl-gauss": lambda params, arms: math.inf,
    "dp-ftpl-beta": lambda params, arms: math.inf,
    "dp-ftpl-new": lambda params, arms: math.inf,
    # When tau is chosen for the regret, epsilon follows from tau.
    "exp3-tau": lambda params, arms: (
        params.epsilon
        if params.calibration.name == "BUDGET"
        else corollary_3_2_epsilon(arms, params.horizon)
    ),
}


# Algorithms calibrated by an upper bound: their releases compose to at most epsilon. A unit test of
# each algorithm pins the exact composition.
CALIBRATED_BY_A_BOUND = {
    "dp-ucb-int": "Corollary 3.2 of tossou2016",
    "exp3-tau": "Corollaries 3.2 and 3.3 of tossou2017",
}


def is_quick(algorithm: str, law: str) -> bool:
    """Return whether `make test` compiles an algorithm for a law."""
    return law == "bernoulli" or algorithm in COMPILED.get(law, set())


def on(*laws: str) -> list[Any]:
    """Return every algorithm with every one of these laws; `make slow` has those not compiled."""
    return [
        pytest.param(algorithm, law, marks=[] if is_quick(algorithm, law) else pytest.mark.slow)
        for algorithm in ALGORITHMS
        for law in laws
    ]


def plays_batches(algorithm: str) -> bool:
    """Return whether an algorithm pulls many times in one step or has an exact scheme."""
    if registry.scheme_source(algorithm):
        return True
    reached = sources((registry.member("algorithm", algorithm).source,))
    own = [PACKAGE.folder / path for path in reached if path.startswith("algorithms/")]
    return any(re.search(r"\bpull_(many|each)\b", file.read_text("utf-8")) for file in own)


BATCHED = [name for name in ALGORITHMS if plays_batches(name)]
SAMPLERS = [name for name in ALGORITHMS if "method" in registry.algorithm(name).Params._fields]
# Algorithms whose schemes draw other numbers than the definition; runs have the same law.
SAME_DRAWS = {"dp-ucb-int", "klucb", "ucb"}
OTHER_DRAWS = {name for name in ALGORITHMS if registry.scheme_source(name)} - SAME_DRAWS


def params_of(algorithm: str, horizon: int, epsilon: float = 1.0) -> NamedTuple:
    """Return the Params of an algorithm, with the default of every field that has one.

    `epsilon` is its budget, also if that is a rho.
    """
    cls = registry.algorithm(algorithm).Params
    known = {"epsilon": epsilon, "rho": epsilon, "horizon": horizon, "delta": 0.01}
    needed = set(cls._fields) - set(cls._field_defaults)
    values = {name: value for name, value in known.items() if name in needed}
    return parameters.build(cls, values, algorithm, lambda name: "tests")


def readings_of(algorithm: str, horizon: int, epsilon: float) -> list[Any]:
    """Return the Params for a horizon and a budget, in every combination of their variants."""
    default = params_of(algorithm, horizon, epsilon)
    variants = {
        name: list(annotation)
        for name, annotation in parameters.fields(type(default)).items()
        if isinstance(annotation, type) and issubclass(annotation, IntEnum)
    }
    return [
        default._replace(**dict(zip(variants, members, strict=True)))
        for members in itertools.product(*variants.values())
    ]


def instance_of(law: str, means: tuple[float, ...]) -> Any:
    return registry.environment(law).Params(means=means)


def cell_of(
    algorithm: str,
    law: str = "bernoulli",
    means: tuple[float, ...] = (0.6, 0.5, 0.3),
    horizon: int = 3000,
    epsilon: float = 1.0,
    grid: Grid = Grid.LOG,
    seed: int = 7,
) -> RegretExperiment:
    params = params_of(algorithm, horizon, epsilon)
    return RegretExperiment(algorithm, params, law, instance_of(law, means), horizon, grid, seed)
