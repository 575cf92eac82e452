"""Formulas: functions of theory/ with their arguments, evaluated without runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits import theory
from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.experiments.regret import PER_LOG
from dpbandits.kernel.errors import UserError


@dataclass(frozen=True)
class Formula(Experiment):
    """Function of theory/ with its arguments, in the place of what is played."""

    member: str  # <module>.<function> of theory/
    values: tuple[tuple[str, Any], ...]  # its arguments

    columns = 0
    params = ()
    libraries = ()

    def description(self) -> dict[str, Any]:
        return {"bound": self.member, "arguments": dict(self.values)}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError("it is evaluated, not played")

    def checkpoints(self) -> np.ndarray:
        horizon = dict(self.values).get("horizon")
        return super().checkpoints() if horizon is None else checkpoints(horizon, Grid.LOG)

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        # Over time: its values with these rounds as horizon.
        if rounds is not None:
            horizons = map(int, self.checkpoints()[rounds])
            return np.array([[self._value(horizon=n) for n in horizons]])
        value = np.array([self._value()])
        return value / np.log(dict(self.values)["horizon"]) if shows == PER_LOG else value

    def _value(self, **horizon: int) -> float:
        try:
            return theory.function(self.member)(**dict(self.values) | horizon)
        except UserError as error:  # the theorem does not apply
            raise UserError(f"{self.member}: {error}") from None
