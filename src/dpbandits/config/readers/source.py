"""Reader of the sources of a curve, cells or bounds, from the layers around it."""

from collections.abc import Mapping
from typing import Any

from dpbandits.audit import designs
from dpbandits.audit.cell import AuditCell
from dpbandits.audit.subject import Plays, Subject
from dpbandits.cells.bandit_cell import Cell, Grid, Regret, StoppingCell
from dpbandits.config import bound_arguments
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.game import GameReader
from dpbandits.config.readers.layers import Layers
from dpbandits.config.section import Section
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.privacy.concentrated import rho_of_gaussian
from dpbandits.spec.figure import Bound

OWN: dict[
    str, tuple[str, ...]
] = {  # the kinds of curve, and the keys of each kind beside those of every curve
    "algorithm": ("pulls_of", "regret"),
    "rule": (),
    "bound": ("at",),
}
LOOK = ("legend", "reading", "colour", "marker", "line", "annotation")
CURVE_KEYS = (*OWN, "label", "runs", *LOOK, *SHARED)
FROM_EPSILON = "from-epsilon"  # in place of rho
GRIDS = [grid.value for grid in Grid]


class SourceReader:
    """Reader of the cells and bounds of a figure. Its methods raise UserError for bad values."""

    def __init__(self, origins: Origins, games: GameReader) -> None:
        self.origins = origins
        self.games = games

    def cell(self, curve: Section, layers: Layers) -> Cell:
        """Return the cell of an algorithm on a bandit."""
        params = registry.algorithm(curve.get("algorithm")).Params
        law, of_law, horizon = self.games.bandit(layers)
        return Cell(
            algorithm=curve.get("algorithm"),
            params=self._params("algorithm", params, curve, layers, {"horizon": horizon}),
            environment=law,
            instance=of_law,
            horizon=horizon,
            grid=self._grid(layers),
            seed=self._seed(),
            pulls_of=self._pulls_of(curve, registry.environment(law).arms(of_law)),
            regret=self._regret(curve, layers, hasattr(registry.environment(law), "table")),
        )

    def audit_cell(self, curve: Section, layers: Layers) -> AuditCell:
        """Return the cell of an audit of an algorithm."""
        cls = registry.algorithm(curve.get("algorithm")).Params
        placeholder = {"horizon": designs.LONG}  # every game of the audit sets its own
        params = self._params("algorithm", cls, curve, layers, placeholder)
        value, where = layers.needed("plays", self.origins)
        subject = Subject.of(curve.get("algorithm"), params)
        cell = AuditCell(subject, self.origins.checked(Plays, value, where), self._seed())
        try:
            cell.claim()
        except UserError as error:
            raise self.origins.error(str(error), curve.path) from None
        return cell

    def stopping_cell(self, curve: Section, layers: Layers) -> StoppingCell:
        """Return the cell of a stopping rule."""
        params = registry.stopping_rule(curve.get("rule")).Params
        cell = StoppingCell(
            rule=curve.get("rule"),
            params=self._params("rule", params, curve, layers, {}),
            stream=self.games.stream(layers),
            seed=self._seed(),
        )
        if cell.samples_at_most() > 2**53:
            problem = f"{cell.name} may take more than 2^53 samples"
            raise self.origins.error(problem, curve.path)
        return cell

    def bound(self, curve: Section, layers: Layers) -> Bound:
        """Return a function of theory/ with its arguments."""
        name = curve.get("bound")
        game = self.games.supplied(layers, bound_arguments.accepted(name))
        arguments = bound_arguments.arguments(curve, name, game, layers.find)
        return Bound(name, tuple(arguments.items()))

    # The parts of a cell

    def _params(
        self,
        kind: str,
        params: type,
        curve: Section,
        layers: Layers,
        of_game: Mapping[str, Any],
    ) -> Any:
        # The Params of an algorithm or a rule; `of_game` holds the fields that the game sets.
        known = parameters.fields(params)
        curve.keys(dict.fromkeys((*CURVE_KEYS, *OWN[kind], *known)))
        values, paths = {}, {}
        for field in known:
            value, where = (of_game[field], "") if field in of_game else layers.find(field)
            if field == "rho" and value == FROM_EPSILON:
                value = self._rho(layers)
            if value is not None:
                values[field] = value
            paths[field] = where or f"{'figure' if field in SHARED else curve.path}.{field}"
        return parameters.build(
            params, values, curve.get(kind), lambda f: self.origins.of(paths[f])
        )

    def _rho(self, layers: Layers) -> float:
        # The largest rho whose Gaussian noise is (epsilon, delta)-DP, for the values around it.
        epsilon = self.origins.checked(parameters.Positive, *layers.needed("epsilon", self.origins))
        delta = self.origins.checked(parameters.Fraction, *layers.needed("delta", self.origins))
        return rho_of_gaussian(epsilon, delta)

    def _seed(self) -> int:
        seed: int = self.origins.checked(parameters.Seed, self.origins.plain["seed"], "seed")
        return seed

    def _grid(self, layers: Layers) -> Grid:
        checkpoints, path = layers.needed("checkpoints", self.origins)
        return Grid(self.origins.choice(checkpoints, GRIDS, path))

    def _pulls_of(self, curve: Section, arms: int) -> int | None:
        # The configuration counts arms from 1, as the papers do.
        if curve.get("pulls_of") is None:
            return None
        arm: int = curve.checked(parameters.Count, "pulls_of")
        if arm > arms:
            problem = f"pulls_of must be an arm from 1 to {arms}, got {arm}"
            raise self.origins.error(problem, curve.path_of("pulls_of"))
        return arm - 1

    def _regret(self, curve: Section, layers: Layers, of_table: bool) -> Regret:
        value, path = layers.find("regret")
        if value is None:
            return Regret.PSEUDO
        chosen = Regret(self.origins.choice(value, [kind.value for kind in Regret], path))
        if of_table:
            problem = "regret is for arms with means; that on a table of gains is always realised"
            raise self.origins.error(problem, path)
        if chosen is Regret.REALISED and curve.get("pulls_of") is not None:
            raise self.origins.error("regret: pulls are recorded instead of it", path)
        return chosen
