"""`dpbandits audit`: parse the subject of an audit and print its result."""

import math
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from dpbandits.audit.search import AuditFinding, Auditor
from dpbandits.audit.subject import ChangedReward, ManyArms, Plays, Subject
from dpbandits.cli.values import value_of
from dpbandits.core import registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.parameters import Seed, Workers, coerce
from dpbandits.privacy.notions import budget_of
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.progress import duration


def audit(
    algorithm: str,
    parameters: Sequence[str],
    epsilon: str,
    plays: str,
    many_arms: str,
    changed_reward: str | None,
    seed: int,
    workers: int | None,
) -> int:
    """Audit an algorithm and print the result; return ALARM if a promise is refuted.

    Raises UserError for an invalid argument.
    """
    for text in parameters:
        if text.startswith("epsilon="):
            raise UserError(f"the privacy budget is set by --epsilon, not by {shown(text)}")
    has_epsilon = algorithm not in registry.algorithm_names() or (
        budget_of(registry.algorithm(algorithm).Params._fields) != "rho"
    )
    subject = subject_of(algorithm, [f"epsilon={epsilon}"] * has_epsilon + [*parameters])
    games = _checked("--plays", Plays, value_of(plays))
    arms = _checked("--many-arms", ManyArms, value_of(many_arms))
    reward = None
    if changed_reward is not None:
        reward = _checked("--changed-reward", ChangedReward, value_of(changed_reward))
    _checked("--seed", Seed, seed)
    if workers is not None:
        _checked("--workers", Workers, workers)
    start = time.monotonic()
    findings = Auditor(subject, seed, workers, many_arms=arms, changed_reward=reward).audit(games)
    for line in lines(subject, findings):
        print(line)
    print(f"  {games:,} games in {duration(time.monotonic() - start)}, seed {seed}")
    exceeded = []
    if any(finding.refutes_claim for finding in findings):
        exceeded.append("the budget that its paper claims")
    if any(finding.refutes_releases for finding in findings):
        exceeded.append("the budget of its declared releases")
    if not exceeded:
        return ExitStatus.DONE
    sys.stdout.flush()
    print(f"dpbandits: {algorithm} exceeds {' and '.join(exceeded)}", file=sys.stderr)
    return ExitStatus.ALARM


def subject_of(algorithm: str, settings: Sequence[str]) -> Subject:
    """Return an algorithm with the parameters that settings `name=value` give it.

    Raises UserError for an unknown algorithm, a stopping rule, or an invalid parameter.
    """
    names = registry.algorithm_names()
    if algorithm in registry.stopping_rule_names():
        raise UserError(
            f"{algorithm} plays no arms, and an audit observes nothing else; `dpbandits privacy"
            f" {algorithm}` prints the budget that its releases compose to"
        )
    if algorithm not in names:
        raise UserError(f"unknown algorithm {shown(algorithm)}; {nearest(algorithm, names)}")
    values: dict[str, Any] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"parameters are written as name=value, got {shown(text)}")
        if name in values:
            raise UserError(f"{name} is set twice")
        values[name] = value_of(value)
    if "horizon" in values:
        raise UserError("horizon cannot be set: the length of the audit's games determines it")
    subject = Subject(algorithm, tuple(values.items()))
    subject.claim(2, 64)  # raises before anything is played
    return subject


def _checked(option: str, annotation: Any, value: Any) -> Any:
    try:
        return coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{option} must be {error}, got {shown(value)}") from None


def lines(subject: Subject, findings: Sequence[AuditFinding]) -> Iterator[str]:
    """Yield the lines of the result for the terminal."""
    settings = shlex.join(f"{name}={value}" for name, value in subject.settings)
    claim = findings[0].claim
    yield f"{subject.algorithm} {settings}"
    yield f"  claimed: {budget(claim.epsilon, claim.delta)}, {claim.notion.title}, {claim.where}"
    for finding in findings:
        loss, delta = finding.loss, finding.claim.delta
        observed = "one choice" if finding.one_choice else "all arms"
        if not finding.cells:
            yield f"  {observed}: no difference was seen; with few games an audit has little power"
            continue
        yield f"  {observed}, on tables of {finding.tables}"
        if not finding.one_choice:
            declared = budget(*finding.declared[:2])
            yield f"    declared: {declared} by its releases in such a game"
        bounds = [f"epsilon >= {finding.pure_epsilon:.4g}"]
        if delta:
            bounds.append(f"epsilon >= {finding.epsilon:.4g} at delta = {delta:g}")
        if finding.delta:
            bounds.append(f"delta >= {finding.delta:.3g} at epsilon = {finding.claim.epsilon:g}")
        likely = loss.likely_epsilon(0.0)
        yield (
            f"    audited: {'; '.join(bounds)}; with 99 % confidence; observed frequencies:"
            f" epsilon = {likely:.4g}"
        )
        yield (
            f"    event: {finding.cells} values of {finding.feature}; {loss.more:,} and"
            f" {loss.fewer:,} of {loss.games:,} games"
        )


def budget(epsilon: float, delta: float) -> str:
    """Format a budget in words."""
    if math.isinf(epsilon):
        return "no bound"
    return f"epsilon = {epsilon:.4g}" + (f", delta = {delta:g}" if delta else "")
