"""Colour, marker and line of every algorithm, the same in every figure of every paper."""

import re
from functools import cache
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from dpbandits.kernel import registry
from dpbandits.spec.figure import Curve
from dpbandits.tables.series import Series

PUBLISHED_ID = "published "  # begins the id of the points of a curve that the paper published
PUBLISHED_LABEL = "The paper's own curve"


class Style(NamedTuple):
    """Look of an algorithm in every figure of every paper."""

    colour: str
    marker: str
    line: str = "-"
    width: float | None = None  # of the line, in points; None: that of the house style


# Keyed by algorithm, not by label: "DP-UCB" names two of them. The colours are those of Okabe and
# Ito and of Tol's muted scheme. Two that meet in a panel and are alike to a colour-blind eye or in
# grey have different markers or lines; a test computes it.
STYLES = {
    # Not private: black, with the marker of the private algorithms that build on them.
    "ucb": Style("#000000", "x"),
    "klucb": Style("#000000", "^"),
    "se": Style("#000000", "s"),
    "exp3": Style("#000000", "D"),
    "adaptive-ucb": Style("#000000", "v"),
    "uniform": Style("#6b6b6b", "", ":"),
    "imed": Style("#000000", "d"),
    "episodic-ucb": Style("#000000", "p"),
    "ts": Style("#000000", "X"),
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
    "gdp-elim-new": Style("#661100", "p"),
    "dp-klucb": Style("#88CCEE", "P"),
    "dp-imed": Style("#AA3377", "d"),
    "lazy-dp-ts": Style("#332288", "<"),
    "dp-ts": Style("#E69F00", "^"),
    "anytime-lazy-ucb": Style("#56B4E9", "X"),
    "dp-exp3-lap": Style("#999933", "h"),
    "exp3-tau": Style("#882255", "p"),
    "dp-lambda-lap": Style("#44AA99", "D"),
    "adac-ucb": Style("#44AA99", ">"),
    "gope": Style("#000000", "*"),
    "adac-gope": Style("#117733", "*"),
    "rs-oful": Style("#000000", "H"),
    "adac-oful": Style("#CC79A7", "H"),
    "dp-se-gauss": Style("#999933", "s"),
    "ldp-ucb-b": Style("#D55E00", "v"),
    "ldp-ucb-l": Style("#009E73", ">"),
    "nas": Style("#000000", "o"),
    "dp-nas": Style("#0072B2", "D"),
    "dp-exponential-nas": Style("#D55E00", "P"),
    "ttucb": Style("#000000", "v"),
    "eb-tci": Style("#000000", "<"),
    "adap-tt": Style("#0072B2", "o"),
    "adap-tt-star": Style("#56B4E9", "P"),
    "dp-tt": Style("#D55E00", "^"),
    "ctb-tt": Style("#CC79A7", "D"),
    "dp-se-identify": Style("#009E73", "s"),
    "bound": Style("#6b6b6b", "", "--"),
    "transition": Style("#6b6b6b", "o", ""),  # dots where the regimes of a bound meet
}

# For algorithms without an entry above, such as those of users, with a strong line: quiet colours,
# as far as possible from all those above and from one another.
SPARE_COLOURS = (
    *("#002050", "#E85870", "#404000", "#9880E8"),
    *("#004030", "#C88060", "#906000", "#704C88"),
)
SPARE_MARKERS = ("*", "8", "H", "h")
STRONG = 1.8  # points

# The second and later curves of one algorithm in a panel keep its colour, have filled markers and
# take the next of these lines.
LINES = ("-", "--", ":", "-.")

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "rho")  # parameters written as Greek letters


@cache
def style_of(name: str) -> Style:
    """Return the style of an algorithm, of a stopping rule, or of `bound`.

    Names without an entry in STYLES get distinct styles as long as there are at most 32 of them.
    """
    if name in STYLES:
        return STYLES[name]
    # A hash of the name selects the colour; if it is taken, the next one is used.
    members = {*registry.members("algorithm"), name}
    styles: dict[str, Style] = {}
    for stranger in sorted(members - STYLES.keys()):
        first = sha256(stranger.encode()).digest()[0] % len(SPARE_COLOURS)
        colours = SPARE_COLOURS[first:] + SPARE_COLOURS[:first]
        spare = [Style(c, m, width=STRONG) for m, c in product(SPARE_MARKERS, colours)]
        taken = styles.values()
        styles[stranger] = next((style for style in spare if style not in taken), spare[0])
    return styles[name]


def style_of_curve(series: Series | Curve) -> Style:
    """Return the style of a curve: its algorithm's, with the changes from the figure's file."""
    style, override = style_of(series.style), series.look
    asked = {key: value for key, value in override._asdict().items() if value is not None}
    return style._replace(**asked)


def symbol(name: str) -> str:
    """Return the name of a parameter as papers write it."""
    return rf"$\{name}$" if name in GREEK else name


def in_mathtext(label: str) -> str:
    """Return a label as drawn: Greek `alpha` in `X (alpha=1)`, an index in `t_0` and `EXP3_tau`."""
    label = re.sub(rf"\b({'|'.join(GREEK)})([=/][^,)]+)", r"$\\\1\2$", label)
    label = re.sub(r"\bEXP3_tau\b", r"EXP3$_\\tau$", label)
    return re.sub(r"\b(t_\d)\b", r"$\1$", label)
