"""Trial of texts with matplotlib's parser of mathematics, before anything is computed or drawn."""

import re
from functools import cache

from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser

from dpbandits.core.messages import in_one_line


@cache
def fault(text: str) -> str:
    """Return the reason why matplotlib cannot draw a text, in one line; "" if it can.

    matplotlib reads each line of a text by itself, and as mathematics if its dollars are paired.
    """
    for line in text.split("\n"):
        if (line.count("$") - line.count(r"\$")) % 2:
            return r"its dollars are not paired; write \$ for a dollar sign"
        if not is_math_text(line):
            continue
        try:
            MathTextParser("path").parse(line)
        except RecursionError:
            return "its braces are nested too deeply"
        except Exception as error:  # the parser raises errors of many classes
            return _reason(error)
    return ""


def _reason(error: Exception) -> str:
    # The last line of the parser's message has the reason: `ParseException: Unknown symbol: \foo,
    # found '\'  (at char 3), (line:1, col:4)`. Instead of a missing symbol it lists its grammar.
    reason = (str(error).strip() or in_one_line(error)).splitlines()[-1]
    if parsed := re.match(r"\w+: (.*?)(?:, found .*?)?\s*\(at char (\d+)\)", reason):
        missing = parsed[1].startswith(("Expected {", "Expected end of text"))
        expected = "unexpected text" if missing else parsed[1][:1].lower() + parsed[1][1:]
        reason = f"{expected} at character {int(parsed[2]) + 1} of a formula"
    return reason
