"""Figures from arguments: algorithms and the game that all of them play, and their runs."""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from dpbandits.config import conf_files, described, instances
from dpbandits.config.settings import Settings
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError as UserError
from dpbandits.core.errors import nearest, shown
from dpbandits.experiments import Quantity
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project
from dpbandits.run import in_memory
from dpbandits.run.in_memory import StoreWithMemory, is_stored
from dpbandits.run.missing_runs import complete
from dpbandits.spec.figure import OWN, Curve, FigureSpec, Panel
from dpbandits.tables import statistics

if TYPE_CHECKING:
    from pandas import DataFrame

# Keys of a file in conf/algorithm/ that are no parameters.
APPEARANCE = ("label", "legend", "reading", "colour", "marker", "line", "runs")
NAMED = {  # valid names, the default first
    "checkpoints": ["linear", "log", "end"],
    "centre": [*statistics.CENTRES],
    "spread": sorted(statistics.SPREADS, key="std".__ne__),
}
BOUND = "azize2022.problem_dependent_lower_bound"
WITHOUT_PRIVACY = "azize2022.no_privacy_lower_bound"
AXES = "Axes: x linear, y logarithmic, on which a regret of 0 cannot be drawn."
ASYMPTOTIC = "It is asymptotic: at a finite round a curve may lie below it"
ABOUT_BOUND = (
    "Lower bound: azize2022, Theorem 3 times log t, for every consistent algorithm with ε-global"
    f" DP. {ASYMPTOTIC}, as may one that is not private."
)
ABOUT_BOUND_WITHOUT_PRIVACY = (
    "Lower bound: azize2022, Theorem 3 without privacy (Lai and Robbins) times log t."
    f" {ASYMPTOTIC}."
)


P = TypeVar("P")


@dataclass(frozen=True)
class Player:
    """Algorithm with parameters: those of its file in conf/algorithm/, replaced by given ones."""

    name: str
    algorithm: str  # in the registry
    label: str
    given: Mapping[str, Any]
    of_file: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""  # in place of the name, if it plays with several settings

    @property
    def curve(self) -> str:
        """Name of its curve."""
        return self.key or self.name

    @property
    def settings(self) -> dict[str, Any]:
        """All parameters that are set, before any check."""
        return {**self.of_file, **self.given}

    def params(self, game: Mapping[str, Any], source: str = "argument") -> Any:
        """Return its Params, with values of the game that it has a field for and does not set.

        Raises UserError for an invalid value; `source` is the origin of given values.
        """
        module = registry.algorithm(self.algorithm)
        known = parameters.fields(module.Params)
        supplied = {key: game[key] for key in known if game.get(key) is not None}

        def origin(name: str) -> str:
            of_file = name in self.of_file and name not in self.given
            return project.member_file("algorithm", self.name) if of_file else source

        return parameters.build(module.Params, supplied | self.settings, self.name, origin)


def player(algorithm: Any, given: Mapping[str, Any]) -> Player:
    """Return an algorithm with the given parameters.

    `algorithm` is the name of a file in conf/algorithm/ or of the registry, or an object that
    defines one. Raises UserError for anything else, and for a parameter that it does not have.
    """
    given, content = {name: plain(value) for name, value in given.items()}, dict[str, Any]()
    if not isinstance(algorithm, str):
        name = member = in_memory.register(algorithm)
    elif algorithm in project.names("algorithm"):
        name, content = algorithm, dict(conf_files.read_member("algorithm", algorithm))
        for kind in ("rule", "bound"):
            if kind in content:
                kind = "stopping rule" if kind == "rule" else kind
                raise UserError(f"{shown(name)} is a {kind}, which plays no arms")
        member = content.pop("algorithm", None)
        if member is None:
            file = project.member_file("algorithm", name)
            raise UserError(f"{file} names no algorithm; add the line `algorithm: <name>`")
    else:
        name = member = algorithm
        if name not in registry.algorithm_names():
            known = {*registry.algorithm_names(), *project.names("algorithm")}
            raise UserError(f"unknown algorithm {shown(name)}; {nearest(name, known)}")
    module = registry.algorithm(member)
    fields = [key for key in parameters.fields(module.Params) if key != "horizon"]
    for key in given:
        if key == "horizon":
            raise UserError(f"{name}: horizon is that of the game, not a parameter")
        if key not in fields:
            raise UserError(f"{name} has no parameter {shown(key)}; {nearest(key, fields)}")
    label = str(content.get("label") or module.LABEL)
    of_file = {key: value for key, value in content.items() if key not in APPEARANCE}
    return Player(name, member, label, given, of_file)


def players_of(algorithms: Any) -> list[Player]:
    """Return the algorithms of a comparison: names, objects, or pairs of either with parameters.

    Parameters that are given are part of the label, and of the name if another has the same name.
    Raises UserError if there are none, if two are the same, or for an invalid one.
    """
    if isinstance(algorithms, str) or not algorithms:
        raise UserError(f"compare: give a list of algorithms, got {shown(algorithms)}")
    players = []
    for entry in algorithms:
        is_pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)
        players.append(player(*entry) if is_pair else player(entry, {}))
    names = [entry.name for entry in players]
    for i, entry in enumerate(players):
        if entry.given:
            written = (
                f"{key}={value:.10g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in entry.given.items()
            )
            label = f"{entry.label} ({', '.join(written)})"
            key = label if names.count(entry.name) > 1 else ""
            players[i] = replace(entry, label=label, key=key)
    for name, count in Counter(entry.curve for entry in players).items():
        if count > 1:
            raise UserError(f"compare: {name} is named twice")
    labels = [entry.label for entry in players]
    return [
        replace(p, label=f"{p.label} ({p.curve})") if labels.count(p.label) > 1 else p
        for p in players
    ]


class Numbers(NamedTuple):
    """Numbers that all algorithms of a figure share."""

    horizon: parameters.Rounds
    seed: parameters.Seed
    runs: parameters.Count = 100
    delta: parameters.Delta = 0.0


class Epsilon(NamedTuple):
    """Privacy budget of a panel."""

    epsilon: parameters.Positive


@dataclass(frozen=True)
class Game:
    """Game that all algorithms play, before any check.

    `values`: those of Numbers and of NAMED, by key; None stands for the default.
    """

    environment: Any = None  # name, mapping or None
    means: Any = None  # of Bernoulli arms, or None
    values: Mapping[str, Any] = field(default_factory=dict)
    source: str = "argument"  # origin of these values in messages

    def bandit(self, caller: str) -> tuple[str, Any]:
        """Return the law of the rewards and its parameters. Raises UserError for invalid ones."""
        environment = self.environment
        if (environment is None) == (self.means is None):
            problem = "neither is given" if environment is None else "both are given"
            raise UserError(
                f"{caller}: the game needs environment, such as environment=c2, or means of"
                f" Bernoulli arms; {problem}"
            )
        origin, content = self.source, plain(environment)
        if self.means is not None:
            content = {"law": "bernoulli", "means": plain(self.means)}
        elif isinstance(environment, str):
            content = environment_of(environment)
            if environment in project.names("environment"):
                origin = project.member_file("environment", environment)
        elif not isinstance(environment, Mapping):
            raise UserError(
                f"{caller}: environment must be a name or a law with its parameters, got"
                f" {shown(environment)}"
            )
        return instances.instance(content, origin, caller)


def environment_of(name: str) -> dict[str, Any]:
    """Return the description of a file in conf/environment/, or of a law without parameters.

    Raises UserError for any other name.
    """
    files, laws = project.names("environment"), registry.environment_names()
    if name not in {*files, *laws}:
        raise UserError(f"unknown environment {shown(name)}; {nearest(name, {*files, *laws})}")
    return dict(conf_files.read_member("environment", name)) if name in files else {"law": name}


def specification(
    caller: str, players: Sequence[Player], budgets: Sequence[Any], game: Game, bounds: bool
) -> FigureSpec:
    """Return the figure of regret over time, with a panel for each epsilon and, maybe, bounds.

    `caller` begins every message. Raises UserError for any invalid value.
    """
    if len({*budgets}) < len(budgets):
        raise UserError(f"{caller}: the same epsilon is given twice")
    if len(budgets) > len(string.ascii_lowercase):
        raise UserError(f"{caller}: more than 26 values of epsilon are given")
    values = {key: value for key, value in game.values.items() if value is not None}
    named = {key: values.pop(key, names[0]) for key, names in NAMED.items()}
    for key, name in named.items():
        if name not in NAMED[key]:
            problem = f"unknown {key} {shown(name)} ({game.source})"
            raise UserError(f"{caller}: {problem}; {nearest(str(name), NAMED[key])}")

    def build(params: type[P], given: Mapping[str, Any]) -> P:
        return parameters.build(params, given, caller, lambda _: game.source)

    epsilons = [build(Epsilon, {"epsilon": budget}).epsilon for budget in budgets]
    law, instance = game.bandit(caller)
    horizon, seed, runs, _ = build(Numbers, values)
    if horizon < (arms := registry.environment(law).arms(instance)):
        problem = f"horizon must be at least {arms}, the number of arms, got {horizon}"
        raise UserError(f"{caller}: {problem} ({game.source})")
    panels = []
    for i, letter in enumerate(string.ascii_lowercase[: max(1, len(epsilons))]):
        epsilon = epsilons[i] if epsilons else None
        supplied = {"epsilon": epsilon, "delta": values.get("delta"), "horizon": horizon}
        curves = []
        for entry in players:
            params = entry.params(supplied, game.source)
            recorded = Grid(named["checkpoints"])
            cell = RegretExperiment(entry.algorithm, params, law, instance, horizon, recorded, seed)
            curves.append(_curve(entry.curve, entry.label, entry.algorithm, cell, runs))
        title = "" if epsilon is None else rf"$\epsilon = {epsilon:g}$"
        panels.append(Panel(letter, title, tuple(curves)))
    spec = FigureSpec(
        name=caller,
        paper=OWN,
        title=f"Regret on {instances.name(law, instance)}",
        draw="comparison",
        runs=runs,
        centre=named["centre"],
        spread=named["spread"],
        slopes=False,
        panels=tuple(panels),
        note=AXES,
        seed=seed,
    )
    means = getattr(instance, "means", ())
    if not bounds or law != "bernoulli" or len({*means}) < 2:
        return spec
    private = bool(epsilons) and any(hasattr(cell.params, "epsilon") for cell in spec.cells())
    for i, panel in enumerate(panels):
        theorem, budget = (BOUND, {"epsilon": epsilons[i]}) if private else (WITHOUT_PRIVACY, {})
        arguments = {"means": tuple(means), "horizon": horizon, **budget}
        source = Formula(theorem, tuple(arguments.items()))
        bound = _curve("lower-bound", "Lower bound", "bound", source, runs)
        panels[i] = replace(panel, curves=(*panel.curves, bound))
    about = ABOUT_BOUND if private else ABOUT_BOUND_WITHOUT_PRIVACY
    return replace(spec, panels=tuple(panels), note=f"{AXES} {about}")


def _curve(
    name: str, label: str, style: str, source: RegretExperiment | Formula, runs: int
) -> Curve:
    return Curve(name, label, label, style, Quantity.REGRET, "t", None, (source,), runs)


class Computed(NamedTuple):
    """Store with all runs of a figure, and how many of them were missing."""

    store: StoreWithMemory
    runs: int


def settings_of(caller: str, workers: Any, seed: Any) -> tuple[Settings, Any]:
    """Return the settings of the project, with a number of threads, and the seed or its own."""
    words = () if workers is None else (f"engine.workers={workers}",)
    settings, usual = described.settings_of(words, caller)
    return settings, usual if seed is None else seed


def computed(spec: FigureSpec, settings: Settings, progress: bool) -> Computed:
    """Play the missing runs of a figure, in the store of the settings, and return the store.

    Raises UserError if the store cannot be written, or if runs failed; the others are kept.
    """
    runs_of = spec.runs_of_cells()
    store = StoreWithMemory(settings.cache)
    if not all(map(is_stored, runs_of)):
        settings = replace(settings, cluster=None)
    done = complete(runs_of, settings, spec.name, None, store, progress)
    if done.failures:
        error = UserError(done.reason())
        if trace := done.failures[0].trace:
            error.add_note(trace)
        raise error
    return Computed(store, done.computed)


def frame(content: Any, **settings: Any) -> "DataFrame":
    """Return a table of pandas; raise UserError if pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise UserError(
            f"a table needs pandas, which cannot be imported ({error}):"
            " pip install 'dpbandits[pandas]', in a checkout pip install '.[pandas]'"
        ) from error
    return pandas.DataFrame(content, **settings)


def plain(value: Any) -> Any:
    """Return an argument as a configuration would hold it: numbers, texts, lists, mappings."""
    if isinstance(value, IntEnum):
        return parameters.reading_name(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
