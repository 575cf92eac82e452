"""Bounds of the papers as functions; a figure names them `<paper>.<function>`."""

import importlib
import pkgutil
from collections.abc import Callable

from dpbandits.errors import UserError, nearest


def function(name: str) -> Callable[..., float]:
    """The function `<paper>.<function>` of this folder."""
    paper, _, wanted = name.partition(".")
    papers = [module.name for module in pkgutil.iter_modules(__path__)]
    if paper not in papers:
        raise UserError(f"unknown bound '{name}'; {nearest(paper, papers)}")
    module = importlib.import_module(f"{__name__}.{paper}")
    known = [n for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__]
    if wanted not in known:
        raise UserError(f"unknown bound '{name}'; {nearest(wanted, known)}")
    return getattr(module, wanted)
