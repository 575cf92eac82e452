"""Play the games of the explorer and write its data: `python scripts/make_explorer.py`.

Plays the runs that the cache lacks and writes docs/explorer/index.js, a file of numbers for every
instance, docs/explorer/<instance>.js, and data.json, the record of what they rest on. The files are
scripts because a page that is opened from a file may load nothing else. Overrides, such as
engine.workers=1, may set paths and the engine; a command that was stopped goes on where it was.
"""

import hashlib
import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.api.arguments import bandit, player
from dpbandits.config import compose
from dpbandits.drawing.styles import style_of
from dpbandits.experiments import Experiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files.atomic import to_json, write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.releases import rho_of_gaussian
from dpbandits.run.runner import complete
from dpbandits.store.blocks import Store
from dpbandits.tables import references
from dpbandits.tables.statistics import standard_deviation

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "explorer"
EPSILONS = (0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0)
HORIZONS = tuple(10**k for k in range(4, 9))
ROUNDS = tuple(round(10 ** (k / 2)) for k in range(4, 17))  # two per decade
DELTA = 4.5399929762484854e-05  # e^-10, of tossou2016 and wang2024
STEPS = {"law": "bernoulli", "means": {"first": 0.75, "last": 0.25, "arms": 32}}
INSTANCES: dict[str, tuple[str, Any, str]] = {  # title, environment, words of `dpbandits compare`
    **{f"c{i}": (f"C{i}", f"c{i}", f"environment=c{i}") for i in range(1, 5)},
    "wang-1": ("Instance 1", "wang-1", "environment=wang-1"),
    "wang-2": ("Instance 2", "wang-2", "environment=wang-2"),
    "two-arms": ("two arms", "tossou-2arms", "environment=tossou-2arms"),
    "32-arms": (
        "32 arms",
        STEPS,
        'environment=linear "environment.means={first:0.75,last:0.25,arms:32}"',
    ),
}


class Player(NamedTuple):
    """An algorithm as the explorer plays it; `file` is its name in conf/algorithm/."""

    file: str
    label: str
    given: Mapping[str, Any] = {}
    delta: float = DELTA
    share: float = 1.0  # of epsilon, where its notion implies another at twice the budget
    batched: bool = False  # else it decides in every round: fewer and shorter runs

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return 200 if self.batched else 15

    def longest(self, instance: str) -> int:
        """Return the last round that it plays."""
        return HORIZONS[-1] if self.batched else 10**5 if instance == "wang-2" else 10**6


RANDOM, SPLIT = {"ties": "random"}, {"counter": "hybrid-split"}
PLAYERS = {
    "adap-ucb": Player("adap-ucb", "AdaP-UCB", RANDOM, batched=True),
    "adap-klucb": Player("adap-klucb", "AdaP-KLUCB", RANDOM, batched=True),
    "dp-klucb": Player("dp-klucb", "DP-KLUCB", RANDOM, batched=True),
    "dp-imed": Player("dp-imed", "DP-IMED", RANDOM, batched=True),
    "dp-se": Player("dp-se", "DP-SE", batched=True),
    "gdp-elim-new": Player("gdp-elim-new", "GDP-Elim-New", delta=0.0, batched=True),
    "lazy-dp-ts": Player("lazy-dp-ts", "Lazy-DP-TS"),
    "dp-ts": Player("dp-ts", "DP-TS"),
    "private-ucb": Player("sajed2019-dp-ucb", "Private-UCB"),
    "dp-ucb": Player("dp-ucb", "DP-UCB", SPLIT),
    "dp-ucb-bound": Player("dp-ucb-bound", "DP-UCB-BOUND", SPLIT),
    "dp-exp3-lap": Player("dp-exp3-lap", "DP-EXP3-Lap"),
    "gdp-elim-new-delta": Player("gdp-elim-new", "GDP-Elim-New", batched=True),
    "adac-ucb": Player("adac-ucb", "AdaC-UCB", RANDOM, batched=True),
    "dp-ucb-int": Player("dp-ucb-int", "DP-UCB-INT"),
    "exp3-tau": Player("exp3-tau", "EXP3_τ", {"calibration": "budget"}),
    "dp-ftpl-gauss": Player("dp-ftpl-gauss", "DP-FTPL-Gauss"),
    "dp-ftpl-beta": Player("dp-ftpl-beta", "DP-FTPL-Beta"),
    "dp-ftpl-new": Player("dp-ftpl-new", "DP-FTPL-New"),
    "half-dp-se": Player("dp-se", "DP-SE (ε/2)", share=0.5, batched=True),
    "half-adap-klucb": Player("adap-klucb", "AdaP-KLUCB (ε/2)", RANDOM, share=0.5, batched=True),
    "half-dp-klucb": Player("dp-klucb", "DP-KLUCB (ε/2)", RANDOM, share=0.5, batched=True),
    "ldp-ucb-b": Player("ldp-ucb-b", "LDP-UCB-B"),
    "ldp-ucb-l": Player("ldp-ucb-l", "LDP-UCB-L"),
}
# As in conf/figure/leaderboard.yaml, which has the reasons, and DP-IMED.
NOTIONS = {
    "ε-global DP": [
        *("adap-ucb", "adap-klucb", "dp-klucb", "dp-imed", "dp-se", "gdp-elim-new"),
        *("lazy-dp-ts", "dp-ts", "private-ucb", "dp-ucb", "dp-ucb-bound", "dp-exp3-lap"),
    ],
    "(ε, δ)-global DP, δ = e⁻¹⁰": [
        *("adap-klucb", "dp-klucb", "dp-imed", "dp-se"),
        *("gdp-elim-new-delta", "adac-ucb", "dp-ucb-int", "exp3-tau"),
    ],
    "(ε, δ)-DP in every round, δ = e⁻¹⁰": [
        *("dp-ftpl-gauss", "dp-ftpl-beta", "dp-ftpl-new"),
        *("half-dp-se", "half-adap-klucb", "half-dp-klucb"),
    ],
    "ε-local DP of every reward": ["ldp-ucb-b", "ldp-ucb-l", "dp-exp3-lap"],
}


def experiments(instance: str, name: str, epsilon: float, seed: int) -> list[Experiment]:
    """Return the games of an algorithm: one, or one for each horizon if that is its parameter.

    An anytime algorithm plays the largest horizon, whose earlier rounds are shorter games.
    """
    entry, law = PLAYERS[name], bandit("explorer", INSTANCES[instance][1], None)
    policy = player(entry.file, entry.given)
    fields = registry.algorithm(policy.algorithm).Params._fields
    game = {"epsilon": entry.share * epsilon, "delta": entry.delta}
    if "rho" in fields:
        game["rho"] = rho_of_gaussian(epsilon, entry.delta)
    horizons = [t for t in HORIZONS if t <= entry.longest(instance)]
    if "horizon" not in fields:
        horizons = horizons[-1:]
    found: list[Experiment] = []
    for t in horizons:
        params, rounds = policy.params({**game, "horizon": t}), tuple(r for r in ROUNDS if r <= t)
        found.append(RegretExperiment(policy.algorithm, params, *law, t, rounds, seed))
    return found


def statistics(runs: np.ndarray) -> list[list[float]]:
    """Return mean, standard error, quartiles and median of (runs, rounds), with four digits."""
    error = standard_deviation(runs) / np.sqrt(len(runs))
    error[error < 1e-12 * runs.mean(0)] = 0.0  # all runs agree
    columns = np.array([runs.mean(0), error, *np.quantile(runs, (0.25, 0.5, 0.75), axis=0)])
    return [[short(x) for x in row] for row in columns.T]


def points(experiment: Experiment, runs: np.ndarray) -> list[list[float] | None]:
    """Return the statistics at each round; None during a start that pulls arm after arm.

    There the regret is that of the first arms, so it depends on their order alone.
    """
    start = getattr(registry.algorithm(experiment.member), "start", None)
    first = max(start(experiment.params), 1.0) * experiment.arguments["arms"] if start else 0.0
    pairs = zip(experiment.checkpoints(), statistics(runs), strict=True)
    return [found if t > first else None for t, found in pairs]


def short(x: float) -> float | int:
    """Return a number with four digits, in the fewest characters of JSON."""
    rounded = float(f"{x:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


def numbers(instance: str, store: Store, seed: int) -> dict[str, Any]:
    """Return the statistics of an instance: by algorithm, epsilon, experiment and round."""
    return {
        name: [
            [points(e, store.load(e, entry.runs)) for e in experiments(instance, name, x, seed)]
            for x in EPSILONS
        ]
        for name, entry in PLAYERS.items()
    }


def index(seed: int) -> dict[str, Any]:
    """Return what the page must know of the games before it loads an instance."""
    shown = {}
    for name, entry in PLAYERS.items():
        first = experiments("c1", name, 1.0, seed)[0]
        given = [f"{entry.file}.{key}={value}" for key, value in entry.given.items()]
        needs_delta = "delta" in first.params._fields
        command = [entry.file, *given, *[f"delta={entry.delta}"] * needs_delta]
        shown[name] = {
            "label": entry.label,
            "colour": style_of(first.member).colour,
            "runs": entry.runs,
            "batched": entry.batched,
            "needs_horizon": "horizon" in first.params._fields,  # so it has a game for each
            "share": entry.share,
            # of `dpbandits compare`, which takes a rho and no epsilon for zCDP
            "command": "" if "rho" in first.params._fields else " ".join(command),
        }
    return {
        **{"epsilons": EPSILONS, "horizons": HORIZONS, "rounds": ROUNDS, "seed": seed},
        "instances": {k: {"title": title, "command": c} for k, (title, _, c) in INSTANCES.items()},
        **{"notions": NOTIONS, "algorithms": shown},
    }


def as_script(name: str, content: Any) -> bytes:
    """Return a script that sets an entry of the global EXPLORER."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"(window.EXPLORER ??= {{}})[{json.dumps(name)}] = {text};\n".encode()


def basis(seed: int) -> dict[str, str]:
    """Return the digests of the experiments and of the golden rows of their algorithms."""
    places = itertools.product(INSTANCES, PLAYERS, EPSILONS)
    every = [e for i, name, epsilon in places for e in experiments(i, name, epsilon, seed)]
    described = references.digest([experiment.description() for experiment in every])
    golden = references.basis([], {experiment.member for experiment in every})
    return {"the experiments of the explorer": described, **golden}


def main(overrides: list[str]) -> int:
    settings, seed = compose.settings_of(overrides, "explorer")
    files, seconds = {"index.js": as_script("index", index(seed))}, 0.0
    for instance, (title, *_) in INSTANCES.items():
        runs_of = {
            experiment: entry.runs
            for name, entry in PLAYERS.items()
            for epsilon in EPSILONS
            for experiment in experiments(instance, name, epsilon, seed)
        }
        done = complete(runs_of, settings, f"explorer: {title}", None)
        if done.failures:
            raise UserError(done.reason())
        seconds += sum(map(done.store.seconds, runs_of))
        files[f"{instance}.js"] = as_script(instance, numbers(instance, done.store, seed))
    for name, content in files.items():
        write_atomically(FOLDER / name, content)
    record = {
        **{"command": "python scripts/make_explorer.py", **provenance(), "seconds": round(seconds)},
        "basis": basis(seed),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    write_atomically(FOLDER / "data.json", to_json(record))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
