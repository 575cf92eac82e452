"""Every bound of theory/ against that of tests/oracles/, and the independence of the oracles."""

import ast
import itertools
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import azize2022_bounds
import azize2024_bounds
import azize2025_bounds
import jourdan2025_bounds
import pytest
import sajed2019
import tossou2017 as oracle
import wang2024_bounds
import wang2024_privacy

from dpbandits.theory import bounds, function, transitions
from dpbandits.theory import tossou2017 as theory

ORACLES: dict[str, ModuleType] = {
    "azize2022": azize2022_bounds,
    "azize2024": azize2024_bounds,
    "azize2025": azize2025_bounds,
    "jourdan2025": jourdan2025_bounds,
    "sajed2019": sajed2019,
    "wang2024": wang2024_bounds,
    "wang2024_privacy": wang2024_privacy,
}
Cases = dict[str, list[tuple[Any, ...]]]
CASES: Cases = {}  # arguments, by the name of the bound


def add(paper: str, cases: Cases) -> None:
    CASES.update({f"{paper}.{name}": arguments for name, arguments in cases.items()})


product = itertools.product
T = 10**7
INSTANCES = [(0.8, 0.1, 0.1), (0.5, 0.75, 0.25), (0.3, 0.31), (0.999, 0.5), (0.4, 0.4, 0.1)]
PLANES = [
    ([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5]], [1.0, 0.0]),
    ([[1.0, 0.2], [-0.3, 1.0], [0.5, -0.8], [0.1, 0.1], [0.9, 0.0]], [0.7, 0.2]),
    ([[0.0, 2.0], [1.0, 1.0], [0.0, 0.5]], [0.1, 1.0]),
]
EPSILONS = (1e-4, 0.01, 0.0223, 0.07, 0.3, 2.0, 100.0)
BASES = list(product((2, 3, 6), ((0.9, 0.5), (0.2, -0.6))))
minimax = [args for args in product((2, 5, 100), (100, T), EPSILONS) if args[1] >= args[0] - 1]
add(
    "azize2022",
    {
        "minimax_lower_bound": minimax,
        "minimax_transitions": [(2, 100), (5, T), (100, 99)],
        "problem_dependent_lower_bound": list(product(INSTANCES, (2, T), EPSILONS)),
        "problem_dependent_transitions": [(means,) for means in INSTANCES],
        "no_privacy_lower_bound": list(product(INSTANCES, (2, T))),
        "linear_minimax_lower_bound": list(product((2, 7, 50), (100, T), EPSILONS)),
        "linear_minimax_transitions": [(100,), (T,)],
        "linear_lower_bound": [(*plane, T, epsilon) for plane in PLANES for epsilon in EPSILONS],
        "linear_transitions": PLANES,
        "basis_lower_bound": [(*basis, T, epsilon) for basis in BASES for epsilon in EPSILONS],
        "basis_transitions": BASES,
        "adap_ucb_upper_bound": list(product(INSTANCES, (2, T), EPSILONS, (3.1, 8.0))),
        "adap_ucb_minimax_upper_bound": list(product(INSTANCES, (2, T), EPSILONS, (3.1, 8.0))),
        "adap_klucb_upper_bound": list(product(INSTANCES, (50, T), EPSILONS, (3.1, 8.0))),
    },
)

MORE = [*INSTANCES[:4], (1.0, 0.4), (0.4, 0.0)]
add(
    "azize2025",
    {
        "lower_bound": list(product(MORE, (2, T), (1e-4, 0.01, 0.3, 2.0, 100.0))),
        "transitions": [(means,) for means in MORE],
    },
)

TIED = (0.95, 0.9, 0.9, 0.9, 0.5)
UNIQUE = [TIED, (1.0, 0.75, 0.5, 0.25, 0.0), (0.3, 0.31), (0.4, 0.0), (1.0, 0.5), (0.02, 0.6, 0.01)]
identifications = list(product(UNIQUE, (1e-3, 0.4), (0.01, 0.2)))
add(
    "jourdan2025",
    {
        "characteristic_time": list(product(UNIQUE, (1e-4, 0.1, 2.0, 100.0))),
        "lower_bound": identifications,
        "transitions": [(means,) for means in UNIQUE],
    },
)
add(
    "azize2024",
    {
        "adac_ucb_upper_bound": list(product(INSTANCES, (2, T), EPSILONS, (3.1, 8.0))),
        "kl_characteristic_time": [(means,) for means in UNIQUE],
        "tv_characteristic_time": [(means,) for means in UNIQUE],
        "identification_lower_bound": identifications,
        "identification_transitions": [(means,) for means in UNIQUE],
    },
)

# mean, R, epsilon, alpha, beta
POINTS = list(product((-0.5, 0.03, 1.0), (1.0, 2.5), (0.01, 0.7, 30.0), (0.1, 0.5), (0.05, 1e-6)))
add("sajed2019", dict.fromkeys(("t_1", "t_2"), POINTS))
add("sajed2019", dict.fromkeys(("stopping_upper_bound", "stopping_lower_bound"), POINTS))
add("sajed2019", {"dp_se_upper_bound": list(product(INSTANCES, (1000, T), EPSILONS))})
add("sajed2019", {"dp_se_minimax_upper_bound": list(product((2, 7), (1000, T), EPSILONS))})
add("sajed2019", {"fact_2_1": [(2.0, 0.01, 100.0), (1.01, 0.05, 3.0)]})
add("sajed2019", {"stopping_lower_bound_shape": POINTS, "allowed_failures": [(0.05,), (0.3,)]})
add("sajed2019", {"t_0": [point[:2] + point[3:] for point in POINTS]})  # without epsilon

WANG = [tuple(0.3 + 0.05 * i for i in range(9)), (0.2, 0.6, 0.5), (0.5, 0.51)]
BUDGETS = [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01), (1e-7, 1e-3), (4.0, 1e-10), (0.02, 0.9)]
WITH_DELTA = [(1.0, 0.01), (0.0, 0.01), (1.0, math.exp(-10)), (0.1, 0.3), (0.05, 0.02), (9.0, 0.9)]
STATES = [(1, 0), (8, 3), (100, 99), (40, 0)]  # N and R; the neighbour has R + 1
XS = [-0.4, 0.0, 0.1, 0.37, 0.6, 0.98, 1.0, 1.7, 30.0]
regrets = [(means, t, *budget) for means, t, budget in product(WANG, (3, 10**6), BUDGETS)]
add(
    "wang2024",
    {
        "global_lower_bound": [
            (horizon, *budget, c0, exponent)
            for horizon, budget, c0, exponent in product(
                (10**9, 10**12), BUDGETS, (0.5, 3.0), (0.0, 0.5)
            )
            if budget != (1e-7, 1e-3)  # the theorem needs a longer horizon there
        ],
        "ftpl_new_upper_bound": regrets,
        "gdp_elim_upper_bound": regrets,
        "gauss_start_regret": [
            (means, horizon, *budget)
            for means, horizon, budget in product(WANG, (50, 3000), WITH_DELTA)
        ],
        "gauss_start_deltas": [
            *product((2, 9), (100, 10**6), (0.0, 0.1, 0.9, 2.0)),
            # Just below and above epsilon^2 T/K = 1 + log(T/K), where the second crossing ends.
            *((2, 100, epsilon) for epsilon in (0.3130, 0.3138, 0.3148, 0.3160)),
        ],
        "gauss_start_epsilons": list(product((2, 9), (100, 10**6), (1e-10, 0.001, 0.1, 0.5))),
    },
)
gauss = [(x, *state) for x in XS for state in STATES]
beta = list(product(XS, (8, 100), (0, 8), (True, False)))
new = [(x, *state, 1000, *budget) for x in XS for state in STATES for budget in BUDGETS]
SMALLEST_OF_NEW = [(1.0, 0.01), (0.0, 0.2), (0.5, 0.5), (1.0, 0.8), (3.0, 0.6)]
add(
    "wang2024_privacy",
    {
        "gauss_cdf": gauss,
        "gauss_neighbour_cdf": gauss,
        "beta_cdf": beta,
        "beta_neighbour_cdf": list(product(XS, (8, 100), (0, 7), (True, False))),
        "new_cdf": new,
        "new_neighbour_cdf": new,
        "gauss_smallest_delta": list(product((1, 8, 700), (0.0, 0.3, 1.0))),
        "beta_smallest_delta": list(product((1, 8, 11), (0.0, 1.0), (True, False))),
        "new_smallest_delta": [(7, *budget) for budget in SMALLEST_OF_NEW],
        "gauss_smallest_start": [(1.0, 0.01), (1.0, math.exp(-10)), (0.0, 0.06)],
        "beta_smallest_start": [(1.0, 0.03), (0.0, 0.25)],
    },
)
for end in ("low", "high"):
    with_budgets = [[(*x, *budget) for x in xs for budget in BUDGETS] for xs in (gauss, beta)]
    regions = {"gauss": with_budgets[0], "beta": with_budgets[1], "new": new}
    add("wang2024_privacy", {f"{name}_region_{end}": xs for name, xs in regions.items()})

# Relative errors of the oracles: of a convex program, of a search, of a grid, and of e^epsilon - 1
# where epsilon is small.
ACCURACY = {
    "azize2022.linear_lower_bound": 3e-8,
    "azize2022.basis_lower_bound": 3e-8,
    "azize2024": 3e-5,
    "azize2024.adac_ucb_upper_bound": 1e-12,
    "azize2025": 1e-7,
    "jourdan2025": 3e-5,
    "wang2024_privacy.gauss_smallest_delta": 1e-6,
    "wang2024_privacy.beta_smallest_delta": 1e-6,
    "wang2024_privacy.new_smallest_delta": 1e-6,
    "wang2024": 1e-8,
    "wang2024_privacy": 1e-8,
}


def test_every_bound_of_these_papers_has_its_oracle() -> None:
    names = [*bounds(), *transitions()]
    assert {*CASES} == {name for name in names if name.partition(".")[0] in ORACLES}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_is_the_one_of_the_paper(name: str) -> None:
    paper, _, member = name.partition(".")
    ours, literal = function(name), getattr(ORACLES[paper], member)
    rel = ACCURACY.get(name, ACCURACY.get(paper, 1e-12))
    near_0 = 1e-12 if paper.startswith("wang2024") else None
    values = set()
    for arguments in CASES[name]:
        expected = literal(*arguments)
        assert ours(*arguments) == pytest.approx(expected, rel=rel, abs=near_0), arguments
        values.add(expected)
    assert len(values - {()}) > 1


@pytest.mark.parametrize("arms", [2, 4, 37])
@pytest.mark.parametrize("horizon", [50, 2**18])
def test_every_bound_of_tossou2017_is_that_of_the_paper(arms: int, horizon: int) -> None:
    game = arms, horizon
    for epsilon, tau, gamma in [(0.1, 3, 0.5), (7.0, 19, 0.03), (243.0, 40, 0.001)]:
        loss = horizon, tau, gamma**2
        pairs = [
            (theory.exp3_upper_bound(*game), oracle.regret_of_exp3(*game)),
            (theory.exp3_tau_upper_bound(*game, tau, 2), oracle.theorem_3_4(*game, tau, 2)),
            (theory.exp3_tau_switching_upper_bound(*game), oracle.corollary_3_2_regret(*game)),
        ]
        for printed, lap, exp3, exp3_tau in (
            (
                True,
                theory.dp_exp3_lap_printed_upper_bound,
                theory.exp3_printed_privacy_loss,
                theory.exp3_tau_printed_privacy_loss,
            ),
            (
                False,
                theory.dp_exp3_lap_upper_bound,
                theory.exp3_privacy_loss,
                theory.exp3_tau_privacy_loss,
            ),
        ):
            pairs += [
                (lap(*game, epsilon), oracle.corollary_3_1(*game, epsilon, printed=printed)),
                (exp3(*game, gamma), oracle.theorem_3_3(*game, gamma, printed=printed)),
                (exp3_tau(*loss), oracle.theorem_3_5(*loss, printed=printed)),
            ]
        for ours, literal in pairs:
            assert ours == pytest.approx(literal, rel=1e-12)


FILES = sorted((Path(__file__).parents[1] / "oracles").glob("*.py"))


def imported(source: str) -> set[str]:
    """Return the top-level packages that a source imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_oracle_imports_no_line_of_the_package(file: Path) -> None:
    outside = {"collections", "dataclasses", "decimal", "fractions", "functools", "itertools"}
    outside |= {"math", "typing"}
    allowed = outside | {"numpy", "scipy"} | {file.stem for file in FILES}
    assert imported(file.read_text()) <= allowed
