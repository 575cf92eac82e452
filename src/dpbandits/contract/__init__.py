"""Contract of every algorithm, as checks that CI, a user's tests and `dpbandits verify` share.

    from dpbandits import contract

    @pytest.mark.parametrize("check", contract.checks("my-algorithm"), ids=str)
    def test_my_algorithm_keeps_the_contract(check):
        check()

A check returns its numbers in one line, raises `Broken` with its numbers and a remedy, or raises
`NotApplicable`, which pytest reports as a skipped test.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from dpbandits.audit.subject import Subject
from dpbandits.config import conf_files
from dpbandits.contract import declared, playing
from dpbandits.contract.outcome import Broken, NotApplicable, reason
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.files import project

__all__ = ["CHECKS", "Broken", "Check", "Finding", "NotApplicable", "checks", "findings", "load"]

CHECKS: Mapping[str, Callable[[Subject], str]] = {
    "the file is complete": declared.complete_file,
    "its parameters can be configured": declared.configurable,
    "plays to the horizon": playing.every_round,
    "same bits alone and alongside other runs": playing.same_bits,
    "the horizon has no effect unless `Params` has a `horizon` field": playing.prefix,
    "batched and single pulls follow the same distribution": playing.same_law,
    "declared releases are possible": declared.possible_releases,
    "releases compose to the claim": declared.composed_as_claimed,
    "an audit finds no greater loss": declared.audited,
    "plain Python gives the same bits": playing.same_bits_in_python,
    "the policy sees only its rewards": playing.only_rewards,
}
# After an incomplete file or a game that is not played to its end, no other check can be made.
NEEDED = ("the file is complete", "plays to the horizon")
USUAL = {"epsilon": 1.0, "rho": 1.0, "delta": 1e-6}  # of an algorithm without a default


class Check(NamedTuple):
    """One check of one algorithm with its parameters."""

    title: str
    subject: Subject

    def __call__(self) -> str:
        """Return the numbers of the check. Raises Broken, NotApplicable or UserError."""
        return CHECKS[self.title](self.subject)

    def __str__(self) -> str:
        """Name of a test."""
        return f"{self.subject.algorithm}: {self.title}"


class Finding(NamedTuple):
    """Outcome of a check."""

    check: str
    outcome: str  # passed, FAILED or not applicable
    numbers: str
    remedy: str = ""  # of a failure


def checks(*names: str, **settings: Any) -> list[Check]:
    """Return all checks of the named algorithms, with some of their parameters set.

    Raises UserError for an unknown algorithm or an invalid parameter.
    """
    return [Check(title, load(name, settings)) for name in names for title in CHECKS]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the finding of each check, up to a failure of one that the others need.

    An error in a check is a failure, except a UserError, which is raised.
    """
    for title, check in CHECKS.items():
        try:
            finding = Finding(title, "passed", check(subject))
        except UserError:
            raise
        except NotApplicable as error:
            finding = Finding(title, "not applicable", str(error))
        except Broken as error:
            finding = Finding(title, "FAILED", error.numbers, error.remedy)
        except Exception as error:
            finding = Finding(
                title, "FAILED", reason(error, subject.algorithm), "this error ended the check"
            )
        yield finding
        if title in NEEDED and finding.outcome == "FAILED":
            return


def load(name: str, settings: Mapping[str, Any]) -> Subject:
    """Return an algorithm with some parameters set.

    All others are those of conf/algorithm/, or defaults. Raises UserError for an unknown algorithm,
    for invalid parameters, and for a field without a value other than the horizon.
    """
    if "horizon" in settings:
        raise UserError("horizon cannot be set: the checks play games of several lengths")
    params = registry.algorithm(name).Params
    fields = parameters.fields(params)
    values = {k: v for k, v in USUAL.items() if k in fields}
    if name in project.names("algorithm"):
        with suppress(UserError):
            content = conf_files.read_member("algorithm", name)
            if content.get("algorithm") == name:
                values |= {k: v for k, v in content.items() if k in fields}
    values |= settings
    for field in fields:
        if field != "horizon" and field not in {*values, *params._field_defaults}:
            supplied = "; the horizon of a game is supplied to a field named `horizon`"
            raise UserError(
                f"{name}: the field `{field}` of Params has no value: give it a default,"
                f" or set {field}=<value>{'' if 'horizon' in fields else supplied}"
            )
    return Subject.of(name, Subject(name, tuple(values.items())).params(1000))
