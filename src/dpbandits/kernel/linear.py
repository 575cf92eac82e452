"""Features of the actions of a linear game.

The mean reward of an action with the features x is <θ*, x>, for an unknown θ* of dimension d. Arms
without features are unit vectors: the linear game is then that of the arms (azize2024, section
5.3.3). Algorithms that look at features say `LINEAR = True` in their file.
"""

from typing import Any

import numpy as np

from dpbandits.kernel.compilation import allocating, by_class


@by_class
def observe(law, features, t):
    """Write the features of the round after t rounds; this default body leaves them as they are."""
    return


@allocating
def features(bandit):
    """Return the features of the actions of the next round, float64 of shape (arms, d)."""
    observe(bandit.law, bandit.features, bandit.clock[0])
    return bandit.features


def of_game(law: Any, arms: int, is_linear: bool) -> np.ndarray:
    """Return the features of a law's actions, (arms, d): unit vectors if an algorithm needs some.

    Without them, d = 0.
    """
    own: np.ndarray | None = getattr(law, "features", None)
    if own is not None:
        return own
    return np.eye(arms) if is_linear else np.zeros((arms, 0))
