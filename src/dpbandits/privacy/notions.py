"""Notions of differential privacy in the five papers, and the claims that the papers make.

All of them define neighbours alike: one reward is replaced by another, and none is added or
removed. (In tossou2017 the gains of one round are replaced, of which only the played one is read.)
They differ in the output whose probabilities are compared.

GLOBAL implies epsilon for the arm of one round too if the arms before it are random. If they are
given, as in the first two definitions of PER_ROUND, a quotient of two probabilities gives 2
epsilon. LOCAL implies GLOBAL, as all arms are computed from the noisy rewards. For delta = 0,
GLOBAL implies REVISED: k revisions leave at least a factor e^(-k epsilon) of a probability, and the
mean of this factor is at least its value at the mean of k, which is at most 1.
"""

from enum import Enum
from typing import NamedTuple


class Notion(Enum):
    """Definition of privacy: its name, one sentence, and the papers that state it."""

    PER_ROUND = (
        "per-round DP",
        "The arm of any one round is nearly as likely whichever of two values an earlier reward"
        " had; the loss over all rounds together is not bounded.",
        ("wang2024, Definition 1", "tossou2016, Definition 2.1", "tossou2017, Definition 2.1"),
    )
    GLOBAL = (
        "global DP",
        "The sequence of all arms, or the output of a stopping rule, is nearly as likely whichever"
        " of two values one reward had.",
        ("azize2022, Definition 2", "sajed2019, section 2", "tossou2017, Definition 2.2"),
    )
    REVISED = (
        "global DP under revision",
        "The sequence of all arms is nearly as likely, in the mean over the other rewards, if"
        " rewards are replaced by a rule that replaces one at most on average.",
        ("wang2024, Definition 3",),
    )
    LOCAL = (
        "local noise",
        "Every reward gets its own noise before anything is computed from it, so that each of these"
        " noisy rewards, and all arms, are private.",
        ("tossou2017, section 3.1",),
    )

    def __init__(self, title: str, definition: str, sources: tuple[str, ...]) -> None:
        self.title = title
        self.definition = definition
        self.sources = sources


class Guarantee(NamedTuple):
    """Privacy guarantee that a paper states for an algorithm, as printed, correct or not."""

    notion: Notion
    epsilon: float
    delta: float
    where: str  # paper and theorem
    differs: str = ""  # why the releases compose to another budget; "" if they do not
