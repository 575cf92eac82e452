"""`dpbandits audit`: parse the subject of an audit and print its result."""

import math
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from dpbandits.audit.search import AuditFinding, Auditor
from dpbandits.audit.subject import ChangedReward, ManyArms, Plays, Subject
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.run.progress import duration


def audit(
    algorithm: str,
    given: Sequence[str],
    epsilon: str,
    plays: str,
    many_arms: str,
    changed_reward: str | None,
    seed: int,
    workers: int | None,
) -> int:
    """Audit an algorithm and print the result; return 1 if a promise is refuted, else 0.

    Raises UserError for an invalid argument.
    """
    for text in given:
        if text.startswith("epsilon="):
            raise UserError(f"the budget is given as --epsilon, not as {shown(text)}")
    subject = subject_of(algorithm, [f"epsilon={epsilon}", *given])
    games = _checked("--plays", Plays, _read(plays))
    arms = _checked("--many-arms", ManyArms, _read(many_arms))
    reward = None
    if changed_reward is not None:
        reward = _checked("--changed-reward", ChangedReward, _read(changed_reward))
    _checked("--seed", parameters.Seed, seed)
    if workers is not None:
        _checked("--workers", parameters.Workers, workers)
    start = time.monotonic()
    found = Auditor(subject, seed, workers, many_arms=arms, changed_reward=reward).audit(games)
    for line in lines(subject, found):
        print(line)
    print(f"  {games:,} games in {duration(time.monotonic() - start)}, seed {seed}")
    refuted = [
        what
        for what, is_so in (
            ("what it promises", any(one.refutes_claim for one in found)),
            ("what it declares to release", any(one.refutes_releases for one in found)),
        )
        if is_so
    ]
    if refuted:
        sys.stdout.flush()
        print(f"dpbandits: {algorithm} does not keep {' nor '.join(refuted)}", file=sys.stderr)
        return 1
    return 0


def subject_of(algorithm: str, given: Sequence[str]) -> Subject:
    """Return an algorithm with the parameters given as `name=value`.

    Raises UserError for an unknown algorithm, a stopping rule, or an invalid parameter.
    """
    names = registry.algorithm_names()
    if algorithm in registry.stopping_rule_names():
        raise UserError(
            f"{algorithm} plays no arms, and an audit sees nothing else; `dpbandits privacy"
            f" {algorithm}` says what it composes to"
        )
    if algorithm not in names:
        raise UserError(f"unknown algorithm {shown(algorithm)}; {nearest(algorithm, names)}")
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"parameters are typed as name=value, got {shown(text)}")
        if name in values:
            raise UserError(f"{name} is given twice")
        values[name] = _read(value)
    if "horizon" in values:
        raise UserError("horizon is what the tables decide; it cannot be set")
    subject = Subject(algorithm, tuple(values.items()))
    subject.claim(2, 64)  # raises before anything is played
    return subject


def _checked(option: str, annotation: Any, value: Any) -> Any:
    try:
        return parameters.coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{option} must be {error}, got {shown(value)}") from None


def _read(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value.replace("_", ""))
        except ValueError:
            continue
    return value


def lines(subject: Subject, found: Sequence[AuditFinding]) -> Iterator[str]:
    """Yield the lines of the result for the terminal."""
    typed = shlex.join(f"{name}={value}" for name, value in subject.given)
    claim = found[0].claim
    yield f"{subject.algorithm} {typed}"
    yield f"  claimed: {budget(claim.epsilon, claim.delta)}, {claim.notion.title}, {claim.where}"
    for one in found:
        loss, delta = one.loss, one.claim.delta
        what = "one choice" if one.one_choice else "all arms"
        if not one.cells:
            yield f"  {what}: nothing that differs was seen; few games show little"
            continue
        yield f"  {what}, on tables of {one.tables}"
        if not one.one_choice:
            yield f"    declared: {budget(*one.declared[:2])} by its releases in such a game"
        bounds = [f"epsilon >= {one.pure_epsilon:.4g}"]
        if delta:
            bounds.append(f"epsilon >= {one.epsilon:.4g} at delta = {delta:g}")
        if one.delta:
            bounds.append(f"delta >= {one.delta:.3g} at epsilon = {one.claim.epsilon:g}")
        likely = loss.likely_epsilon(0.0)
        yield f"    audited: {'; '.join(bounds)}; with 99 % confidence, seen {likely:.4g}"
        yield (
            f"    event: {one.cells} values of {one.feature}; {loss.more:,} and {loss.fewer:,} of"
            f" {loss.games:,} games"
        )


def budget(epsilon: float, delta: float) -> str:
    """Format a budget in words."""
    if math.isinf(epsilon):
        return "no bound"
    return f"epsilon = {epsilon:.4g}" + (f", delta = {delta:g}" if delta else "")
