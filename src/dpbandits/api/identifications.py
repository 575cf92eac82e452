"""`identify`: the stopping times and answers of algorithms that identify the best arm."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

from dpbandits.api.arguments import (
    IDENTIFICATION,
    Player,
    checked,
    player,
    read,
)
from dpbandits.api.figure_results import computed, frame
from dpbandits.api.plays import origin_of
from dpbandits.api.privacy_results import Budget
from dpbandits.checks.comparisons import readable
from dpbandits.config import instances
from dpbandits.config.settings import Settings
from dpbandits.drawing import plotting
from dpbandits.drawing.styles import in_mathtext, style_of
from dpbandits.experiments import kinds
from dpbandits.experiments.identification import COLUMNS, IdentificationExperiment
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.answers import UNDECIDED
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import OWN, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables import statistics

LIMIT = 1_000_000  # of rounds


@dataclass(frozen=True)
class Share:
    """Share of the runs in which something happened: `count` of `runs`."""

    count: int
    runs: int

    def __float__(self) -> float:
        return self.count / self.runs

    def __str__(self) -> str:
        low, high = (f"{100 * end:.3g}" for end in self.interval())
        return f"{100 * float(self):.3g} % ({low} to {high})"

    def interval(self, level: float = statistics.LEVEL) -> tuple[float, float]:
        """Return the ends of the interval of Clopper and Pearson for the probability."""
        low, high = statistics.interval_of_share(self.count, self.runs, level)
        return float(low), float(high)


@dataclass(frozen=True, eq=False, repr=False)
class IdentifyResult:
    """Stopping times and answers of the runs of an algorithm.

    `rounds` are the pulls until the answer, or the `limit` of a run without one; `answers` are
    arms, from 0, or -1 for such an undecided run: int64 of shape (runs,), which cannot be written.
    `best` is the best arm. `median` is that of `rounds`: where it is the limit, half of the runs or
    more are undecided, and the median is not known. `wrong` and `undecided` are shares of all runs,
    whose `interval(level)` is that of Clopper and Pearson; `float(...)` is the share. The other
    fields are those of PlayResult.
    """

    algorithm: str
    label: str
    parameters: Mapping[str, Any]
    environment: str
    limit: int
    seed: int
    best: int
    rounds: np.ndarray
    answers: np.ndarray
    budget: Budget | None
    computed: int
    provenance: Mapping[str, Any]
    _pulls: np.ndarray
    _style: str

    def __repr__(self) -> str:
        runs, median = f"{len(self.rounds):,} runs", self.in_words(self.median)
        shares = f"undecided {self.undecided}, wrong {self.wrong}"
        return f"IdentifyResult({self.label}, {runs}, median {median}, {shares})"

    @property
    def median(self) -> float:
        """Median of the rounds."""
        return float(np.median(self.rounds))

    @property
    def wrong(self) -> Share:
        """Share of runs that answered with another arm than the best one."""
        is_wrong = (self.answers != UNDECIDED) & (self.answers != self.best)
        return Share(int(is_wrong.sum()), len(self.answers))

    @property
    def undecided(self) -> Share:
        """Share of runs that reached the limit without an answer."""
        return Share(int((self.answers == UNDECIDED).sum()), len(self.answers))

    def pulls(self) -> np.ndarray:
        """Return the pulls of each arm, int64 of shape (runs, arms)."""
        return self._pulls.copy()

    def quantiles(self, q: float | Sequence[float] = (0.25, 0.5, 0.75)) -> np.ndarray:
        """Return quantiles of the rounds over the runs: a number, or float64 of shape (len(q),)."""
        return np.quantile(self.rounds, q)

    def interval(self, level: float = statistics.LEVEL) -> np.ndarray:
        """Return the ends of an interval of the median, of two order statistics, float64 (2,).

        They are nan for too few runs: an interval of 95 % needs six.
        """
        return np.array(statistics.interval_of_median(self.rounds.astype(float), level))

    def in_words(self, rounds: float) -> str:
        """Return a quantile of the rounds for readers; one at the limit is a lower bound."""
        at_the_limit = rounds >= self.limit and self.undecided.count
        return f"{'≥ ' if at_the_limit else ''}{readable(rounds)}"

    def to_frame(self) -> Any:
        """Return a pandas table with the columns algorithm, run (from 0), rounds and answer.

        Raises UserError if pandas is not installed.
        """
        columns = {"run": np.arange(len(self.rounds)), "rounds": self.rounds}
        return frame({"algorithm": self.label, **columns, "answer": self.answers})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of runs that have answered by a round, up to the limit.

        Returns the axes, of a new figure if none are given. The style of matplotlib that is in use
        is over that of the house.
        """
        times = np.sort(self.rounds[self.answers != UNDECIDED])
        shares = np.arange(1, len(times) + 1) / len(self.rounds)
        with plotting.house_style(None, plotting.user_settings()):
            if ax is None:
                _, ax = pyplot.subplots(layout="constrained")
                ax.set_xscale("log")
            line: dict[str, Any] = {
                "color": style_of(self._style).colour,
                "label": in_mathtext(self.label),
            }
            last = shares[-1] if times.size else 0.0
            x = [*times[:1], *times, self.limit if self.undecided.count else times[-1]]
            ax.step(x, [*[0.0] * bool(times.size), *shares, last], where="post", **line)
            ax.set(xlabel="Round", ylabel="Share of runs with an answer", ylim=(0, 1.02))
            ax.legend()
        return ax


class Numbers(NamedTuple):
    """Numbers that all algorithms share."""

    limit: parameters.Rounds
    seed: parameters.Seed
    runs: parameters.Count = 100
    risk: parameters.Fraction = 0.05
    epsilon: parameters.Positive = 1.0
    workers: parameters.Workers = 1


def identify(
    algorithm: Any,
    *,
    environment: Any = None,
    means: Any = None,
    limit: int = LIMIT,
    runs: int = 100,
    seed: int | None = None,
    workers: int | None = None,
    progress: bool = True,
    **parameters: Any,
) -> IdentifyResult:
    """Play an algorithm until it answers which arm is the best; return the outcome of every run.

    The instance must have one best arm. A run without an answer after `limit` rounds is undecided.
    The runs are those of figures: the same algorithm, parameters, instance, limit and seed share
    the blocks of the store, and only missing runs are computed.

    Args:
        algorithm: name of an algorithm or of a file in conf/algorithm/; or an object as for `play`
            with `KIND = "identification"`, whose runs stay in memory.
        environment: as for `play`.
        means: as for `play`.
        limit: number of rounds, at least the number of arms.
        runs: number of independent runs.
        seed: root of all random streams; None selects that of conf/config.yaml.
        workers: number of threads; None: all cores.
        progress: show a progress bar on a terminal, or lines elsewhere.
        **parameters: parameters of the algorithm: epsilon, its budget, and risk in (0, 1), the
            probability of a wrong answer that it allows (δ in papers); None: that of its file.

    Raises UserError for an unknown name, an invalid value, several best arms, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> found = dp.identify("dp-se-identify", means=[0.9, 0.5], epsilon=1, risk=0.05, runs=5)
        >>> found.answers.tolist(), found.undecided.count
        ([0, 0, 0, 0, 0], 0)
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    values = {"limit": limit, "runs": runs, "seed": seed, "workers": workers}
    entries = [player(algorithm, given, of=(IDENTIFICATION,))]
    spec, settings = stopping_times("identify", entries, (), (environment, means), values)
    ((_, result),) = results(spec, entries, *computed(spec, settings, progress))
    return result


def stopping_times(
    caller: str,
    players: Sequence[Player],
    budgets: Sequence[Any],
    game: tuple[Any, Any],
    values: Mapping[str, Any],
    overrides: Sequence[str] = (),
    form: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[FigureSpec, Settings]:
    """Return the figure of stopping times over epsilon, or at the limit without budgets.

    The arguments are those of `arguments.specification`, with `limit` and `risk` in `values`; a
    risk replaces that of every algorithm which sets no other. Raises UserError for any invalid
    value.
    """
    named = {"checkpoints": "end", "centre": "median", "spread": "quartiles"}
    values = named | {key: value for key, value in values.items() if value is not None}
    asked = checked(caller, Numbers, budgets, game, values, overrides, form)
    settings, shared, choices, described = asked
    if choices["centre"] != "median":
        reason = "runs without an answer have no stopping time"
        raise UserError(f"{caller}: centre must be median, got {choices['centre']}: {reason}")
    (environment, instance, _), (limit, seed, runs, risk, *_) = described, shared[0]
    if "risk" in values:
        players = [_with_risk(entry, risk) for entry in players]
    for entry in players:  # whose messages name arguments; the reader's name keys of files
        for numbers in shared:
            params = entry.params({"epsilon": numbers.epsilon if budgets else None})
            IdentificationExperiment(entry.algorithm, params, environment, instance, limit, seed)
    swept = {"key": "epsilon", "values": sorted(numbers.epsilon for numbers in shared)}
    figure = {
        "paper": OWN,
        "title": "Stopping times on {instance}",
        "draw": "stopping_times",
        "runs": runs,
        **{key: choices[key] for key in ("centre", "spread")},
        **form,
        "environment": {"family": environment, **parameters.as_json(instance)},
        "limit": limit,
        "curves": {entry.curve: entry.as_curve() for entry in players},
        "sweep": swept if budgets else {"key": "limit", "values": [limit]},
    }
    return read(caller, players, figure, seed, described), settings


def _with_risk(entry: Player, risk: float) -> Player:
    has_one = "risk" in registry.algorithm(entry.algorithm).Params._fields
    if not has_one or "risk" in entry.given:
        return entry
    # Among the given ones, so that messages do not name a file; it is no part of the label.
    given, settings = ({**values, "risk": risk} for values in (entry.given, entry.settings))
    return replace(entry, given=given, settings=settings)


def results(
    spec: FigureSpec, players: Sequence[Player], store: Store, missing: int
) -> Iterator[tuple[float, IdentifyResult]]:
    """Yield the results of a figure of `stopping_times` with their x, for every player in turn."""
    (panel,) = spec.panels
    for entry, curve in zip(players, panel.curves, strict=True):
        assert curve.x is not None
        for x, source in zip(curve.x, curve.sources, strict=True):
            assert isinstance(source, IdentificationExperiment)
            table = store.load(source, curve.runs)
            rounds, answers, pulls = table[:, 0], table[:, 1], table[:, len(COLUMNS) :]
            rounds, answers, pulls = (n.astype(np.int64) for n in (rounds, answers, pulls))
            for array in (rounds, answers, pulls):
                array.flags.writeable = False
            yield (
                x,
                IdentifyResult(
                    entry.name,
                    curve.label,
                    parameters.as_json(source.params),
                    kinds.setting(source, instances.description),
                    source.limit,
                    source.seed,
                    int(np.argmin(kinds.gaps(source))),
                    rounds,
                    answers,
                    Budget.of_experiment(source),
                    missing,
                    origin_of(source),
                    pulls,
                    curve.style,
                ),
            )
