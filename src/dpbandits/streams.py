"""Named random streams: one per run and role, the same whoever asks and in whatever order."""

import hashlib
from enum import IntEnum

import numpy as np


class Role(IntEnum):
    """What a stream is drawn for; part of its name."""

    REWARDS = 0  # what the environment draws
    POLICY = 1  # what the policy draws: noise, random choices
    TABLE = 2  # gains that are made before the game


def words(description: str) -> tuple[int, ...]:
    """Four 32-bit words that stand for a text in the name of a stream."""
    digest = hashlib.sha256(description.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


def stream(root: int, role: Role, run: int, description: str) -> np.random.Generator:
    """The generator of one role in one run. `description` names what may share the stream."""
    sequence = np.random.SeedSequence(root, spawn_key=(role, run, *words(description)))
    return np.random.Generator(np.random.PCG64(sequence))
