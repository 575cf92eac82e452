"""`play` and `compare`: the regret of one algorithm or of several in one game, run by run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpbandits import theory
from dpbandits.api.arguments import Player, frame, played, player, players_of
from dpbandits.api.budgets import Budget
from dpbandits.checks.comparisons import ERRORS, ROUNDING, with_error
from dpbandits.config import instances
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, shown
from dpbandits.factory.captions import caption
from dpbandits.files.provenance import provenance
from dpbandits.privacy.notions import budget_of
from dpbandits.run.user_algorithms import is_stored
from dpbandits.spec.figure import FigureSpec
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
        final = with_error(self.mean[-1], self.standard_error[-1])
        return f"PlayResult({self.label}, T={self.horizon:,}, {self.runs:,} runs, mean {final})"

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

        `q` is a probability, for a result of shape (checkpoints,), or several, for (len(q),
        checkpoints). Raises UserError if one is not in [0, 1].
        """
        try:
            result: np.ndarray = np.quantile(self.regret, q, axis=0)
        except (TypeError, ValueError):
            raise UserError(f"quantiles: q must be in [0, 1], got {shown(q)}") from None
        return result

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every run and checkpoint.

        The columns are algorithm, run (from 0), round and regret. Raises UserError if pandas is
        not installed.
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

        `ax`: axes of matplotlib; None creates a figure in the house style. Returns the axes:
        `ax.figure.savefig("regret.pdf")` writes the picture.
        """
        from dpbandits.api.figure_results import draw_curve

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
    """Play an algorithm and return the regret of every run, with its statistics.

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

    Raises UserError for an unknown name, an invalid value, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> result = dp.play(
        ...     "adap-ucb", epsilon=1.0, means=[0.9, 0.5], horizon=1000, runs=5, seed=1
        ... )
        >>> result.regret.shape == (5, len(result.rounds))
        True

        An algorithm of this process:

        >>> from dpbandits.core.bandit import playing, pull
        >>> def always_first(params, bandit, rng):
        ...     while playing(bandit):
        ...         pull(bandit, 0)
        >>> dp.play(always_first, means=[0.5, 0.75], horizon=100, runs=2).mean[-1]
        np.float64(25.0)
    """
    values = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": grid}
    entries, game = [player(algorithm, parameters)], (environment, means)
    spec, store, missing = played("play", entries, (), game, values, workers, progress)
    (result,) = _plays(spec, entries, (None,), store, missing).values()
    return result


def _plays(
    spec: FigureSpec,
    entries: Sequence[Player],
    epsilons: Sequence[float | None],
    store: Store,
    missing: int,
) -> dict[tuple[str, float | None], PlayResult]:
    # The results by the names of the curves and the epsilons of the panels.
    series = {(curve.panel, curve.label): curve for curve in summarise(spec, store)}
    plays = {}
    for panel, epsilon in zip(spec.panels, epsilons, strict=True):
        for entry, curve in zip(entries, panel.curves, strict=False):  # a bound comes last
            (cell,) = curve.sources
            regret, rounds = store.load(cell, curve.runs), cell.checkpoints()
            regret.flags.writeable = rounds.flags.writeable = False
            keys = {"key": key(cell)} if is_stored(cell) else {}
            plays[entry.curve, epsilon] = PlayResult(
                algorithm=entry.name,
                label=curve.label,
                parameters=MappingProxyType(parameters.plain(cell.params)),
                environment=cell.setting(instances.description),
                horizon=int(rounds[-1]),
                seed=cell.seed,
                rounds=rounds,
                regret=regret,
                budget=Budget.spent_by(cell),
                computed=missing,
                provenance=MappingProxyType(keys | provenance()),
                _series=series[panel.letter, curve.label],
            )
    return plays


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


def standings(epsilon: float | None, plays: Iterable[PlayResult]) -> list[Standing]:
    """Return the standings of results that share an epsilon, the lowest mean first."""
    ordered = sorted(plays, key=lambda play: float(play.mean[-1]))
    judged = [play for play in ordered if play.budget] or ordered
    found = []
    for play in ordered:
        final, behind, error = play.regret[:, -1], math.nan, math.nan
        if play in judged:
            behind, error = _mean_and_error(final - judged[0].regret[:, -1])
        is_clear = behind > ERRORS * error > 0  # without any spread nothing is clear
        row = (epsilon, play.label, *_mean_and_error(final), behind, error, is_clear)
        if budget := play.budget:
            found.append(Standing(*row, budget.notion, budget.claimed, budget.composed))
        else:
            undeclared = budget_of(tuple(play.parameters)) is not None
            found.append(
                Standing(*row, "not declared" if undeclared else "not private", None, None)
            )
    return found


def _mean_and_error(final: np.ndarray) -> tuple[float, float]:
    # Of shape (runs,). Runs that differ by rounding alone have no spread.
    mean, error = float(final.mean()), math.nan
    if len(final) > 1:
        error = float(final.std(ddof=1)) / math.sqrt(len(final))
        error = error if np.ptp(final) > ROUNDING * abs(final).max() else 0.0
    return mean, error


def verdict(panel: Sequence[Standing]) -> str:
    """Return a sentence on the standings of one panel: the lowest mean, and if the runs decide."""
    best, *rest = judged = [place for place in panel if not math.isnan(place.behind)]
    if not rest:
        return f"{best.label} ends at a mean regret of {with_error(best.regret, best.error)}."
    kind = "algorithms" if len(judged) == len(panel) else "private algorithms"
    lowest = f"{best.label} has the lowest mean of the {len(judged)} {kind}"
    if math.isnan(best.error):
        return f"{lowest}, but nothing is decided: one run has no standard error."
    if near := ", ".join(place.label for place in rest if not place.is_clear):
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
        verdicts: one sentence for every epsilon: the lowest regret, and if the runs decide.
        caption: what is drawn, the game, and the claimed and composed budget of every algorithm.
    """

    epsilons: tuple[float | None, ...]
    plays: Mapping[tuple[str, float | None], PlayResult]
    lower_bounds: Mapping[float | None, np.ndarray]
    standings: tuple[Standing, ...]
    verdicts: tuple[str, ...]
    caption: str
    _spec: FigureSpec = field(repr=False)
    _series: tuple[Series, ...] = field(repr=False)

    def __repr__(self) -> str:
        labels = ", ".join(dict.fromkeys(play.label for play in self.plays.values()))
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons if epsilon is not None)
        at = f", epsilon={budgets}" if budgets else ""
        first = next(iter(self.plays.values()))
        return f"Comparison({labels}{at}, T={first.horizon:,}, {first.runs:,} runs)"

    def table(self) -> "DataFrame":
        """Return the standings as a pandas table, one row for every algorithm and epsilon."""
        return frame(list(self.standings), Standing._fields)

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every epsilon, algorithm, run and checkpoint.

        The columns are epsilon, algorithm, run (from 0), round and regret.
        """
        parts = [play.to_frame().assign(epsilon=e) for (_, e), play in self.plays.items()]
        import pandas

        columns = ["epsilon", "algorithm", "run", "round", "regret"]
        return pandas.concat(parts, ignore_index=True)[columns]

    def plot(self) -> "Figure":
        """Draw the mean regret over the rounds in the house style, one panel for each epsilon.

        Bands are one standard deviation on either side; a dashed line is the lower bound. Returns
        the figure: `figure.axes` are its axes, `figure.savefig("comparison.pdf")` writes it.
        """
        from dpbandits.api.figure_results import draw_figure

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

    The runs are those of figures and of `play`, and share their store. The environment, means,
    seed, grid, workers and progress are those of `play`.

    Args:
        algorithms: each a name, an algorithm of this process, or a pair of either with parameters,
            such as `("adap-klucb", {"alpha": 4})`. Those that are not private ignore epsilon.
        epsilon: privacy budget, or several, each with a panel of its own.
        delta: delta of the algorithms that have one; None: their own default.
        horizon: T, number of rounds; must be given.
        runs: number of independent runs of every algorithm.

    Raises UserError for an unknown name, an invalid value, an algorithm that is named twice with
    the same parameters, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> result = dp.compare(
        ...     ["dp-se", "adap-klucb"], means=[0.9, 0.5], epsilon=[0.5, 1], horizon=1000, runs=5
        ... )
        >>> result.plays["dp-se", 1.0].regret.shape[0]
        5
        >>> len(result.standings), len(result.verdicts)
        (4, 2)
    """
    budgets = () if epsilon is None else tuple(np.atleast_1d(np.asarray(epsilon, object)))
    values = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": grid, "delta": delta}
    entries, game = players_of(algorithms), (environment, means)
    spec, store, missing = played("compare", entries, budgets, game, values, workers, progress)
    return comparison(spec, entries, budgets, store, missing)


def comparison(
    spec: FigureSpec, entries: Sequence[Player], budgets: Sequence[Any], store: Store, missing: int
) -> Comparison:
    """Return the results of a figure of `specification`, whose runs are in the store."""
    epsilons = tuple(map(float, budgets)) or (None,)
    plays = _plays(spec, entries, epsilons, store, missing)
    bounds, places = {}, []
    for panel, epsilon in zip(spec.panels, epsilons, strict=True):
        of_panel = [plays[entry.curve, epsilon] for entry in entries]
        places.append(standings(epsilon, of_panel))
        source = panel.curves[-1].sources[0]
        if not source.columns:
            bound, arguments = theory.function(source.member), source.arguments()
            rounds = map(int, of_panel[0].rounds)
            bounds[epsilon] = np.array([bound(**arguments | {"horizon": t}) for t in rounds])
    return Comparison(
        epsilons=epsilons,
        plays=MappingProxyType(plays),
        lower_bounds=MappingProxyType(bounds),
        standings=tuple(place for panel in places for place in panel),
        verdicts=tuple(map(verdict, places)),
        caption=caption(spec),
        _spec=spec,
        _series=tuple(summarise(spec, store)),
    )
