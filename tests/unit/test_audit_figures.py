"""Audits as cells of figures: the values they store, the values a figure shows, and mistakes."""

from pathlib import Path

import make_privacy
import numpy as np
import pytest

from dpbandits.audit import designs
from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject
from dpbandits.config.compose import load
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.kinds import declared
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.notions import Notion
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.key import key
from dpbandits.tables import audits, references
from dpbandits.tables.series import summarise

pytestmark = pytest.mark.usefixtures("in_checkout")

SUBJECT = Subject("adap-ucb", (("epsilon", 1.0),))
CELL = AuditExperiment.of(SUBJECT, plays=20_000, seed=3)
FIGURE = "privacy-audit"


def curve(spec: FigureSpec, shows: str, name: str) -> Curve:
    (found,) = (c for p in spec.panels for c in p.curves if (c.shows.name, c.name) == (shows, name))
    return found


# Cells -------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("short_audits")
def test_a_run_is_an_audit_of_its_own_whatever_runs_are_beside_it() -> None:
    together, seconds = CELL.play(range(3))
    alone, _ = CELL.play(range(2, 3))
    assert together.shape == (3, CELL.columns)
    assert (together[2] == alone[0]).all()
    assert len({*together[:, 0]}) == 3
    assert (seconds > 0).all()
    (finding,) = Auditor(SUBJECT, 3, 2, number=1).audit(CELL.plays)
    assert together[1].tolist() == [finding.epsilon, 0.0]


def test_what_is_played_and_how_often_and_nothing_else_names_a_cell() -> None:
    assert CELL.description() == {
        "audit": "adap-ucb",
        "params": {"epsilon": 1.0},
        "plays": 20_000,
        "seed": 3,
    }
    others = [
        AuditExperiment.of(SUBJECT, 30_000, 3),
        AuditExperiment.of(SUBJECT, 20_000, 4),
        AuditExperiment.of(Subject("adap-ucb", (("epsilon", 2.0),)), 20_000, 3),
        AuditExperiment.of(Subject("adap-klucb", (("epsilon", 1.0),)), 20_000, 3),
    ]
    assert len({key(cell) for cell in (CELL, *others)}) == 5


@pytest.mark.parametrize(
    ("name", "delta", "rounds"),
    [
        ("adap-ucb", (), 256),
        ("dp-se", (), None),  # it takes the horizon
        ("dp-ucb-int", (("delta", 0.001),), 736),  # eight times the shortest
        ("dp-ftpl-gauss", (("delta", 0.001),), 256),
    ],
)
def test_the_horizon_that_is_told_is_that_of_the_longest_games_of_two_arms(
    name: str,
    delta: tuple[tuple[str, float], ...],
    rounds: int | None,
) -> None:
    # No game: the tables at the edge of a decision are all equally long.
    cell = AuditExperiment.of(Subject(name, (("epsilon", 1.0), *delta)), 1000, 1)
    played = designs.in_games_of(cell.subject.horizons, lambda design: design.table[0].sum())
    longest = max(one.table.shape[1] for one in played if len(one.table) == 2)
    assert cell.game == (2, longest)
    assert longest == rounds if rounds else cell.params.horizon == longest > 256


# Figures -----------------------------------------------------------------------------------------


def test_a_figure_shows_what_is_claimed_composed_and_found(tmp_path: Path) -> None:
    overrides = ["profile=smoke", "figure.sweep.values=[0.5,2]", f"paths.cache={tmp_path}"]
    spec, settings = load(FIGURE, overrides)
    store = Store(settings.cache)
    for number, cell in enumerate(spec.experiments()):
        store.write(cell, 0, np.array([[number, 100 + number]] * 2, float), 1.0)
    found = {(s.panel, s.label): s for s in summarise(spec, store)}

    def series(letter: str, label: str) -> list[float]:
        return found[letter, label].mean.tolist()

    assert series("a", "AdaP-UCB") == [0.5, 2.0]
    assert found["a", "AdaP-UCB"].runs == 0
    assert series("k", "DP-UCB (full)") == [1.0, 4.0]
    assert series("k", "DP-FTPL-New") == [np.inf, np.inf]
    assert found["k", "DP-FTPL-New"].std.tolist() == [0.0, 0.0]
    numbers: list[object] = list(spec.experiments())
    gauss = [numbers.index(c) for c in curve(spec, "audited", "dp-ftpl-gauss").sources]
    assert series("l", "DP-FTPL-Gauss") == gauss
    assert series("m", "DP-FTPL-Gauss") == [100 + number for number in gauss]
    assert found["m", "DP-FTPL-Gauss"].runs == 2


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["figure.plays=10"], "plays must be a number from 1000 to 10^10, got 10"),
        (["figure.plays=null"], "figure.plays is missing"),
        (["figure.sweep=null"], "claimed, of kind audit, is drawn over a sweep"),
        (["figure.curves.dp-se.algorithm=se"], "se promises no privacy"),
        (["figure.curves.dp-ftpl-beta.delta=0.001"], "releases nothing in games of 4096 rounds"),
        (["figure.panels.c.shows=audit"], "audit"),
    ],
)
def test_a_mistake_is_told(overrides: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told.replace("^", r"\^")):
        load(FIGURE, overrides)


def test_the_table_of_audits_is_that_of_the_figure_and_its_reference() -> None:
    spec, _ = load(FIGURE, [])
    table = audits.table(spec, references.read_series(spec, references.PAPER))
    assert Path(audits.FILE).read_bytes() == table, f"dpbandits reference {FIGURE}"


def test_a_row_has_what_is_promised_and_composed_in_the_longest_games_and_the_bounds() -> None:
    spec, _ = load(FIGURE, [])
    found = {(s.panel, s.label): s.centre for s in references.read_series(spec, references.PAPER)}
    rows = {(row.label, row.budget_given): row for row in audits.read_audits()}
    for shows, field in (
        ("composed", "composed"),
        ("audited", "epsilon"),
        ("audited-choice", "one_choice"),
    ):
        for panel in (panel for panel in spec.panels if panel.curves[0].shows.name == shows):
            for one in panel.curves:
                for cell, number in zip(one.sources, found[panel.letter, one.label], strict=True):
                    row = rows[one.label, audits.budget(cell.params)]
                    assert getattr(row, field) == pytest.approx(number, rel=1e-10)
                    assert row.is_valid_for(cell.params)
    assert all(row.one_choice is None for row in rows.values() if row.notion != "per-round DP")


def test_the_table_of_the_document_is_that_of_the_reference() -> None:
    text = make_privacy.DOCUMENT.read_text("utf-8")
    assert make_privacy.with_table(text) == text, "python scripts/make_privacy.py"


def test_no_audit_of_the_reference_says_more_than_what_is_promised_or_declared() -> None:
    spec, _ = load(FIGURE, [])
    found = {(s.panel, s.label): s for s in references.read_series(spec, references.PAPER)}
    for panel in spec.panels:
        for one in panel.curves:
            numbers = found[panel.letter, one.label].mean
            cells = [cell for cell in one.sources if isinstance(cell, AuditExperiment)]
            assert len(cells) == len(numbers) == 4
            for cell, number in zip(cells, numbers, strict=True):
                guarantee = declared(cell, "guarantee")
                if one.shows.name == "audited-choice":
                    assert number <= guarantee.epsilon
                if one.shows.name == "audited":
                    per_round = guarantee.notion is Notion.PER_ROUND
                    claimed = np.inf if per_round else guarantee.epsilon
                    composed = cell.subject.composed(*cell.game, guarantee.delta)
                    assert number <= min(claimed, composed)
