"""Contract of algorithms and reward distributions: checks of CI, a user's tests and `verify`.

A check returns its numbers in one line, raises `Broken` with its numbers and a remedy, or raises
`NotApplicable` or `NotTested`, which pytest reports as a skipped test (docs/verify.md).
"""

from collections.abc import Callable, Iterator, Mapping
from multiprocessing.pool import ThreadPool
from typing import Any, NamedTuple

from dpbandits.audit.subject import Subject
from dpbandits.config import conf_files, instances
from dpbandits.contract import answers, conditions, distributions, members
from dpbandits.contract.conditions import Broken, NotApplicable, NotTested, reason
from dpbandits.contract.distributions import Distribution
from dpbandits.contract.members import Example
from dpbandits.contract.unseen import not_in_key, numbers_read
from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError, nearest
from dpbandits.kernel.loading import Booked, booking

CHECKS: Mapping[str, Callable[[Any], str]] = {
    "the file is complete": conditions.complete_file,
    "its parameters can be configured": conditions.configurable,
    "plays to the horizon": conditions.every_round,
    "same bits alone and alongside other runs": conditions.same_bits,
    "the horizon has no effect unless `Params` has a `horizon` field": conditions.prefix,
    "batched and single pulls follow the same distribution": conditions.same_distribution,
    "declared releases are possible": conditions.possible_releases,
    "releases compose to the guarantee": conditions.composed_as_guaranteed,
    "the noise drawn is the noise declared": conditions.noise_as_declared,
    "an audit finds no greater loss": conditions.no_greater_loss,
    "plain Python gives the same bits": conditions.same_bits_in_python,
    "the policy sees only its rewards": conditions.only_rewards,
}
Subjects = Subject | Distribution | Example
# After one of these fails, no other check can be made.
NEEDED = (
    "the file is complete",
    "plays to the horizon",
    answers.STOPS,
    "rewards are in their range",
)
USUAL = {"epsilon": 1.0, "rho": 1.0, "delta": 1e-6, "means": (0.75, 0.5, 0.4)}  # by default


class Check(NamedTuple):
    """One check of an algorithm or a reward distribution with its parameters."""

    title: str
    subject: Subjects

    def __call__(self) -> str:
        """Return the numbers of the check. Raises Broken, NotApplicable or UserError."""
        return checklist(self.subject)[0][self.title](self.subject)

    def __str__(self) -> str:
        """Name of a test."""
        subject = self.subject
        name = subject.algorithm if isinstance(subject, Subject) else subject.name
        return f"{name}: {self.title}"


def checks(*names: str, **settings: Any) -> list[Check]:
    """Return all checks of the named algorithms or distributions, with some parameters set.

    Raises UserError for an unknown name or an invalid parameter.
    """
    subjects = [load(name, settings) for name in names]
    return [Check(title, subject) for subject in subjects for title in checklist(subject)[0]]


def checklist(subject: Subjects) -> tuple[Mapping[str, Any], registry.Member]:
    """Return the checks of a subject, and the place of its source."""
    if isinstance(subject, Example):
        return members.CHECKS, registry.member("algorithm", subject.name)
    if isinstance(subject, Distribution):
        return distributions.CHECKS, registry.member("environment", subject.name)
    member = registry.member("algorithm", subject.algorithm)
    return answers.CHECKS if subject.answers else CHECKS, member


def findings(subject: Subjects) -> Iterator[tuple[str, str, str]]:
    """Yield outcome, title with numbers, and remedy of each check; a remedy means a failure.

    The last lines, without a remedy, name what the keys of results do not see, and what no check
    covers. An error in a check is a failure, except a UserError, which is raised. The checks run on
    a thread, so that Ctrl-C reaches this one while a kernel plays.
    """
    opened: Booked = {}

    def observed(check: Callable[[Any], str]) -> str:
        with booking(opened):
            return check(subject)

    with ThreadPool(1) as thread:
        for title, check in checklist(subject)[0].items():
            remedy = ""
            try:
                outcome, numbers = "passed", thread.apply(observed, (check,))
            except UserError:
                raise
            except NotApplicable as error:
                outcome, numbers = "not applicable", str(error)
            except NotTested as error:
                outcome, numbers = "not tested", str(error)
            except Broken as error:
                outcome, numbers, remedy = "FAILED", error.numbers, error.remedy
            except Exception as error:
                outcome, numbers = "FAILED", reason(error, checklist(subject)[1])
                remedy = "this error ended the check"
            yield outcome, f"{title}: {numbers}", remedy
            if remedy and title in NEEDED:
                return
    for line in not_in_key(checklist(subject)[1], opened):
        yield "not in the key", line, ""
    if not isinstance(subject, Distribution):
        yield "not checked", _unchecked(subject), ""


def _unchecked(subject: Subject | Example) -> str:
    # What no check of an algorithm covers.
    if isinstance(subject, Example):
        is_private = hasattr(registry.algorithm(subject.name), "releases")
        noise = "the noise that `play` draws, and what it computes without noise; "
        return noise * is_private + "other parameters"
    longest = conditions.in_plain_python(subject)["noise"]["longest"]
    texts = [f"games of more than {conditions.HORIZONS[1]:,} rounds"]
    if longest:
        texts = [f"noise in games of more than {longest:,} rounds", *texts]
    numbers = ["literals", *numbers_read(subject.algorithm)]
    texts.append(f"whether `play` knows the games by its numbers: {', '.join(numbers)}")
    return "; ".join([*texts, "other parameters"])


def load(name: str, settings: Mapping[str, Any]) -> Subjects:
    """Return an algorithm, or a distribution by its name or by that of an environment.

    Parameters that are not set are those of its file in conf/, else as in its Params or USUAL.
    Raises UserError for an unknown name and for invalid or missing parameters.
    """
    member = registry.members("algorithm").get(name)
    if member and not kinds.of_member(name).plays_bandits:
        return _example(name, settings)
    if "horizon" in settings:
        raise UserError("horizon cannot be set: the checks play games of several lengths")
    files, families = project.names("environment"), registry.environment_names()
    if not member and name in {*files, *families}:
        content = conf_files.read_member("environment", name) if name in files else {"family": name}
        fields = parameters.fields(registry.environment(content.get("family", name)).Params)
        values = {key: value for key, value in USUAL.items() if key in fields}
        return Distribution(*instances.instance({**values, **content, **settings}, name, name))
    fields = parameters.fields(registry.algorithm(name).Params)
    usual = kinds.of_member(name).usual if member else {}
    filed = {**usual, **USUAL, **_of_file(name)}.items()
    values = {key: value for key, value in filed if key in fields}
    return Subject.of(name, Subject(name, tuple({**values, **settings}.items())).params(1000))


def _example(name: str, settings: Mapping[str, Any]) -> Example:
    # An algorithm of another kind, with the parameters of its file and those that are set.
    fields = parameters.fields(registry.algorithm(name).Params)
    if unknown := [key for key in settings if key not in fields]:
        problem = f"unknown parameter '{unknown[0]}'; {nearest(unknown[0], fields)}"
        raise UserError(f"{name}: {problem}")
    asked = {**_of_file(name), **settings}.items()
    values = {key: value for key, value in asked if key in fields}
    subject = Example(name, tuple(values.items()))
    if not subject.cases():
        raise UserError(f"{name}: its kind has no cases to check")
    return subject


def _of_file(name: str) -> dict[str, Any]:
    # What conf/algorithm/<name>.yaml sets; nothing if it is of another algorithm.
    if name not in project.names("algorithm"):
        return {}
    content = dict(conf_files.read_member("algorithm", name))
    return content if content.get(kinds.of_member(name).key) == name else {}
