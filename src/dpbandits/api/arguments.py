"""Figures from arguments: algorithms, and the game that all of them play."""

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from dpbandits.config import compose, conf_files, instances
from dpbandits.config.figure_reader import FigureReader
from dpbandits.config.schema import Composed
from dpbandits.config.settings import Settings
from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError as UserError
from dpbandits.kernel.errors import nearest, shown
from dpbandits.run import user_algorithms
from dpbandits.spec.figure import OWN, Appearance, Data, FigureSpec
from dpbandits.tables import statistics

# Keys of a file in conf/algorithm/ that are no parameters.
APPEARANCE = ("label", "legend", "variant", "colour", "marker", "line", "runs")
NAMED = {  # valid names, the default first
    "checkpoints": ["linear", "log", "end"],
    "centre": [*statistics.CENTRES],
    "spread": sorted(statistics.SPREAD_NAMES, key="standard-error".__ne__),
}
# Keys of a figure that change its form alone, the level of its intervals, and how it plays rewards
# beyond the range that releases assume.
FORM = ("level", "clipped", *Appearance._fields)
LETTERS = string.ascii_lowercase  # of the panels
IDENTIFICATION = "identification"
# What the algorithms of a kind do, and the function that plays them.
PLAYED_BY = {
    registry.USUAL: ("plays for regret and gives no answer", "play"),
    IDENTIFICATION: ("identifies the best arm and has no regret", "identify"),
}
BOUNDS = {  # function of theory/azize2022.py and its scope, by whether budgets matter
    True: ("problem_dependent_lower_bound", "for every consistent algorithm with ε-global DP"),
    False: ("no_privacy_lower_bound", "without privacy (Lai and Robbins)"),
}


@dataclass(frozen=True)
class Player:
    """Algorithm with parameters: those of its file in conf/algorithm/, replaced by given ones."""

    name: str
    algorithm: str  # in the registry
    label: str
    given: Mapping[str, Any]
    settings: Mapping[str, Any]  # all that are set, unchecked
    curve: str  # name of its curve

    def as_curve(self) -> dict[str, Any]:
        """Return its keys in a figure; braces in a label are no names of values."""
        label = self.label.replace("{", "{{").replace("}", "}}")
        return {"algorithm": self.algorithm, **self.settings, "label": label}

    def files(self) -> dict[str, str]:
        """Return the file of every parameter that is not given."""
        file = project.member_file("algorithm", self.name)
        return dict.fromkeys(self.settings.keys() - self.given.keys(), file)

    def params(self, game: Mapping[str, Any]) -> Any:
        """Return its Params, with values of the game that it has a field for and does not set.

        Raises UserError for an invalid value.
        """
        params = registry.algorithm(self.algorithm).Params
        fields = parameters.fields(params)
        supplied = {key: game[key] for key in fields if game.get(key) is not None}
        origin, values = self.files(), {**supplied, **self.settings}
        return parameters.build(params, values, self.name, lambda key: origin.get(key, "argument"))


def member_of(algorithm: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm in the registry that a name stands for, and the keys of its file.

    Raises UserError for a name of no algorithm that pulls arms.
    """
    if algorithm not in project.names("algorithm"):
        names = {name for kind in PLAYED_BY for name in registry.names(kind)}
        if algorithm not in names:
            near = nearest(algorithm, {*names, *project.names("algorithm")})
            raise UserError(f"unknown algorithm {shown(algorithm)}; {near}")
        return algorithm, {}
    content = dict(conf_files.read_member("algorithm", algorithm))
    member = content.pop("algorithm", None)
    if member is None:
        file = project.member_file("algorithm", algorithm)
        problem = "names no algorithm, and rules and bounds play no arms"
        raise UserError(f"{file} {problem}; add the line `algorithm: <name>`")
    return member, content


def player(
    algorithm: Any, given: Mapping[str, Any], of: Sequence[str] = (registry.USUAL,)
) -> Player:
    """Return an algorithm, by name or object, with the given parameters, which are unchecked.

    Raises UserError for anything else, and if its kind is not among those of `of`.
    """
    content = dict[str, Any]()
    if isinstance(algorithm, str):
        name, (member, content) = algorithm, member_of(algorithm)
    else:
        name = member = user_algorithms.register(algorithm)
    if (kind := kinds.of_member(member).name) not in of:
        if kind not in PLAYED_BY:
            near = nearest(name, registry.names(of[0]))
            raise UserError(f"{name} is of the kind {kind}; {near}")
        does, function = PLAYED_BY[kind]
        raise UserError(f"{name} {does}: dpbandits.{function} plays it")
    fields = registry.algorithm(member).Params._fields
    if "delta" in given and "delta" not in fields and "risk" in fields:
        problem = "delta is privacy's; the chance of a wrong answer is risk"
        raise UserError(f"{name}: {problem}, such as risk={given['delta']}")
    if "horizon" in given:
        problem = "horizon is that of the game, not a parameter"
        if kind == IDENTIFICATION:
            problem = "a run ends with its answer, or undecided at limit: there is no horizon"
        raise UserError(f"{name}: {problem}")
    refuse_numbers_as_texts(name, given)
    given = as_configured(given)
    label = str(content.get("label") or registry.algorithm(member).LABEL)
    of_file = {key: value for key, value in content.items() if key not in APPEARANCE}
    settings = {**of_file, **given}
    return Player(name, member, label, given, settings, name)


def players_of(algorithms: Any, of: Sequence[str] = (registry.USUAL,)) -> list[Player]:
    """Return the algorithms of a comparison, of which some may be pairs with parameters.

    Given parameters are part of the label, which also names the curve if another has the same name.
    Raises UserError if there are none, if two are the same, or for an invalid one.
    """
    is_list = isinstance(algorithms, Iterable) and not isinstance(algorithms, str)
    players, entries = [], [*algorithms] if is_list else []
    if not entries:
        raise UserError(f"compare: give a list of algorithms, got {shown(algorithms)}")
    for entry in entries:
        is_pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)
        algorithm, given = entry if is_pair else (entry, {})
        players.append(player(algorithm, given, of))
    names = Counter(entry.name for entry in players)
    for i, entry in enumerate(players):
        if entry.given:
            written = (f"{k}={v:{'.10g' * isinstance(v, float)}}" for k, v in entry.given.items())
            label = f"{entry.label} ({', '.join(written)})"
            curve = label if names[entry.name] > 1 else entry.name
            players[i] = replace(entry, label=label, curve=curve)
    curve, number = Counter(entry.curve for entry in players).most_common(1)[0]
    if number > 1:
        raise UserError(f"compare: {curve} is named twice")
    labels = Counter(entry.label for entry in players)
    return [
        replace(entry, label=f"{entry.label} ({entry.curve})") if labels[entry.label] > 1 else entry
        for entry in players
    ]


def bandit(caller: str, environment: Any, means: Any) -> tuple[str, Any]:
    """Return the environment and its parameters, as `play` takes them.

    Raises UserError, which `caller` begins, for invalid ones.
    """
    description, origin, _ = _described(caller, environment, means)
    return instances.instance(description, origin, caller)


def _described(
    caller: str, environment: Any, means: Any
) -> tuple[Mapping[str, Any], str, Data | None]:
    # The description of an environment, its origin, and the table that its means are from.
    origin = "argument"
    for key, table in (("environment", environment), ("means", means)):
        if hasattr(table, "columns"):  # of pandas or the like
            columns = ", ".join(map(repr, [*table.columns][:5]))
            raise UserError(f"{caller}: {key} is a table: give a column as means, one of {columns}")
    means = str(means) if isinstance(means, PathLike) else means
    if instances.names_a_table(table := str(environment)) and means is None:
        environment, means = None, table
    if (environment is None) == (means is None):
        problem = f"{'neither is' if means is None else 'both are'} given"
        needs = "environment, such as environment=c2, or means of Bernoulli arms"
        raise UserError(f"{caller}: the game needs {needs}; {problem}")
    if means is not None:
        environment = {"family": "bernoulli", "means": means}
    elif isinstance(environment, PathLike) or str(environment).endswith((".yaml", ".yml")):
        origin = str(environment)
        environment = conf_files.read_path(Path(environment), origin)
    elif isinstance(environment, str):
        if environment in project.names("environment"):
            origin = project.member_file("environment", environment)
        environment = environment_of(environment)
    elif not isinstance(environment, Mapping):
        environment = {"family": environment}
    if not isinstance(family := environment.get("family"), str | None):
        environment = {**environment, "family": user_algorithms.register_environment(family)}
    description, data = instances.own_data(as_configured(environment), origin, caller, True)
    return description, origin, data


def environment_of(name: str) -> dict[str, Any]:
    """Return what a file in conf/environment/ holds, or an environment without parameters.

    Raises UserError for any other name.
    """
    files, families = project.names("environment"), registry.environment_names()
    if name not in {*files, *families}:
        raise UserError(f"unknown environment {shown(name)}; {nearest(name, {*files, *families})}")
    content = conf_files.read_member("environment", name) if name in files else {"family": name}
    content, data = instances.own_data(content, project.member_file("environment", name), name)
    if data:  # which names the game
        file = str(project.folder() / data.file)
        content = {**content, "means": {"file": file, "column": data.column}}
    return dict(content)


class Numbers(NamedTuple):
    """Numbers that all algorithms of a panel share."""

    horizon: parameters.Rounds
    seed: parameters.Seed
    runs: parameters.Count = 100
    delta: parameters.Delta = 0.0
    epsilon: parameters.Positive = 1.0
    workers: parameters.Workers = 1


def specification(
    caller: str,
    players: Sequence[Player],
    budgets: Sequence[Any],
    game: tuple[Any, Any],
    values: Mapping[str, Any],
    overrides: Sequence[str] = (),
    form: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[FigureSpec, Settings]:
    """Return the figure of regret over time, with a panel for each epsilon, and the settings.

    `caller` is its name and begins every message; that of `compare` has lower bounds. `game` is
    the environment and the means, `values` those of Numbers and NAMED; None stands for a default.
    The overrides may set paths and the engine, `form` the keys of FORM. Raises UserError for any
    invalid value.
    """
    settings, shared, choices, described = checked(
        caller, Numbers, budgets, game, values, overrides, form
    )
    environment, instance, _ = described
    horizon, seed, runs, *_ = shared[0]
    if not isinstance(choices["checkpoints"], str):
        choices["checkpoints"] = _rounds(choices["checkpoints"], horizon, caller)
    for entry in players:  # whose messages name arguments; the reader's name keys of files
        for numbers in shared:
            epsilon = numbers.epsilon if budgets else None
            entry.params({"epsilon": epsilon, "delta": values.get("delta"), "horizon": horizon})
    classes = [registry.algorithm(entry.algorithm).Params for entry in players]
    private = bool(budgets) and any("epsilon" in params._fields for params in classes)
    means = registry.environment(environment).means(instance)
    is_bounded = caller == "compare" and environment == "bernoulli" and len({*means}) > 1
    function, scope = BOUNDS[private]
    curves: dict[str, Any] = {entry.curve: entry.as_curve() for entry in players}
    if is_bounded:
        curves["lower-bound"] = {"bound": f"azize2022.{function}", "label": "Lower bound"}
    note = ""
    if is_bounded:
        note += f"Lower bound: azize2022, Theorem 3 times log t, {scope}. It is asymptotic: at a"
        note += " finite round a curve may lie below it, as may one that is not private."
    figure = {
        "paper": OWN,
        "title": "Regret on {instance}",
        "draw": "comparison",
        "runs": runs,
        **choices,
        **form,
        "note": note,
        "environment": {"family": environment, **parameters.as_json(instance)},
        "horizon": horizon,
        "delta": values.get("delta"),
        "curves": curves,
        "panels": {
            letter: {"title": r"$\epsilon = {epsilon:g}$", "epsilon": numbers.epsilon}
            for letter, numbers in zip(LETTERS, shared, strict=False)
        }
        if budgets
        else None,
    }
    return read(caller, players, figure, seed, described), settings


Described = tuple[str, Any, Data | None]  # environment, its Params, the table of its means


def checked(
    caller: str,
    numbers: type[Any],
    budgets: Sequence[Any],
    game: tuple[Any, Any],
    values: Mapping[str, Any],
    overrides: Sequence[str],
    form: Mapping[str, Any],
) -> tuple[Settings, list[Any], dict[str, Any], Described]:
    """Return the settings, the numbers of every budget, the names of NAMED, and the game.

    The arguments are those of `specification`; `numbers` is the class of what all algorithms share.
    """
    given = {key: value for key, value in values.items() if value is not None}
    refuse_numbers_as_texts(caller, {**given, "epsilon": [*budgets]})
    settings, seed = compose.settings_of(overrides, caller)
    if any(x in budgets[:i] for i, x in enumerate(budgets)) or len(budgets) > len(LETTERS):
        problem = f"epsilon must be up to {len(LETTERS)} different values, got {shown(budgets)}"
        raise UserError(f"{caller}: {problem}")
    values = {"seed": seed, **given}
    choices = {key: as_configured(values.pop(key, names[0])) for key, names in NAMED.items()}
    for key, name in choices.items():
        if isinstance(name, str) and name not in NAMED[key]:
            near = nearest(name, NAMED[key])
            raise UserError(f"{caller}: unknown {key} {shown(name)}; {near}")
    if "level" in form and choices["spread"] != statistics.CONFIDENCE:
        raise UserError(f"{caller}: level is that of spread={statistics.CONFIDENCE}")
    description, place, data = _described(caller, *game)
    described = *instances.instance(description, place, caller), data
    shared = [
        parameters.build(numbers, values | budget, caller, lambda _: "argument")
        for budget in [{"epsilon": epsilon} for epsilon in budgets] or [{}]
    ]
    if "workers" in given:
        settings = replace(settings, workers=shared[0].workers)
    return settings, shared, choices, described


def read(
    caller: str,
    players: Sequence[Player],
    figure: Mapping[str, Any],
    seed: int,
    described: Described,
) -> FigureSpec:
    """Return the figure of a configuration, whose messages name the origin of a parameter."""
    files = {f"figure.curves.{entry.curve}": entry.files() for entry in players}

    def origin(path: str) -> str:
        above, _, key = path.rpartition(".")
        return files.get(above, {}).get(key, "argument")

    profile = {"name": "paper", "horizon_scale": 1.0}
    read = {"seed": seed, "runs": None, "profile": profile, "figure": figure}
    spec = FigureReader(Composed(caller, read, origin)).specification(may_repeat_labels=True)
    data = described[-1]
    return replace(spec, data=(data,) if data else ())


def refuse_numbers_as_texts(owner: str, values: Mapping[str, Any]) -> None:
    """Raise UserError for a text in place of a number, as of a file that was not converted.

    Ranges would be no explanation.
    """
    for key, given in values.items():
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str) and re.fullmatch(r"[-+]?[\d._]+(e[-+]?\d+)?", value.strip()):
                raise UserError(f"{owner}: {key} must be a number, got the text {shown(value)}")


def _rounds(value: Any, horizon: int, caller: str) -> list[int]:
    # Given checkpoints: rounds up to the horizon, in ascending order.
    rounds = value if isinstance(value, list) else [value]
    if not rounds or not all(type(n) is int and 1 <= n <= horizon for n in rounds):
        names = ", ".join(NAMED["checkpoints"])
        problem = f"must be {names}, or whole numbers from 1 to {horizon:,}, the horizon"
        raise UserError(f"{caller}: checkpoints {problem}; got {shown(value)}")
    return sorted({*rounds})


def as_configured(value: Any) -> Any:
    """Return an argument as a configuration would hold it: numbers, texts, lists, mappings."""
    if isinstance(value, IntEnum):
        return parameters.variant_name(value)
    if isinstance(value, Mapping):
        return {str(key): as_configured(item) for key, item in value.items()}
    if isinstance(value, Decimal):
        return float(value)
    if hasattr(value, "tolist"):  # of NumPy, also a single number, or a Series of pandas
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Set):  # unordered
        return [as_configured(item) for item in value]
    return value
