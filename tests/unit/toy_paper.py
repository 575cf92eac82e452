"""Paper about figures whose runs a test makes up: nothing is played, Hydra composes nothing."""

import re
from collections.abc import Sequence
from typing import Any, cast

import msgspec
import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.config import compose
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.judge.claims_files import Paper
from dpbandits.judge.resampled import Resampler
from dpbandits.judge.variants import Figures
from dpbandits.judge.verdicts import Judge, Judged, combinations
from dpbandits.kinds.regret import REGRET
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store.blocks import Store


def cell(name: str, alpha: float = 1.0, horizon: int = 5, epsilon: float = 1.0) -> RegretExperiment:
    """Return a cell of its own for every name, variant and value; its gap is 0.4."""
    params, seed = adap_ucb.Params(epsilon=epsilon, alpha=alpha), int.from_bytes(name.encode())
    # Its third mean makes it a game of its own: curves that differ by the seed alone are refused.
    game = bernoulli.Params((0.9, 0.5, 0.5 + seed % 1009 / 4000))
    return RegretExperiment("adap-ucb", params, "bernoulli", game, horizon, Grid.LOG, seed)


def line(name: str, cells: Sequence[Any], x: Sequence[float] | None = None) -> Curve:
    """Return a curve over the rounds of a cell, or over `x` with a cell each."""
    over, swept = ("t", None) if x is None else ("x", tuple(x))
    return Curve(name, name, name, name, REGRET, over, swept, tuple(cells), 10**9)


class Toy:
    """Store of made-up runs, and the figures that show them; alpha tells variants apart."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs: dict[RegretExperiment, np.ndarray] = {}
        self.curves: dict[str, dict[str, dict[str, Curve]]] = {}
        monkeypatch.setattr(compose, "load", self.load_figure)

    def add(
        self,
        name: str,
        runs: Any,
        alpha: float = 1.0,
        panel: str = "a",
        figure: str = "toy",
        x: Sequence[float] = (),
    ) -> Curve:
        """Give a curve its runs, (runs, points) or (runs,): over the rounds 1, 2, ... or `x`."""
        of_runs = np.asarray(runs, float).reshape(len(runs), -1)
        key = f"{figure[-1]}{panel}{name}"
        cells = [cell(key, alpha, 1, value) for value in x] or [cell(key, alpha, of_runs.shape[1])]
        self.runs |= {c: of_runs[:, [i]] if x else of_runs for i, c in enumerate(cells)}
        curve = line(name, cells, x or None)
        self.curves.setdefault(figure, {}).setdefault(panel, {})[f"{name} {float(alpha)}"] = curve
        return curve

    def load(self, of: RegretExperiment, runs: int, part: slice = slice(None)) -> np.ndarray:
        """Return runs of a cell, as a store does."""
        return self.runs[of][:runs, part]

    def load_figure(self, figure: str, overrides: Sequence[str], **_: bool) -> tuple[Any, None]:
        """Return a figure under overrides of alpha."""
        told, panels = " ".join(overrides), []
        for letter, curves in self.curves[figure].items():
            own = []
            for name in dict.fromkeys(curve.name for curve in curves.values()):
                alpha = re.findall(rf"figure\.(?:curves\.{name}\.)?alpha=(\S+)", told) or ["1"]
                own.append(curves.get(f"{name} {float(alpha[-1])}", curves[f"{name} 1.0"]))
            panels.append(Panel(letter, "", tuple(own)))
        return FigureSpec(figure, "p", "t", "d", 1, "mean", "none", False, tuple(panels)), None

    def resampler(self, size: int | None = None) -> Resampler:
        """Return the resamples of these runs."""
        return Resampler(cast(Store, self), {c: len(r) for c, r in self.runs.items()}, size)

    def judge(self, of: Paper, look: int = 0) -> dict[str, Judged]:
        """Judge all claims of a paper under all combinations of the choices that they touch."""
        drawn, found = Figures(of), {name: Judged(of, name) for name in of.claims()}
        judge = Judge(drawn, self.resampler(), self.resampler(of.runs or 1), look)
        for name, claim in of.claims().items():
            if claim.holds or claim.guarantee:
                every = combinations(of, drawn.touched(name))
                judge.judge(found[name], [c for c in every if claim.under.items() <= c.items()])
        return found

    def one(self, *holds: str, **more: Any) -> Judged:
        """Judge one sentence about the figure `toy`."""
        return self.judge(paper({"it": said(*holds)}, **more))["it"]


def said(*holds: str, **more: Any) -> dict[str, Any]:
    """Return a claim about the figure `toy`."""
    return {"says": "so", "in": "toy", "holds": list(holds)} | more


def paper(sentences: dict[str, Any], **more: Any) -> Paper:
    """Return a paper with these sentences."""
    head = {"paper": "toy", "source": "none", "runs": None, "headline": {"text": "None."}}
    return msgspec.convert({**head, "sentences": sentences, **more}, Paper)


def near(value: float, runs: int = 100, noise: float = 0.1, seed: int = 0) -> np.ndarray:
    """Return normal runs whose mean and standard deviation are these."""
    drawn = np.random.default_rng([seed, runs]).normal(size=runs)
    return value + noise * (drawn - drawn.mean()) / drawn.std()
