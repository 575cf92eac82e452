"""`dpbandits verify`: check that algorithms keep the contract, and print what to fix."""

from collections.abc import Sequence

from dpbandits.cli.values import value_of
from dpbandits.core import registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.run.exit_status import ExitStatus
from dpbandits.verify import report
from dpbandits.verify.result import Status
from dpbandits.verify.subject import Subject


def verify(words: Sequence[str]) -> int:
    """Verify the named algorithms with the settings parameters; return ALARM if a check fails.

    Raises UserError for an unknown algorithm or an invalid parameter.
    """
    names = [word for word in words if "=" not in word]
    if not names:
        raise UserError("which algorithm? dpbandits verify <name> [name=value]")
    for name in names:
        if name not in registry.algorithm_names():
            known = registry.algorithm_names()
            raise UserError(f"unknown algorithm {shown(name)}; {nearest(name, known)}")
    pairs = [word.partition("=") for word in words if "=" in word]
    settings = {name: value_of(value) for name, _, value in pairs}
    subjects = [Subject.of(name, settings) for name in names]
    failures = 0
    for subject in subjects:
        print(f"{subject.name} ({subject.file})", flush=True)
        for result in report.results(subject):
            failures += result.status is Status.FAILED
            for line in report.lines(result):
                print(line, flush=True)
    print(f"{failures} check{'s' * (failures > 1)} failed" if failures else "all checks passed")
    return ExitStatus.ALARM if failures else ExitStatus.DONE
