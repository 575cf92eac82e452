"""Conversion of matplotlib's mathtext to HTML or to Unicode text."""

import re
from typing import Any

from markupsafe import Markup

# Commands used in titles, labels and axes. Any other command is written as its name.
SYMBOLS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ"},
    **{"epsilon": "ε", "rho": "ρ", "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "sigma": "σ"},
    **{"tau": "τ", "phi": "φ", "omega": "ω", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊"},
    **{"rfloor": "⌋", "cdot": "·", "times": "×", "propto": "∝", "leq": "≤", "geq": "≥"},
    **{"infty": "∞", "sqrt": "√", "log": "log", "mathrm": "", "ldots": "…"},
}
RAISED = str.maketrans("0123456789+-=()n*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ*")
LOWERED = str.maketrans("0123456789+-=()aeijkmnortxτ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₒᵣₜₓτ")
TOKEN = re.compile(r"\\([A-Za-z]+)|\\(.)|([\^_])(\{[^{}]*\}|\\[A-Za-z]+|.)|([A-Za-z]+)|(.)")


def plain(text: str) -> str:
    """Convert a text with mathtext between dollars to Unicode, for captions and search."""
    parts = text.split("$")
    return "".join(formula(p, html=False) if i % 2 else p for i, p in enumerate(parts))


def formula(source: str, html: bool) -> Any:
    """Convert the source of a formula to HTML (a Markup) or to Unicode (a str)."""
    out: Any = Markup("") if html else ""
    source = source.replace(r"\lceil ", "⌈").replace(r"\lfloor ", "⌊")
    for name, symbol, shift, argument, letters, other in TOKEN.findall(source):
        if name:
            out += SYMBOLS.get(name, name)
        elif symbol:
            out += "" if symbol in "!," else symbol  # a narrow space, or a literal character
        elif shift:
            inner = formula(argument.strip("{}"), html)
            if html:
                tag = "sup" if shift == "^" else "sub"
                out += Markup("<{0}>{1}</{0}>").format(tag, inner)
            else:
                inner = inner.replace("−", "-")
                moved = inner.translate(RAISED if shift == "^" else LOWERED)
                same = any(a == b and a != "*" for a, b in zip(inner, moved, strict=True))
                out += f"{shift}{inner}" if same else moved
        elif letters:
            out += Markup("<i>{}</i>").format(letters) if html else letters
        elif other not in "{}":
            out += "−" if other == "-" else other  # a minus sign
    return out
