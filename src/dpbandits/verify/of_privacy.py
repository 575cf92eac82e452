"""Checks of the file and of its privacy: declared releases, composition, audit."""

import math
from collections.abc import Iterable, Iterator

from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject as Audited
from dpbandits.core import parameters
from dpbandits.core.errors import UserError
from dpbandits.privacy.notions import BUDGETS, Notion, approximate, budget_of
from dpbandits.privacy.releases import Release, composed_epsilon
from dpbandits.run.own_algorithms import DECORATE, is_kernel
from dpbandits.verify.result import Result, failed, not_applicable, passed
from dpbandits.verify.subject import Subject

PLAYS = 1_000_000  # games of the audit
GAMES = ((2, 50), (5, 1000), (5, 20_000), (32, 20_000))  # arms and rounds
ROUNDING = 1e-9  # of a composed budget
NONE = "the algorithm declares no privacy"


def complete_file(check: str, subject: Subject) -> Result:
    """Check that `play` is a kernel and a private algorithm declares its releases and its claim."""
    if not is_kernel(subject.module.play):
        return failed(check, "`play` is not a kernel", DECORATE)
    module, fields = subject.module, parameters.fields(subject.module.Params)
    budget = budget_of(fields)
    missing = [name for name in ("releases", "claim") if not hasattr(module, name)]
    if budget and missing:
        return failed(
            check,
            f"Params have `{budget}`, but {' and '.join(f'`{name}`' for name in missing)}"
            f" {'are' if len(missing) > 1 else 'is'} missing",
            f"define {' and '.join(f'{name}(params, arms, horizon)' for name in missing)} in"
            f" {subject.file}; an algorithm that is not private has no `{budget}`",
        )
    if len(missing) < 2 and not budget:
        return failed(
            check,
            f"`releases` or `claim` is defined, but Params have no `{'` or `'.join(BUDGETS)}`",
            "name the budget `epsilon` in Params, annotated with Positive; `rho` for zCDP",
        )
    return passed(check, "private" if budget else "not private")


def releases_are_sound(check: str, subject: Subject) -> Result:
    """Check that declared releases read rewards that a game has, with valid noise."""
    if not hasattr(subject.module, "releases"):
        return not_applicable(check, NONE)
    number = 0
    for arms, rounds in GAMES:
        for release in _releases(subject, arms, rounds):
            number += 1
            wrong = [
                text
                for text, is_wrong in (
                    (f"arm {release.arm} of {arms}", not 0 <= release.arm < arms),
                    (f"reward {release.first}", not 1 <= release.first <= max(rounds, 1)),
                    (
                        f"range of rewards, {release.first} to {release.last}",
                        not release.first <= release.last <= rounds,
                    ),
                    ("sensitivity or noise", not release.is_sound),
                    (f"times = {release.times}", release.times < 0),
                )
                if is_wrong
            ]
            if wrong:
                return failed(
                    check,
                    f"K = {arms}, T = {rounds}: {release} has an impossible {wrong[0]}",
                    f"fix `releases` in {subject.file}: arms count from 0, rewards from 1 within"
                    " the horizon",
                )
    return passed(check, f"{number:,} releases in {len(GAMES)} games")


def composed_as_claimed(check: str, subject: Subject) -> Result:
    """Check that the declared releases compose to the claimed budget."""
    if not hasattr(subject.module, "claim"):
        return not_applicable(check, NONE)
    largest, numbers_of_largest, reason = -1.0, "", ""
    for arms, rounds in GAMES:
        claim = approximate(subject.module.claim(subject.params(rounds), arms, rounds))
        composed = composed_epsilon(_releases(subject, arms, rounds), claim.delta)
        numbers = f"{_number(composed)} of {claim.epsilon:g} at K = {arms}, T = {rounds:,}"
        if composed > claim.epsilon * (1 + ROUNDING) and not claim.differs:
            if claim.notion in (Notion.GLOBAL, Notion.LOCAL, Notion.CONCENTRATED):
                return failed(
                    check,
                    f"epsilon {numbers}",
                    f"add noise in `play`, or correct the scale in `releases`; if the paper claims"
                    f" less than its releases compose to, give the reason in `differs` of the claim"
                    f" in {subject.file}",
                )
            reason = f"the claim is {claim.notion.title}"
        if composed > largest:
            largest, numbers_of_largest = composed, f"epsilon {numbers}"
            reason = claim.differs or reason
    return passed(check, "; ".join(filter(None, [numbers_of_largest, reason])))


def audited(check: str, subject: Subject) -> Result:
    """Check that an audit does not refute the claim or the declared releases."""
    if not hasattr(subject.module, "claim"):
        return not_applicable(check, NONE)
    of_audit = Audited.of(subject.name, subject.params(1000))
    try:
        findings = Auditor(of_audit, seed=1, workers=None).audit(PLAYS)
    except UserError as error:
        return not_applicable(check, str(error))
    worst = max(findings, key=lambda finding: finding.epsilon)
    claim = worst.claim
    if not worst.epsilon:
        return passed(
            check, f"no loss was seen in {PLAYS:,} games, in which one reward matters little"
        )
    numbers = (
        f"at least {worst.epsilon:.3g} of epsilon = {claim.epsilon:g}, with 99 % confidence, from"
        f" {PLAYS:,} games"
    )
    if any(finding.refutes_claim or finding.refutes_releases for finding in findings):
        return failed(
            check,
            numbers,
            "release every statistic that `play` uses with noise of its sensitivity: some reward"
            " has less than declared",
        )
    return passed(check, numbers)


def _releases(subject: Subject, arms: int, rounds: int) -> Iterator[Release]:
    declared: Iterable[Release] = subject.module.releases(subject.params(rounds), arms, rounds)
    yield from declared


def _number(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:.4g}"
