"""dpbandits: the paper-figure factory for differentially private bandits."""

from importlib import import_module as _import_module

from dpbandits.core.roots import PACKAGE as _package

# Before its modules are imported, so that an edit from here on is noticed (store/key.py).
_package.sources()

# Not an `import` statement, which would make the interface a source of every result.
_api = _import_module("dpbandits.api")
__all__ = _api.NAMES
__getattr__ = _api.attribute
__dir__ = _api.names
