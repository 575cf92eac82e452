"""Mathematics in texts: mathtext between dollars, its faults and its conversion to Unicode."""

import re
from functools import cache
from threading import RLock

from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser

from dpbandits.kernel.errors import in_one_line

DRAWING = RLock()  # matplotlib has one parser and one set of rcParams for all threads
# Commands used in titles, labels and axes. Any other command is written as its name.
SYMBOLS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ"},
    **{"epsilon": "ε", "rho": "ρ", "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "sigma": "σ"},
    **{"tau": "τ", "phi": "φ", "omega": "ω", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊"},
    **{"rfloor": "⌋", "cdot": "·", "times": "×", "propto": "∝", "leq": "≤", "geq": "≥"},
    **{"infty": "∞", "sqrt": "√", "log": "log", "mathrm": "", "text": "", "mathcal": ""},
    **{"ldots": "…", "varepsilon": "ε"},
}
RAISED = str.maketrans("0123456789+-=()n*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ*")
LOWERED = str.maketrans("0123456789+-=()aeijkmnortxτ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₒᵣₜₓτ")
TOKEN = re.compile(r"\\([A-Za-z]+)|\\(.)|([\^_])(\{[^{}]*\}|\\[A-Za-z]+|.)|(.)")


def split(text: str) -> list[tuple[str, bool]]:
    r"""Return the parts of a text, each with whether it is a formula, without the dollars.

    Unpaired dollars make all of the text plain, as in matplotlib. `\$` is a dollar sign.
    """
    parts = re.split(r"(?<!\\)\$", text)
    parts = parts if len(parts) % 2 else [text]
    return [(p if i % 2 else p.replace(r"\$", "$"), bool(i % 2)) for i, p in enumerate(parts)]


def without_tex(text: str) -> str:
    """Convert a text with mathtext between dollars to Unicode, for captions and search."""
    return "".join(_unicode(part) if formula else part for part, formula in split(text))


def _unicode(source: str) -> str:
    out = ""
    source = source.replace(r"\lceil ", "⌈").replace(r"\lfloor ", "⌊").replace(r"\,", " ")
    source = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", source)
    source = re.sub(r"\\sqrt\{([^{}]*)\}", r"\\sqrt(\1)", source)  # a sign has no end of its own
    for name, symbol, shift, argument, other in TOKEN.findall(source):
        if shift:
            inner = _unicode(argument.strip("{}")).replace("−", "-")
            moved = inner.translate(RAISED if shift == "^" else LOWERED)
            same = any(a == b and a != "*" for a, b in zip(inner, moved, strict=True))
            untranslated = f"({inner})" if len(inner) > 1 and not inner.isalnum() else inner
            out += f"{shift}{untranslated}" if same else moved
        elif symbol:
            out += "" if symbol == "!" else symbol  # a negative space, or a literal character
        elif name:
            out += SYMBOLS.get(name, name)
        else:
            out += {"{": "", "}": "", "-": "−"}.get(other, other)  # a minus sign
    return out


def number(value: float, digits: int = 4) -> str:
    """Return a number with its significant digits; small and large ones read `4.54·10⁻⁵`."""
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}·10{str(int(power)).translate(RAISED)}" if power else mantissa


@cache
def fault(text: str) -> str:
    """Return the reason why matplotlib cannot draw a text, in one line; "" if it can.

    matplotlib reads each line of a text by itself, and as mathematics if its dollars are paired.
    """
    for line in text.split("\n"):
        if (line.count("$") - line.count(r"\$")) % 2:
            return r"its dollars are not paired; write \$ for a dollar sign"
        try:
            if is_math_text(line):
                with DRAWING:
                    MathTextParser("path").parse(line)
        except RecursionError:
            return "its braces are nested too deeply"
        except Exception as error:  # the parser raises errors of many classes
            # Its last line is `ParseException: Unknown symbol: \foo, found '\'  (at char 3), ...`.
            # Instead of a missing symbol it lists its grammar.
            reason = (str(error).strip() or in_one_line(error)).splitlines()[-1]
            if parsed := re.match(r"\w+: (.*?)(?:, found .*?)?\s*\(at char (\d+)\)", reason):
                missing = parsed[1].startswith(("Expected {", "Expected end of text"))
                expected = "unexpected text" if missing else parsed[1][:1].lower() + parsed[1][1:]
                reason = f"{expected} at character {int(parsed[2]) + 1} of a formula"
            return reason
    return ""
