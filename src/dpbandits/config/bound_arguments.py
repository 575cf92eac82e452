"""Arguments of the functions of theory/ that curves plot, and the values that supply them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config.origins import Origins
from dpbandits.core import registry

Find = Callable[[str], tuple[Any, str]]  # returns the innermost value of a key, and its path


def check_keys(
    origins: Origins,
    path: str,
    curve: Mapping[str, Any],
    shared: Iterable[str],
    game: Iterable[str],
) -> None:
    """Raise UserError for a key of a bound's curve that is unknown.

    Valid are the shared keys and the arguments of its functions that the game does not supply.
    """
    functions = [origins.choice(curve["bound"], theory.bounds(), f"{path}.bound")]
    if curve.get("at") is not None:
        functions.append(origins.choice(curve["at"], theory.transitions(), f"{path}.at"))
    own = {name for function in functions for name in accepted(function)}
    origins.keys(curve, [*shared, "at", *sorted(own.difference(game))], path, ())


def arguments(
    origins: Origins, name: str, path: str, game: Mapping[str, Any], find: Find
) -> dict[str, Any]:
    """Return the arguments of a function: those that the game supplies, the others by `find`.

    Raises UserError if one is missing or invalid.
    """
    result = dict(game)
    for argument, annotation in accepted(name).items():
        if argument not in game:
            value, where = find(argument)
            if value is None:
                raise origins.error(f"{path} needs {argument}", path)
            result[argument] = origins.checked(annotation, value, where)
    return {argument: result[argument] for argument in accepted(name)}


def transitions(
    origins: Origins, name: str, path: str, game: Mapping[str, Any], find: Find, swept: str
) -> Sequence[float]:
    """Return the points where the regimes of a bound meet, by the function in the key `at`.

    The points are values of the swept parameter, epsilon or delta, which that function does not
    take. Raises UserError if it takes it, or if the bound has a single regime.
    """
    if swept in accepted(name):
        raise origins.error(
            f"{path}.at: {name} is for a sweep over another parameter", f"{path}.at"
        )
    points: Sequence[float] = theory.function(name)(**arguments(origins, name, path, game, find))
    if not points:
        raise origins.error(f"{path}.at: the bound has one regime only", f"{path}.at")
    return points


@cache
def accepted(name: str) -> dict[str, Any]:
    """Return the arguments of a function of theory/ with their types."""
    hints = get_type_hints(theory.function(name), include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def known(cell: Cell) -> dict[str, Any]:
    """Return the arguments that a cell supplies to a function: bandit, parameters and horizon."""
    arms = registry.environment(cell.environment).arms(cell.instance)
    parameters = {**cell.instance._asdict(), **cell.params._asdict()}
    return {**parameters, "arms": arms, "horizon": cell.horizon}
