"""Largest possible regret of a run."""

from typing import Any

from dpbandits.core import registry
from dpbandits.experiments.regret import RegretExperiment


def largest_regret(cell: RegretExperiment, rounds: int) -> float:
    """Return the largest possible regret of a run, that of the worst arm in every round."""
    module: Any = registry.environment(cell.environment)
    if hasattr(module, "table"):
        return float(module.largest_regret(cell.instance, rounds))
    return float(module.law(cell.instance).gaps.max()) * rounds
