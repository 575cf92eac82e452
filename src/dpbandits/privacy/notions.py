"""Notions of differential privacy in the papers, and the guarantees that the papers make.

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

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from dpbandits.privacy.releases import Release, composed_rho, epsilon_of_rho

DELTA = 1e-6  # at which zCDP is stated as (epsilon, delta)-DP, if no delta is given


@dataclass(frozen=True)
class Notion:
    """Definition of privacy, with what composition, audits and tables need of it.

    An audit of a notion for one choice observes the first arm that can differ; a notion that single
    tables cannot refute is audited by its releases.
    """

    title: str
    definition: str  # one sentence
    sources: tuple[str, ...]  # papers that state it
    one_choice: bool = False  # the guarantee is about the arm of one round, not about all arms
    on_every_table: bool = True  # the guarantee holds on every pair of neighbours, not in the mean
    budget: str = "epsilon"  # field of Params that holds the budget
    symbol: str = "ε"
    # Epsilon that a budget implies at a delta, and the budget that releases compose to.
    conversion: Callable[[float, float], float] | None = None
    composition: Callable[[Iterable[Release]], float] | None = None

    PER_ROUND: ClassVar["Notion"]
    GLOBAL: ClassVar["Notion"]
    REVISED: ClassVar["Notion"]
    LOCAL: ClassVar["Notion"]
    CONCENTRATED: ClassVar["Notion"]

    def epsilon(self, budget: float, delta: float) -> float:
        """Return the epsilon that a budget implies at this delta."""
        return self.conversion(budget, delta) if self.conversion else budget

    @property
    def needs_delta(self) -> bool:
        """True if a budget bounds no epsilon at delta = 0."""
        return math.isinf(self.epsilon(1.0, 0.0))


Notion.PER_ROUND = Notion(
    "per-round DP",
    "The arm of any one round is nearly as likely whichever of two values an earlier reward"
    " had; the loss over all rounds together is not bounded.",
    ("wang2024, Definition 1", "tossou2016, Definition 2.1", "tossou2017, Definition 2.1"),
    one_choice=True,
)
Notion.GLOBAL = Notion(
    "global DP",
    "The sequence of all arms, or the output of a stopping rule, is nearly as likely whichever"
    " of two values one reward had.",
    ("azize2022, Definition 2", "sajed2019, section 2", "tossou2017, Definition 2.2"),
)
Notion.REVISED = Notion(
    "global DP under revision",
    "The sequence of all arms is nearly as likely, in the mean over the other rewards, if"
    " rewards are replaced by a rule that replaces one at most on average.",
    ("wang2024, Definition 3",),
    on_every_table=False,
)
Notion.LOCAL = Notion(
    "local noise",
    "Every reward gets its own noise before anything is computed from it, so that each of these"
    " noisy rewards, and all arms, are private.",
    ("tossou2017, section 3.1", "ren2020"),
)
Notion.CONCENTRATED = Notion(
    "zCDP",
    "The sequences of all arms for two values of one reward have a Rényi divergence of at most"
    " rho alpha, for every order alpha > 1.",
    ("azize2024, section 5.3",),
    budget="rho",
    symbol="ρ",
    conversion=epsilon_of_rho,
    composition=composed_rho,
)
NOTIONS = (Notion.PER_ROUND, Notion.GLOBAL, Notion.REVISED, Notion.LOCAL, Notion.CONCENTRATED)
BUDGETS = tuple(dict.fromkeys(notion.budget for notion in NOTIONS))  # fields of Params


class Guarantee(NamedTuple):
    """Guarantee of privacy that a paper states, as printed, correct or not.

    For LOCAL, epsilon is that of a single private reward.
    """

    notion: Notion
    budget: float  # epsilon, or the quantity that the notion has in its place
    delta: float
    where: str  # paper and theorem
    differs: str = ""  # why the releases compose to another budget; "" if they do not

    @property
    def epsilon(self) -> float:
        """Epsilon at the guarantee's delta."""
        return self.notion.epsilon(self.budget, self.delta)


def guaranteed(
    notion: Notion,
    where: str,
    differs: str | Callable[[Any], str] = "",
    delta: str | None = None,
) -> Callable[..., Guarantee]:
    """Return the `guarantee` of a member whose paper promises the budget that is in its Params.

    `differs` may depend on the Params; `delta` names the field that holds the guarantee's
    delta, which is 0 without one.
    """

    def guarantee(params: Any, *game: float) -> Guarantee:
        reason = differs if isinstance(differs, str) else differs(params)
        claimed_delta = 0.0 if delta is None else getattr(params, delta)
        return Guarantee(notion, getattr(params, notion.budget), claimed_delta, where, reason)

    return guarantee


def approximate(guarantee: Guarantee, delta: float = DELTA) -> Guarantee:
    """Return a guarantee as (epsilon, delta)-DP.

    One that bounds no epsilon at its own delta is stated at `delta`; any other is returned as is.
    """
    return guarantee._replace(delta=delta) if guarantee.notion.needs_delta else guarantee


def budget_of(fields: Iterable[str]) -> str | None:
    """Return the field of a Params class that holds its budget; None if it has none."""
    return next((name for name in BUDGETS if name in fields), None)
