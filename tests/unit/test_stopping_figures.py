"""From a figure of stopping rules to its cells and its table; and the pulls of one arm."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from commands import bandit_cells
from composed import load

from dpbandits.experiments import kinds
from dpbandits.experiments.regret import RegretExperiment, play_run
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.series import summarise

pytestmark = pytest.mark.usefixtures("in_checkout")

# Few samples, and a rule that fails often: alpha is small and beta is large.
QUICK = (
    "figure.stream.mean=0.5",
    "figure.panels.a.sweep.values=[-1,0.25,0.5]",
    "figure.panels.c.sweep.values=[-1,0.25,0.5]",
    "figure.panels.b.sweep.values=[0.5,2]",
    "figure.panels.d.sweep.values=[0.5,2]",
)


def spec_of(*overrides: str) -> FigureSpec:
    return load("stopping-rules", [*QUICK, "runs=7", *overrides])[0]


def test_the_table_shows_the_samples_used_and_how_often_a_rule_fails(tmp_path: Path) -> None:
    # Real estimates hardly ever fail, so these are made up. alpha |mu| is 0.5, 0.125 and 0.25.
    estimates = {-1.0: [-1.4, -0.5, -1.5, 1.0], 0.25: [0.3, 0.2, 0.126, 0.374], 0.5: [9, 9, 9, 0.6]}
    failures = {-1.0: 3, 0.25: 0, 0.5: 3}
    spec, store = spec_of("runs=4"), Store(tmp_path)
    for cell in spec.experiments():
        assert isinstance(cell, StoppingExperiment)
        samples = [10.0, 20.0, 30.0, 100.0 + cell.stream.mean]
        store.write(cell, 0, np.column_stack([samples, estimates[cell.stream.mean]]), 1.0)
    table = {(series.panel, series.label): series for series in summarise(spec, store)}
    for rule in ("NAS", "DP-NAS", "DP-exponential-NAS"):
        assert table["a", rule].x.tolist() == list(failures)
        assert table["a", rule].mean.tolist() == [(160 + mean) / 4 for mean in failures]
        assert table["c", rule].mean.tolist() == [number / 4 for number in failures.values()]
        assert table["b", rule].max.tolist() == [100.5] * 2
        assert table["d", rule].mean.tolist() == [0.75] * 2
    assert table["c", "Allowed"].mean.tolist() == [0.05] * 3


# The pulls of one arm ----------------------------------------------------------------------------

ORIGINAL = [1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2]  # azize2022, Fig. 1


def test_the_run_of_adap_episodes_plays_what_the_paper_draws() -> None:
    spec, _ = load("adap-episodes", [])
    first, second = (cell.play(range(1))[0][0] for cell in bandit_cells(spec))
    assert np.diff(second, prepend=0).tolist() == [float(arm == 2) for arm in ORIGINAL]
    assert (first + second).tolist() == list(range(1, 13))


@pytest.mark.parametrize("algorithm", ["adap-ucb", "dp-se", "ucb"])
def test_the_pulls_of_an_arm_are_those_of_the_run_that_counts_regret(algorithm: str) -> None:
    overrides = ["figure.horizon=5000", "+figure.curves.dp-se.pulls_of=3"]
    overrides += ["+figure.curves.dp-se.label=Counted"]
    overrides += [f"figure.curves.dp-se.algorithm={algorithm}", "figure.environment=c3"]
    spec, _ = load("adap-c2", overrides)
    (cell, *_) = (cell for cell in bandit_cells(spec) if cell.pulls_of == 2)
    assert kinds.words(cell).name.endswith(", pulls of arm 3")
    plain = dataclasses.replace(cell, pulls_of=None)
    assert isinstance(plain, RegretExperiment)
    assert plain.description() == {k: v for k, v in cell.description().items() if k != "pulls_of"}
    for per_round in (False, True):
        counted, played = play_run(cell, 1, per_round), play_run(plain, 1, per_round)
        assert counted.pulls.tolist() == played.pulls.tolist()
        assert counted.curve[-1] == played.pulls[2]
        assert math.isfinite(played.curve[-1])
