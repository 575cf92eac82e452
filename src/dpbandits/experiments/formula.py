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
    spends = False

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.member

    @property
    def roots(self) -> tuple[str, ...]:
        """No source: nothing is stored."""
        return ()

    def description(self) -> dict[str, Any]:
        """Return the formula as JSON values."""
        return {"bound": self.member, "arguments": dict(self.values)}

    def law(self, over_time: bool) -> dict[str, Any]:
        """Return the formula; a curve over time has a value at every horizon."""
        given = {k: v for k, v in self.values if k != "horizon" or not over_time}
        return {"bound": self.member, **given}

    def play(self, runs: range) -> tuple[np.ndarray, np.ndarray]:
        """Return runs without values."""
        return np.empty((len(runs), 0)), np.zeros(len(runs))

    def checkpoints(self) -> np.ndarray:
        """Return the rounds of the logarithmic grid up to the horizon."""
        return super().checkpoints() if self.rounds is None else checkpoints(self.rounds, Grid.LOG)

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        """Return its value, (1,), or its values with some rounds as horizon, (1, rounds).

        A value may be asked for divided by log T.
        """
        function, arguments = theory.function(self.member), dict(self.values)
        if rounds is not None:
            horizons = map(int, self.checkpoints()[rounds])
            return np.array([[function(**arguments | {"horizon": n}) for n in horizons]])
        value = np.array([function(**arguments)])
        return value / np.log(arguments["horizon"]) if shows is Quantity.PER_LOG else value

    @property
    def rounds(self) -> int | None:
        """Argument `horizon`, if there is one."""
        return dict(self.values).get("horizon")

    def game(self) -> dict[str, Any]:
        """Return nothing: the arguments are its settings."""
        return {}

    def setting(self, naming: Naming) -> str:
        """Return a phrase on the arms or the dimension."""
        arguments = dict(self.values)
        if "means" in arguments:
            return naming("", arguments["means"])
        if "arms" in arguments:
            return f"K = {arguments['arms']}"
        return f"linear bandits, dimension {d}" if (d := arguments.get("dimension")) else ""

    def settings(self) -> dict[str, Any]:
        """Return its arguments."""
        return dict(self.values)

    arguments = settings
