"""Notions of differential privacy in the papers, and the claims that the papers make.

All of them define neighbours alike: one reward is replaced by another, and none is added or
removed. (In tossou2017 the gains of one round are replaced, of which only the played one is read.)
They differ in the output whose probabilities are compared.

GLOBAL implies epsilon for the arm of one round too if the arms before it are random. If they are
given, as in the first two definitions of PER_ROUND, a quotient of two probabilities gives 2
epsilon. LOCAL implies GLOBAL, as all arms are computed from the noisy rewards. For delta = 0,
GLOBAL implies REVISED: k revisions leave at least a factor e^(-k epsilon) of a probability, and the
mean of this factor is at least its value at the mean of k, which is at most 1. CONCENTRATED has rho
in place of epsilon and implies (epsilon, delta)-GLOBAL for every delta > 0, with an epsilon that
depends on delta.
"""

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from dpbandits.privacy.concentrated import epsilon_of_rho

BUDGETS = ("epsilon", "rho")  # fields of Params that hold the budget of a private algorithm
DELTA = 1e-6  # at which zCDP is stated as (epsilon, delta)-DP, if no delta is given


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
        ("tossou2017, section 3.1", "ren2020"),
    )
    CONCENTRATED = (
        "zCDP",
        "The sequences of all arms for two values of one reward have a Rényi divergence of at most"
        " rho alpha, for every order alpha > 1.",
        ("azize2024, section 5.3",),
    )

    def __init__(self, title: str, definition: str, sources: tuple[str, ...]) -> None:
        self.title = title
        self.definition = definition
        self.sources = sources


class Guarantee(NamedTuple):
    """Guarantee of (epsilon, delta)-DP that a paper states, as printed, correct or not.

    For LOCAL, epsilon is that of a single private reward.
    """

    notion: Notion
    epsilon: float
    delta: float
    where: str  # paper and theorem
    differs: str = ""  # why the releases compose to another budget; "" if they do not


class ConcentratedGuarantee(NamedTuple):
    """Guarantee of zCDP that a paper states. It has no epsilon until a delta is chosen."""

    notion: Notion
    rho: float
    where: str  # paper and theorem
    differs: str = ""  # why the releases compose to another budget; "" if they do not


AnyGuarantee = Guarantee | ConcentratedGuarantee


def approximate(claim: AnyGuarantee, delta: float = DELTA) -> Guarantee:
    """Return a guarantee as (epsilon, delta)-DP.

    zCDP implies it for every `delta`; any other guarantee is returned with its own.
    """
    if isinstance(claim, Guarantee):
        return claim
    epsilon = epsilon_of_rho(claim.rho, delta)
    return Guarantee(claim.notion, epsilon, delta, claim.where, claim.differs)


def budget_of(fields: Iterable[str]) -> str | None:
    """Return the field of a Params class that holds its budget; None if it has none."""
    return next((name for name in BUDGETS if name in fields), None)
