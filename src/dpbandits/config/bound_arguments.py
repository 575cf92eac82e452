"""Curves that are functions of theory/: which arguments they take, and from where."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config.origins import Origins
from dpbandits.core import registry

Find = Callable[[str], tuple[Any, str]]  # the innermost value of a key, and where it stands


def check_keys(
    at: Origins, path: str, curve: Mapping[str, Any], shared: Iterable[str], given: Iterable[str]
) -> None:
    """A curve may hold the shared keys and what its functions take that the game does not give."""
    functions = [at.choice(curve["bound"], theory.bounds(), f"{path}.bound")]
    if curve.get("at") is not None:
        functions.append(at.choice(curve["at"], theory.transitions(), f"{path}.at"))
    own = {name for function in functions for name in accepted(function)}
    at.keys(curve, [*shared, "at", *sorted(own.difference(given))], path, ())


def arguments(
    at: Origins, name: str, path: str, given: Mapping[str, Any], find: Find
) -> dict[str, Any]:
    """The arguments of a function: what the game gives, and the rest as it is found, checked."""
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
    """Where the regimes of a bound meet, by the function that the key `at` names.

    In the swept one of epsilon and delta, which that function does not take.
    """
    if swept in accepted(name):
        raise at.error(f"{path}.at: {name} is for a sweep over another parameter", f"{path}.at")
    found: Sequence[float] = theory.function(name)(**arguments(at, name, path, given, find))
    if not found:
        raise at.error(f"{path}.at: the bound has one regime only", f"{path}.at")
    return found


@cache
def accepted(name: str) -> dict[str, Any]:
    """The arguments of a function, with their types."""
    hints = get_type_hints(theory.function(name), include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def known(cell: Cell) -> dict[str, Any]:
    """What a cell tells a function at its horizon: of its bandit, of its parameters."""
    arms = registry.environment(cell.environment).arms(cell.instance)
    told = {**cell.instance._asdict(), **cell.params._asdict()}
    return {**told, "arms": arms, "horizon": cell.horizon}
