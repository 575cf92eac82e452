"""Golden cells, the part of their runs that is recorded, and the file that records it.

Every set of hyper-parameters in conf/algorithm/ plays Bernoulli arms, Beta arms and an adversary.
The set with the name of its algorithm also plays the Bernoulli arms in every other variant. PLAYERS
play every environment in conf/environment/, LINEAR_PLAYERS those of actions with features; the last
of them plays every variant of its law. Each
stopping rule reads STREAMS. All cases follow from the folders: a new file needs no line here,
unless the common game exercises too little of it (GAMES).
"""

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.config import conf_files, instances
from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.regret import Game, Regret, RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.environment import UNBOUNDED

FILE = Path(__file__).with_name("rows.jsonl")
COMMAND = "python scripts/make_golden.py"
CHECKPOINTS = 10  # of a run's curve
SEED = 2022

COMMON: dict[str, Any] = {
    "runs": 3,
    "horizon": 20_000,
    "epsilon": 1.0,
    "rho": 1.0,
    "delta": 0.01,
    # Many arms, all different and the best not first: noise affects even the arms chosen rarely.
    "means": [0.45, 0.7, 0.5, 0.64, 0.3, 0.67, 0.56, 0.6],
}
CLOSE, APART = [round(0.5 + 0.02 * arm, 2) for arm in range(9)], [0.3, 0.75, 0.5, 0.5]
# By algorithm: games where the common one is too short to exercise it, or leaves too little to
# chance.
GAMES: dict[str, dict[str, Any]] = {
    # A run only shows when each arm was eliminated. With means this close and so small a budget,
    # noise decides some eliminations; whole epochs follow, whose lengths depend on |S|.
    "dp-se": {"runs": 10, "horizon": 400_000, "epsilon": 0.05, "means": CLOSE},
    # A run only shows when the best arm was ahead. Here it leads by about Delta(2) = 1/4.
    "gdp-elim-new": {"runs": 10, "horizon": 500_000, "epsilon": 0.01, "means": APART},
    # The third phase, the first that eliminates an arm, ends after 60,000 rounds.
    "gope": {"runs": 10, "horizon": 200_000},
    "adac-gope": {"runs": 10, "horizon": 200_000, "rho": 0.01},
    # They look at the features of all actions in every round.
    "rs-oful": {"horizon": 2000},
    "adac-oful": {"horizon": 2000, "rho": 100.0},
}
# Environments that every algorithm plays: laws, with the means above, or files in
# conf/environment/.
FOR_ALL = ("bernoulli", "beta", "exp3-switching")
PLAYERS = ("adap-ucb", "exp3")  # in every environment: one in batches, one in single rounds
LINEAR_PLAYERS = ("adac-gope", "adac-oful")  # likewise
# Environments and variants added since references were recorded, which rest on the rows
# `<algorithm> on ...`.
ADDED = (
    "random-10arms",
    "azize-fig3",
    "elimination",
    "feed",
    "exploration",
    "observation",
    "memory",
    *("l", "lin", "l-distinct"),
)
ADDED_SCHEMES = ("dp-ucb-int",)  # algorithms whose references are older than their schemes


@dataclass(frozen=True)
class Case:
    """Experiment whose runs are golden."""

    plays: str  # the file in conf/algorithm/
    on: str  # the file in conf/environment/, the law, or the stream
    variant: str  # difference from the files; empty: none
    cell: Experiment
    per_round: bool = False  # play every round by itself, where the policy has a faster scheme

    @property
    def name(self) -> str:
        """Unique name of the case in the file."""
        per_round = " per round" * self.per_round
        variant = self.variant.strip(" (").partition("=")[0]
        is_by_scheme = self.per_round and self.cell.member in ADDED_SCHEMES
        if is_by_scheme or {self.on, variant} & {*ADDED}:
            return f"{self.on} by {self.plays}{self.variant}{per_round}"
        return f"{self.plays} on {self.on}{self.variant}{per_round}"


@cache
def cases() -> tuple[Case, ...]:
    """Return every case once, in an order that depends on the names alone."""
    return *_cases_of_players(), *_cases_of_environments()


def _cases_of_players() -> Iterator[Case]:
    for name in project.names("algorithm"):
        content = conf_files.read_member("algorithm", name)
        played = next(content[kind.key] for kind in kinds.every() if kind.key in content)
        kind = kinds.of_member(played)
        if kind.name != registry.USUAL:
            for on, cell in kind.cases(played, content):
                yield Case(name, on, "", cell)
                for words, params in _readings(cell.params):
                    yield Case(name, on, words, replace(cell, params=params))  # type: ignore[type-var]
            continue
        for environment in FOR_ALL:
            yield Case(name, environment, "", _cell(content, environment))
        plain = _cell(content, FOR_ALL[0])
        others = list(_readings(plain.params)) if name == content["algorithm"] else []
        variants = [Case(name, FOR_ALL[0], words, replace(plain, params=p)) for words, p in others]
        yield from variants
        if registry.scheme_source(plain.member):
            for case in (Case(name, FOR_ALL[0], "", plain), *variants):
                yield replace(case, per_round=True)


def _cases_of_environments() -> Iterator[Case]:
    first = conf_files.read_member("algorithm", PLAYERS[0])
    counted = replace(_cell(first, FOR_ALL[0]), pulls_of=1)  # instead of the regret
    yield Case(PLAYERS[0], FOR_ALL[0], " (pulls_of=2)", counted)
    received = replace(_cell(first, FOR_ALL[0]), regret=Regret.REALISED)
    yield Case(PLAYERS[0], FOR_ALL[0], " (regret=realised)", received)
    files = project.names("environment")
    described = {name: conf_files.read_member("environment", name) for name in files}
    of_files = {instances.instance(described[name], name, "golden")[1] for name in files}
    for environment in files:
        family = registry.environment(described[environment]["family"])
        players = LINEAR_PLAYERS if "actions" in family.more else PLAYERS
        first, last = (conf_files.read_member("algorithm", player) for player in players)
        if environment not in FOR_ALL:
            yield Case(players[0], environment, "", _cell(first, environment))
            yield Case(players[1], environment, "", _cell(last, environment))
        plain = _cell(last, environment)
        for words, instance in _readings(plain.instance):
            # Variants of a table of gains belong to one adversary, and change nothing elsewhere.
            draw = registry.environment(plain.environment).table or (lambda p, *_: (p,))
            tables = [
                draw(p, 1000, np.random.default_rng(SEED)) for p in (plain.instance, instance)
            ]
            changes = any(not np.array_equal(*pair) for pair in zip(*tables, strict=True))
            if instance not in of_files and changes:
                read = replace(plain, instance=instance)
                yield Case(players[1], environment, words, read)


def _cell(content: Mapping[str, Any], environment: str) -> RegretExperiment:
    algorithm = content["algorithm"]
    game = COMMON | GAMES.get(algorithm, {})
    if environment in registry.environment_names():
        described: Mapping[str, Any] = {"family": environment, "means": game["means"]}
    else:
        described = conf_files.read_member("environment", environment)
    law, instance = instances.instance(described, environment, "golden")
    params = _params(registry.algorithm(algorithm).Params, {**game, **content}, algorithm)
    played = law, instance, game["horizon"], Grid.LOG, SEED
    is_bounded = registry.environment(law).RANGE != UNBOUNDED
    return RegretExperiment(algorithm, params, *played, clipped=None if is_bounded else False)


def _params(cls: Any, values: dict[str, Any], owner: str) -> Any:
    known = {name: value for name, value in values.items() if name in cls._fields}
    return parameters.build(cls, known, owner, lambda field: "tests/golden/golden_rows.py")


def _readings(params: Any) -> Iterator[tuple[str, Any]]:
    # Yield the parameters with one variant changed: every other member of every IntEnum and bool.
    for field, annotation in parameters.fields(type(params)).items():
        for member in members(annotation):
            if member != getattr(params, field):
                changed = params._replace(**{field: member})
                yield f" ({field}={parameters.as_json(changed)[field]})", changed


def members(annotation: Any) -> list[Any]:
    """Return the values of a field that is a variant; an empty list for a number."""
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return list(annotation)
    return [False, True] if annotation is bool else []


# Rows ----------------------------------------------------------------------------------------

Rows = list[dict[str, Any]]  # one case: its description, then a row per run; JSON values


def play(case: Case, compiled: bool = True) -> Rows:
    """Return the rows of a case: its description, then the result of each run."""
    cell = case.cell
    description = {"case": case.name, **cell.description()}
    if isinstance(cell, StoppingExperiment):
        values, _ = cell.play(range(COMMON["runs"]))
        return [description] + [
            {"case": case.name, "run": run, "samples": int(samples), "estimate": float(estimate)}
            for run, (samples, estimate) in enumerate(values)
        ]
    if not isinstance(cell, RegretExperiment):
        values, _ = cell.play(range(COMMON["runs"]))
        rows = enumerate(values.tolist())
        return [description, *({"case": case.name, "run": r, "values": v} for r, v in rows)]
    rounds = cell.checkpoints()
    kept = np.linspace(0, rounds.size - 1, CHECKPOINTS + 1).round().astype(int)[1:]
    runs = range((COMMON | GAMES.get(cell.member, {}))["runs"])
    game = Game(cell)
    if not compiled:
        game.policy = getattr(game.policy, "py_func", game.policy)
        game.definition = getattr(game.definition, "py_func", game.definition)
    bandits = [game.play(run, case.per_round) for run in runs]
    recorded = "regret" if cell.pulls_of is None else "recorded"
    return [description | {"rounds": rounds[kept].tolist()}] + [
        {"case": case.name, "run": run, recorded: b.curve[kept].tolist(), "pulls": b.pulls.tolist()}
        for run, b in enumerate(bandits)
    ]


def difference(golden: Rows, played: Rows) -> str | None:
    """Return the first difference in words, or None where rows are equal to the last bit."""
    if len(golden) != len(played):
        return f"{played[0]['case']}: {len(played)} rows, golden {len(golden)}"
    description, *runs = zip(golden, played, strict=True)
    # Compare runs first: a new field may change only the description.
    for before, now in (*runs, description):
        for key in {**now, **before}:
            if before.get(key) != now.get(key):
                run = f", run {now['run']}" if "run" in now else ""
                return f"{now['case']}{run}: {key} is {now.get(key)}, golden {before.get(key)}"
    return None


# The file ------------------------------------------------------------------------------------


def made_with() -> dict[str, str]:
    """Return versions and machine, on which the last bits of a draw may depend."""
    versions = {library: version(library) for library in ("numba", "numpy")}
    return versions | {"machine": platform.machine(), "libc": " ".join(platform.libc_ver())}


def read() -> tuple[dict[str, str], dict[str, Rows]]:
    """Return the versions and machine that made the file, and its rows by case name."""
    first, *others = FILE.read_text("utf-8").splitlines()
    rows: dict[str, Rows] = {}
    for line in others:
        row = json.loads(line)
        rows.setdefault(row["case"], []).append(row)
    return json.loads(first), rows


def write(rows: Iterable[Rows]) -> None:
    """Write the file: first the versions and machine, then one line per row."""
    lines = [made_with(), *(row for of_case in rows for row in of_case)]
    # Python writes a float in the shortest form that reads back to the same bits.
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    write_atomically(FILE, text.encode())
