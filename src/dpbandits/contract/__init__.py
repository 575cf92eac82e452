"""Contract of every algorithm, as checks that CI, a user's tests and `dpbandits verify` share.

A check returns its numbers in one line, raises `Broken` with its numbers and a remedy, or raises
`NotApplicable`, which pytest reports as a skipped test (docs/verify.md).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dpbandits.audit.subject import Subject
from dpbandits.config import conf_files
from dpbandits.contract import conditions
from dpbandits.contract.conditions import Broken, NotApplicable, reason
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError

__all__ = ["CHECKS", "Broken", "Check", "NotApplicable", "checks", "findings", "load"]

CHECKS: Mapping[str, Callable[[Subject], str]] = {
    "the file is complete": conditions.complete_file,
    "its parameters can be configured": conditions.configurable,
    "plays to the horizon": conditions.every_round,
    "same bits alone and alongside other runs": conditions.same_bits,
    "the horizon has no effect unless `Params` has a `horizon` field": conditions.prefix,
    "batched and single pulls follow the same distribution": conditions.same_law,
    "declared releases are possible": conditions.possible_releases,
    "releases compose to the claim": conditions.composed_as_claimed,
    "an audit finds no greater loss": conditions.audited,
    "plain Python gives the same bits": conditions.same_bits_in_python,
    "the policy sees only its rewards": conditions.only_rewards,
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


def checks(*names: str, **settings: Any) -> list[Check]:
    """Return all checks of the named algorithms, with some of their parameters set.

    Raises UserError for an unknown algorithm or an invalid parameter.
    """
    return [Check(title, load(name, settings)) for name in names for title in CHECKS]


def findings(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Yield outcome, title with numbers, and remedy of each check; a remedy means a failure.

    An error in a check is a failure, except a UserError, which is raised.
    """
    for title, check in CHECKS.items():
        remedy = ""
        try:
            outcome, numbers = "passed", check(subject)
        except UserError:
            raise
        except NotApplicable as error:
            outcome, numbers = "not applicable", str(error)
        except Broken as error:
            outcome, numbers, remedy = "FAILED", error.numbers, error.remedy
        except Exception as error:
            outcome, numbers = "FAILED", reason(error, registry.member("algorithm", subject.algorithm))
            remedy = "this error ended the check"
        yield outcome, f"{title}: {numbers}", remedy
        if remedy and title in NEEDED:
            return


def load(name: str, settings: Mapping[str, Any]) -> Subject:
    """Return an algorithm with some parameters set, the others as in conf/algorithm/ or by default.

    Raises UserError for an unknown algorithm and for invalid or missing parameters.
    """
    if "horizon" in settings:
        raise UserError("horizon cannot be set: the checks play games of several lengths")
    fields, content = parameters.fields(registry.algorithm(name).Params), dict[str, Any]()
    if name in project.names("algorithm"):
        content = dict(conf_files.read_member("algorithm", name))
        content = content if content.get("algorithm") == name else {}
    values = {key: value for key, value in {**USUAL, **content}.items() if key in fields}
    return Subject.of(name, Subject(name, tuple({**values, **settings}.items())).params(1000))
