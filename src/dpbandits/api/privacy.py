"""`budget`, `run_audit` and `lower_bound`: numbers about privacy without a game of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbandits.api import budgets
from dpbandits.api.budgets import Budget
from dpbandits.api.described import means_of
from dpbandits.api.players import Player, player
from dpbandits.audit.search import AuditFinding, Auditor
from dpbandits.audit.subject import ChangedReward, ManyArms, Plays, Subject
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, shown
from dpbandits.core.parameters import Arms, Positive, Rounds, Seed, Workers
from dpbandits.theory import azize2022

NO_CURVE = ("algorithm", "label", "legend", "reading", "colour", "marker", "line", "runs")


def budget(
    algorithm: Any, *, horizon: int = 1_000_000, arms: int = 5, **parameters_of_it: Any
) -> Budget:
    """Return the privacy budget that an algorithm claims, and the one its releases compose to.

    Args:
        algorithm: name of an algorithm or of a file in conf/algorithm/, or an algorithm of this
            process with `releases` and `claim`.
        horizon: T, number of rounds.
        arms: K, number of arms.
        **parameters_of_it: parameters of the algorithm, such as epsilon and delta.

    Returns:
        Claimed, composed and tightly composed epsilon, at the delta of the claim.

    Raises:
        UserError: for an unknown name, an invalid value, or an algorithm that is not private.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.budget("dp-se", epsilon=0.5, horizon=100_000, arms=5)
        >>> found.claimed, found.composed, found.notion
        (0.5, 0.5, 'global DP')
    """
    rounds = _checked("horizon", Rounds, horizon)
    number = _checked("arms", Arms, arms)
    own = player(algorithm, parameters_of_it)
    module = own.definition or registry.algorithm(own.curve["algorithm"])
    claim, releases = getattr(module, "claim", None), getattr(module, "releases", None)
    if claim is None or releases is None:
        raise UserError(f"budget: {own.name} promises no privacy")
    values = _values(own)
    if "horizon" in own.fields:
        values["horizon"] = rounds
    params: Any = parameters.build(own.params, values, own.name, lambda key: "argument")
    return budgets.of_releases(
        claim(params, number, rounds), list(releases(params, number, rounds))
    )


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
    **parameters_of_it: Any,
) -> AuditResult:
    """Play an algorithm on tables of rewards that differ in one entry; bound its privacy loss.

    Args:
        algorithm: name of a private algorithm or of a file in conf/algorithm/.
        plays: number of games, from 1000; half of them search, half measure.
        many_arms: number of arms of the games with many arms.
        changed_reward: change only this reward of an arm, from 1; None: several positions.
        seed: root of all random streams.
        workers: number of threads; None: all cores.
        **parameters_of_it: parameters of the algorithm, such as epsilon.

    Returns:
        Lower bounds beside the claimed budget.

    Raises:
        UserError: for an unknown name, an invalid value, or an algorithm that is not private.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.run_audit("adap-ucb", epsilon=1.0, plays=2000, workers=1)
        >>> found.claimed, found.refutes_claim
        (1.0, False)
    """
    own = player(algorithm, parameters_of_it)
    if own.definition is not None:
        raise UserError(f"run_audit: {own.name} must be named; an audit needs its source in a file")
    games = _checked("plays", Plays, plays)
    arms = _checked("many_arms", ManyArms, many_arms)
    changed = None
    if changed_reward is not None:
        changed = _checked("changed_reward", ChangedReward, changed_reward)
    root = _checked("seed", Seed, seed)
    threads = None if workers is None else _checked("workers", Workers, workers)
    subject = Subject(own.curve["algorithm"], tuple(_values(own).items()))
    subject.claim(2, 64)  # raises before anything is played
    findings = tuple(Auditor(subject, root, threads, 0, arms, changed).audit(games))
    claim = findings[0].claim
    return AuditResult(
        algorithm=own.name,
        parameters=MappingProxyType(_values(own)),
        epsilon=max(each.epsilon for each in findings),
        claimed=claim.epsilon,
        delta=claim.delta,
        refutes_claim=any(each.refutes_claim for each in findings),
        refutes_releases=any(each.refutes_releases for each in findings),
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
    policy with epsilon-global DP.

    Args:
        environment: name of an environment with Bernoulli arms, such as "c2".
        means: means of Bernoulli arms, in place of the environment.
        epsilon: privacy budget; None: no privacy (Lai and Robbins).
        horizon: T, or several.

    Returns:
        The bound in units of reward: a float, or float64 of the shape of `horizon`.

    Raises:
        UserError: for an invalid value, or an environment whose arms are not Bernoulli.

    Examples:
        >>> import dpbandits as dp
        >>> round(dp.lower_bound(means=[0.9, 0.5], epsilon=0.1, horizon=10**6), 1)
        23.0
        >>> dp.lower_bound(environment="c2", horizon=[1000, 10**6]).shape
        (2,)
    """
    of_arms = means_of("lower_bound", environment, means)
    budget_of = np.inf if epsilon is None else _checked("epsilon", Positive, epsilon)

    def at(rounds: Any) -> float:
        horizon = _checked("horizon", Rounds, rounds)
        return azize2022.problem_dependent_lower_bound(of_arms, horizon, budget_of)

    several = isinstance(horizon, Sequence | np.ndarray) and not isinstance(horizon, str)
    return np.array([at(each) for each in np.asarray(horizon).tolist()]) if several else at(horizon)


def _values(own: Player) -> dict[str, Any]:
    # The parameters of an algorithm: those of its file and those that were given.
    return {key: value for key, value in own.curve.items() if key not in NO_CURVE} | dict(
        own.settings
    )


def _checked(name: str, annotation: Any, value: Any) -> Any:
    try:
        return parameters.coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{name} must be {error}, got {shown(value)}") from None
