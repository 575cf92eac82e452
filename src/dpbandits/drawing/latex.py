r"""Conversion of texts with mathematics to LaTeX that cannot execute anything.

A text may come from another person's figure file. Outside of dollars every special character is
escaped. Between dollars only the commands and characters listed here pass: `\input` or `\write18`
would read or run files of the author who compiles the export.
"""

import re

from dpbandits.core.errors import UserError, shown
from dpbandits.drawing.formulas import SYMBOLS, split

ESCAPED = {c: f"\\{c}" for c in "_%&#${}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}

# Commands that matplotlib and LaTeX, without further packages, both typeset. None of them takes
# anything but mathematics as its argument.
COMMANDS = frozenset(
    re.findall(
        r"\w+",
        """
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau
        upsilon phi chi psi omega varepsilon vartheta varpi varrho varsigma varphi
        Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
        le leq ge geq ne neq approx sim simeq cong equiv propto ll gg in ni subset supset subseteq
        supseteq mid parallel perp to leftarrow rightarrow Leftarrow Rightarrow leftrightarrow
        mapsto uparrow downarrow nearrow searrow
        cdot times div pm mp ast star circ bullet oplus otimes cup cap vee wedge setminus
        sum prod int partial nabla infty forall exists neg emptyset ell hbar Re Im prime
        lceil rceil lfloor rfloor langle rangle vert Vert left right ldots cdots vdots ddots
        log ln exp min max sup inf lim arg sin cos tan det Pr
        hat bar tilde dot ddot vec widehat widetilde overline acute grave breve check
        frac sqrt mathrm mathbf mathit mathcal mathsf mathtt quad qquad
        """,
    )
)
SIGNS = frozenset(r",;:! %&#_${}|")  # after a backslash: spaces and literal characters
ORDINARY = frozenset("+-*/=<>()[]|,.;:!?' \"@{}_^")
CHANGED = {"%": r"\%", "&": r"\&", "#": r"\#", "−": "-"}

# Commands by the Unicode symbol, which pdflatex cannot read.
NAMES = {symbol: name for name, symbol in SYMBOLS.items() if len(symbol) == 1 and name != "sqrt"}
NAMES |= {"ϵ": "epsilon", "≠": "neq", "≈": "approx", "→": "to", "±": "pm"}

TOKEN = re.compile(r"\\([A-Za-z]+)|\\(.)|(.)", re.DOTALL)


def in_latex(text: str) -> str:
    """Convert a text with mathtext between dollars to LaTeX, in one line.

    Raises UserError for a formula with anything but mathematics.
    """
    parts = []
    for part, is_formula in split(text):
        try:
            parts.append(f"${formula(part)}$" if is_formula else escaped(part))
        except ValueError as error:
            raise UserError(
                f"cannot export {shown(text)} to LaTeX: {error} is not among the mathematics that"
                " an export may contain; write the formula without it"
            ) from error
    return in_one_line("".join(parts))


def in_one_line(text: str) -> str:
    """Return a text without ends of lines, as for a comment."""
    return " ".join(text.split())


def escaped(text: str) -> str:
    """Return a text that LaTeX typesets literally."""
    return "".join(
        f"$\\{NAMES[c]}$" if c in NAMES else "$-$" if c == "−" else ESCAPED.get(c, c) for c in text
    )


def formula(source: str) -> str:
    """Return a formula, without its dollars, in LaTeX. Raises ValueError with a refused token."""
    written, depth = "", 0
    source = source.replace(r"\mathdefault", "")  # matplotlib's own, in tick labels
    for match in TOKEN.finditer(source):
        token = _token(match)
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        # TeX reads ^^5c as a backslash.
        if token is None or depth < 0 or (match[0] == "^" and written.endswith("^")):
            raise ValueError(shown(match[0]))
        written += token
    if depth:
        raise ValueError("an open brace")
    return written


def _token(match: re.Match[str]) -> str | None:
    # A token of a formula in LaTeX; None if it is not allowed.
    name, sign, character = match.groups()
    if name is not None:
        return match[0] if name in COMMANDS else None
    if sign is not None:
        return match[0] if sign in SIGNS else None
    if character in NAMES:
        return f"\\{NAMES[character]} "
    if character.isascii() and (character.isalnum() or character in ORDINARY):
        return str(character)
    return CHANGED.get(character)
