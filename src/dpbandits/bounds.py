"""Curves that are functions of theory/: which arguments they take, and from where."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_type_hints

from dpbandits import theory
from dpbandits.origin import Origins


def check_keys(
    at: Origins, path: str, curve: Mapping[str, Any], shared: Iterable[str], given: Iterable[str]
) -> None:
    """A curve may hold the shared keys and what its functions take that the game does not give."""
    functions = [theory.function(at.choice(curve["bound"], theory.bounds(), f"{path}.bound"))]
    if curve.get("at") is not None:
        name = at.choice(curve["at"], theory.transitions(), f"{path}.at")
        functions.append(theory.function(name))
    own = {name for function in functions for name in _accepted(function)}
    at.keys(curve, [*shared, "at", *sorted(own.difference(given))], path, ())


def arguments(
    at: Origins, name: str, path: str, curve: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a function: what the game gives, and the rest from the curve, checked."""
    result = {}
    for argument, annotation in _accepted(theory.function(name)).items():
        value = given.get(argument)
        if argument not in given and curve.get(argument) is not None:
            value = at.checked(annotation, curve[argument], f"{path}.{argument}")
        if value is None:
            raise at.error(f"{path} needs {argument}", path)
        result[argument] = value
    return result


def transitions(
    at: Origins, path: str, curve: Mapping[str, Any], given: Mapping[str, Any], swept: str | None
) -> Sequence[float]:
    """The epsilons where the regimes of a bound meet, by the function of the key `at`."""
    if swept != "epsilon":
        raise at.error(f"{path}.at is for a figure with a sweep over epsilon", f"{path}.at")
    found = theory.function(curve["at"])(**arguments(at, curve["at"], path, curve, given))
    if not found:
        raise at.error(f"{path}.at: the bound has one regime only", f"{path}.at")
    return found


def _accepted(function: Callable[..., Any]) -> dict[str, Any]:
    hints = get_type_hints(function, include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}
