"""Imports of libraries that read environment variables, which may prevent the import."""

import importlib
import os
import time
from types import ModuleType

from dpbandits.core.errors import variables_of


def load_factory() -> ModuleType:
    """Return the module that produces figures, with the libraries that draw and play them.

    Raises UserError if an environment variable prevents an import.
    """
    with variables_of("matplotlib", "MPL", "MATPLOTLIB"):
        importlib.import_module("matplotlib")
    load_joblib()
    with variables_of("numpy", "SOURCE_DATE_EPOCH"):
        time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    from dpbandits.factory import produce

    return produce


def load_joblib() -> None:
    """Import joblib; raise UserError if an environment variable prevents it."""
    with variables_of("joblib", "JOBLIB_", "LOKY_"):
        importlib.import_module("joblib").cpu_count()
