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
    at: Origins, path: str, curve: Mapping[str, Any], shared: Iterable[str], given: Iterable[str]
) -> None:
    """Raise UserError for a key of a bound's curve that is unknown.

    Valid are the shared keys and the arguments of its functions that the game does not supply.
    """
    functions = [at.choice(curve["bound"], theory.bounds(), f"{path}.bound")]
    if curve.get("at") is not None:
        functions.append(at.choice(curve["at"], theory.transitions(), f"{path}.at"))
    own = {name for function in functions for name in accepted(function)}
    at.keys(curve, [*shared, "at", *sorted(own.difference(given))], path, ())


def arguments(
    at: Origins, name: str, path: str, given: Mapping[str, Any], find: Find
) -> dict[str, Any]:
    """Return the arguments of a function: those that the game supplies, the others by `find`.

    Raises UserError if one is missing or invalid.
    """
    result = dict(given)
    for argument, annotation in accepted(name).items():
        if argument not in given:
            value, where = find(argument)
            if value is None:
                raise at.error(f"{path} needs {argument}", path)
            result[argument] = at.checked(annotation, value, where)
    return {argument: result[argument] for argument in accepted(name)}


def transitions(
    at: Origins, name: str, path: str, given: Mapping[str, Any], find: Find, swept: str
) -> Sequence[float]:
    """Return the points where the regimes of a bound meet, by the function in the key `at`.

    The points are values of the swept parameter, epsilon or delta, which that function does not
    take. Raises UserError if it takes it, or if the bound has a single regime.
    """
    if swept in accepted(name):
        raise at.error(f"{path}.at: {name} is for a sweep over another parameter", f"{path}.at")
    found: Sequence[float] = theory.function(name)(**arguments(at, name, path, given, find))
    if not found:
        raise at.error(f"{path}.at: the bound has one regime only", f"{path}.at")
    return found


@cache
def accepted(name: str) -> dict[str, Any]:
    """Return the arguments of a function of theory/ with their types."""
    hints = get_type_hints(theory.function(name), include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def known(cell: Cell) -> dict[str, Any]:
    """Return the arguments that a cell supplies to a function: bandit, parameters and horizon."""
    arms = registry.environment(cell.environment).arms(cell.instance)
    told = {**cell.instance._asdict(), **cell.params._asdict()}
    return {**told, "arms": arms, "horizon": cell.horizon}
