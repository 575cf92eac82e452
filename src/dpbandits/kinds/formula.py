"""Bounds: functions of theory/, drawn beside what is played."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpbandits import theory
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words
from dpbandits.experiments.regret import PER_LOG
from dpbandits.kernel import registry
from dpbandits.kinds import regret, stopping

VALUE = regret.REGRET._replace(label="Value of the bound", needs_runs=False)


class FormulaKind(Kind):
    """Keys, quantities and words of bounds. A bound is drawn as the quantity of its panel."""

    key = "bound"
    title = "Bounds"
    experiment = Formula
    quantities = ()  # those of what is drawn beside it
    keys: Mapping[str, Key] = {
        "horizon": regret.HORIZON,
        "stream": stopping.STREAM,
        "at": Key(str, "points at which a bound is drawn", ("curve",)),
    }
    has_members = False

    def names(self) -> Sequence[str]:
        return [*theory.bounds()]

    def module(self, name: str) -> None:
        return None

    def fields(self, given: Given) -> Mapping[str, Any]:
        meet, path = given.value("at")
        if meet is None:
            return theory.accepted(given.name)
        transitions = [*theory.transitions()]
        return theory.accepted(given.name) | theory.accepted(given.checked(transitions, meet, path))

    def quantity(self, asked: str | None, given: Given) -> Quantity:
        if asked in (None, VALUE.name):
            return VALUE
        shown = kinds.quantities()[str(asked)]._replace(pair="", needs_runs=False)
        return shown if asked == PER_LOG else shown._replace(name=VALUE.name)

    def swept(self, given: Given, key: str | None) -> Sequence[float] | None:
        # Over time at every horizon; with `at`, over the values where the regimes of a bound meet.
        if (meet := given.value("at")[0]) is None:
            if key is None and "horizon" not in theory.accepted(given.name):
                problem = f": {given.name} does not depend on the horizon; it needs a sweep"
                raise given.error(given.path, problem)
            return None
        path = f"{given.path}.at"
        if key not in ("epsilon", "delta") or key in theory.accepted(meet):
            raise given.error(path, f": {meet} needs a sweep over the budget that it solves for")
        points: Sequence[float] = theory.function(meet)(**_arguments(given, meet))
        if not points:
            raise given.error(path, ": the bound has one regime only")
        return points

    def style(self, given: Given) -> str:
        return "bound" if given.value("at")[0] is None else "transition"

    def text_values(self, given: Given) -> Mapping[str, Any]:
        game = {} if given.value("horizon")[0] is None else regret.kind.text_values(given)
        return {**game, **stopping.kind.text_values(given)}

    def read(self, given: Given, shows: Quantity) -> Experiment:
        return Formula(given.name, tuple(_arguments(given, given.name).items()))

    def words(self, experiment: Formula) -> Words:
        values, phrase = dict(experiment.values), ""
        if "arms" in values:
            phrase = f"K = {values['arms']}"
        elif dimension := values.get("dimension"):
            phrase = f"linear bandits, dimension {dimension}"
        return Words(
            name=experiment.member,
            settings=values,
            arguments=values,
            declaring=None,  # it is not played
            rounds=values.get("horizon"),
            means=tuple(values.get("means", ())),
            phrase=phrase,
            spends=False,
            shared=experiment.description(),
        )

    def same_distribution(self, experiment: Formula, over_time: bool) -> dict[str, Any]:
        # A curve over time has a value at every horizon.
        values = {k: v for k, v in experiment.values if k != "horizon" or not over_time}
        return {"bound": experiment.member, **values}

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        yield from ()  # it draws nothing


def _arguments(given: Given, function: str) -> dict[str, Any]:
    # The arguments of a function of theory/: those of the game, the others from the layers.
    arguments, accepted = dict[str, Any](), theory.accepted(function)
    if given.value("environment")[0] is not None:
        environment, instance = given.instance()
        arguments |= instance._asdict()
        arguments["arms"] = registry.environment(environment).arms(instance)
        if "horizon" in accepted or given.value("horizon")[0] is not None:
            arguments["horizon"] = regret.horizon(given)
    if given.value("stream")[0] is not None:
        arguments |= stopping.stream(given)._asdict()
    for name, kind in accepted.items():
        value, path = given.value(name)
        if name not in arguments:
            if value is None:
                raise given.error(given.path, f"needs {name}")
            arguments[name] = given.checked(kind, value, path)
    return {name: arguments[name] for name in accepted}


kind = FormulaKind()
