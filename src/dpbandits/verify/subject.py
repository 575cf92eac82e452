"""Algorithm under verification, its parameters and the games that it plays."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.config import conf_files
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.environments import bernoulli
from dpbandits.files import project

USUAL = {
    "epsilon": 1.0,
    "rho": 1.0,
    "delta": 1e-6,
}  # of an algorithm that has no default of its own


@dataclass(frozen=True)
class Subject:
    """Algorithm, and its parameters without the horizon."""

    name: str
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, settings: Mapping[str, Any]) -> "Subject":
        """Return an algorithm with some parameters set.

        All others are those of conf/algorithm/, or defaults. Raises UserError for an unknown
        algorithm, or parameters that are invalid.
        """
        if "horizon" in settings:
            raise UserError("horizon cannot be set: the checks play games of several lengths")
        fields = parameters.fields(registry.algorithm(name).Params)
        values = {k: v for k, v in USUAL.items() if k in fields}
        if name in project.names("algorithm"):
            with suppress(UserError):
                content = conf_files.read_member("algorithm", name)
                if content.get("algorithm") == name:
                    values |= {k: v for k, v in content.items() if k in fields}
        subject = cls(name, values | dict(settings))
        subject.refuse_missing()
        subject.params(1000)
        return subject

    def refuse_missing(self) -> None:
        """Raise UserError for a field without a value, other than the horizon."""
        cls = self.module.Params
        for field in parameters.fields(cls):
            if field != "horizon" and field not in {*self.settings, *cls._field_defaults}:
                supplied = "; the horizon of a game is supplied to a field named `horizon`"
                raise UserError(
                    f"{self.name}: the field `{field}` of Params has no value: give it a default,"
                    f" or set {field}=<value>{'' if self.knows_horizon else supplied}"
                )

    @property
    def module(self) -> ModuleType:
        """Module of the algorithm."""
        return registry.algorithm(self.name)

    @property
    def file(self) -> str:
        """Path of its file, for messages."""
        return registry.member("algorithm", self.name).shown

    @property
    def knows_horizon(self) -> bool:
        """True if its Params have the horizon."""
        return "horizon" in parameters.fields(self.module.Params)

    def params(self, horizon: int) -> Any:
        """Return its Params for a horizon; raise UserError if they are invalid."""
        own = {"horizon": horizon} if self.knows_horizon else {}
        return parameters.build(
            self.module.Params, {**self.settings, **own}, self.name, lambda _: "command line"
        )

    def cell(self, means: tuple[float, ...], horizon: int, grid: Grid = Grid.LOG) -> Cell:
        """Return its cell on Bernoulli arms."""
        instance = bernoulli.Params(means)
        return Cell(self.name, self.params(horizon), "bernoulli", instance, horizon, grid, seed=1)
