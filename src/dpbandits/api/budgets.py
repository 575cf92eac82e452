"""`budget`, `run_audit` and `lower_bound`: numbers about privacy, without runs of a game."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbandits.api.arguments import bandit, player
from dpbandits.audit.search import AuditFinding, Auditor
from dpbandits.audit.subject import ChangedReward, ManyArms, Plays, Subject
from dpbandits.core import registry
from dpbandits.core.errors import UserError, shown
from dpbandits.core.parameters import Arms, Positive, Rounds, Seed, Workers, coerce
from dpbandits.experiments import Experiment
from dpbandits.experiments import budget as spent
from dpbandits.privacy.accounting import NoAccountant, tight_epsilon
from dpbandits.privacy.notions import Guarantee, approximate
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.theory import azize2022


@dataclass(frozen=True)
class Budget:
    """Privacy budget of an algorithm over a whole game, for a change of one reward.

    Attributes:
        claimed: epsilon that the paper claims; for zCDP, the one that follows at this delta.
        composed: epsilon to which the declared releases compose as in the papers, by a sum or, at a
            delta, by the theorem of Dwork, Rothblum and Vadhan; `math.inf` if there is no bound.
        delta: delta of the claim; both epsilons hold at this delta.
        notion: definition of privacy that the claim is for, such as "global DP".
        source: paper and theorem of the claim.
        tight: smallest epsilon that follows from the releases at this delta; None if it was not
            computed, or if the extra `accounting` is not installed.
    """

    claimed: float
    composed: float
    delta: float
    notion: str
    source: str
    tight: float | None = None

    @classmethod
    def of(cls, promise: Guarantee, composed: float, tight: float | None = None) -> "Budget":
        """Return the budget for a claim and the epsilons that its releases compose to."""
        claim = approximate(promise)
        notion = claim.notion.title
        return cls(claim.epsilon, composed, claim.delta, notion, claim.where, tight)

    @classmethod
    def spent_by(cls, cell: Experiment) -> "Budget | None":
        """Return the budget of a cell, not tightly composed; None if it promises no privacy."""
        claim, composed = cell.claim(), spent(cell)
        return None if claim is None or composed is None else cls.of(claim, composed)


def budget(algorithm: Any, *, horizon: int = 1_000_000, arms: int = 5, **settings: Any) -> Budget:
    """Return the privacy budget that an algorithm claims, and those its releases compose to.

    Args:
        algorithm: name of an algorithm or of a file in conf/algorithm/, or an algorithm of this
            process with `releases` and `claim`.
        horizon: T, number of rounds.
        arms: K, number of arms.
        **settings: parameters of the algorithm, such as epsilon and delta.

    Raises UserError for an unknown name, an invalid value, or an algorithm that is not private.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.budget("dp-se", epsilon=0.5, horizon=100_000, arms=5)
        >>> found.claimed, found.composed, found.notion
        (0.5, 0.5, 'global DP')
    """
    rounds, number = _checked("horizon", Rounds, horizon), _checked("arms", Arms, arms)
    chosen = player(algorithm, settings)
    module: Any = registry.algorithm(chosen.algorithm)
    if not (hasattr(module, "claim") and hasattr(module, "releases")):
        raise UserError(f"budget: {chosen.name} promises no privacy")
    game = chosen.params({"horizon": rounds}), number, rounds
    claim, releases, tight = module.claim(*game), list(module.releases(*game)), None
    delta = approximate(claim).delta
    with suppress(NoAccountant):
        tight = tight_epsilon(releases, delta)
    return Budget.of(claim, composed_epsilon(releases, delta), tight)


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Result of an audit.

    Attributes:
        algorithm: name of the algorithm.
        parameters: parameters that were given to it.
        epsilon: largest lower bound on the epsilon that the algorithm loses, at the claimed delta.
            Every bound holds with 99 % confidence.
        claimed: epsilon that the paper claims.
        delta: delta of the claim.
        refutes_claim: True if the algorithm exceeds the budget of its claim.
        refutes_releases: True if it exceeds the budget that its declared releases compose to.
        findings: details; two if the claim is for one round, else one.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    epsilon: float
    claimed: float
    delta: float
    refutes_claim: bool
    refutes_releases: bool
    findings: tuple[AuditFinding, ...]


def run_audit(
    algorithm: str,
    *,
    plays: int = 10_000_000,
    many_arms: int = 64,
    changed_reward: int | None = None,
    seed: int = 1,
    workers: int | None = None,
    **settings: Any,
) -> AuditResult:
    """Play an algorithm on tables of rewards that differ in one entry; bound its privacy loss.

    Args:
        algorithm: name of a private algorithm or of a file in conf/algorithm/.
        plays: number of games, from 1000; half of them search, half measure.
        many_arms: number of arms of the games with many arms.
        changed_reward: change only this reward of an arm, from 1; None: several positions.
        seed: root of all random streams.
        workers: number of threads; None: all cores.
        **settings: parameters of the algorithm, such as epsilon.

    Raises UserError for an unknown name, an invalid value, or an algorithm that is not private.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.run_audit("adap-ucb", epsilon=1.0, plays=2000, workers=1)
        >>> found.claimed, found.refutes_claim
        (1.0, False)
    """
    if not isinstance(algorithm, str):
        raise UserError(
            f"run_audit: an audit needs a name, and the source in a file; got {algorithm!r}"
        )
    chosen = player(algorithm, settings)
    games = _checked("plays", Plays, plays)
    arms = _checked("many_arms", ManyArms, many_arms)
    root = _checked("seed", Seed, seed)
    threads = None if workers is None else _checked("workers", Workers, workers)
    changed = changed_reward
    if changed is not None:
        changed = _checked("changed_reward", ChangedReward, changed)
    subject = Subject(chosen.algorithm, tuple(chosen.settings.items()))
    subject.claim(2, 64)  # raises before anything is played
    findings = tuple(Auditor(subject, root, threads, 0, arms, changed).audit(games))
    claim = findings[0].claim
    return AuditResult(
        algorithm=chosen.name,
        parameters=MappingProxyType(chosen.settings),
        epsilon=max(finding.epsilon for finding in findings),
        claimed=claim.epsilon,
        delta=claim.delta,
        refutes_claim=any(finding.refutes_claim for finding in findings),
        refutes_releases=any(finding.refutes_releases for finding in findings),
        findings=findings,
    )


def lower_bound(
    *,
    environment: str | Mapping[str, Any] | None = None,
    means: Sequence[float] | np.ndarray | None = None,
    epsilon: float | None = None,
    horizon: int | Sequence[int] | np.ndarray,
) -> Any:
    """Return the lower bound on the regret of Bernoulli arms: azize2022, Theorem 3 times log T.

    It is asymptotic: the theorem bounds the limit of the regret over log T, for every consistent
    policy with epsilon-global DP. The bound is in units of reward: a float, or float64 of the shape
    of `horizon`.

    Args:
        environment: name of an environment with Bernoulli arms, such as "c2".
        means: means of Bernoulli arms, in place of the environment.
        epsilon: privacy budget; None: no privacy (Lai and Robbins).
        horizon: T, or several.

    Raises UserError for an invalid value, or an environment whose arms are not Bernoulli.

    Examples:
        >>> import dpbandits as dp
        >>> round(dp.lower_bound(means=[0.9, 0.5], epsilon=0.1, horizon=10**6), 1)
        23.0
        >>> dp.lower_bound(environment="c2", horizon=[1000, 10**6]).shape
        (2,)
    """
    law, instance = bandit("lower_bound", environment, means)
    if law != "bernoulli":
        raise UserError(f"lower_bound: the bound is for Bernoulli arms, not for {law}")
    budget = np.inf if epsilon is None else _checked("epsilon", Positive, epsilon)
    rounds = [_checked("horizon", Rounds, n) for n in np.atleast_1d(np.asarray(horizon, object))]
    bounds = [azize2022.problem_dependent_lower_bound(instance.means, n, budget) for n in rounds]
    return np.array(bounds) if np.ndim(horizon) else bounds[0]


def _checked(name: str, annotation: Any, value: Any) -> Any:
    try:
        return coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{name} must be {error}, got {shown(value)}") from None
