"""Checks of the file, its parameters and its privacy: declared releases, composition, audit."""

import math

from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject
from dpbandits.contract.outcome import Broken, NotApplicable
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.privacy.notions import BUDGETS, budget_of
from dpbandits.run.user_sources import DECORATE, is_kernel

PLAYS = 1_000_000  # games of the audit
GAMES = ((2, 50), (5, 1000), (5, 20_000), (32, 20_000))  # arms and rounds
ROUNDING = 1e-9  # of a composed budget


def complete_file(subject: Subject) -> str:
    """Check that `play` is a kernel and a private algorithm declares its releases and its claim."""
    module = registry.algorithm(subject.algorithm)
    if not is_kernel(module.play):
        raise Broken("`play` is not a kernel", DECORATE)
    missing = [name for name in ("releases", "claim") if not hasattr(module, name)]
    if len(missing) == 2 and not budget_of(module.Params._fields):
        return "not private"
    if missing:
        declared = " and ".join(f"`{name}`" for name in missing)
        defined = " and ".join(f"{name}(params, arms, horizon)" for name in missing)
        raise Broken(
            f"Params have a budget, but {declared} {'are' if len(missing) > 1 else 'is'} missing",
            f"define {defined} in {subject.file}; an algorithm that is not private has none of"
            f" the fields {', '.join(f'`{name}`' for name in BUDGETS)}",
        )
    budget = subject.claim(*GAMES[0]).notion.budget
    if budget not in module.Params._fields:
        raise Broken(
            f"`releases` and `claim` are defined, but Params have no `{budget}`",
            f"name the budget `{budget}` in Params, annotated with Positive",
        )
    return "private"


def configurable(subject: Subject) -> str:
    """Check that Params have types that a file can hold, and refuse wrong values in one line."""
    params = subject.params(1000)
    annotations = parameters.fields(type(params))
    supported = "annotate its fields with int, float, bool, tuple[float, ...] or an IntEnum"
    for name, annotation in annotations.items():
        value = getattr(params, name)
        try:
            if (
                value is not None
                and parameters.coerce(annotation, parameters.plain(params)[name]) != value
            ):
                raise Broken(f"`{name}` = {value!r} is another value in a file", supported)
            parameters.build(type(params), {**parameters.plain(params), name: "?"}, "", str)
        except TypeError as error:
            raise Broken(f"`{name}`: {error}", supported) from None
        except UserError as error:
            if name not in str(error) or "\n" in str(error):
                raise Broken(
                    f"a wrong `{name}` is answered by {error}", "name it in one line"
                ) from None
        else:
            raise Broken(f"`{name}` may be a word", supported)
    return f"{len(annotations)} fields of Params"


def possible_releases(subject: Subject) -> str:
    """Check that declared releases read rewards that a game has, with valid noise."""
    number = 0
    for arms, rounds in private_games(subject):
        for release in subject.releases(arms, rounds):
            number += 1
            wrong = {
                f"arm {release.arm} of {arms}": not 0 <= release.arm < arms,
                f"reward {release.first}": not 1 <= release.first <= max(rounds, 1),
                f"range of rewards, {release.first} to {release.last}": not (
                    release.first <= release.last <= rounds
                ),
                "sensitivity or noise": not release.is_sound,
                f"times = {release.times}": release.times < 0,
            }
            if any(wrong.values()):
                impossible = next(text for text, is_wrong in wrong.items() if is_wrong)
                raise Broken(
                    f"K = {arms}, T = {rounds}: {release} has an impossible {impossible}",
                    f"fix `releases` in {subject.file}: arms count from 0, rewards from 1"
                    " within the horizon",
                )
    return f"{number:,} releases in {len(GAMES)} games"


def composed_as_claimed(subject: Subject) -> str:
    """Check that the declared releases compose to the claimed budget."""
    largest, numbers_of_largest, reason = -1.0, "", ""
    for arms, rounds in private_games(subject):
        claim = subject.claim(arms, rounds)
        composed = subject.composed(arms, rounds, claim.delta)
        number = "no bound" if math.isinf(composed) else f"{composed:.4g}"
        numbers = f"epsilon {number} of {claim.epsilon:g} at K = {arms}, T = {rounds:,}"
        if composed > claim.epsilon * (1 + ROUNDING) and not claim.differs:
            if claim.notion.bounds_all_releases:
                raise Broken(
                    numbers,
                    f"add noise in `play`, or correct the scale in `releases`; if the paper claims"
                    f" less than its releases compose to, give the reason in `differs` of the claim"
                    f" in {subject.file}",
                )
            reason = f"the claim is {claim.notion.title}"
        if composed > largest:
            largest, numbers_of_largest = composed, numbers
            reason = claim.differs or reason
    return "; ".join(filter(None, [numbers_of_largest, reason]))


def audited(subject: Subject) -> str:
    """Check that an audit does not refute the claim or the declared releases."""
    private_games(subject)
    try:
        findings = Auditor(subject, seed=1, workers=None).audit(PLAYS)
    except UserError as error:
        raise NotApplicable(str(error)) from None
    worst = max(findings, key=lambda finding: finding.epsilon)
    if not worst.epsilon:
        return f"no loss was seen in {PLAYS:,} games, in which one reward matters little"
    numbers = (
        f"at least {worst.epsilon:.3g} of epsilon = {worst.claim.epsilon:g}, with 99 % confidence,"
        f" from {PLAYS:,} games"
    )
    if any(finding.refutes_claim or finding.refutes_releases for finding in findings):
        raise Broken(
            numbers,
            "release every statistic that `play` uses with noise of its sensitivity: some reward"
            " has less than declared",
        )
    return numbers


def private_games(subject: Subject) -> tuple[tuple[int, int], ...]:
    """Return arms and rounds of some games. Raises NotApplicable without a claim of privacy."""
    if not hasattr(registry.algorithm(subject.algorithm), "claim"):
        raise NotApplicable("the algorithm declares no privacy")
    return GAMES
