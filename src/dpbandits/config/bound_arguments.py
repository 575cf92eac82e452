"""Arguments of the functions of theory/ that curves plot, and the values that supply them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config.section import Section
from dpbandits.core import registry

Find = Callable[[str], tuple[Any, str]]  # returns the innermost value of a key, and its path


def check_keys(curve: Section, shared: Iterable[str], game: Iterable[str]) -> None:
    """Raise UserError for a key of a bound's curve that is unknown.

    Valid are the shared keys and the arguments of its functions that the game does not supply.
    """
    functions = [curve.choice("bound", theory.bounds())]
    if curve.get("at") is not None:
        functions.append(curve.choice("at", theory.transitions()))
    own = {name for function in functions for name in accepted(function)}
    curve.keys([*shared, "at", *sorted(own.difference(game))])


def arguments(curve: Section, name: str, game: Mapping[str, Any], find: Find) -> dict[str, Any]:
    """Return the arguments of a function: those that the game supplies, the others by `find`.

    Raises UserError if one is missing or invalid.
    """
    result = {}
    for argument, annotation in accepted(name).items():
        if argument in game:
            result[argument] = game[argument]
            continue
        value, path = find(argument)
        if value is None:
            raise curve.error(f" needs {argument}")
        result[argument] = curve.origins.checked(annotation, value, path)
    return result


def transitions(
    curve: Section, name: str, game: Mapping[str, Any], find: Find, swept: str
) -> Sequence[float]:
    """Return the points where the regimes of a bound meet, by the function in the key `at`.

    The points are values of the swept parameter, epsilon or delta, which that function does not
    take. Raises UserError if it takes it, or if the bound has a single regime.
    """
    if swept in accepted(name):
        raise curve.error(f": {name} is for a sweep over another parameter", "at")
    points: Sequence[float] = theory.function(name)(**arguments(curve, name, game, find))
    if not points:
        raise curve.error(": the bound has one regime only", "at")
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
