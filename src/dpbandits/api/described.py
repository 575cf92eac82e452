"""Specifications of figures from arguments: algorithms, a game and privacy budgets."""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.api.players import Player, plain
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import described
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, shown
from dpbandits.run.in_memory import MemoryCell
from dpbandits.spec.figure import OWN, Bound, Curve, FigureSpec, Quantity

LOWER_BOUND = "Lower bound"
AXES = "Axes: x linear, y logarithmic, on which a regret of 0 cannot be drawn."
ABOUT_BOUND = (
    "Lower bound: azize2022, Theorem 3 times log t, for every consistent algorithm with ε-global"
    " DP. It is asymptotic: at a finite round a curve may lie below it, as may one that is not"
    " private."
)
ABOUT_BOUND_WITHOUT_PRIVACY = (
    "Lower bound: azize2022, Theorem 3 without privacy (Lai and Robbins) times log t. It is"
    " asymptotic: at a finite round a curve may lie below it."
)


@dataclass(frozen=True)
class Request:
    """Algorithms and the game that all of them play, before any check of the values."""

    name: str  # of the figure, which begins every message
    players: Sequence[Player]
    environment: Any  # name, mapping or None
    means: Any  # of Bernoulli arms, or None
    epsilons: Sequence[Any]  # one panel each; empty: none is given
    delta: Any
    horizon: Any
    runs: Any
    seed: Any
    grid: Any
    source: str = "argument"  # origin of these values in messages
    centre: str = "mean"
    spread: str = "std"


def specification(request: Request, with_bound: bool) -> FigureSpec:
    """Return the figure of regret over time, with one panel for each budget.

    Raises UserError for any invalid value.
    """
    if len({*request.epsilons}) < len(request.epsilons):
        raise UserError(f"{request.name}: the same epsilon is given twice")
    if len(request.epsilons) > len(string.ascii_lowercase):
        raise UserError(f"{request.name}: more than 26 values of epsilon are given")
    _check_names(request)
    if request.horizon is None:
        raise UserError(f"{request.name}: horizon, the number of rounds, is missing: horizon=10**5")
    figure: dict[str, Any] = {
        "paper": OWN,
        "title": "Regret on {instance}",
        "draw": "comparison",
        "runs": request.runs,
        "centre": request.centre,
        "spread": request.spread,
        "horizon": request.horizon,
        "environment": _environment(request),
        "checkpoints": request.grid,
        "note": AXES,
        "curves": {player.name: dict(player.curve) for player in request.players},
    }
    if request.delta is not None:
        figure["delta"] = request.delta
    if request.epsilons:
        title = r"$\epsilon = {epsilon:g}$"
        for epsilon in request.epsilons:
            _check_budget(request, epsilon)
        figure["panels"] = {
            letter: {"title": title, "epsilon": epsilon}
            for letter, epsilon in zip(string.ascii_lowercase, request.epsilons, strict=False)
        }
    read = described.specification(
        request.name,
        figure,
        request.seed,
        request.source,
        {player.name: player.member for player in request.players if player.member},
        [f"figure.curves.{p.name}.{key}" for p in request.players for key in p.settings],
    )
    read = _distinguished(_with_own(read, request), request.players)
    return _with_bound(read, request) if with_bound else read


def _check_budget(request: Request, epsilon: Any) -> None:
    # Every algorithm checks its own; this message does not depend on which is the first.
    try:
        parameters.coerce(parameters.Positive, epsilon)
    except ValueError as error:
        problem = f"epsilon must be {error}, got {shown(epsilon)}"
        raise UserError(f"{request.name}: {problem} ({request.source})") from None


def _check_names(request: Request) -> None:
    for name, count in Counter(player.name for player in request.players).items():
        if count > 1:
            raise UserError(f"{request.name}: {name} is named twice")


def _environment(request: Request) -> Any:
    environment, means = request.environment, request.means
    if (environment is None) == (means is None):
        problem = "both are given" if means is not None else "neither is given"
        raise UserError(
            f"{request.name}: the game needs environment, such as environment=c2, or means of"
            f" Bernoulli arms; {problem}"
        )
    if means is not None:
        return {"law": "bernoulli", "means": plain(means)}
    if isinstance(environment, Mapping):
        return plain(environment)
    if not isinstance(environment, str):
        raise UserError(
            f"{request.name}: environment must be a name or a law with its parameters, got"
            f" {shown(environment)}"
        )
    return described.environment_of(environment, {})


def _with_own(spec: FigureSpec, request: Request) -> FigureSpec:
    # Puts the algorithms of this process in the place of those that were read for them.
    own = {player.name: player for player in request.players if player.definition is not None}
    epsilons = [*request.epsilons] or [None]
    panels = []
    for panel, epsilon in zip(spec.panels, epsilons, strict=True):
        of_panel = {"epsilon": epsilon, "delta": request.delta}
        curves = [
            _of_process(curve, own[curve.name], of_panel, request) if curve.name in own else curve
            for curve in panel.curves
        ]
        panels.append(replace(panel, curves=tuple(curves)))
    return replace(spec, panels=tuple(panels))


def _of_process(
    curve: Curve, player: Player, of_panel: Mapping[str, Any], request: Request
) -> Curve:
    (cell,) = curve.sources
    assert isinstance(cell, Cell)
    around = {**of_panel, "horizon": cell.horizon}
    values = {key: around[key] for key in player.fields if around.get(key) is not None}
    params: Any = parameters.build(
        player.params, values | dict(player.settings), player.name, lambda key: request.source
    )
    shared = {
        key: getattr(cell, key)
        for key in ("environment", "instance", "horizon", "grid", "seed", "pulls_of", "regret")
    }
    own = MemoryCell(player.name, params, definition=player.definition, **shared)
    return replace(curve, style=player.name, sources=(own,))


def _distinguished(spec: FigureSpec, players: Sequence[Player]) -> FigureSpec:
    # Adds the name to labels that two curves share: `DP-UCB` is that of several algorithms.
    labels = Counter(curve.label for curve in spec.panels[0].curves)
    several = {label for label, count in labels.items() if count > 1}

    def distinct(curve: Curve) -> Curve:
        if curve.label not in several:
            return curve
        label = f"{curve.label} ({curve.name})"
        return replace(curve, label=label, legend=label)

    panels = [replace(p, curves=tuple(map(distinct, p.curves))) for p in spec.panels]
    return replace(spec, panels=tuple(panels))


def _with_bound(spec: FigureSpec, request: Request) -> FigureSpec:
    # Adds the lower bound to every panel, if its arms are Bernoulli and not all alike.
    cell = spec.panels[0].curves[0].sources[0]
    assert isinstance(cell, Cell)
    means = getattr(cell.instance, "means", ())
    if cell.environment != "bernoulli" or len({*means}) < 2:
        return spec
    arguments = {"means": tuple(means), "horizon": cell.horizon}
    private = [
        getattr(source.params, "epsilon", None) is not None
        for curve in spec.panels[0].curves
        for source in curve.sources
        if isinstance(source, Cell)
    ]
    panels = []
    for panel, epsilon in zip(spec.panels, [*request.epsilons] or [None], strict=True):
        if epsilon is not None and any(private):
            function = "azize2022.problem_dependent_lower_bound"
            bound = Bound(function, tuple({**arguments, "epsilon": float(epsilon)}.items()))
        else:
            bound = Bound("azize2022.no_privacy_lower_bound", tuple(arguments.items()))
        panels.append(replace(panel, curves=(*panel.curves, _curve_of(bound, spec.runs))))
    note = ABOUT_BOUND if request.epsilons and any(private) else ABOUT_BOUND_WITHOUT_PRIVACY
    return replace(spec, panels=tuple(panels), note=f"{AXES} {note}")


def _curve_of(bound: Bound, runs: int) -> Curve:
    return Curve(
        name="lower-bound",
        label=LOWER_BOUND,
        legend=LOWER_BOUND,
        style="bound",
        shows=Quantity.REGRET,
        over="t",
        x=None,
        sources=(bound,),
        runs=runs,
    )


def means_of(name: str, environment: Any, means: Any) -> tuple[float, ...]:
    """Return the means of Bernoulli arms, from a name, a description or the means themselves.

    Raises UserError for an invalid value, or if the arms are not Bernoulli.
    """
    player = Player("uniform", {"algorithm": "uniform"})
    asked = Request(name, [player], environment, means, (), None, 2**53, 1, 0, "end")
    (curve,) = specification(asked, with_bound=False).panels[0].curves
    (cell,) = curve.sources
    assert isinstance(cell, Cell)
    if cell.environment != "bernoulli":
        raise UserError(f"{name}: the bound is for Bernoulli arms, not for {cell.environment}")
    of_law: tuple[float, ...] = cell.instance.means  # type: ignore[attr-defined]
    return of_law
