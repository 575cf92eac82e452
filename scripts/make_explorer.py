"""Play the games of the explorer and write its data: `python scripts/make_explorer.py`.

Plays the runs that the cache lacks, takes the cells of the leaderboard from its committed table
(`dpbandits reference` writes it first) and writes docs/explorer/index.js, a file of numbers for
every instance, docs/explorer/<instance>.js, and data.json, the record of what they rest on. The
files are scripts because a page that is opened from a file may load nothing else. Overrides, such
as engine.workers=1, may set paths and the engine; a command that was stopped goes on where it was.
"""

import hashlib
import itertools
import json
import math
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.api.arguments import APPEARANCE, bandit
from dpbandits.checks.comparisons import RARE
from dpbandits.config import compose, conf_files
from dpbandits.drawing import formulas
from dpbandits.drawing.styles import style_of
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project
from dpbandits.files.atomic import to_json, write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.notions import budget_of
from dpbandits.run.runner import complete
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store.blocks import Store
from dpbandits.tables import references
from dpbandits.tables.statistics import standard_deviation

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "explorer"
EPSILONS = (0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0, 1.78, 3.16, 5.62, 10.0)
BUDGETS = f"{[*EPSILONS]}".replace(" ", "")  # as words of the command line
HORIZONS = tuple(10**k for k in range(4, 9))
ROUNDS = tuple(round(10 ** (k / 2)) for k in range(4, 17))  # two per decade
FIGURE = "leaderboard"
STEPS = {"family": "bernoulli", "means": {"first": 0.75, "last": 0.25, "arms": 32}}
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


ZCDP = r"$\rho$-zCDP"  # a notion of the list without a row of the leaderboard; its budgets are rho
# DP-IMED is not ranked, as nobody here has read its text, but it is in the explorer.
ALSO, ALSO_UNDER = "dp-imed", ("global", "approximate")
RANKED = 10**6  # the leaderboard's horizon
NOT_GIVEN = {*APPEARANCE, "share", "epsilon", "rho"}  # keys of a curve that are no parameters


class Player(NamedTuple):
    """An algorithm under a notion, with what it plays at every epsilon and horizon."""

    curve: Curve  # of the leaderboard
    params: Mapping[tuple[float, int], Any]
    batched: bool  # else it decides in every round: fewer and shorter runs

    @property
    def runs(self) -> int:
        """Return the number of runs of a cell that the leaderboard does not have."""
        return 200 if self.batched else 15

    def longest(self, instance: str) -> int:
        """Return the last round that it plays."""
        return HORIZONS[-1] if self.batched else 10**5 if instance == "wang-2" else 10**6


class Lists(NamedTuple):
    """Who takes part: the algorithms by name, and their names by notion of privacy."""

    players: dict[str, Player]
    notions: dict[str, list[str]]


@cache
def lists() -> Lists:
    """Return the lists of the figure `leaderboard`, at the explorer's budgets, zCDP and DP-IMED.

    An algorithm whose parameters differ between notions has a name under each.
    """
    batched = max(curve.runs for curve in leaderboard().panels[0].curves)
    listed = conf_files.read_member("ranked", "by-notion")["notions"]
    overrides = [
        f"+algorithm@figure.curves.{ALSO}={ALSO}",
        *(f"++figure.curves.{ALSO}.{text}" for text in ("ties=random", f"runs={batched}")),
        *(f"figure.notions.{key}=[{','.join([*listed[key], ALSO])}]" for key in ALSO_UNDER),
        f"figure.sweep.values={BUDGETS}",
        f"+figure.panels.u.row='{ZCDP}, here alone'",
        "+figure.panels.u.environment=c1",
        "+figure.panels.u.curves=${figure.notions.concentrated}",
        f"+figure.panels.u.sweep={{key:rho,values:{BUDGETS}}}",
    ]
    specs = {
        t: compose.load(FIGURE, [*overrides, f"figure.horizon={t}"], True)[0] for t in HORIZONS
    }
    result, first = Lists({}, {}), specs[RANKED]
    for k, panel in enumerate(first.panels):
        names = result.notions.setdefault(notion(panel), [])
        if len(names) == len(panel.curves):
            continue  # the panel of another instance
        for i, curve in enumerate(panel.curves):
            params = {
                (epsilon, t): source.params
                for t, spec in specs.items()
                for epsilon, source in zip(EPSILONS, spec.panels[k].curves[i].sources, strict=True)
            }
            earlier = result.players.get(curve.name)
            is_other = earlier is not None and earlier.params != params
            name = f"{curve.name}-{panel.letter}" if is_other else curve.name
            result.players.setdefault(name, Player(curve, params, curve.runs > first.runs))
            names.append(name)
    return result


def notion(panel: Panel) -> str:
    """Return the notion of privacy of a panel, without its horizon."""
    return formulas.without_tex(panel.row).rpartition(", ")[0]


def leaderboard() -> FigureSpec:
    """Return the figure whose cells the explorer reads from its committed table."""
    return compose.load(FIGURE, [])[0]


def experiments(instance: str, name: str, epsilon: float, seed: int) -> list[Experiment]:
    """Return the games of an algorithm: one, or one for each horizon if that is its parameter.

    An anytime algorithm plays the largest horizon, whose earlier rounds are shorter games.
    """
    entry, law = lists().players[name], bandit("explorer", INSTANCES[instance][1], None)
    horizons = [t for t in HORIZONS if t <= entry.longest(instance)]
    if not needs_horizon(entry):
        horizons = horizons[-1:]
    games: list[Experiment] = []
    for t in horizons:
        params, rounds = entry.params[epsilon, t], tuple(r for r in ROUNDS if r <= t)
        games.append(RegretExperiment(entry.curve.style, params, *law, t, rounds, seed))
    return games


def needs_horizon(entry: Player) -> bool:
    """Return whether T is a parameter of an algorithm."""
    return "horizon" in registry.algorithm(entry.curve.style).Params._fields


def statistics(runs: np.ndarray) -> list[list[float]]:
    """Return the numbers of a `cell` at every round, from (runs, rounds)."""
    error = standard_deviation(runs) / np.sqrt(len(runs))
    error[error < 1e-12 * runs.mean(0)] = 0.0  # all runs agree
    columns = np.array([runs.mean(0), error, *np.quantile(runs, (0.25, 0.5, 0.75), axis=0)])
    return [cell(row, len(runs)) for row in columns.T]


def cell(numbers: Iterable[float], runs: int) -> list[float]:
    """Return mean, standard error, quartiles and median, the runs, and 1 if they are too few.

    They are if the mean rests on rare runs. Numbers have four digits.
    """
    mean, error, *_ = numbers = [*numbers]
    return [*map(short, numbers), runs, int(error > RARE * mean)]


def points(experiment: Experiment, runs: np.ndarray) -> list[list[float] | None]:
    """Return the statistics at each round; None during a start that pulls arm after arm.

    There the regret is that of the first arms, so it depends on their order alone.
    """
    start = getattr(registry.algorithm(experiment.member), "start", None)
    arms = kinds.words(experiment).arguments["arms"]
    first = max(start(experiment.params), 1.0) * arms if start else 0.0
    pairs = zip(experiment.checkpoints(), statistics(runs), strict=True)
    return [row if t > first else None for t, row in pairs]


def short(x: float) -> float | int:
    """Return a number with four digits, in the fewest characters of JSON."""
    rounded = float(f"{x:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


@cache
def ranked() -> dict[tuple[str, str, float], list[float]]:
    """Return the cells of the leaderboard, from its committed table, by instance, name and epsilon.

    They are the explorer's at the same horizon, so a game has one number on all pages.
    """
    spec, cells = leaderboard(), dict[tuple[str, str, float], list[float]]()
    table = {(s.panel, s.label): s for s in references.read_series(spec, references.PAPER)}
    instances = {title: name for name, (title, *_) in INSTANCES.items()}
    for panel in spec.panels:
        instance = instances[formulas.without_tex(panel.column)]
        for name in lists().notions[notion(panel)]:
            series = table.get((panel.letter, lists().players[name].curve.label))
            if series is None:
                continue  # it is in the explorer alone
            error = series.std / math.sqrt(series.runs)
            columns = np.array([series.mean, error, series.low, series.median, series.high])
            for epsilon, column in zip(series.x, columns.T, strict=True):
                cells[instance, name, float(epsilon)] = cell(column, series.runs)
    return cells


def numbers(instance: str, store: Store, seed: int) -> dict[str, Any]:
    """Return the cells of an instance: by algorithm, epsilon, experiment and round."""
    return {
        name: [
            [
                with_ranked(
                    points(e, store.load(e, entry.runs)), e, ranked().get((instance, name, x))
                )
                for e in experiments(instance, name, x, seed)
            ]
            for x in EPSILONS
        ]
        for name, entry in lists().players.items()
    }


def with_ranked(
    cells: list[list[float] | None], experiment: Experiment, committed: list[float] | None
) -> list[list[float] | None]:
    """Return the cells of a game with that of the leaderboard, if `committed`, in its place.

    A longer game of an algorithm that is told its horizon is another game.
    """
    rounds = [*experiment.checkpoints()]
    arguments = kinds.words(experiment).arguments
    is_game = arguments["horizon"] == RANKED or not hasattr(experiment.params, "horizon")
    if committed and is_game and RANKED in rounds and cells[column := rounds.index(RANKED)]:
        return [*cells[:column], committed, *cells[column + 1 :]]
    return cells


def index(seed: int) -> dict[str, Any]:
    """Return what the page must know of the games before it loads an instance."""
    file = project.member_file("ranked", "by-notion")
    files = dict(conf_files.defaults(file)) | {f"algorithm@curves.{ALSO}": ALSO}
    content, shown = conf_files.read_yaml(file)["curves"] | {ALSO: {"ties": "random"}}, {}
    for name, entry in lists().players.items():
        curve, params = entry.curve, entry.params[1.0, RANKED]
        member = files[f"algorithm@curves.{curve.name}"]
        settings = content.get(curve.name, {}).items()
        given = [f"{member}.{k}={v}" for k, v in settings if k not in NOT_GIVEN and v is not None]
        delta = [f"delta={params.delta}"] if "delta" in params._fields else []
        shown[name] = {
            "label": curve.label,
            "colour": style_of(curve.style).colour,
            "batched": entry.batched,
            "needs_horizon": needs_horizon(entry),  # so it has a game for each
            # of `dpbandits compare`
            "budgets": [budget_word(entry.params[x, RANKED]) for x in EPSILONS],
            "command": " ".join([member, *given, *delta]),
        }
    return {
        **{"epsilons": EPSILONS, "horizons": HORIZONS, "rounds": ROUNDS, "seed": seed},
        "instances": {k: {"title": title, "command": c} for k, (title, _, c) in INSTANCES.items()},
        **{"notions": lists().notions, "algorithms": shown},
    }


def budget_word(params: Any) -> str:
    """Return the word of the command line that gives an algorithm its privacy budget."""
    key = budget_of(params._fields) or ""
    return f"{key}={getattr(params, key)!r}"


def as_script(name: str, content: Any) -> bytes:
    """Return a script that sets an entry of the global EXPLORER."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"(window.EXPLORER ??= {{}})[{json.dumps(name)}] = {text};\n".encode()


def basis(seed: int) -> dict[str, str]:
    """Return the digests of the experiments and of the golden rows of their algorithms."""
    places = itertools.product(INSTANCES, lists().players, EPSILONS)
    every = [e for i, name, epsilon in places for e in experiments(i, name, epsilon, seed)]
    described = references.digest([experiment.description() for experiment in every])
    golden = references.basis([], {experiment.member for experiment in every})
    cells = references.digest([[*game, *numbers] for game, numbers in ranked().items()])
    parts = {"the experiments of the explorer": described, "the cells of the leaderboard": cells}
    return parts | golden


def main(overrides: list[str]) -> int:
    settings, seed = compose.settings_of(overrides, "explorer")
    files, seconds = {"index.js": as_script("index", index(seed))}, 0.0
    for instance, (title, *_) in INSTANCES.items():
        runs_of = {
            experiment: entry.runs
            for name, entry in lists().players.items()
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
