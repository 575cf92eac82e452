"""Remedies for errors of the compiler, and of plain Python, about the code of `play`."""

import re
from collections.abc import Iterable

from dpbandits.core import parameters
from dpbandits.core.errors import nearest
from dpbandits.verify.result import full_text
from dpbandits.verify.subject import Subject

USED = "number_of_arms, rounds_played, rounds_left, playing, pull, pull_many and pull_each"
INTS = (
    "{} needs an int for the arm and for the number of pulls: write int(...) or math.ceil(...)"
    " around a float"
)


def remedy(error: str | Exception, subject: Subject, otherwise: str) -> str:
    """Return the remedy for an error whose cause its text gives, or another remedy."""
    text = error if isinstance(error, str) else full_text(error)
    if found := re.search(r"Untyped global name '(\w+)': Cannot .* <class 'function'>", text):
        return (
            f"decorate the helper `{found[1]}` with `inlined` of dpbandits.core.kernel, or with"
            " `allocating` if it creates arrays"
        )
    if found := re.search(r"NameError: (?:global )?name '(\w+)' is not defined", text):
        code = getattr(subject.module.play, "py_func", subject.module.play).__code__
        close = _close(found[1], [*vars(subject.module), *code.co_varnames])
        return f"`{found[1]}` is misspelt in {subject.file}, or it is not imported{close}"
    if found := re.search(r"Unknown attribute '(\w+)' of type Params\(", text):
        close = _close(found[1], parameters.fields(subject.module.Params))
        return f"`Params` has no field `{found[1]}`{close}"
    if found := re.search(r"Unknown attribute '(\w+)' of type Bandit\(", text):
        return (
            f"the bandit has no `{found[1]}`; use {USED} of dpbandits.core.bandit, and nothing else"
            " of the bandit"
        )
    if found := re.search(r"No implementation of function Function\(<function (pull\w*) ", text):
        return INTS.format(f"`{found[1]}`")
    if "'float' object cannot be interpreted as an integer" in text:
        return INTS.format("`pull_many`")
    return otherwise


def _close(name: str, known: Iterable[str]) -> str:
    # The question that proposes the closest name, if one is close.
    question = nearest(name, [one for one in known if not one.startswith("__")])
    return f"; {question}" if question.startswith("did you mean") else ""
