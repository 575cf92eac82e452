"""`play` and `compare`: the regret of one algorithm or of several in one game, run by run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits import theory
from dpbandits.api.arguments import Player, as_configured, player, players_of, specification
from dpbandits.api.figure_results import computed, draw_figure, frame
from dpbandits.api.privacy_results import Budget
from dpbandits.api.standings import Standing, Uncertainty, to_csv, to_latex, verdict
from dpbandits.checks.comparisons import ERRORS, ROUNDING, with_error
from dpbandits.config import instances
from dpbandits.drawing import plotting, shapes
from dpbandits.environments._recorded import Recorded
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.regret import Game
from dpbandits.factory.captions import caption, order_of_arms
from dpbandits.files.provenance import provenance
from dpbandits.kernel import parameters
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.privacy.notions import budget_of
from dpbandits.run.user_algorithms import is_stored
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.key import key
from dpbandits.tables import statistics
from dpbandits.tables.series import Series, summarise

STANDARD_ERROR, CONFIDENCE = "standard-error", statistics.CONFIDENCE


@dataclass(frozen=True, eq=False, repr=False)
class PlayResult:
    """Regret of the runs of an algorithm.

    `rounds` are the checkpoints, int64 of shape (checkpoints,), up to the horizon T. `regret` is
    cumulative, in units of reward, float64 of shape (runs, checkpoints): the pseudo-regret, which
    is the sum of the gaps of the arms pulled so far; on a table of gains, the realised regret
    against the best arm in hindsight. `mean`, `std` (divisor runs - 1; 0 for a single run) and
    `standard_error` are over the runs, of shape (checkpoints,). The arrays cannot be written.

    `label` is the name in legends, `seed` the root of all random streams, `budget` None for an
    algorithm that is not private, and `computed` the number of runs that were missing in the store.
    `provenance` has the key of the experiment, the revision, versions and the machine.
    """

    algorithm: str
    label: str
    parameters: Mapping[str, Any]
    environment: str
    horizon: int
    seed: int
    rounds: np.ndarray
    regret: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    standard_error: np.ndarray
    budget: Budget | None
    computed: int
    provenance: Mapping[str, Any]
    _series: Series
    _experiment: Any

    def __repr__(self) -> str:
        runs, final = len(self.regret), with_error(self.mean[-1], self.standard_error[-1])
        return f"PlayResult({self.label}, T={self.horizon:,}, {runs:,} runs, mean {final})"

    def quantiles(self, q: float | Sequence[float] = (0.25, 0.5, 0.75)) -> np.ndarray:
        """Return quantiles over the runs, (checkpoints,), or (len(q), checkpoints) for several."""
        return np.quantile(self.regret, q, axis=0)

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Return the ends of Student's t interval for the mean regret, (2, checkpoints).

        It takes the mean of the runs as normal: few runs of a skewed regret have a wider one.
        """
        return np.array(statistics.interval_of_mean(self.regret, level))

    def pulls(self) -> np.ndarray:
        """Play all runs once more and return the pulls of each arm, int64 of shape (runs, arms).

        Raises UserError if a run has another regret, as after the algorithm was changed.
        """
        game = Game(self._experiment)
        bandits = [game.play(run) for run in range(len(self.regret))]
        if not np.array_equal([bandit.curve for bandit in bandits], self.regret):
            raise UserError(f"{self.label} has changed since these runs were played: play again")
        return np.array([bandit.pulls for bandit in bandits])

    def record(self, run: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Play one run anew; return its arms, int64 (T,), and its rewards, float64 (T,).

        Arms count from 0. A batch of pulls has no single rewards, so they are drawn one by one:
        after the first batch, the record is of another run with the same distribution. Raises
        UserError if the result has no such run.
        """
        if run not in range(len(self.regret)):
            runs = f"runs 0 to {len(self.regret) - 1}"
            raise UserError(f"record: {self.label} has {runs}, got {shown(run)}")
        arms, rewards = np.zeros(self.horizon, np.int64), np.zeros(self.horizon)
        Game(self._experiment).play(run, around=lambda law: Recorded(law, arms, rewards))
        return arms, rewards

    def to_frame(self) -> Any:
        """Return a tidy pandas table with the columns algorithm, run (from 0), round and regret.

        Raises UserError if pandas is not installed.
        """
        run, i = np.indices(self.regret.shape).reshape(2, -1)
        columns = {"run": run, "round": self.rounds[i], "regret": self.regret.ravel()}
        return frame({"algorithm": self.label, **columns})

    def plot(
        self, ax: Axes | None = None, spread: str = STANDARD_ERROR, level: float = statistics.LEVEL
    ) -> Axes:
        """Draw the mean regret over the rounds, with a band; `spread` is as in a figure's file.

        `level` belongs to `spread="confidence"`. Returns the axes, of a new figure if none are
        given. The user's style of matplotlib takes precedence over the house's. Raises UserError
        for an unknown spread, or too few runs.
        """
        series = self._with_band("mean", spread, level)
        with plotting.house_style(None, plotting.user_settings()):
            if ax is None:
                _, ax = pyplot.subplots(layout="constrained")
            _draw_on(ax, [series])
        return ax

    def _with_band(self, centre: str, spread: str, level: float) -> Series:
        if spread not in statistics.SPREAD_NAMES:
            near = nearest(str(spread), statistics.SPREAD_NAMES)
            raise UserError(f"plot: unknown spread {shown(spread)}; {near}")
        why = statistics.lacking(centre, level, len(self.regret), self.label)
        if spread == CONFIDENCE and why:
            raise UserError(f"plot: {why}")
        line, low, high = statistics.band(self.regret, centre, spread, level)
        return replace(self._series, centre=line, low=low, high=high)


def _draw_on(ax: Axes, series: Iterable[Series]) -> None:
    shapes.draw_all_over_time(ax, plotting.PanelDrawing("a", "", tuple(series)))
    ax.set(xlabel="Round $t$", ylabel="Regret")
    ax.legend()


def play(
    algorithm: Any,
    *,
    environment: Any = None,
    means: Any = None,
    horizon: int | None = None,
    runs: int = 100,
    seed: int | None = None,
    checkpoints: str | Sequence[int] = "linear",
    clipped: bool | None = None,
    workers: int | None = None,
    progress: bool = True,
    **parameters: Any,
) -> PlayResult:
    """Play an algorithm and return the regret of every run, with its statistics.

    The runs are those of figures: the same algorithm, parameters, game, checkpoints and seed share
    the blocks of the store, and only missing runs are computed.

    Args:
        algorithm: name of an algorithm or of a file in conf/algorithm/; `dpbandits list` prints all
            names. Or a function `play(params, bandit, rng)`, or an object with `play` and, if
            needed, `LABEL`, `Params`, `releases` and `guarantee`, whose runs stay in memory.
        environment: name of a file in conf/environment/, such as "c2", or the path of any such
            file; or one with its parameters, such as `{"family": "beta", "means": [0.7, 0.4]}`. The
            family may be an object with `Params`, `arms` and `law`, whose runs stay in memory.
        means: means of Bernoulli arms, each in [0, 1], in place of the environment; or a column of
            a table, "rates.csv:ctr", also by its number, "rates.csv:2".
        horizon: T, number of rounds, at least the number of arms; must be given.
        runs: number of independent runs.
        seed: root of all random streams; None selects that of conf/config.yaml.
        checkpoints: "linear", 200 steps; "log", 24 a factor of 10; "end", only T; or a list of
            rounds, to which T is added.
        clipped: True clips rewards to the range that the releases of the algorithm assume; False
            plays rewards beyond it as they are, without a guarantee. None refuses such a game.
        workers: number of threads; None: all cores.
        progress: show a progress bar on a terminal, or lines elsewhere.
        **parameters: parameters of the algorithm, such as epsilon.

    Raises UserError for an unknown name, an invalid value, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> game = {"means": [0.5, 0.75], "horizon": 100, "runs": 2, "checkpoints": "end"}
        >>> dp.play("adap-ucb", epsilon=1.0, **game).regret.shape
        (2, 1)
    """
    values = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": checkpoints}
    values["workers"], entries = workers, [player(algorithm, parameters)]
    form = {} if clipped is None else {"clipped": clipped}
    spec, settings = specification("play", entries, (), (environment, means), values, form=form)
    result = comparison(spec, entries, (), *computed(spec, settings, progress))
    return result.plays[entries[0].curve, None]


def privacy_of(parameters: Mapping[str, Any], budget: Budget | None) -> str:
    """Return the definition of privacy of a result with its delta, or that there is none."""
    if budget is None:
        return "not declared" if budget_of(parameters) else "not private"
    return f"{budget.notion} at δ = {budget.delta:.3g}".removesuffix(" at δ = 0")


def origin_of(experiment: Experiment) -> Mapping[str, Any]:
    """Return the key of an experiment, if it is stored, with revision, versions and machine."""
    return {**({"key": key(experiment)} if is_stored(experiment) else {}), **provenance()}


def standings(epsilon: float | None, plays: Iterable[PlayResult]) -> list[Standing]:
    """Return the standings of results that share an epsilon, the lowest mean first.

    Those of one definition of privacy follow one another.
    """
    groups = dict[str, list[PlayResult]]()
    for play in sorted(plays, key=lambda play: float(play.mean[-1])):
        unmet = kinds.words(play._experiment).unmet
        privacy = "no guarantee" if unmet else privacy_of(play.parameters, play.budget)
        groups.setdefault(privacy, []).append(play)
    rows = []
    for privacy, group in groups.items():
        for play in group:
            final, with_errors = play.regret[:, -1], list[tuple[float, float]]()
            for values in (final, final - group[0].regret[:, -1]):
                # Runs that differ by rounding alone have no spread, a single one has no error.
                error = math.nan
                if len(values) > 1:
                    is_equal = np.ptp(values) <= ROUNDING * abs(values).max()
                    error = 0.0 if is_equal else float(values.std(ddof=1)) / math.sqrt(len(values))
                with_errors.append((float(values.mean()), error))
            behind, error = with_errors[1] if len(group) > 1 else (math.nan, math.nan)
            is_clear = behind > ERRORS * error > 0  # without any spread nothing is clear
            row = epsilon, play.label, *with_errors[0], behind, error, is_clear, privacy
            spent = (play.budget.claimed, play.budget.composed) if play.budget else (None, None)
            rows.append(Standing(*row, *spent))
    return rows


class Plays(dict[tuple[str, float | None], PlayResult]):
    """Results by algorithm and epsilon, or by the algorithm alone if it plays with one epsilon."""

    def __getitem__(self, key: str | tuple[str, float | None]) -> PlayResult:
        """Return a result. Raises UserError for any other key."""
        matching = [valid for valid in self if key in (valid, valid[0])]
        if len(matching) != 1:
            valid = ", ".join(map(repr, matching or self))
            raise UserError(f"plays: {shown(key)} is no key; valid: {valid}")
        return super().__getitem__(matching[0])


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Regret of several algorithms in one game.

    `plays` holds the results by algorithm and epsilon, `plays["dp-se", 0.1]`, with a single epsilon
    also by the algorithm alone. An algorithm that plays with several settings has its labels as
    keys, `plays["AdaP-UCB (alpha=4)", 0.1]`.
    `lower_bounds` are, by epsilon, Theorem 3 of azize2022 times log t at the rounds of the plays,
    float64 of shape (checkpoints,), in units of reward; empty if the arms are not Bernoulli.
    For each of the epsilons, in the order given, there are `standings`, the lowest regret of each
    definition of privacy first, and a verdict: on the lowest regrets and whether the runs decide.
    Without a budget, the only epsilon is None. `remarks` name the algorithms that the order of the
    arms favours, if there are any: those that pull the first arm when nothing tells the arms apart.
    """

    epsilons: tuple[float | None, ...]
    plays: Plays
    lower_bounds: Mapping[float | None, np.ndarray]
    standings: tuple[Standing, ...]
    verdicts: tuple[str, ...]
    remarks: tuple[str, ...]
    caption: str
    _spec: FigureSpec
    _series: tuple[Series, ...]

    def __repr__(self) -> str:
        return "\n".join([*self.verdicts, *self.remarks])

    def table(self) -> Any:
        """Return the standings as a pandas table, one row for every algorithm and epsilon."""
        return frame(list(self.standings), Standing._fields)

    def latex(self, spread: str = STANDARD_ERROR, level: float = statistics.LEVEL) -> str:
        """Return the standings as a table of LaTeX, with the rules of booktabs.

        A plus-minus sign stands before standard errors, or before half of the Student's t interval
        at `level` for `spread="confidence"`. Raises UserError for another spread.
        """
        command = f"dpbandits, {self._spec.title}, T = {self._horizon:,}"
        return to_latex(self.standings, self._uncertainty(spread, level), command)

    def csv(self, spread: str = STANDARD_ERROR, level: float = statistics.LEVEL) -> bytes:
        """Return the table of `latex` as CSV in UTF-8."""
        return to_csv(self.standings, self._uncertainty(spread, level))

    @property
    def _horizon(self) -> int:
        return next(iter(self.plays.values())).horizon

    def _uncertainty(self, spread: str, level: float) -> Uncertainty:
        if spread not in (STANDARD_ERROR, CONFIDENCE):
            valid = f"valid: {STANDARD_ERROR}, {CONFIDENCE}"
            raise UserError(f"a table has no spread {shown(spread)}; {valid}")
        return Uncertainty(self._spec.runs, level if spread == CONFIDENCE else None)

    def _repr_html_(self) -> str | None:
        # Notebooks show the text of `repr` if this is None.
        with suppress(UserError):
            texts = (*self.verdicts, *self.remarks)
            verdicts = "".join(f"<p>{escape(text)}</p>" for text in texts)
            return f"{self.table().to_html(index=False, float_format='%.4g', na_rep='')}{verdicts}"
        return None

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        spread: str | None = None,
        level: float = statistics.LEVEL,
    ) -> Figure:
        """Draw the mean regret over the rounds, one panel for each epsilon, and the lower bound.

        Bands are one standard error on either side, or another `spread` of a figure's file, such
        as "confidence" at a `level`. Given axes, one for each epsilon, are drawn on, and their
        figure is returned. Raises UserError for an unknown spread, or too few runs.
        """
        curves = self._series
        if spread is not None:
            centre = self._spec.centre
            banded = [play._with_band(centre, spread, level) for play in self.plays.values()]
            again = {(curve.panel, curve.label): curve for curve in banded}
            curves = tuple(again.get((curve.panel, curve.label), curve) for curve in curves)
        if ax is None:
            return draw_figure(self._spec, curves)
        axes = np.atleast_1d(np.asarray(ax, object)).ravel()
        if len(axes) != len(self.epsilons):
            raise UserError(f"plot: give an axes for each of {len(self.epsilons)} epsilons")
        for panel_axes, panel in zip(axes, self._spec.panels, strict=True):
            _draw_on(panel_axes, (curve for curve in curves if curve.panel == panel.letter))
            panel_axes.set_title(panel.title)
        return axes[0].figure


def compare(
    algorithms: Iterable[Any],
    *,
    environment: Any = None,
    means: Any = None,
    epsilon: float | Iterable[float] | None = 1.0,
    delta: float | None = None,
    horizon: int | None = None,
    runs: int = 100,
    seed: int | None = None,
    checkpoints: str | Sequence[int] = "linear",
    clipped: bool | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Play several algorithms in one game and order them by their regret.

    The algorithms are as for `play`, or each a pair with parameters, such as
    `("adap-klucb", {"alpha": 4})`. Each epsilon has a panel of its own; algorithms that are not
    private ignore it. `delta` is that of the algorithms that have one; None: their own default. All
    other arguments and the runs are those of `play`.

    Raises UserError for an unknown name, an invalid value, an algorithm that is named twice with
    the same parameters, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.compare(["dp-se", "ucb"], means=[0.9, 0.5], horizon=1000, runs=5)
        >>> found.plays["dp-se", 1.0].regret.shape[0], len(found.standings)
        (5, 2)
    """
    asked = np.asarray([] if epsilon is None else as_configured(epsilon), object)
    budgets = tuple(np.atleast_1d(asked))
    values: dict[str, Any] = {"horizon": horizon, "runs": runs, "seed": seed, "delta": delta}
    values |= {"checkpoints": checkpoints, "workers": workers}
    entries = players_of(algorithms)
    game, form = (environment, means), {} if clipped is None else {"clipped": clipped}
    spec, settings = specification("compare", entries, budgets, game, values, form=form)
    return comparison(spec, entries, budgets, *computed(spec, settings, progress))


def comparison(
    spec: FigureSpec, players: Sequence[Player], budgets: Sequence[Any], store: Store, missing: int
) -> Comparison:
    """Return the results of a figure of `specification`, whose runs are in the store."""
    series, plays, bounds, tables = summarise(spec, store), Plays(), {}, list[list[Standing]]()
    summaries = {(curve.panel, curve.label): curve for curve in series}
    epsilons = tuple(map(float, budgets)) or (None,)
    for panel, epsilon in zip(spec.panels, epsilons, strict=True):
        for entry, curve in zip(players, panel.curves, strict=False):  # a bound comes last
            (experiment,), summary = curve.sources, summaries[panel.letter, curve.label]
            regret, rounds = store.load(experiment, curve.runs), experiment.checkpoints()
            arrays = rounds, regret, summary.mean, summary.std, summary.std / math.sqrt(curve.runs)
            for array in arrays:
                array.flags.writeable = False
            plays[entry.curve, epsilon] = PlayResult(
                entry.name,
                curve.label,
                parameters.as_json(experiment.params),
                kinds.setting(experiment, instances.description),
                int(rounds[-1]),
                experiment.seed,
                *arrays,
                Budget.of_experiment(experiment),
                missing,
                origin_of(experiment),
                summary,
                experiment,
            )
        tables.append(standings(epsilon, [plays[entry.curve, epsilon] for entry in players]))
        if not (source := panel.curves[-1].sources[0]).columns:
            bound, arguments = theory.function(source.member), kinds.words(source).arguments
            horizons = map(int, plays[players[0].curve, epsilon].rounds)
            bounds[epsilon] = np.array([bound(**{**arguments, "horizon": t}) for t in horizons])
    return Comparison(
        epsilons,
        plays,
        bounds,
        tuple(standing for table in tables for standing in table),
        tuple(verdict(table, spec.runs) for table in tables),
        tuple(statement.text for statement in order_of_arms(spec)),
        caption(spec),
        spec,
        tuple(series),
    )
