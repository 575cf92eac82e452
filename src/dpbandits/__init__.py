"""dpbandits: the paper-figure factory for differentially private bandits."""

from importlib import import_module as _import_module
from importlib.metadata import version as _version

from dpbandits.kernel.roots import PACKAGE as _package

# Before its modules are imported, so that an edit from here on is noticed (store/key.py).
_package.sources()

_MODULES = {  # public name: module of api/; __init__.pyi lists them for type checkers
    "AuditResult": "privacy_results",
    "Budget": "privacy_results",
    "Comparison": "plays",
    "FigureResult": "figure_results",
    "IdentifyResult": "identifications",
    "PlayResult": "plays",
    "Share": "identifications",
    "Standing": "standings",
    "UserError": "arguments",
    "budget": "privacy_results",
    "compare": "plays",
    "figure": "figure_results",
    "identify": "identifications",
    "lower_bound": "privacy_results",
    "play": "plays",
    "run_audit": "privacy_results",
}
__all__ = sorted([*_MODULES, "__version__"])


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version("dpbandits")
    if name not in _MODULES:
        raise AttributeError(f"module 'dpbandits' has no attribute {name!r}")
    # Not an `import` statement, which would make the interface a source of every result.
    return getattr(_import_module(f"dpbandits.api.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
