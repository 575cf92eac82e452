"""Bounds of the papers as functions; a figure names them `<paper>.<function>`."""

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType

from dpbandits.errors import UserError, nearest, shown


def function(name: str) -> Callable[..., float]:
    """The function `<paper>.<function>` of this folder."""
    paper, _, wanted = name.partition(".")
    if name not in names():
        raise UserError(f"unknown bound {shown(name)}; {nearest(name, names())}")
    return getattr(_module(paper), wanted)


def names() -> list[str]:
    """Every `<paper>.<function>`."""
    return [
        f"{paper.name}.{name}"
        for paper in pkgutil.iter_modules(__path__)
        for name, member in vars(_module(paper.name)).items()
        if getattr(member, "__module__", "") == f"{__name__}.{paper.name}" and name[0] != "_"
    ]


def _module(paper: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{paper}")
