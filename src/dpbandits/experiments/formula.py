"""Formulas: functions of theory/ with their arguments, evaluated without runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits import theory
from dpbandits.experiments import Experiment, Load, Naming, Quantity
from dpbandits.experiments.checkpoints import Grid, checkpoints


@dataclass(frozen=True)
class Formula(Experiment):
    """Function of theory/ with its arguments, in the place of what is played."""

    member: str  # <module>.<function> of theory/
    values: tuple[tuple[str, Any], ...]  # its arguments

    columns = 0
    family = "bound"
    params = ()
    libraries = ()
    roots = ()
    spends = False

    @property
    def name(self) -> str:
        return self.member

    def description(self) -> dict[str, Any]:
        return {"bound": self.member, "arguments": dict(self.values)}

    def law(self, over_time: bool) -> dict[str, Any]:
        """Return the formula; a curve over time has a value at every horizon."""
        given = {k: v for k, v in self.values if k != "horizon" or not over_time}
        return {"bound": self.member, **given}

    def play(self, runs: range) -> tuple[np.ndarray, np.ndarray]:
        return np.empty((len(runs), 0)), np.zeros(len(runs))

    def checkpoints(self) -> np.ndarray:
        return super().checkpoints() if self.rounds is None else checkpoints(self.rounds, Grid.LOG)

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        # Over time: its values with these rounds as horizon.
        function, arguments = theory.function(self.member), dict(self.values)
        if rounds is not None:
            horizons = map(int, self.checkpoints()[rounds])
            return np.array([[function(**arguments | {"horizon": n}) for n in horizons]])
        value = np.array([function(**arguments)])
        return value / np.log(arguments["horizon"]) if shows is Quantity.PER_LOG else value

    @property
    def rounds(self) -> int | None:  # type: ignore[override]
        return dict(self.values).get("horizon")

    def setting(self, naming: Naming) -> str:
        arguments = dict(self.values)
        if "means" in arguments:
            return naming("", arguments["means"])
        if "arms" in arguments:
            return f"K = {arguments['arms']}"
        return f"linear bandits, dimension {d}" if (d := arguments.get("dimension")) else ""

    def settings(self) -> dict[str, Any]:
        return dict(self.values)

    arguments = settings
