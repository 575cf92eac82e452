"""Play every algorithm without the compiler; test_plain_python.py runs this in its own process,
with `quick` or `all`.

Prints the pulls and the exact curve of every algorithm, law and mode.
"""

import dataclasses
import itertools
import json
import sys
from typing import Any

import numba
import test_tables
from cells import (
    ALGORITHMS,
    BATCHED,
    BATCHED_START,
    LAWS,
    TABLES,
    cell_of,
    is_quick,
)

from dpbandits.core import registry
from dpbandits.experiments.regret import play_run
from dpbandits.experiments.stopping import StoppingExperiment, Stream

MEANS = (0.62, 0.5, 0.55, 0.3)
# Long enough for every phase of an algorithm that plays in batches. An algorithm without batches,
# or with no others than at its start, plays rounds one by one in either mode; in the other mode
# every algorithm does.
HORIZON = 30_000
SHORT = 6_000
LONG = {*BATCHED} - BATCHED_START


def outcomes(quick: bool) -> dict[str, list[str]]:
    """Return pulls and curve of one run per algorithm, law and mode, with floats in hexadecimal.

    If `quick`, an algorithm plays only the laws for which `make test` compiles it.
    """
    result = {}
    for algorithm in ALGORITHMS:
        for law in LAWS:
            if quick and not is_quick(algorithm, law):
                continue
            for per_round in (False, True):
                cell = cell_of(algorithm, law, MEANS, SHORT, epsilon=2.0)
                if algorithm in LONG and not per_round:
                    cell = cell_of(algorithm, law, MEANS, HORIZON, epsilon=2.0)
                for params in every_method(cell.params):
                    bandit = play_run(dataclasses.replace(cell, params=params), 3, per_round)
                    name = f"{algorithm}{params} on {law}, per_round={per_round}"
                    curve = [float(value).hex() for value in bandit.curve]
                    result[name] = [*map(str, bandit.pulls.tolist()), *curve]
    for algorithm, law in itertools.product(ALGORITHMS, TABLES):
        if quick and not is_quick(algorithm, law):
            continue
        for number, instance in enumerate(test_tables.SOME[law]):
            bandit = play_run(test_tables.cell_of(algorithm, law, instance), 3)
            curve = [float(value).hex() for value in bandit.curve]
            name = f"{algorithm} on {law} {number}"
            result[name] = [*map(str, bandit.pulls.tolist()), *curve]
    return result


def every_method(params: Any) -> list[Any]:
    """Return the fast scheme and the plain loop, where an algorithm has both."""
    if "method" not in params._fields:
        return [params]
    return [params._replace(method=method) for method in type(params.method)]


def stops() -> dict[str, list[list[str]]]:
    """Return samples and estimates of a few runs of every stopping rule, in hexadecimal."""
    result = {}
    for rule in registry.stopping_rule_names():
        cls = registry.stopping_rule(rule).Params
        known = {"epsilon": 0.5, "alpha": 0.5, "beta": 0.05}
        params = cls(**{name: value for name, value in known.items() if name in cls._fields})
        values, _ = simulate(StoppingExperiment(rule, params, Stream(0.03, 1.0), 5), range(20))
        result[rule] = [[float(value).hex() for value in row] for row in values]
    return result


if __name__ == "__main__":
    settings: Any = numba.config
    assert settings.DISABLE_JIT
    which = outcomes(quick=sys.argv[1] == "quick")
    print(json.dumps({"outcomes": which, "stops": stops()}))
