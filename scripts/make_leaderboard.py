"""Write the tables of docs/leaderboard.md: `python scripts/make_leaderboard.py`.

The tables are between two comments of the file. They state for every notion of privacy, instance
and budget which algorithm has the least regret, and by how much, from the committed reference of
the figure `leaderboard`.
"""

import math
import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.checks.comparisons import (
    ERRORS,
    NORMAL,
    Rank,
    is_rare,
    mean_rank,
    measured,
    ranks,
)
from dpbandits.config import compose
from dpbandits.drawing import formulas
from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.styles import in_mathtext
from dpbandits.factory import produce
from dpbandits.tables import references
from dpbandits.tables.series import Series

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "leaderboard.md"
FIGURE = "leaderboard"
Game = tuple[str, str, int]  # notion, instance, and the number of the budget


def tables() -> str:
    """Return a heading, a table of mean ranks and a table of games for every notion."""
    spec, _ = compose.load(FIGURE, [])
    drawing = produce.drawing(spec, references.read_series(spec, references.PAPER))
    games = _games(drawing.panels)
    parts = []
    for notion in dict.fromkeys(notion for notion, _, _ in games):
        block = {game: curves for game, curves in games.items() if game[0] == notion}
        parts.append(
            f"## {formulas.without_tex(notion)}\n\n{_mean_ranks(block)}\n{_leaders(block)}"
        )
    return "\n".join(parts)


def _games(panels: tuple[PanelDrawing, ...]) -> dict[Game, list[tuple[Series, int]]]:
    # Panels of one row and column are one game; the x of a curve is its position in the sweep.
    games: dict[Game, list[tuple[Series, int]]] = {}
    for panel in panels:
        for series in panel.series:
            for i in range(len(series.x)):
                games.setdefault((panel.row, panel.column, i), []).append((series, i))
    return games


def _mean_ranks(games: dict[Game, list[tuple[Series, int]]]) -> str:
    budgets = sorted({i for _, _, i in games})
    by_label: dict[str, list[list[Rank]]] = {}
    for (_, _, i), curves in games.items():
        for (series, _), rank in zip(curves, ranks([s for s, _ in curves], i), strict=True):
            by_label.setdefault(series.label, [[] for _ in budgets])[i].append(rank)
    rows = {label: [mean_rank(group) for group in several] for label, several in by_label.items()}
    order = sorted(rows, key=lambda label: sum(rank.midrank for rank in rows[label]))
    names = [f"ε = {_budget(games, i):g}" for i in budgets]
    lines = [f"|mean rank |{' |'.join(names)}|", f"|---|{'---:|' * len(names)}"]
    lines += [f"|{_name(label)} |{' |'.join(map(_rank, rows[label]))}|" for label in order]
    return "\n".join(lines) + "\n"


def _rank(rank: Rank) -> str:
    ends = f"{rank.best:.1f}", f"{rank.worst:.1f}"
    return f"{rank.midrank:.1f}" + (f" ({'–'.join(ends)})" if ends[0] < ends[1] else "")


def _leaders(games: dict[Game, list[tuple[Series, int]]]) -> str:
    budgets = sorted({i for _, _, i in games})
    names = [f"ε = {_budget(games, i):g} |second" for i in budgets]
    lines = [f"|instance |{' |'.join(names)}|", f"|---|{'---|---|' * len(budgets)}"]
    rows: dict[str, list[str]] = {}
    for (_, instance, i), curves in games.items():
        series = [s for s, _ in curves]
        pairs = zip(measured(series, i), series, strict=True)
        ordered = sorted(pairs, key=lambda entry: entry[0][0])
        ((a, error_a), first), ((b, error_b), second), *_ = ordered
        factor = math.exp(NORMAL * math.hypot(error_a / a, error_b / b))  # of the ratio b / a
        near = ((s, c - a <= ERRORS * math.hypot(error_a, e)) for (c, e), s in ordered[1:])
        level = [_name(s.label) for s, is_tied in near if is_tied]
        tied = f"; tied: {', '.join(level)}" if level else ""
        rows.setdefault(formulas.without_tex(instance), []).append(
            f"{_name(first.label)} "
            f"{_least(a, error_a, [_name(s.label) for s in series if is_rare(s, i)])} "
            f"|{_name(second.label)} {b / a / factor:.2f}–{b / a * factor:.2f}{tied}"
        )
    lines += [f"|{instance} |{' |'.join(cells)}|" for instance, cells in rows.items()]
    return "\n".join(lines) + "\n"


def _name(label: str) -> str:
    return formulas.without_tex(in_mathtext(label))


def _budget(games: dict[Game, list[tuple[Series, int]]], i: int) -> float:
    # Algorithms that are listed with half of the budget come after the others.
    return next(float(curves[0][0].x[i]) for game, curves in games.items() if game[2] == i)


def _least(number: float, error: float, rare: list[str]) -> str:
    if not rare:
        return f"{number:,.0f} ({error:,.0f})"
    return f"{number:,.0f} (median; rare runs: {', '.join(rare)})"


def with_tables(text: str) -> str:
    """Return the document's text with new tables; exit if the two comments are missing."""
    return replaced(text, "leaders", tables())


def main() -> int:
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
