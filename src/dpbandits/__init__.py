"""dpbandits: the paper-figure factory for differentially private bandits."""

from importlib import import_module as _import_module

from dpbandits.core import importer as _importer

_importer.install()

# Not an `import` statement, which would make the interface a source of every result.
_api = _import_module("dpbandits.api")
__all__ = _api.NAMES
__getattr__ = _api.attribute
__dir__ = _api.names
