"""Bounds of the papers as functions; a figure names them `<paper>.<function>`.

A function that returns a number is a bound; one that returns a tuple gives the epsilons where a
bound goes from one regime of privacy to another. A file whose name begins with an underscore is
shared by papers and has no bounds of its own.
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
    """The function `<paper>.<function>` of this folder."""
    paper, _, wanted = name.partition(".")
    if name not in _names():
        raise UserError(f"unknown bound {shown(name)}; {nearest(name, _names())}")
    return getattr(_module(paper), wanted)


def bounds() -> list[str]:
    """Every bound, `<paper>.<function>`."""
    return [name for name, returned in _names().items() if returned is float]


def transitions() -> list[str]:
    """Every function that says where a bound's regimes meet."""
    return [name for name, returned in _names().items() if returned is not float]


@cache
def _names() -> dict[str, Any]:
    # Every public function and what it returns.
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
