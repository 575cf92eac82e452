"""`play`: the regret of one algorithm in one game, run by run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits.api import budgets, tables
from dpbandits.api.budgets import Budget
from dpbandits.api.computing import computed, settings_of
from dpbandits.api.described import Request, specification
from dpbandits.api.players import player
from dpbandits.cells.bandit_cell import Cell
from dpbandits.checks.comparisons import plain
from dpbandits.config import instances
from dpbandits.core import parameters
from dpbandits.curves import statistics
from dpbandits.curves.series import Series, summarise
from dpbandits.files.provenance import provenance
from dpbandits.run.in_memory import MemoryCell
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.identity import key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
        return tables.quantiles(self.regret, q)

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every run and checkpoint.

        The columns are algorithm, run (from 0), round and regret.

        Raises:
            UserError: if pandas is not installed.
        """
        return tables.of_runs(self.label, self.rounds, self.regret)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the mean regret over the rounds, with a band of one standard deviation.

        Args:
            ax: axes of matplotlib; None creates a figure in the house style.

        Returns:
            The axes. `ax.figure.savefig("regret.pdf")` writes the picture.
        """
        from dpbandits.api import pictures

        return pictures.of_play(self._series, ax)


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
    own = player(algorithm, parameters)
    asked = Request("play", [own], environment, means, (), None, horizon, runs, seed, grid)
    spec = specification(asked, with_bound=False)
    done = computed(spec, settings, progress)
    (series,) = summarise(spec, done.store)
    return result_of(spec, spec.panels[0].curves[0], series, done.store, done.runs)


def result_of(
    spec: FigureSpec, curve: Curve, series: Series, store: Store, missing: int
) -> PlayResult:
    """Return the runs of a curve over time as a result."""
    (cell,) = curve.sources
    assert isinstance(cell, Cell)
    regret = store.load(cell, curve.runs)
    rounds = cell.checkpoints()
    for array in (regret, rounds):
        array.flags.writeable = False
    stored = {} if isinstance(cell, MemoryCell) else {"key": key(cell)}
    return PlayResult(
        algorithm=curve.name,
        label=curve.label,
        parameters=MappingProxyType(parameters.plain(cell.params)),
        environment=instances.description(cell.environment, cell.instance),
        horizon=cell.horizon,
        seed=cell.seed,
        rounds=rounds,
        regret=regret,
        budget=budgets.of_cell(cell),
        computed=missing,
        provenance=MappingProxyType({**stored, **provenance()}),
        _series=series,
    )
