"""Speed of the kernels, as ratios within one process.

Three questions are measured. How much slower is a policy on a bandit than the same algorithm as one
bare loop? Does a run of a batched policy take the same time at every horizon, called from Python
and inside a kernel that plays many runs? How much faster is an exact scheme than the plain loop, on
the instances of wang2024? On a shared machine a single time is unreliable, but the ratio of two
alternating measurements is stable.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from bare_loops import BARE_LOOPS, exp3_on_table, laplace_draws, without_noise
from loops_in_c import loop_in_c

from dpbandits.algorithms._largest_sample import Method
from dpbandits.cells import play_bandit
from dpbandits.cells.bandit_cell import Cell, Grid, checkpoints
from dpbandits.cells.play_bandit import Game, simulate
from dpbandits.core import registry
from dpbandits.core.bandit import NEVER, new_bandit
from dpbandits.core.vector_constants import RUNS
from dpbandits.environments import adversaries, bernoulli

REPEATS = 9
HORIZON = 10**6
ARMS = (5, 128)
# Batched policies with the exponent of the longest horizon, 10^n. It is short for DP-UCB-INT, which
# takes a step for each release, one in 1/epsilon pulls, and for EXP3_tau, with T^(2/3) batches.
BATCHED = {
    "adac-ucb": 12,
    "adap-klucb": 12,
    "adap-ucb": 12,
    "adaptive-ucb": 12,
    "dp-imed": 12,
    "dp-klucb": 12,
    "dp-se": 12,
    "dp-ucb-int": 7,
    "exp3-tau": 7,
    "gdp-elim-new": 12,
    "se": 12,
}
# Algorithms with a plain loop and an exact scheme of the same law.
TWO_METHODS = (*("dp-ftpl-gauss", "dp-ftpl-beta", "dp-ftpl-new", "dp-ts", "lazy-dp-ts", "ts"),)
# Algorithms that decide in every round and have neither a bare loop here nor a scheme.
ALONE = ("anytime-lazy-ucb",)
# Algorithms with a scheme for Bernoulli arms beside their single rounds.
SCHEMES = (
    *("dp-ucb", "dp-ucb-bound", "imed", "klucb", "ldp-ucb-b", "ldp-ucb-l", "private-ucb", "ucb"),
)
# Algorithms whose runs on tables of gains are played in step.
IN_LANES = ("dp-exp3-lap", "exp3", "exp3-tau", "uniform")
STEPS = {9: 0.05, 101: 0.004}  # number of arms in wang2024: step between their means, from 0.3 on
C2 = bernoulli.Params((0.75, 0.625, 0.5, 0.375, 0.25))  # of azize2022
STOCHASTIC = adversaries.Params(adversaries.Kind.STOCHASTIC)  # of tossou2017, with four arms


class Measured(NamedTuple):
    """One measured number with its group, name, quantity and unit."""

    group: str
    name: str
    quantity: str
    value: float
    unit: str


def unmeasured() -> list[str]:
    """Return the algorithms that are in none of these lists."""
    measured = {*BARE_LOOPS, *BATCHED, *TWO_METHODS, *ALONE, *SCHEMES}
    return sorted(set(registry.algorithm_names()) - measured)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def params_of(module: Any, horizon: int) -> Any:
    """Return the default Params; required fields are epsilon = 1, delta = 0.01 and the horizon."""
    values = {"epsilon": 1.0, "rho": 1.0, "delta": 0.01, "horizon": horizon}
    needed = set(module.Params._fields) - set(module.Params._field_defaults)
    return module.Params(**{name: value for name, value in values.items() if name in needed})


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def per_round(
    name: str, arms: int, horizon: int = HORIZON, repeats: int = REPEATS
) -> Iterator[Measured]:
    """Measure the policy, round by round on its bandit, against the bare loop, in ns per round.

    Raises AssertionError unless both have the same regret at every checkpoint, up to rounding.
    """
    means = tuple(np.linspace(0.75, 0.25, arms).tolist())
    law = bernoulli.law(bernoulli.Params(means))
    module = registry.algorithm(name)
    rounds = checkpoints(horizon, Grid.LOG)
    ends = np.append(rounds, NEVER)

    def engine() -> Any:
        bandit = new_bandit(law, arms, horizon, rounds, generator(1), per_round=True)
        module.play(params_of(module, horizon), bandit, generator(2))
        return bandit.curve

    def bare() -> Any:
        loop = BARE_LOOPS[name]
        return loop(law.means, law.gaps, horizon, ends, generator(1), generator(2))[:-1]

    plain = loop_in_c(name)

    def in_c() -> Any:
        assert plain is not None
        return plain(law.means, law.gaps, horizon, ends, generator(1), generator(2))[:-1]

    label = f"{name}, K = {arms}"
    yield from compared(label, engine, bare, horizon, repeats, in_c if plain else None)


def on_table(horizon: int = 2**18, repeats: int = REPEATS) -> Iterator[Measured]:
    """Measure EXP3 on the gains of an adversary with four arms as `per_round` does.

    The gains are stochastic, and their table is made beforehand. A switching cost would only add a
    branch to both.
    """
    table = adversaries.table(STOCHASTIC, horizon, generator(1))
    module = registry.algorithm("exp3")
    rounds = checkpoints(horizon, Grid.LOG)
    ends = np.append(rounds, NEVER)

    def engine() -> Any:
        law = table._replace(earned=np.zeros(1), previous=np.full(1, -1))
        bandit = new_bandit(law, 4, horizon, rounds, generator(1))
        module.play(params_of(module, horizon), bandit, generator(2))
        return bandit.curve

    def bare() -> Any:
        return exp3_on_table(table.gains, table.best, horizon, ends, generator(2))[:-1]

    yield from compared("exp3, K = 4, gain table", engine, bare, horizon, repeats)


def compared(
    labelled: str,
    engine: Callable[[], Any],
    bare: Callable[[], Any],
    horizon: int,
    repeats: int,
    in_c: Callable[[], Any] | None = None,
) -> Iterator[Measured]:
    """Measure two or three computations of the same curve, alternately, and a ratio.

    Raises AssertionError if the curves differ.
    """
    # The pulls are equal; the regrets differ in the last digits, as one is counted from the pulls
    # and the others are summed.
    actions = {"engine": engine, "bare loop": bare} | ({"C loop": in_c} if in_c else {})
    for action in actions.values():
        np.testing.assert_allclose(action(), bare(), rtol=1e-8)
    rows = [[seconds(action) for action in actions.values()] for _ in range(repeats)]
    for quantity, column in zip(actions, zip(*rows, strict=True), strict=True):
        taken = statistics.median(column) / horizon * 1e9
        yield Measured("per round", labelled, quantity, taken, "ns")
    ratio = statistics.median(row[0] / row[1] for row in rows)
    yield Measured("per round", labelled, "ratio", ratio, "")


def in_lanes(name: str, horizon: int = 2**18, repeats: int = 3) -> Iterator[Measured]:
    """Measure sixteen runs in step against single rounds, in nanoseconds per round and run.

    They are played on the stochastic adversary with four arms; no table is made meanwhile.
    """
    params = params_of(registry.algorithm(name), horizon)
    game = Game(Cell(name, params, "adversaries", STOCHASTIC, horizon, Grid.END, 1))
    of_single = game.play(0, per_round=True).law

    def single() -> None:
        law = of_single._replace(earned=np.zeros(1), previous=np.full(1, -1))
        bandit = new_bandit(law, 4, horizon, np.array([horizon]), generator(1), per_round=True)
        game.policy(params, bandit, generator(2))

    def lanes() -> None:
        game.curves(range(RUNS))

    for action in (single, lanes):
        action()  # compiles, and draws the tables
    pairs = [(seconds(single), seconds(lanes) / RUNS) for _ in range(repeats)]
    slow, fast = (statistics.median(column) for column in zip(*pairs, strict=True))
    group = f"lanes, T = {horizon}, K = 4"
    yield Measured(group, name, "single rounds", slow / horizon * 1e9, "ns")
    yield Measured(group, name, "sixteen in step", fast / horizon * 1e9, "ns")
    yield Measured(group, name, "ratio", statistics.median(a / b for a, b in pairs), "")


def wang(arms: int) -> bernoulli.Params:
    """Return the instance of wang2024 with 9 or with 101 arms."""
    return bernoulli.Params(tuple(0.3 + STEPS[arms] * i for i in range(arms)))


def whole_cells() -> dict[str, Cell]:
    """Return cells as figures have them, at epsilon = 1 and delta = 0, by the text that names them.

    Each uses another exact scheme, or the same with other numbers of arms.
    """

    def cell(name: str, instance: Any, horizon: int) -> Cell:
        params = params_of(registry.algorithm(name), horizon)
        if "delta" in params._fields:
            params = params._replace(delta=0.0)
        law = "adversaries" if instance is STOCHASTIC else "bernoulli"
        return Cell(name, params, law, instance, horizon, Grid.LOG, 1)

    return {
        "private-ucb, K = 5, C2, T = 10^7": cell("private-ucb", C2, 10**7),
        "ucb, K = 5, C2, T = 10^6": cell("ucb", C2, 10**6),
        "dp-ucb, K = 101, T = 10^5": cell("dp-ucb", wang(101), 10**5),
        "dp-ftpl-new at (1, 0), K = 9, T = 10^6": cell("dp-ftpl-new", wang(9), 10**6),
        "dp-ftpl-new at (1, 0), K = 101, T = 10^6": cell("dp-ftpl-new", wang(101), 10**6),
        "dp-exp3-lap, K = 4, gain tables, T = 2^18": cell("dp-exp3-lap", STOCHASTIC, 2**18),
    }


def whole_runs(repeats: int = 3) -> Iterator[Measured]:
    """Measure whole runs, sixteen at a time, as a figure plays them on one core."""
    for name, cell in whole_cells().items():
        simulate(cell, range(RUNS))  # compiles, and draws the tables of gains
        taken = min(seconds(partial(simulate, cell, range(RUNS))) for _ in range(repeats))
        value = taken / RUNS / cell.horizon * 1e9
        yield Measured("whole runs", name, "as in a figure", value, "ns")


def many_runs(name: str, runs: int = 10_000, repeats: int = 3) -> Iterator[Measured]:
    """Measure a batched run among many, from its streams to its curve, in microseconds."""
    params = params_of(registry.algorithm(name), HORIZON)
    cells = [
        Cell(name, params, "bernoulli", C2, HORIZON, Grid.LOG, seed) for seed in range(repeats + 1)
    ]
    alone = statistics.median(seconds(lambda: Game(cells[0]).play(0)) for _ in range(9))
    simulate(cells[0], range(play_bandit.MANY))
    simulate(cells[0], range(2))  # compiles the loop
    taken = statistics.median(seconds(partial(simulate, cell, range(runs))) for cell in cells[1:])
    group = f"a run among many; K = 5, T = {HORIZON}"
    yield Measured(group, name, "alone", alone * 1e6, "us")
    yield Measured(group, name, f"among {runs}", taken / runs * 1e6, "us")


def two_methods(
    name: str, arms: int, horizon: int = HORIZON, repeats: int = 3
) -> Iterator[Measured]:
    """Measure a draw for every arm against the exact scheme, in nanoseconds per round."""
    law = bernoulli.law(wang(arms))
    module = registry.algorithm(name)

    def taken(method: Method) -> float:
        bandit = new_bandit(law, arms, horizon, np.array([horizon]), generator(1))
        params = params_of(module, horizon)._replace(method=method)
        return seconds(lambda: module.play(params, bandit, generator(2)))

    taken(Method.EXACT)  # compiles both
    pairs = [(taken(Method.PLAIN), taken(Method.EXACT)) for _ in range(repeats)]
    plain, exact = (statistics.median(column) for column in zip(*pairs, strict=True))
    group, labelled = f"two methods, T = {horizon}", f"{name}, K = {arms}"
    yield Measured(group, labelled, "plain", plain / horizon * 1e9, "ns")
    yield Measured(group, labelled, "exact", exact / horizon * 1e9, "ns")
    yield Measured(group, labelled, "ratio", statistics.median(a / b for a, b in pairs), "")


def against_single_rounds(
    name: str, arms: int, horizon: int = HORIZON, repeats: int = 3
) -> Iterator[Measured]:
    """Measure single rounds against the exact scheme, in nanoseconds per round."""
    law = bernoulli.law(bernoulli.Params(tuple(np.linspace(0.75, 0.25, arms).tolist())))
    module = registry.algorithm(name)

    def taken(per_round: bool) -> float:
        bandit = new_bandit(law, arms, horizon, np.array([horizon]), generator(1), per_round)
        return seconds(lambda: module.play(params_of(module, horizon), bandit, generator(2)))

    taken(per_round=False)  # compiles both
    pairs = [(taken(per_round=True), taken(per_round=False)) for _ in range(repeats)]
    single, scheme = (statistics.median(column) for column in zip(*pairs, strict=True))
    group, labelled = f"exact schemes, T = {horizon}", f"{name}, K = {arms}"
    yield Measured(group, labelled, "single rounds", single / horizon * 1e9, "ns")
    yield Measured(group, labelled, "scheme", scheme / horizon * 1e9, "ns")
    yield Measured(group, labelled, "ratio", statistics.median(a / b for a, b in pairs), "")


def alone(name: str, arms: int = 5, horizon: int = HORIZON, repeats: int = 3) -> Iterator[Measured]:
    """Measure nanoseconds per round of an algorithm without a partner."""
    law = bernoulli.law(bernoulli.Params(tuple(np.linspace(0.75, 0.25, arms).tolist())))
    module = registry.algorithm(name)

    def taken() -> float:
        bandit = new_bandit(law, arms, horizon, np.array([horizon]), generator(1))
        return seconds(lambda: module.play(params_of(module, horizon), bandit, generator(2)))

    taken()  # compiles
    single = statistics.median(taken() for _ in range(repeats))
    group = f"every round, T = {horizon}"
    yield Measured(group, f"{name}, K = {arms}", "a round", single / horizon * 1e9, "ns")


def price_of_noise(arms: int = 5) -> Iterator[Measured]:
    """Measure Private-UCB against the same loop without noise plus the draws.

    The ratio shows the cost of the counters themselves.
    """
    law = bernoulli.law(bernoulli.Params(tuple(np.linspace(0.75, 0.25, arms).tolist())))
    module = registry.algorithm("private-ucb")
    rounds = checkpoints(HORIZON, Grid.LOG)
    ends = np.append(rounds, NEVER)

    def private() -> None:
        bandit = new_bandit(law, arms, HORIZON, rounds, generator(1), per_round=True)
        module.play(params_of(module, HORIZON), bandit, generator(2))

    def quiet() -> None:
        without_noise(law.means, law.gaps, HORIZON, ends, generator(1), generator(2))

    def draws() -> None:
        laplace_draws(HORIZON, generator(2))

    actions = {"private-ucb": private, "without noise": quiet, "Laplace draws": draws}
    for action in actions.values():
        action()  # compiles
    rows = [[seconds(action) for action in actions.values()] for _ in range(REPEATS)]
    group, name = "the price of noise, a round", f"private-ucb, K = {arms}"
    for quantity, column in zip(actions, zip(*rows, strict=True), strict=True):
        yield Measured(group, name, quantity, statistics.median(column) / HORIZON * 1e9, "ns")
    ratio = statistics.median(a / (b + c) for a, b, c in rows)
    yield Measured(group, name, "first / sum", ratio, "")


def many_plays(play: Any) -> Any:
    """Return a kernel that plays many runs, so that the call from Python does not count."""

    @numba.njit(nogil=True)
    def plays(params: Any, bandit: Any, rng: Any, n: int) -> None:
        for _ in range(n):
            bandit.clock[:] = 0
            bandit.pulls[:] = 0
            play(params, bandit, rng)

    return plays


def batched(name: str, plays: int = 100) -> Iterator[Measured]:
    """Measure microseconds per run on five arms at each horizon, and their ratio, last to first."""
    law = bernoulli.law(C2)
    module = registry.algorithm(name)
    many = many_plays(module.play)
    horizons = [10**decade for decade in range(5, BATCHED[name] + 1)]

    def called(horizon: int) -> Callable[[], None]:
        def action() -> None:
            for run in range(plays):
                # Two checkpoints at every horizon, so that nothing else differs between them.
                bandit = new_bandit(law, 5, horizon, np.array([5, horizon]), generator(run))
                module.play(params_of(module, horizon), bandit, generator(plays + run))

        return action

    def inside(horizon: int) -> Callable[[], None]:
        bandit = new_bandit(law, 5, horizon, np.array([5, horizon]), generator(1))
        params, rng = params_of(module, horizon), generator(2)
        return lambda: many(params, bandit, rng, plays)

    for kind, make in (("a call from Python", called), ("inside a kernel", inside)):
        make(horizons[0])()  # compiles
        rows = [[seconds(make(horizon)) for horizon in horizons] for _ in range(REPEATS)]
        for horizon, column in zip(horizons, zip(*rows, strict=True), strict=True):
            microseconds = statistics.median(column) / plays * 1e6
            decade = f"10^{round(math.log10(horizon))}"
            yield Measured(f"batched, {kind}; K = 5, T =", name, decade, microseconds, "us")
        ratio = statistics.median(row[-1] / row[0] for row in rows)
        yield Measured(f"batched, {kind}; K = 5, T =", name, "ratio", ratio, "")


def measure() -> Iterator[Measured]:
    """Measure all kernels."""
    for name in BARE_LOOPS:
        for arms in ARMS:
            yield from per_round(name, arms)
    for name in TWO_METHODS:
        for arms in STEPS:
            yield from two_methods(name, arms)
    for name in SCHEMES:
        for arms in ARMS:
            yield from against_single_rounds(name, arms)
    for name in ALONE:
        yield from alone(name)
    for name in IN_LANES:
        yield from in_lanes(name)
    for name in BATCHED:
        if name not in IN_LANES:
            yield from many_runs(name)
    yield from whole_runs()
    yield from on_table()
    yield from price_of_noise()
    for name in BATCHED:
        yield from batched(name)
