"""`compare`: several algorithms in one game, at one or several privacy budgets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits import theory
from dpbandits.api import standings, tables
from dpbandits.api.computing import computed, settings_of
from dpbandits.api.described import Request, specification
from dpbandits.api.players import Player, player
from dpbandits.api.plays import PlayResult, result_of
from dpbandits.api.standings import Standing
from dpbandits.api.verdict import verdict
from dpbandits.core.errors import UserError, shown
from dpbandits.curves.series import Series, summarise
from dpbandits.factory.captions import caption
from dpbandits.spec.figure import Bound, FigureSpec, Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


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
        standings: regret at the horizon with ranks and errors, the lowest first, for every epsilon.
        verdicts: one sentence for every epsilon: the lowest regret, by how much, and if decided.
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
        labels = ", ".join(dict.fromkeys(each.label for each in self.plays.values()))
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons if epsilon is not None)
        at = f", epsilon={budgets}" if budgets else ""
        first = self.standings[0]
        return f"Comparison({labels}{at}, T={first.horizon:,}, {first.runs:,} runs)"

    def table(self) -> "DataFrame":
        """Return the standings as a pandas table, one row for every algorithm and epsilon.

        The columns are the attributes of `Standing`, with the claimed and the composed epsilon in
        place of the budget.

        Raises:
            UserError: if pandas is not installed.
        """
        rows = []
        for standing in self.standings:
            row = {key: value for key, value in asdict(standing).items() if key != "budget"}
            own = standing.budget
            row["claimed"] = own.claimed if own else None
            row["composed"] = own.composed if own else None
            rows.append(row)
        return tables.frame(rows)

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table with one row for every epsilon, algorithm, run and checkpoint.

        The columns are epsilon, algorithm, run (from 0), round and regret.

        Raises:
            UserError: if pandas is not installed.
        """
        parts = [
            play.to_frame().assign(epsilon=epsilon) for (_, epsilon), play in self.plays.items()
        ]
        return tables.joined(parts)[["epsilon", "algorithm", "run", "round", "regret"]]

    def plot(self) -> "Figure":
        """Draw the mean regret over the rounds in the house style, one panel for each epsilon.

        Bands are one standard deviation on either side; a dashed line is the lower bound.

        Returns:
            The figure. `figure.axes` are its axes, `figure.savefig("comparison.pdf")` writes it.
        """
        from dpbandits.api import pictures

        return pictures.of_figure(self._spec, self._series)


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
    """Play several algorithms in one game and rank them.

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
        The results, with the lower bound, the ranks and a verdict.

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
    players = players_of(algorithms)
    budgets = _budgets(epsilon)
    asked = Request(
        "compare", players, environment, means, budgets, delta, horizon, runs, seed, grid
    )
    spec = specification(asked, with_bound=True)
    done = computed(spec, settings, progress)
    series = tuple(summarise(spec, done.store))
    of_panels = standings.of_figure(spec, series, done.store)
    epsilons = tuple(float(e) for e in budgets) or (None,)
    by_place = {(each.panel, each.label): each for each in series}
    variants = {each.name: each.variant_of for each in players if each.variant_of}
    plays = {
        (curve.label if curve.name in variants else curve.name, epsilon): replace(
            result_of(spec, curve, by_place[panel.letter, curve.label], done.store, done.runs),
            algorithm=variants.get(curve.name, curve.name),
        )
        for panel, epsilon in zip(spec.panels, epsilons, strict=True)
        for curve in panel.curves
        if not isinstance(curve.sources[0], Bound)
    }
    rounds = next(iter(plays.values())).rounds
    bounds = {
        epsilon: bound
        for panel, epsilon in zip(spec.panels, epsilons, strict=True)
        if (bound := _bound_at(panel, rounds)) is not None
    }
    return Comparison(
        epsilons=epsilons,
        plays=MappingProxyType(plays),
        lower_bounds=MappingProxyType(bounds),
        standings=tuple(each for panel in of_panels for each in panel),
        verdicts=tuple(map(verdict, of_panels)),
        caption=caption(spec),
        _spec=spec,
        _series=series,
    )


def players_of(algorithms: Sequence[Any]) -> list[Player]:
    """Return the algorithms of a comparison, with the parameters that are set in their labels.

    Algorithms of one name also have them in the name.
    Raises UserError if there are none, or for an invalid one.
    """
    if isinstance(algorithms, str) or not algorithms:
        raise UserError(f"compare: give a list of algorithms, got {shown(algorithms)}")
    players = [player(*entry) if _is_pair(entry) else player(entry, {}) for entry in algorithms]
    names = [each.name for each in players]
    return [
        _labelled(each, names.count(each.name) > 1) if each.settings else each for each in players
    ]


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)


def _labelled(each: Player, is_variant: bool) -> Player:
    words = ", ".join(f"{key}={_word(value)}" for key, value in each.settings.items())
    made = replace(each, curve={**each.curve, "label": f"{each.label} ({words})"})
    if not is_variant:
        return made
    # The name is a key of the figure, in which a dot would separate levels.
    name = f"{each.name} ({words})".replace(".", ",")
    return replace(made, name=name, variant_of=each.name)


def _word(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _budgets(epsilon: Any) -> tuple[Any, ...]:
    if epsilon is None:
        return ()
    if isinstance(epsilon, str | bool) or not isinstance(epsilon, Sequence | np.ndarray):
        return (epsilon,)
    return tuple(epsilon)


def _bound_at(panel: Panel, rounds: np.ndarray) -> np.ndarray | None:
    for curve in panel.curves:
        (source,) = curve.sources
        if isinstance(source, Bound):
            arguments = dict(source.arguments)
            bound = theory.function(source.function)
            return np.array([bound(**{**arguments, "horizon": int(t)}) for t in rounds])
    return None
