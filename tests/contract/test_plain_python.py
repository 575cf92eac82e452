"""Compiled code gives the bits of plain Python, on every law, table, method and stopping rule.

`python test_plain_python.py quick` prints the pulls and the exact curves that are compared.
"""

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from typing import Any

import numba
import pytest
import test_tables
from cells import ALGORITHMS, BATCHED, BATCHED_START, LAWS, TABLES, cell_of, is_quick

from dpbandits.experiments.regret import play_run
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.kernel import registry

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
    for rule in registry.names("stopping"):
        cls = registry.algorithm(rule).Params
        known = {"epsilon": 0.5, "alpha": 0.5, "beta": 0.05}
        params = cls(**{name: value for name, value in known.items() if name in cls._fields})
        values, _ = StoppingExperiment(rule, params, Stream(0.03, 1.0), 5).play(range(20))
        result[rule] = [[float(value).hex() for value in row] for row in values]
    return result


def without_compiler(which: str) -> Any:
    command = [sys.executable, __file__, which]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def interpreted() -> Any:
    return without_compiler("quick")


@pytest.mark.long
def test_compiled_and_plain_python_give_the_same_bits(interpreted: Any) -> None:
    check_bits(interpreted["outcomes"], outcomes(quick=True))


@pytest.mark.slow
def test_they_do_on_every_law() -> None:
    check_bits(without_compiler("all")["outcomes"], outcomes(quick=False))


def check_bits(interpreted: Any, compiled: dict[str, list[str]]) -> None:
    assert interpreted.keys() == compiled.keys()
    for name, numbers in compiled.items():
        assert interpreted[name] == numbers, name


@pytest.mark.long
def test_stopping_rules_give_the_same_bits_too(interpreted: Any) -> None:
    assert interpreted["stops"] == stops()


if __name__ == "__main__":
    settings: Any = numba.config
    assert settings.DISABLE_JIT
    which = outcomes(quick=sys.argv[1] == "quick")
    print(json.dumps({"outcomes": which, "stops": stops()}))
