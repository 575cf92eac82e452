"""`budget`, `run_audit` and `lower_bound`: numbers about privacy, without runs of a game."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits.api.arguments import PLAYED_BY, as_configured, bandit, player
from dpbandits.audit.subject import ChangedReward, ManyArms, Subject
from dpbandits.experiments import kinds
from dpbandits.experiments.audit import Plays
from dpbandits.experiments.experiment import Experiment
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError, shown
from dpbandits.kernel.parameters import Arms, Delta, Positive, Rounds, Seed, Workers, coerce
from dpbandits.privacy.accounting import NotComputed, tight_epsilon
from dpbandits.privacy.calibration import largest_budget, least_noise
from dpbandits.privacy.notions import DELTA, Guarantee, approximate, budget_of
from dpbandits.privacy.releases import Release, composed_epsilon
from dpbandits.theory import azize2022

if TYPE_CHECKING:
    from dpbandits.audit.search import AuditFinding


@dataclass(frozen=True)
class Budget:
    """Privacy budget of an algorithm over a whole game, for a change of one reward.

    `claimed` is the epsilon that the paper claims, at `source`, in a definition of privacy, the
    `notion`; for zCDP, the one that follows at this `delta`. `composed` is the epsilon to which the
    declared releases compose as in the papers, by a sum or, at a delta, by the theorem of Dwork,
    Rothblum and Vadhan; `math.inf` if there is no bound. `tight` is the smallest epsilon that
    follows from them; None where it was not computed: without the extra `accounting`, at a delta
    below 10^-12 unless a closed form holds, and for Gaussian noise beside other noise.
    `parameters` has the budget in the algorithm's parameters, epsilon or rho. `noise` is the least
    scale of the noise of a release, as a multiple of its sensitivity: the standard deviation of
    Gaussian, b of Laplace noise; None for other mechanisms.
    """

    claimed: float
    composed: float
    delta: float
    notion: str
    source: str
    tight: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    noise: float | None = None

    @classmethod
    def of_experiment(cls, experiment: Experiment) -> "Budget | None":
        """Return the budget of an experiment; None if it is not private or declares none."""
        guarantee = kinds.declared(experiment, "guarantee")
        composed = kinds.composed_budget(experiment)
        return cls.of(guarantee, composed) if guarantee and composed is not None else None

    @classmethod
    def of(
        cls,
        guarantee: Guarantee,
        composed: float,
        tight: float | None = None,
        delta: float = DELTA,
    ) -> "Budget":
        """Return the budget for a guarantee and the epsilons that its releases compose to.

        `delta` is that at which zCDP is stated.
        """
        stated = approximate(guarantee, delta)
        source = stated.notion.title, stated.where
        return cls(stated.epsilon, composed, stated.delta, *source, tight)


def budget(
    algorithm: Any,
    *,
    horizon: int = 1_000_000,
    arms: int = 5,
    target: float | None = None,
    **settings: Any,
) -> Budget:
    """Return the privacy budget that an algorithm claims, and those its releases compose to.

    The algorithm is named as for `play`; an object needs `releases` and `guarantee`. `horizon` is
    T, `arms` is K, `settings` are parameters of the algorithm, such as epsilon and delta. For zCDP,
    `delta` is the one at which the budget is stated, and `epsilon` a target.

    A `target` is an epsilon that replaces the budget in the parameters: the result has the largest
    one, and thus the least noise, whose releases compose to at most this epsilon at `delta`.

    Raises UserError for an unknown name, an invalid value, an algorithm that is not private, or a
    target that no noise meets.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.budget("dp-se", epsilon=0.5, horizon=100_000, arms=5)
        >>> found.claimed, found.composed, found.notion
        (0.5, 0.5, 'global DP')
        >>> found = dp.budget("adac-ucb", epsilon=1, delta=1e-6)
        >>> {name: round(value, 4) for name, value in found.parameters.items()}
        {'rho': 0.028}
    """
    rounds, number = _checked("horizon", Rounds, horizon), _checked("arms", Arms, arms)
    chosen = player(algorithm, settings, of=tuple(PLAYED_BY))
    module: Any = registry.algorithm(chosen.algorithm)
    if not (hasattr(module, "guarantee") and hasattr(module, "releases")):
        raise UserError(f"budget: {chosen.name} promises no privacy")
    fields, values = module.Params._fields, dict(chosen.settings)
    unit, delta = budget_of(fields) or "epsilon", DELTA
    if unit != "epsilon" and "epsilon" in values and unit not in settings:
        target = values.pop("epsilon")
    if "delta" in values and (unit != "epsilon" or target is not None):
        given = values["delta"] if "delta" in fields else values.pop("delta")
        delta = _checked("delta", Delta, given)

    def composition(budget: float | None = None) -> tuple[Guarantee, list[Release]]:
        replaced = values if budget is None else {**values, unit: budget}
        game = replace(chosen, settings=replaced).params({"horizon": rounds}), number, rounds
        return module.guarantee(*game), list(module.releases(*game))

    if target is not None:
        if "delta" not in settings and unit == "epsilon":
            delta = approximate(composition(1.0)[0]).delta
        goal = _checked("target", Positive, target)
        values[unit] = largest_budget(lambda b: composition(b)[1], goal, delta, chosen.name, unit)
    guarantee, releases = composition()
    if target is not None:  # a pure guarantee holds at every delta
        guarantee = guarantee._replace(delta=delta)
    spent = _epsilons(releases, approximate(guarantee, delta).delta)
    result = Budget.of(guarantee, *spent, delta)
    own = {unit: float(values[unit])} if values.get(unit) is not None else {}
    return replace(result, parameters=own, noise=least_noise(releases))


def _epsilons(releases: Sequence[Release], delta: float) -> tuple[float, float | None]:
    # The epsilon to which releases compose, and the smallest one.
    tight = None
    with suppress(NotComputed):
        tight = tight_epsilon(releases, delta)
    return composed_epsilon(releases, delta), tight


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Result of an audit; all bounds hold together with 99 % confidence.

    `epsilon` is the largest lower bound on the epsilon that the algorithm loses, at the `delta` of
    the guarantee; `claimed` is the epsilon that its paper claims. It may exceed the guarantee or
    the budget of its declared releases. There are two findings if the guarantee is for one round,
    else one.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    epsilon: float
    claimed: float
    delta: float
    refutes_guarantee: bool
    refutes_releases: bool
    findings: "tuple[AuditFinding, ...]"


def run_audit(
    algorithm: str,
    *,
    plays: int = 10_000_000,
    many_arms: int | None = None,
    changed_reward: int | None = None,
    seed: int = 1,
    workers: int | None = None,
    **settings: Any,
) -> AuditResult:
    """Play an algorithm on tables of rewards that differ in one entry; bound its privacy loss.

    `plays` is the number of games, from 1000: half of them search, half measure. `many_arms` is the
    number of arms of the games with many; None: 64, or 8 for a linear algorithm. `changed_reward`
    is the only reward of an arm to change, from 1; None: several. `workers` are threads; None: all
    cores. `settings` are parameters of the algorithm, such as epsilon.

    Raises UserError for an unknown name, an invalid value, or an algorithm that is not private.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.run_audit("adap-ucb", epsilon=1.0, plays=2000, workers=1)
        >>> found.claimed, found.refutes_guarantee
        (1.0, False)
    """
    from dpbandits.audit.search import Auditor  # imported late: scipy.stats takes a second

    if not isinstance(algorithm, str):
        raise UserError(f"run_audit: an audit needs a name, of a source file; got {algorithm!r}")
    chosen = player(algorithm, settings, tuple(PLAYED_BY))
    games = _checked("plays", Plays, plays)
    if many_arms is not None:
        many_arms = _checked("many_arms", ManyArms, many_arms)
    root = _checked("seed", Seed, seed)
    threads = None if workers is None else _checked("workers", Workers, workers)
    if changed_reward is not None:
        changed_reward = _checked("changed_reward", ChangedReward, changed_reward)
    subject = Subject(chosen.algorithm, tuple(chosen.settings.items()))
    subject.guarantee(2, 64)  # raises before anything is played
    findings = tuple(Auditor(subject, root, threads, 0, many_arms, changed_reward).audit(games))
    return AuditResult(
        algorithm=chosen.name,
        parameters=dict(chosen.settings),
        epsilon=max(finding.epsilon for finding in findings),
        claimed=findings[0].guarantee.epsilon,
        delta=findings[0].guarantee.delta,
        refutes_guarantee=any(finding.refutes_guarantee for finding in findings),
        refutes_releases=any(finding.refutes_releases for finding in findings),
        findings=findings,
    )


def lower_bound(
    *,
    environment: Any = None,
    means: Any = None,
    epsilon: float | None = None,
    horizon: int | Sequence[int] | np.ndarray,
) -> Any:
    """Return the lower bound on the regret of Bernoulli arms: azize2022, Theorem 3 times log T.

    It bounds the limit of the regret over log T, for every consistent policy with epsilon-global
    DP; without epsilon, it is that of Lai and Robbins. The game is given as for `play`. Returns
    units of reward: a float, or float64 of the shape of several horizons.

    Raises UserError for an invalid value, or an environment whose arms are not Bernoulli.

    Examples:
        >>> import dpbandits as dp
        >>> round(dp.lower_bound(means=[0.9, 0.5], epsilon=0.1, horizon=10**6), 1)
        23.0
        >>> dp.lower_bound(environment="c2", horizon=[1000, 10**6]).shape
        (2,)
    """
    environment, instance = bandit("lower_bound", environment, means)
    if environment != "bernoulli":
        raise UserError(f"lower_bound: the bound is for Bernoulli arms, not for {environment}")
    budget = np.inf if epsilon is None else _checked("epsilon", Positive, epsilon)
    horizon = as_configured(horizon)
    rounds = [_checked("horizon", Rounds, n) for n in np.atleast_1d(np.asarray(horizon, object))]
    bounds = [azize2022.problem_dependent_lower_bound(instance.means, n, budget) for n in rounds]
    return np.array(bounds) if isinstance(horizon, list) else bounds[0]


def _checked(name: str, annotation: Any, value: Any) -> Any:
    try:
        return coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{name} must be {error}, got {shown(value)}") from None
