"""Checks of the file, its parameters and its privacy: declared releases, composition, audit."""

import math

from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject
from dpbandits.contract.outcome import Broken, NotApplicable
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.privacy.notions import BUDGETS, budget_of
from dpbandits.privacy.releases import is_sound
from dpbandits.run.user_algorithms import DECORATE, is_kernel

PLAYS = 1_000_000  # games of the audit
GAMES = ((2, 50), (5, 1000), (5, 20_000), (32, 20_000))  # arms and rounds
ROUNDING = 1e-9  # of a composed budget
ANNOTATE = "annotate the fields of Params with int, float, bool, tuple[float, ...] or an IntEnum"


def complete_file(subject: Subject) -> str:
    """Check that `play` is a kernel and a private algorithm declares its releases and its claim."""
    module = registry.algorithm(subject.algorithm)
    if not is_kernel(module.play):
        raise Broken("`play` is not a kernel", DECORATE)
    missing = [name for name in ("releases", "claim") if not hasattr(module, name)]
    if len(missing) == 2 and not budget_of(module.Params._fields):
        return "not private"
    if missing:
        raise Broken(
            f"Params have a budget, but there is no {' and no '.join(missing)}",
            f"define {' and '.join(f'{name}(params, arms, horizon)' for name in missing)} in"
            f" {subject.file}; one that is not private has no field {' or '.join(BUDGETS)}",
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
    annotations, values = parameters.fields(type(params)), parameters.plain(params)
    for name, annotation in annotations.items():
        try:
            value = getattr(params, name)
            if value is not None and parameters.coerce(annotation, values[name]) != value:
                raise Broken(f"`{name}` = {value!r} is another value in a file", ANNOTATE)
            parameters.build(type(params), {**values, name: "?"}, "", str)
        except TypeError as error:
            raise Broken(f"`{name}`: {error}", ANNOTATE) from None
        except UserError as error:
            if name not in str(error) or "\n" in str(error):
                problem = f"a wrong `{name}` is answered by {error}"
                raise Broken(problem, "name it in one line") from None
        else:
            raise Broken(f"`{name}` may be a word", ANNOTATE)
    return f"{len(annotations)} fields of Params"


def possible_releases(subject: Subject) -> str:
    """Check that declared releases read rewards that a game has, with valid noise."""
    number = 0
    for arms, rounds in private_games(subject):
        for release in subject.releases(arms, rounds):
            number += 1
            in_game = 0 <= release.arm < arms and 1 <= release.first <= release.last <= rounds
            if not (in_game and is_sound(release) and release.times >= 0):
                raise Broken(
                    f"K = {arms}, T = {rounds}: {release} is impossible",
                    f"fix `releases` in {subject.file}: arms count from 0, rewards from 1 within"
                    " the horizon; noise, sensitivity and times are positive",
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
            if claim.notion.on_every_table and not claim.notion.one_choice:
                raise Broken(
                    numbers,
                    "add noise in `play`, or correct the scale in `releases`; if the paper claims"
                    " less than its releases compose to, give the reason in `differs` of the claim"
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
