"""Titles and labels with names of values in braces: `$\\epsilon = {epsilon}$`."""

import math
import string
from collections.abc import Mapping
from typing import Any

NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Several(tuple[Any, ...]):
    """Values of several panels, listed each in the given format: `1, 2 and 3`."""


class Texts(string.Formatter):
    """Formatter of values: `{arms:words}` spells a number out, `{with_k:with|without}` chooses.

    A number without a format is written as in formulas: 0.1, 10^{-10}, e^{-10}.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return the text of a value."""
        if isinstance(value, Several):
            parts = [self.format_field(item, format_spec) for item in value]
            return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
        if isinstance(value, bool):
            yes, _, no = (format_spec or "True|False").partition("|")
            return yes if value else no
        if isinstance(value, int) and format_spec == "words":
            return NUMERALS[value] if 0 <= value < len(NUMERALS) else str(value)
        if isinstance(value, float) and not format_spec:
            for base, log in (("10", math.log10), ("e", math.log)) if value > 0 else ():
                whole = round(log(value))
                if abs(whole) > 4 and math.isclose(log(value), whole, rel_tol=1e-12):
                    return f"{base}^{{{whole}}}"
            format_spec = "g"
        return str(super().format_field(value, format_spec))


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return the template with the values filled in.

    Raises ValueError if it names another value or uses an invalid format.
    """
    try:
        return Texts().vformat(template, (), values)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"no value for {error}") from error
