"""The first page of the documentation, and the squares of verdicts on it and on reports.

Its numbers come from committed files: results of claims, references of figures, cells of the
explorer. The template home.md has the words.
"""

import html
import io
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits.config import compose
from dpbandits.config.instances import Texts
from dpbandits.drawing.formulas import DRAWING, without_tex
from dpbandits.drawing.plotting import house_style
from dpbandits.drawing.styles import style_of, style_of_curve
from dpbandits.experiments import kinds
from dpbandits.factory.papers import paper
from dpbandits.files.atomic import write_atomically
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.verdicts import Judged, Verdict
from dpbandits.kernel import registry
from dpbandits.site import reports
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import Series

SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.EXPLAINED: "*",
    Verdict.DEPENDS: "?",
    Verdict.NOT: "✗",
    Verdict.INCONCLUSIVE: "~",
    Verdict.NOT_TESTABLE: "–",
}
LONGEST = 200  # characters of a sentence that a square shows whole
SHOWN_ROUNDS = 1000  # after which the first page has the loss of the sequence
GAME, NOTION, MEAN, MEDIAN = "c2", "ε-global DP", 0, 3  # of the maps; columns of a cell


def squares(of: Gathered, page: str = "") -> str:
    """Return a square for every sentence of a paper: a link to its evidence on `page`, in HTML."""
    order = [*SIGNS].index
    by_verdict = sorted(enumerate(of.sentences(), 1), key=lambda pair: order(pair[1].verdict))
    return "".join(
        f'<a class="q {kind(judged.verdict)}" href="{page}#{number}"'
        f' title="{html.escape(_hover(judged, number))}">{SIGNS[judged.verdict]}</a>'
        for number, judged in by_verdict
    )


def kind(verdict: Verdict) -> str:
    """Return the class of a verdict in site.css."""
    return reports.brief(verdict).replace(" ", "-")


def _hover(judged: Judged, number: int) -> str:
    claim = judged.claim
    text = (claim.part and claim.short) or claim.words
    text = without_tex(text if len(text) <= LONGEST else claim.short or f"{text[:LONGEST]} …")
    return f"{number}. {' '.join(text.split())} ({judged.verdict.value})"


def variables(docs: Path, figures: Collection[str]) -> dict[str, Any]:
    """Write the pictures of the first page below `docs`; return the variables of its template.

    `figures` are the names of those that have a page.
    """
    gathered = {of.paper.paper: of for of in reports.results(reports.papers())}
    answers = reports.results(reports.questions())
    members = kinds.bandit_players()
    private = sum(hasattr(registry.algorithm(name), "guarantee") for name in members)
    verdicts = Counter(j.verdict for of in gathered.values() for j in of.sentences())
    return {
        "papers": [
            (paper(key), squares(of, f"reproducibility/{key}.html")) for key, of in gathered.items()
        ],
        "number_of_papers": Texts().format_field(len(gathered), "words"),
        "unjudged": [paper(key) for key, of in gathered.items() if not of.sentences()],
        "sentences": verdicts.total(),
        "verdicts": {kind(verdict): (sign, verdicts[verdict]) for verdict, sign in SIGNS.items()},
        "meanings": {kind(verdict): verdict.value for verdict in SIGNS},
        "algorithms": private,
        "baselines": len(members) - private,
        "figures": len(figures),
        "answers": [(of.paper, *reports.titled(of)) for of in answers],
        "rounds": SHOWN_ROUNDS,
        **_loop(docs, gathered["azize2022"]),
        **_sequence(docs),
        **_trap(docs, figures),
        **_maps(docs / "explorer"),
    }


def _curves(spec: FigureSpec, panel: str = "") -> dict[str, Series]:
    # The curves of a figure, or of a panel, by their keys, from its committed reference.
    series = references.read_series(spec, references.PAPER)
    return {s.curve: s for s in series if panel in ("", s.panel)}


def _loop(docs: Path, of: Gathered) -> dict[str, Any]:
    curves = _curves(compose.load("adap-published", [])[0])
    labels = {
        "dp-se-iterating": "DP-SE with the loop",
        "dp-se": "DP-SE as printed",
        "adap-klucb": "AdaP-KLUCB",
    }
    ends = {key: f"{curves[key].centre[-1]:,.0f}" for key in labels}
    lines = [(curves[key], f"{label}\n{ends[key]}") for key, label in labels.items()]
    names = "Round t", "Regret (median)"
    _draw(docs / "images" / "loop.svg", lines, names, (300, 60_000))
    loop = zip(labels.values(), ends.values(), strict=True)
    return {"loop": [*loop], "loop_factor": of.numbers["factor-dp-se"]}


def _sequence(docs: Path) -> dict[str, Any]:
    curves = _curves(spec := compose.load("ftpl-sequence", [])[0])
    labels = {
        "new": "DP-FTPL-New\nat least",
        "gauss": "DP-FTPL-Gauss\nat least",
        "int": "DP-UCB-INT\nat most",
    }
    ends = {key: f"{curves[key].centre[-1]:.3g}" for key in labels}
    lines = [(curves[key], f"{label} {ends[key]}") for key, label in labels.items()]
    names = "Rounds", "Privacy loss ε of all arms"
    _draw(docs / "images" / "sequence.svg", lines, names, (0.1, 200))
    new = dict(zip(curves["new"].x, curves["new"].centre, strict=True))
    given = kinds.words(spec.panels[0].curves[0].sources[0]).arguments
    return {"sequence": ends, "given": given, "sequence_loss": int(new[SHOWN_ROUNDS])}


def _trap(docs: Path, figures: Collection[str]) -> dict[str, Any]:
    curves = _curves(spec := compose.load("identification-trap", [])[0], "a")
    labels = {
        "adap-tt-star": "AdaP-TT*",
        "adap-tt": "AdaP-TT",
        "dp-tt": "DP-TT",
        "adap-tt-log-pulls": "bonus ln n",
    }
    # In per cent, the smallest budget last.
    falling = {
        key: replace(curves[key], x=curves[key].x[::-1], centre=100 * curves[key].centre[::-1])
        for key in labels
    }
    lines = [(s, f"{labels[key]} {s.centre[-1]:.0f} %") for key, s in falling.items()]
    names = "Privacy budget ε, smaller to the right", "Runs without an answer (%)"
    _draw(docs / "images" / "trap.svg", lines, names, (-2, 103))
    games = (kinds.words(curve.sources[0]) for curve in spec.panels[0].curves)
    return {
        "trap": {key: dict(zip(s.x, s.centre, strict=True)) for key, s in falling.items()},
        "trap_games": dict(zip(curves, (game.arguments for game in games), strict=True)),
        "trap_page": spec.name if spec.name in figures else "",
    }


def _draw(
    file: Path,
    lines: Sequence[tuple[Series, str]],
    names: tuple[str, str],
    ends: tuple[float, float],
) -> None:
    # Curves with the words at their ends on logarithmic axes with these names and ends of y, and
    # points that were published of a curve that is dashed. The y axis is linear if it has 0, and x
    # falls if that of the curves does.
    beside: dict[str, Any] = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    settings = {"svg.hashsalt": file.stem, "font.size": 10, "axes.labelsize": 10}
    with DRAWING, house_style(None, settings):
        figure = Figure(figsize=(4.6, 3.1), layout="constrained")
        ax = figure.subplots()
        scale = "log" if ends[0] > 0 else "linear"
        ax.set(xscale="log", yscale=scale, xlabel=names[0], ylabel=names[1], ylim=ends)
        ax.xaxis.set_inverted(lines[0][0].x[0] > lines[0][0].x[-1])
        for series, label in lines:
            look, drawn = style_of_curve(series), series.centre > min(0, ends[0])
            colour = look.colour
            ax.plot(series.x[drawn], series.centre[drawn], look.line, color=colour, linewidth=2)
            for point in series.published if look.line == "--" else ():
                ax.plot(*point, "o", color=colour, fillstyle="none", markersize=7)
            end = (series.x[-1], series.centre[-1])
            ax.annotate(label, end, **beside, color=colour, fontsize=9.5, annotation_clip=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    write_atomically(file, buffer.getvalue(), remedy="")


def _maps(folder: Path) -> dict[str, Any]:
    index, cells = (_content(folder / f"{name}.js") for name in ("index", GAME))
    by_mean, by_median = (_map(index, cells, column) for column in (MEAN, MEDIAN))
    winners = dict.fromkeys(name for m in (by_mean, by_median) for row in m["rows"] for name in row)
    return {
        "maps": {"mean": by_mean, "median": by_median},
        "winners": {
            name: (index["algorithms"][name]["label"], style_of(name).colour) for name in winners
        },
        "epsilons": index["epsilons"],
        "horizons": [len(str(t)) - 1 for t in reversed(index["horizons"])],
    }


def _content(script: Path) -> Any:
    return json.loads(script.read_text("utf-8").partition(" = ")[2].rstrip(";\n"))


def _map(index: Any, cells: Any, column: int) -> dict[str, Any]:
    # Winner of every square, the largest horizon first, and who wins most of them.
    rows = [
        [_winner(index, cells, column, t, e) for e in range(len(index["epsilons"]))]
        for t in reversed(index["horizons"])
    ]
    (first, number), *_ = Counter(name for row in rows for name in row).most_common(1)
    return {"rows": rows, "first": first, "squares": number}


def _winner(index: Any, cells: Any, column: int, horizon: int, epsilon: int) -> str:
    # The algorithm of least regret at a horizon, among those that have played that long.
    rounds = sum(t <= horizon for t in index["rounds"])
    values = {}
    for name in index["notions"][NOTION]:
        has_games = index["algorithms"][name]["needs_horizon"]
        game = index["horizons"].index(horizon) if has_games else 0
        played = cells[name][epsilon][game : game + 1]
        if played and len(played[0]) >= rounds and (numbers := played[0][rounds - 1]):
            values[name] = numbers[column]
    return min(values, key=values.__getitem__)
