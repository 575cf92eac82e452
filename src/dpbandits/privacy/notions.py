"""What "differentially private" means: the notions of the five papers, kept apart.

Neighbours are alike in all of them: one reward is replaced by another one, and nothing is added or
taken away. (In tossou2017 it is the gains of one round, of which the one that was played is read.)
What differs is what may be seen, and of which the probabilities are compared.

GLOBAL gives epsilon for the arm of a round too, if the arms before it are drawn; where they are
given, as in the first two definitions of PER_ROUND, a quotient of two probabilities gives 2
epsilon. LOCAL gives GLOBAL, as all arms are made of the noisy rewards. For delta = 0 GLOBAL gives
REVISED: k revisions leave e^(-k epsilon) of a probability at least, of which the mean is no less
than at the mean of k, 1 at most.
"""

from enum import Enum
from typing import NamedTuple


class Notion(Enum):
    """A definition of privacy: its name, one sentence, and the papers that have it."""

    PER_ROUND = (
        "per-round DP",
        "The arm of any one round is nearly as likely whichever of two values an earlier reward"
        " had; what all rounds tell together is not bounded.",
        ("wang2024, Definition 1", "tossou2016, Definition 2.1", "tossou2017, Definition 2.1"),
    )
    GLOBAL = (
        "global DP",
        "The sequence of all arms, or all that is told of a stream, is nearly as likely whichever"
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
        "Every reward has noise of its own before anything is made of it, so that each of these"
        " noisy rewards, and all arms, are private.",
        ("tossou2017, section 3.1",),
    )

    def __init__(self, title: str, definition: str, sources: tuple[str, ...]) -> None:
        self.title = title
        self.definition = definition
        self.sources = sources


class Claim(NamedTuple):
    """What a paper promises of an algorithm, as printed, whether it is kept or not."""

    notion: Notion
    epsilon: float
    delta: float
    where: str  # the paper and its theorem
    differs: str = ""  # why what is released composes to something else; "" where it does not
