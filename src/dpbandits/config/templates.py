"""Titles and labels with names of values in braces: `$\\epsilon = {epsilon}$`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Count(int):
    """Whole number; `{arms:words}` spells it out up to ten."""

    def __format__(self, spec: str) -> str:
        if spec != "words":
            return super().__format__(spec)
        return NUMERALS[self] if 0 <= self < len(NUMERALS) else f"{self:d}"


class Choice:
    """True or False; `{with_k:with|without}` gives the word for each."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        yes, _, no = spec.partition("|")
        return (yes if self.value else no) if spec else str(self.value)


class Number(float):
    """Number, written as in formulas if no format is given: 0.1, 10^{-10}, e^{-10}."""

    def __format__(self, spec: str) -> str:
        if spec:
            return float(self).__format__(spec)
        for base, log in (("10", math.log10), ("e", math.log)) if self > 0 else ():
            whole = round(log(self))
            if abs(whole) > 4 and math.isclose(log(self), whole, rel_tol=1e-12):
                return f"{base}^{{{whole}}}"
        return f"{float(self):g}"

    __str__ = __repr__ = lambda self: format(self)


class Several:
    """Values of several panels as a list, each in the given format: `1, 2 and 3`."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = [_formatted(value) for value in values]

    def __format__(self, spec: str) -> str:
        parts = [format(value, spec) for value in self.values]
        return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return the template with the values filled in.

    Raises ValueError if it names another value or uses an invalid format.
    """
    try:
        return template.format(**{name: _formatted(value) for name, value in values.items()})
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"no value for {error}") from error


def _formatted(value: Any) -> Any:
    if isinstance(value, bool):
        return Choice(value)
    if not isinstance(value, int | float):
        return {k: _formatted(v) for k, v in value.items()} if isinstance(value, dict) else value
    return Count(value) if isinstance(value, int) else Number(value)
