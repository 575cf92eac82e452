"""Report of all checks of an algorithm."""

import textwrap
from collections.abc import Callable, Iterator

from dpbandits.config.interrupts import reraise_interrupt
from dpbandits.core.errors import UserError
from dpbandits.run.own_errors import of_own_source
from dpbandits.verify import of_play, of_privacy, of_python
from dpbandits.verify.result import Result, Status, failed, reason
from dpbandits.verify.subject import Subject

WIDTH = 100
CHECKS = {
    "the file is complete": of_privacy.complete_file,
    "plays to the horizon": of_play.every_round,
    "same bits alone and alongside other runs": of_play.same_bits,
    "the horizon has no effect unless `Params` has a `horizon` field": of_play.prefix,
    "batched and single pulls follow the same distribution": of_play.same_law,
    "declared releases are possible": of_privacy.releases_are_sound,
    "releases compose to the claim": of_privacy.composed_as_claimed,
    "an audit finds no greater loss": of_privacy.audited,
}
NEEDED = ("the file is complete", "plays to the horizon")  # by all checks below them


def results(subject: Subject) -> Iterator[Result]:
    """Yield the result of every check.

    After an incomplete file or a game that is not played to its end, no other check can be made.
    """
    for title, check in CHECKS.items():
        result = _attempted(title, check, subject)
        yield result
        if title in NEEDED and result.status is Status.FAILED:
            return
    yield from of_python.in_plain_python(subject)


def _attempted(title: str, check: Callable[[str, Subject], Result], subject: Subject) -> Result:
    try:
        return check(title, subject)
    except UserError:
        raise
    except Exception as error:
        reraise_interrupt(error)
        text = of_own_source(error)
        remedy = f"this error ended the check; fix {subject.file}, or see the other failures"
        return failed(title, text or reason(error), remedy)


def lines(result: Result) -> Iterator[str]:
    """Yield the lines of a result for the terminal: the outcome, and the remedy of a failure."""
    head = f"  {result.status.value:<15}{result.check}: {result.numbers}"
    yield textwrap.fill(head, WIDTH, subsequent_indent=" " * 17, break_long_words=False)
    if result.remedy:
        text = f"to fix it: {result.remedy}"
        yield textwrap.fill(
            text, WIDTH, initial_indent=" " * 17, subsequent_indent=" " * 17, break_long_words=False
        )
