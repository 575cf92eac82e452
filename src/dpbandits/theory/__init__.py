"""Bounds of the papers as functions; a figure names them `<paper>.<function>`.

A function that returns a float is a bound. A function that returns a tuple gives the values of
epsilon or delta at which a bound changes its privacy regime. Files whose names begin with an
underscore hold shared code and no bounds.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from dpbandits.core.errors import UserError, nearest, shown


def function(name: str) -> Callable[..., Any]:
    """Return the function `<paper>.<function>` of this folder. Raises UserError if unknown."""
    paper, _, wanted = name.partition(".")
    if name not in _names():
        raise UserError(f"unknown bound {shown(name)}; {nearest(name, _names())}")
    return getattr(_module(paper), wanted)


def bounds() -> list[str]:
    """Return the name of every bound, `<paper>.<function>`."""
    return [name for name, returned in _names().items() if returned is float]


def transitions() -> list[str]:
    """Return the name of every function that returns the transitions of a bound."""
    return [name for name, returned in _names().items() if returned is not float]


def functions() -> list[str]:
    """Return the name of every function, `<paper>.<function>`."""
    return list(_names())


@cache
def _names() -> dict[str, Any]:
    # Every public function with its return annotation.
    return {
        f"{paper.name}.{name}": inspect.signature(member).return_annotation
        for paper in pkgutil.iter_modules(__path__)
        if paper.name[0] != "_"
        for name, member in vars(_module(paper.name)).items()
        if inspect.isfunction(member) and member.__module__ == f"{__name__}.{paper.name}"
        if name[0] != "_"
    }


def _module(paper: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{paper}")
