"""Colour, marker and line of every algorithm, the same in every figure of every paper."""

import re
from functools import cache
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from dpbandits.core import registry
from dpbandits.curves.series import Series


class Style(NamedTuple):
    """How an algorithm looks, in every figure of every paper."""

    colour: str
    marker: str
    line: str = "-"


# Keyed to the algorithm, not to its label: "DP-UCB" is the name of two. The colours are those of
# Okabe and Ito and of Tol's muted scheme, told apart by colour-blind readers too.
STYLES = {
    # Not private: black, with the marker of what is made of them.
    "ucb": Style("#000000", "x"),
    "klucb": Style("#000000", "^"),
    "se": Style("#000000", "s"),
    "exp3": Style("#000000", "D"),
    "uniform": Style("#6b6b6b", "", ":"),
    "private-ucb": Style("#CC79A7", "D"),
    "dp-ucb": Style("#56B4E9", "v"),
    "dp-ucb-bound": Style("#882255", "P"),
    "dp-ucb-int": Style("#E69F00", "o"),
    "dp-se": Style("#009E73", "s"),
    "adap-ucb": Style("#0072B2", "o"),
    "adap-klucb": Style("#D55E00", "^"),
    "dp-ftpl-gauss": Style("#117733", ">"),
    "dp-ftpl-beta": Style("#999933", "<"),
    "dp-ftpl-new": Style("#332288", "d"),
    "gdp-elim-new": Style("#CC6677", "p"),
    "dp-exp3-lap": Style("#0072B2", "^"),
    "exp3-tau": Style("#D55E00", "s"),
    "nas": Style("#000000", "o"),
    "dp-nas": Style("#0072B2", "D"),
    "dp-exponential-nas": Style("#D55E00", "P"),
    "bound": Style("#6b6b6b", "", "--"),
    "transition": Style("#6b6b6b", "o", ""),  # dots where the regimes of a bound meet
}

# For algorithms without an entry above, such as those of other people: as far as can be from all
# colours above and from one another.
SPARE_COLOURS = (
    *("#F200F2", "#4C1D00", "#003DF2", "#F2003D"),
    *("#C579F2", "#00A600", "#1B214C", "#9100A6"),
)
SPARE_MARKERS = ("h", "*", "X", "8")

# The second, third, ... curve of one algorithm in a panel keeps its colour and has its marker
# filled; its line is the next of these.
LINES = ("-", "--", ":", "-.")

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon")  # parameters that are written as letters


def style_of(name: str) -> Style:
    """The style of an algorithm, of a stopping rule, or of `bound`.

    Two without an entry in STYLES differ from each other as long as there are at most 32.
    """
    return STYLES.get(name) or _spare(name)


def style_of_curve(series: Series) -> Style:
    """The style of a curve: its algorithm's, but for what the figure's file says of the curve."""
    style, look = style_of(series.style), series.look
    asked = {key: value for key, value in look._asdict().items() if value is not None}
    return style._replace(**asked)


@cache
def _spare(name: str) -> Style:
    # The name decides on a colour; where two names decide on the same, the second takes the next.
    members = {*registry.algorithm_names(), *registry.stopping_rule_names(), name}
    found: dict[str, Style] = {}
    for stranger in sorted(members - STYLES.keys()):
        first = sha256(stranger.encode()).digest()[0] % len(SPARE_COLOURS)
        colours = SPARE_COLOURS[first:] + SPARE_COLOURS[:first]
        spare = [Style(c, m, "-.") for m, c in product(SPARE_MARKERS, colours)]
        taken = found.values()
        found[stranger] = next((style for style in spare if style not in taken), spare[0])
    return found[name]


def symbol(name: str) -> str:
    """The name of a parameter as papers write it."""
    return rf"$\{name}$" if name in GREEK else name


def in_mathtext(label: str) -> str:
    """A label as drawn: a letter for `alpha` of `X (alpha=1)`, an index in `t_0` and `EXP3_tau`."""
    label = re.sub(rf"\b({'|'.join(GREEK)})([=/][^,)]+)", r"$\\\1\2$", label)
    label = re.sub(r"\bEXP3_tau\b", r"EXP3$_\\tau$", label)
    return re.sub(r"\b(t_\d)\b", r"$\1$", label)
