"""`play` and `compare`: the regret of one algorithm or of several in one game, run by run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpbandits import theory
from dpbandits.api.games import (
    Game,
    computed,
    frame,
    player,
    players_of,
    settings_of,
    specification,
)
from dpbandits.api.privacy import Budget
from dpbandits.checks.comparisons import ERRORS, ROUNDING, plain, with_error
from dpbandits.config import instances
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, shown
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory.captions import caption, is_undeclared
from dpbandits.files.provenance import provenance
from dpbandits.run.in_memory import is_stored
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.key import key
from dpbandits.tables import statistics
from dpbandits.tables.series import Series, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class PlayResult:
    """Regret of the runs of an algorithm.

    Attributes:
        algorithm: name of the algorithm.
        label: its name in the papers, as in legends.
        parameters: its parameters; readings by name.
        environment: description of the bandit.
        horizon: T, number of rounds.
        seed: root of all random streams.
        rounds: rounds at which the regret is recorded, int64 of shape (checkpoints,). The last one
            is the horizon.
        regret: cumulative regret in units of reward, float64 of shape (runs, checkpoints). It is
            the pseudo-regret, the sum of the gaps of the arms pulled so far; on a table of gains,
            it is the realised regret against the best arm in hindsight.
        budget: claimed and composed privacy budget; None for an algorithm that is not private.
        computed: number of runs that were missing in the store.
        provenance: key of the cell, revision, versions and machine, as in the sidecar of a figure.
    """

    algorithm: str
    label: str
    parameters: Mapping[str, Any]
    environment: str
    horizon: int
    seed: int
    rounds: np.ndarray
    regret: np.ndarray
    budget: Budget | None
    computed: int
    provenance: Mapping[str, Any]
    _series: Series = field(repr=False)

    def __repr__(self) -> str:
        error = f" ± {plain(self.standard_error[-1])}" if self.runs > 1 else ""
        final = f"mean {plain(self.mean[-1])}{error}"
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        return f"PlayResult({self.label}, T={self.horizon:,}, {runs}, {final})"

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.regret)

    @property
    def mean(self) -> np.ndarray:
        """Mean over the runs, float64 of shape (checkpoints,)."""
        return statistics.mean(self.regret)

    @property
    def std(self) -> np.ndarray:
        """Sample standard deviation (divisor runs - 1), 0 for a single run.

        float64 of shape (checkpoints,).
        """
        return statistics.standard_deviation(self.regret)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean, float64 of shape (checkpoints,)."""
        return statistics.standard_error(self.regret)

    def quantiles(self, q: float | Sequence[float] = (0.25, 0.5, 0.75)) -> np.ndarray:
        """Return quantiles over the runs, linear between order statistics.

        Args:
            q: one probability, or several.

        Returns:
            float64 of shape (checkpoints,) for one probability, else (len(q), checkpoints).

        Raises:
            UserError: if a probability is not in [0, 1].
        """
        try:
            wanted = np.asarray(q, float)
            valid = wanted.ndim <= 1 and bool(((wanted >= 0) & (wanted <= 1)).all())
        except (TypeError, ValueError):
            valid = False
        if not valid:
            allowed = "in [0, 1], or a list of such numbers"
            raise UserError(f"quantiles: q must be {allowed}, got {shown(q)}")
        result: np.ndarray = np.quantile(self.regret, wanted, axis=0)
        return result

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every run and checkpoint.

        The columns are algorithm, run (from 0), round and regret.

        Raises:
            UserError: if pandas is not installed.
        """
        return frame(
            {
                "algorithm": self.label,
                "run": np.repeat(np.arange(self.runs), len(self.rounds)),
                "round": np.tile(self.rounds, self.runs),
                "regret": self.regret.ravel(),
            }
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean regret over the rounds, with a band of one standard deviation.

        Args:
            ax: axes of matplotlib; None creates a figure in the house style.

        Returns:
            The axes. `ax.figure.savefig("regret.pdf")` writes the picture.
        """
        from dpbandits.api.figures import draw_curve

        return draw_curve(self._series, ax)


def play(
    algorithm: Any,
    *,
    environment: str | Mapping[str, Any] | None = None,
    means: Sequence[float] | np.ndarray | None = None,
    horizon: int | None = None,
    runs: int = 100,
    seed: int | None = None,
    grid: str = "linear",
    workers: int | None = None,
    progress: bool = True,
    **parameters: Any,
) -> PlayResult:
    """Play an algorithm and return the regret of every run.

    The runs are those of figures: the same algorithm, parameters, game, grid and seed share the
    blocks of the store, and only missing runs are computed.

    Args:
        algorithm: name of an algorithm or of a file in conf/algorithm/; `dpbandits list` prints all
            names. Or an algorithm of this process: a function `play(params, bandit, rng)`, or an
            object with `play` and, if needed, `LABEL`, `Params`, `releases` and `claim`. Such an
            algorithm is played in memory; nothing of it is stored.
        environment: name of a file in conf/environment/, such as "c2", or a law with its
            parameters, such as `{"law": "beta", "means": [0.7, 0.4]}`.
        means: means of Bernoulli arms, each in [0, 1], in place of the environment.
        horizon: T, number of rounds, at least the number of arms; must be given.
        runs: number of independent runs.
        seed: root of all random streams; None selects that of conf/config.yaml, as for figures.
        grid: checkpoints: "linear", 200 equal steps; "log", 24 for every factor of 10; or "end",
            only the horizon.
        workers: number of threads; None: all cores.
        progress: show a progress bar on a terminal, or lines elsewhere.
        **parameters: parameters of the algorithm, such as epsilon.

    Returns:
        The regret with its statistics.

    Raises:
        UserError: for an unknown name, an invalid value, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> result = dp.play(
        ...     "adap-ucb", epsilon=1.0, means=[0.9, 0.5], horizon=1000, runs=5, seed=1
        ... )
        >>> result.regret.shape == (5, len(result.rounds))
        True
        >>> int(result.rounds[-1])
        1000
        >>> bool((result.std >= 0).all())
        True

        An algorithm of this process:

        >>> from dpbandits.core.bandit import playing, pull
        >>> def always_first(params, bandit, rng):
        ...     while playing(bandit):
        ...         pull(bandit, 0)
        >>> dp.play(always_first, means=[0.5, 0.75], horizon=100, runs=2).mean[-1]
        np.float64(25.0)
    """
    settings, seed = settings_of("play", workers, seed)
    values = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": grid}
    game = Game(environment, means, values)
    played = player(algorithm, parameters)
    spec = specification("play", [played], (), game, bounds=False)
    store, missing = computed(spec, settings, progress)
    (curve,), (series,) = spec.panels[0].curves, summarise(spec, store)
    return _result(played.name, curve, series, store, missing)


def _result(name: str, curve: Curve, series: Series, store: Store, missing: int) -> PlayResult:
    (cell,) = curve.sources
    assert isinstance(cell, RegretExperiment)
    regret, rounds = store.load(cell, curve.runs), cell.checkpoints()
    for array in (regret, rounds):
        array.flags.writeable = False
    return PlayResult(
        algorithm=name,
        label=curve.label,
        parameters=MappingProxyType(parameters.plain(cell.params)),
        environment=instances.description(cell.environment, cell.instance),
        horizon=cell.horizon,
        seed=cell.seed,
        rounds=rounds,
        regret=regret,
        budget=Budget.spent_by(cell),
        computed=missing,
        provenance=MappingProxyType(
            {**({"key": key(cell)} if is_stored(cell) else {}), **provenance()}
        ),
        _series=series,
    )


class Standing(NamedTuple):
    """Place of an algorithm among those that play the same game with the same budget.

    The private algorithms are compared with the one of them that has the lowest mean; without any
    private one, all are.

    Attributes:
        epsilon: privacy budget of the panel; None if none is given.
        label: name of the algorithm, as in legends.
        regret: mean at the horizon.
        error: standard error of this mean; nan for a single run.
        behind: mean over the runs of the difference from the lowest in the same run; nan if the
            algorithm is not compared.
        behind_error: standard error of this mean difference.
        is_clear: True if it is behind by more than three standard errors, which are not 0.
        privacy: definition of privacy; `not private`, or `not declared` if it takes a budget.
        claimed: epsilon that the paper claims.
        composed: epsilon that the declared releases compose to.
        horizon: T, number of rounds.
    """

    epsilon: float | None
    label: str
    regret: float
    error: float
    behind: float
    behind_error: float
    is_clear: bool
    privacy: str
    claimed: float | None
    composed: float | None
    horizon: int


def standings(spec: FigureSpec, store: Store) -> list[Standing]:
    """Return the standings of every panel, the lowest mean first. The store has the runs."""
    found = []
    for panel in spec.panels:
        played = []
        for curve in panel.curves:
            if isinstance(cell := curve.sources[0], RegretExperiment):
                final = store.load(cell, curve.runs, slice(-1, None))[:, 0]
                played.append((curve.label, cell, final, Budget.spent_by(cell)))
        played.sort(key=lambda entry: float(entry[2].mean()))
        private = [entry for entry in played if entry[3]]
        judged = private or played
        lowest = judged[0][2]
        budgets = [float(c.params.epsilon) for _, c, *_ in played if hasattr(c.params, "epsilon")]
        for entry in played:
            label, cell, final, budget = entry
            behind, error = _mean_and_error(final - lowest)
            kind = budget.notion if budget else "not private"
            found.append(
                Standing(
                    budgets[0] if budgets else None,
                    label,
                    *_mean_and_error(final),
                    *((behind, error) if entry in judged else (math.nan, math.nan)),
                    entry in judged and behind > ERRORS * error > 0,  # without spread: not clear
                    "not declared" if is_undeclared(cell) else kind,
                    budget.claimed if budget else None,
                    budget.composed if budget else None,
                    cell.horizon,
                )
            )
    return found


def _mean_and_error(final: np.ndarray) -> tuple[float, float]:
    # Of shape (runs,). Runs that differ by rounding alone have no spread.
    mean, error = float(final.mean()), math.nan
    if len(final) > 1:
        error = float(final.std(ddof=1)) / math.sqrt(len(final))
        error = error if np.ptp(final) > ROUNDING * abs(final).max() else 0.0
    return mean, error


def verdict(several: Sequence[Standing]) -> str:
    """Return a sentence on the standings of one panel: the lowest mean, and if the runs decide."""
    judged = [place for place in several if not math.isnan(place.behind)]
    best, *rest = judged
    kind = "algorithms" if len(judged) == len(several) else "private algorithms"
    if not rest:
        return f"{best.label} ends at a mean regret of {with_error(best.regret, best.error)}."
    lowest = f"{best.label} has the lowest mean of the {len(judged)} {kind}"
    if math.isnan(best.error):
        return f"{lowest}, but nothing is decided: one run has no standard error."
    near = ", ".join(place.label for place in rest if not place.is_clear)
    if near:
        return f"{lowest}, but it is undecided against {near}."
    return f"{lowest}, by more than {ERRORS} standard errors of the differences of runs."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Regret of several algorithms in one game.

    Attributes:
        epsilons: privacy budgets, in the order given; `(None,)` if there are none.
        plays: results by algorithm and epsilon, `plays["dp-se", 0.1]`. An algorithm that plays with
            several settings has its labels as keys, `plays["AdaP-UCB (alpha=4)", 0.1]`.
        lower_bounds: by epsilon, theorem 3 of azize2022 times log t at the rounds of the plays,
            float64 of shape (checkpoints,), in units of reward; empty if the arms are not
            Bernoulli.
        standings: regret at the horizon and its order, the lowest first, for every epsilon.
        caption: what is drawn, the game, and the claimed and composed budget of every algorithm.
    """

    epsilons: tuple[float | None, ...]
    plays: Mapping[tuple[str, float | None], PlayResult]
    lower_bounds: Mapping[float | None, np.ndarray]
    standings: tuple[Standing, ...]
    caption: str
    _spec: FigureSpec = field(repr=False)
    _series: tuple[Series, ...] = field(repr=False)

    def __repr__(self) -> str:
        labels = ", ".join(dict.fromkeys(play.label for play in self.plays.values()))
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons if epsilon is not None)
        at = f", epsilon={budgets}" if budgets else ""
        first = next(iter(self.plays.values()))
        return f"Comparison({labels}{at}, T={first.horizon:,}, {first.runs:,} runs)"

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One sentence for every epsilon: the lowest regret, and if the runs decide."""
        size = len(self.standings) // len(self.epsilons)
        starts = range(0, len(self.standings), size)
        return tuple(verdict(self.standings[start : start + size]) for start in starts)

    def table(self) -> "DataFrame":
        """Return the standings as a pandas table, one row for every algorithm and epsilon.

        Raises:
            UserError: if pandas is not installed.
        """
        return frame(list(self.standings), columns=list(Standing._fields))

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every epsilon, algorithm, run and checkpoint.

        The columns are epsilon, algorithm, run (from 0), round and regret.

        Raises:
            UserError: if pandas is not installed.
        """
        parts = [play.to_frame().assign(epsilon=e) for (_, e), play in self.plays.items()]
        import pandas

        columns = ["epsilon", "algorithm", "run", "round", "regret"]
        return pandas.concat(parts, ignore_index=True)[columns]

    def plot(self) -> "Figure":
        """Draw the mean regret over the rounds in the house style, one panel for each epsilon.

        Bands are one standard deviation on either side; a dashed line is the lower bound.

        Returns:
            The figure. `figure.axes` are its axes, `figure.savefig("comparison.pdf")` writes it.
        """
        from dpbandits.api.figures import draw_figure

        return draw_figure(self._spec, self._series)


def compare(
    algorithms: Sequence[Any],
    *,
    environment: str | Mapping[str, Any] | None = None,
    means: Sequence[float] | np.ndarray | None = None,
    epsilon: float | Sequence[float] | None = 1.0,
    delta: float | None = None,
    horizon: int | None = None,
    runs: int = 100,
    seed: int | None = None,
    grid: str = "linear",
    workers: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Play several algorithms in one game and order them by their regret.

    The runs are those of figures and of `play`, and share their store.

    Args:
        algorithms: each a name, an algorithm of this process, or a pair of either with parameters,
            such as `("adap-klucb", {"alpha": 4})`. Those that are not private ignore epsilon.
        environment: name or law with its parameters, as for `play`.
        means: means of Bernoulli arms, each in [0, 1], in place of the environment.
        epsilon: privacy budget, or several, each with a panel of its own.
        delta: delta of the algorithms that have one; None: their own default.
        horizon: T, number of rounds; must be given.
        runs: number of independent runs of every algorithm.
        seed: root of all random streams; None selects that of conf/config.yaml.
        grid: checkpoints, as for `play`.
        workers: number of threads; None: all cores.
        progress: show the progress.

    Returns:
        The results, with the lower bound, the order and a verdict.

    Raises:
        UserError: for an unknown name, an invalid value, an algorithm that is named twice with the
            same parameters, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> result = dp.compare(
        ...     ["dp-se", "adap-klucb"], means=[0.9, 0.5], epsilon=[0.5, 1], horizon=1000, runs=5
        ... )
        >>> result.epsilons
        (0.5, 1.0)
        >>> result.plays["dp-se", 1.0].regret.shape[0]
        5
        >>> len(result.standings), len(result.verdicts)
        (4, 2)
    """
    settings, seed = settings_of("compare", workers, seed)
    several: Any = epsilon if np.ndim(epsilon) else [epsilon]  # type: ignore[arg-type]
    budgets = () if epsilon is None else tuple(several)
    players = players_of(algorithms)
    values = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": grid, "delta": delta}
    game = Game(environment, means, values)
    spec = specification("compare", players, budgets, game, bounds=True)
    store, missing = computed(spec, settings, progress)
    series = {(curve.panel, curve.label): curve for curve in summarise(spec, store)}
    epsilons = tuple(float(budget) for budget in budgets) or (None,)
    plays, bounds = {}, {}
    for panel, budget in zip(spec.panels, epsilons, strict=True):
        for entry, curve in zip(players, panel.curves, strict=False):
            summary = series[panel.letter, curve.label]
            plays[entry.curve, budget] = _result(entry.name, curve, summary, store, missing)
        if isinstance(source := panel.curves[-1].sources[0], Formula):
            bound, arguments = theory.function(source.function), source.arguments()
            rounds = plays[players[0].curve, budget].rounds
            bounds[budget] = np.array([bound(**arguments | {"horizon": int(t)}) for t in rounds])
    return Comparison(
        epsilons=epsilons,
        plays=MappingProxyType(plays),
        lower_bounds=MappingProxyType(bounds),
        standings=tuple(standings(spec, store)),
        caption=caption(spec),
        _spec=spec,
        _series=tuple(series.values()),
    )
