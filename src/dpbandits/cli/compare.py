"""`dpbandits compare`: algorithms beside one another on one game, without any YAML."""

import hashlib
import itertools
import math
import re
import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console
from rich.table import Table

from dpbandits.api import standings
from dpbandits.api.comparisons import players_of
from dpbandits.api.described import Request, specification
from dpbandits.api.standings import Standing
from dpbandits.api.verdict import verdict
from dpbandits.checks.comparisons import plain
from dpbandits.cli.arguments import COMPARE_DEFAULTS
from dpbandits.cli.values import value_of
from dpbandits.config import described
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.curves.series import summarise
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store

WIDTH = 100  # columns if the output is no terminal
LONGEST_NAME = 80  # characters of the folder's name
COLUMNS = (
    "regret: mean over the runs at the horizon; error: its standard error; factor: regret over the"
    " lowest regret; rank: 1 for the lowest regret; possible: ranks that errors and unseen outcomes"
    " leave open; claimed and composed: epsilon that the paper claims, and that the declared"
    " releases compose to"
)
SINGLE = (*COMPARE_DEFAULTS, "environment", "means", "delta", "seed", "workers")
LISTS = ("epsilon", "means")  # values are separated by commas


@dataclass
class Words:
    """Words of the command: algorithms, and values by key."""

    algorithms: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)  # keys of SINGLE
    environment: dict[str, Any] = field(default_factory=dict)  # changes to its description
    # By algorithm and parameter; several values make several curves.
    parameters: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)  # overrides of folders and of the engine


def compare(words: Sequence[str]) -> int:
    """Play algorithms in one game, draw their regret, and print the table and a verdict.

    Raises UserError for an invalid word.
    """
    read = read_words(words)
    request, settings = _request(read, words)
    spec = replace(specification(request, with_bound=True), name=_name(read))
    status = produce.produce(spec, settings)
    if status:
        return status
    _print_results(spec, settings)
    return 0


def read_words(words: Sequence[str]) -> Words:
    """Sort the words of the command. Raises UserError for a key that is unknown or set twice."""
    read, seen = Words(), set[str]()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            if word in read.algorithms:
                raise UserError(f"compare: {word} is named twice")
            read.algorithms.append(word)
            continue
        if not value:
            raise UserError(f"compare: {shown(word)} has no value: write {key or 'key'}=value")
        if key in seen:
            raise UserError(f"compare: {key} is set twice")
        seen.add(key)
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            _set(read, key, value, word)
    if not read.algorithms:
        raise UserError(
            "compare: no algorithm is named: dpbandits compare dp-se adap-klucb environment=c2"
        )
    return read


def _set(read: Words, key: str, value: str, word: str) -> None:
    owner, _, name = key.partition(".")
    if key in SINGLE:
        read.values[key] = value
    elif owner in ("paths", "engine"):
        read.settings.append(word)
    elif owner == "environment" and name:
        several = [value_of(part) for part in value.strip("[]").split(",")]
        read.environment[name] = several if "," in value else several[0]
    elif owner in read.algorithms and name:
        values = [value_of(part) for part in value.strip("[]").split(",")]
        read.parameters.setdefault(owner, {})[name] = values
    elif name and owner not in read.algorithms:
        problem = f"compare: {shown(key)} is for {shown(owner)}, which is not among the algorithms"
        raise UserError(f"{problem}; {nearest(owner, [*read.algorithms, 'paths', 'engine'])}")
    else:
        problem = f"compare: unknown key {shown(key)} (command line)"
        known = [*SINGLE, *(f"{name}.<parameter>" for name in read.algorithms)]
        raise UserError(f"{problem}; {nearest(key, known)}")


def _request(read: Words, words: Sequence[str]) -> tuple[Request, Settings]:
    values = {**COMPARE_DEFAULTS, **read.values}
    numbers = {
        key: [value_of(part) for part in values[key].strip("[]").split(",")]
        for key in LISTS
        if key in values
    }
    environment: Any = values.get("environment")
    if read.environment:
        if environment is None:
            raise UserError("compare: environment.<key> changes an environment, and none is named")
        environment = described.environment_of(environment, read.environment)
    overrides = [*read.settings]
    if "workers" in values:
        overrides.append(f"engine.workers={values['workers']}")
    settings, seed = described.settings_of(overrides, "compare")
    request = Request(
        name="compare",
        players=players_of(_settings(read)),
        environment=environment,
        means=numbers.get("means"),
        epsilons=numbers["epsilon"],
        delta=value_of(values["delta"]) if "delta" in values else None,
        horizon=value_of(values["horizon"]),
        runs=value_of(values["runs"]),
        seed=value_of(values["seed"]) if "seed" in values else seed,
        grid=values["checkpoints"],
        source="command line",
        centre=values["centre"],
        spread=values["spread"],
    )
    own = [word for word in words if not re.match(r"(?:paths|engine)[.=]|workers=", word)]
    command = shlex.join(["dpbandits", "compare", *own])
    return request, replace(settings, out=settings.out / "compare", command=command)


def _settings(read: Words) -> list[tuple[str, dict[str, Any]]]:
    # Every algorithm with every combination of the values of its parameters.
    return [
        (name, dict(zip(own, values, strict=True)))
        for name in read.algorithms
        for own in [read.parameters.get(name, {})]
        for values in itertools.product(*own.values())
    ]


def _name(read: Words) -> str:
    # The name of the folder and of the files: readable, and different for different curves. Runs
    # and seed are not part of it, as for figures.
    parts = [*read.algorithms, read.values.get("environment", "")]
    parts += [f"{key}-{value}" for key, value in read.environment.items()]
    for algorithm, own in read.parameters.items():
        parts += [f"{algorithm}.{key}-{'-'.join(map(str, own[key]))}" for key in own]
    for key in ("means", "epsilon", "delta", "horizon", "checkpoints", "centre", "spread"):
        if key in read.values:
            several = read.values[key].strip("[]").split(",")
            parts.append("-".join([key, *(str(value_of(part)) for part in several)]))
    # No dot: the name is also that of files, whose suffix is what follows the last dot.
    name = re.sub(r"[^A-Za-z0-9_]+", "-", "-".join(filter(None, parts)).replace(".", "_"))
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _print_results(spec: FigureSpec, settings: Settings) -> None:
    store = Store(settings.cache)
    series = summarise(spec, store)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    instance = spec.title.removeprefix("Regret on ")
    for panel in standings.of_figure(spec, series, store):
        first = panel[0]
        at = "" if first.epsilon is None else f", epsilon = {first.epsilon:g}"
        runs = "1 run" if first.runs == 1 else f"{first.runs:,} runs"
        print(f"\nFinal regret on {instance}{at}, T = {first.horizon:,}, {runs}")
        console.print(_table(panel))
        print(textwrap.fill(verdict(panel), console.width))
    print(f"\n{textwrap.fill(f'Columns: {COLUMNS}.', console.width)}")


def _table(panel: Sequence[Standing]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", overflow="fold")
    for column in ("regret", "error", "factor", "rank", "possible", "claimed", "composed"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in panel:
        own = each.budget
        table.add_row(
            each.label,
            plain(each.regret),
            "?" if math.isnan(each.error) else plain(each.error),
            "?" if math.isnan(each.factor) else f"{each.factor:.3g}",
            f"{each.rank:g}",
            f"{each.best:g}" if each.best == each.worst else f"{each.best:g} to {each.worst:g}",
            _budget(own.claimed) if own else "not declared" if each.undeclared else "not private",
            "" if own is None else _budget(own.composed),
        )
    return table


def _budget(epsilon: float) -> str:
    return "no bound" if math.isinf(epsilon) else f"{epsilon:.4g}"
