"""Formulas: functions of theory/ with their arguments, evaluated without runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits import theory
from dpbandits.experiments import Experiment, Load, Quantity
from dpbandits.experiments.checkpoints import Grid
from dpbandits.kernel.errors import UserError


@dataclass(frozen=True)
class Formula(Experiment):
    """Function of theory/ with its arguments, in the place of what is played."""

    member: str  # <module>.<function> of theory/
    values: tuple[tuple[str, Any], ...]  # its arguments

    columns = 0
    family = "bound"
    params = ()
    libraries = ()
    spends = False
    exact = tuple(Quantity)
    grid = Grid.LOG

    def __post_init__(self) -> None:
        values, phrase = dict(self.values), ""
        if "arms" in values:
            phrase = f"K = {values['arms']}"
        elif dimension := values.get("dimension"):
            phrase = f"linear bandits, dimension {dimension}"
        vars(self).update(
            name=self.member,
            rounds=values.get("horizon"),
            named=("", values["means"]) if "means" in values else None,
            phrase=phrase,
            game={},
            settings=values,
            arguments=dict(values),
        )

    def description(self) -> dict[str, Any]:
        return {"bound": self.member, "arguments": dict(self.values)}

    def law(self, over_time: bool) -> dict[str, Any]:
        """Return the formula; a curve over time has a value at every horizon."""
        given = {k: v for k, v in self.values if k != "horizon" or not over_time}
        return {"bound": self.member, **given}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError("it is evaluated, not played")

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        # Over time: its values with these rounds as horizon.
        if rounds is not None:
            horizons = map(int, self.checkpoints()[rounds])
            return np.array([[self._value(horizon=n) for n in horizons]])
        value = np.array([self._value()])
        return value / np.log(self.arguments["horizon"]) if shows is Quantity.PER_LOG else value

    def _value(self, **horizon: int) -> float:
        try:
            return theory.function(self.member)(**self.arguments | horizon)
        except UserError as error:  # the theorem does not apply
            raise UserError(f"{self.member}: {error}") from None
