"""Bounds of the papers as functions; a figure names them `<paper>.<function>`.

A function that returns a float is a bound. A function that returns a tuple gives the values of
epsilon or delta at which a bound changes its privacy regime.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from dpbandits.kernel.errors import UserError, nearest, shown


def function(name: str) -> Callable[..., Any]:
    """Return the function `<paper>.<function>` of this folder. Raises UserError if unknown."""
    if name not in _functions():
        raise UserError(f"unknown bound {shown(name)}; {nearest(name, _functions())}")
    return _functions()[name]


@cache
def accepted(name: str) -> dict[str, Any]:
    """Return the arguments of a function with their types."""
    hints = get_type_hints(function(name), include_extras=True)
    return {argument: hint for argument, hint in hints.items() if argument != "return"}


def bounds() -> list[str]:
    """Return the name of every bound, `<paper>.<function>`."""
    return [n for n, f in _functions().items() if inspect.signature(f).return_annotation is float]


def transitions() -> list[str]:
    """Return the name of every function that returns the transitions of a bound."""
    return sorted(_functions().keys() - bounds())


@cache
def _functions() -> dict[str, Callable[..., Any]]:
    # Every public function, by its name in figures.
    papers = [paper.name for paper in pkgutil.iter_modules(__path__)]
    modules = {paper: importlib.import_module(f"{__name__}.{paper}") for paper in papers}
    return {
        f"{paper}.{name}": member
        for paper, module in modules.items()
        for name, member in inspect.getmembers(module, inspect.isfunction)
        if member.__module__ == module.__name__ and name[0] != "_"
    }
