"""Python interface: the functions and classes that `import dpbandits` offers.

`dpbandits/__init__.py` looks the names up here, when they are used, and `__init__.pyi` beside it
describes them to type checkers. No `import` statement leads from the package to this folder: it
would make the interface a source of every result (store/key.py).
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

MODULES = {  # name: module of this folder
    "AuditResult": "privacy",
    "Budget": "privacy",
    "Comparison": "plays",
    "FigureResult": "figures",
    "PlayResult": "plays",
    "Standing": "plays",
    "UserError": "games",
    "budget": "privacy",
    "compare": "plays",
    "figure": "figures",
    "lower_bound": "privacy",
    "play": "plays",
    "run_audit": "privacy",
}
NAMES = sorted([*MODULES, "__version__"])


def attribute(name: str) -> Any:
    """Return what a name stands for. Raises AttributeError for a name that is not public."""
    if name == "__version__":
        return version("dpbandits")
    if name not in MODULES:
        raise AttributeError(f"module 'dpbandits' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)


def names() -> list[str]:
    """Return all public names."""
    return NAMES
