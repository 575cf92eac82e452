"""`dpbandits compare`: algorithms beside one another on one game, without any YAML."""

import hashlib
import itertools
import re
import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table

from dpbandits.api.games import Game, environment_of, players_of, specification
from dpbandits.api.plays import Standing, standings, verdict
from dpbandits.checks.comparisons import plain
from dpbandits.cli.privacy import value_of
from dpbandits.config import described
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store

WIDTH = 100  # columns if the output is no terminal
LONGEST_NAME = 80  # characters of the folder's name
COLUMNS = (
    "regret: mean over the runs at the horizon; error: its standard error; behind: mean difference"
    " from the lowest in the same run, which is clear if it exceeds three of its standard errors;"
    " claimed and composed: epsilon that the paper claims, and that the declared releases compose"
    " to."
)
DEFAULTS = {
    "epsilon": "1",
    "horizon": "1_000_000",
    "runs": "100",
    "checkpoints": "linear",
    "centre": "mean",
    "spread": "std",
}
KEYS = (*DEFAULTS, "environment", "means", "delta", "seed", "workers")


def compare(words: Sequence[str]) -> int:
    """Play algorithms in one game, draw their regret, and print the table and a verdict.

    Raises UserError for an invalid word.
    """
    algorithms, values = _read(words)
    overrides, changes = [], dict[str, Any]()
    ranges: dict[str, dict[str, list[Any]]] = {name: {} for name in algorithms}
    for key, value in values.items():
        owner, _, name = key.partition(".")
        if owner in ("paths", "engine"):
            overrides.append(f"{key}={value}")
        elif owner == "environment" and name:
            changes[name] = _numbers(value) if "," in value else value_of(value)
        elif name:
            ranges[owner][name] = _numbers(value)
    given = {**DEFAULTS, **values}
    if "workers" in given:
        overrides.append(f"engine.workers={given['workers']}")
    settings, seed = described.settings_of(overrides, "compare")
    environment: Any = given.get("environment")
    if changes:
        if environment is None:
            raise UserError("compare: environment.<key> changes an environment, and none is named")
        environment = {**environment_of(environment), **changes, "name": None}
    shared = ("horizon", "delta", "runs", "seed", "checkpoints", "centre", "spread")
    shared_values = {key: value_of(given[key]) for key in shared if key in given}
    means = _numbers(given["means"]) if "means" in given else None
    game = Game(environment, means, {"seed": seed, **shared_values}, "command line")
    players = players_of(
        [
            (name, dict(zip(several, setting, strict=True)))
            for name, several in ranges.items()
            for setting in itertools.product(*several.values())
        ]
    )
    spec = specification("compare", players, _numbers(given["epsilon"]), game, bounds=True)
    spec = replace(spec, name=_name(algorithms, values))
    recorded = [word for word in words if not re.match(r"(?:paths|engine)[.=]|workers=", word)]
    command = shlex.join(["dpbandits", "compare", *recorded])
    settings = replace(settings, out=settings.out / "compare", command=command)
    if status := produce.produce(spec, settings):
        return status
    _print_results(spec, standings(spec, Store(settings.cache)))
    return 0


def _read(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    # The algorithms, and the values by key. Raises UserError for an unknown key.
    algorithms = [word for word in words if "=" not in word]
    values: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key in values or algorithms.count(word) > 1:
            raise UserError(f"compare: {key} is {'set' if equals else 'named'} twice")
        if equals and not value:
            raise UserError(f"compare: {shown(word)} has no value: write {key or 'key'}=value")
        if equals:
            values[key] = value
    if not algorithms:
        raise UserError(
            "compare: no algorithm is named: dpbandits compare dp-se adap-klucb environment=c2"
        )
    for key in values:
        owner, dot, _ = key.partition(".")
        owners = [*algorithms, "environment", "paths", "engine"]
        if dot and owner not in owners:
            problem = f"compare: {shown(key)} is for {shown(owner)}, which is not among the"
            raise UserError(f"{problem} algorithms; {nearest(owner, owners)}")
        if not dot and key not in KEYS:
            known = [*KEYS, *(f"{name}.<parameter>" for name in algorithms)]
            problem = f"compare: unknown key {shown(key)} (command line)"
            raise UserError(f"{problem}; {nearest(key, known)}")
    return algorithms, values


def _numbers(text: str) -> list[Any]:
    return [value_of(part) for part in text.strip("[]").split(",")]


def _name(algorithms: Sequence[str], values: dict[str, str]) -> str:
    # The name of the folder and of the files: readable, and different for different curves. Runs
    # and seed are not part of it, as for figures. It has no dot, which would begin a suffix.
    parts = [*algorithms, values.get("environment", "")]
    keys = [key for key in values if "." in key and not key.startswith(("paths.", "engine."))]
    keys += ["means", "epsilon", "delta", "horizon", "checkpoints", "centre", "spread"]
    keys = [key for key in keys if key in values]
    parts += ["-".join([key, *map(str, _numbers(values[key]))]) for key in keys]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", "-".join(filter(None, parts)).replace(".", "_"))
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _print_results(spec: FigureSpec, found: Sequence[Standing]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    instance, horizon = spec.title.removeprefix("Regret on "), found[0].horizon
    runs = "1 run" if spec.runs == 1 else f"{spec.runs:,} runs"
    for panel in spec.panels:
        of_panel = found[: sum(curve.name != "lower-bound" for curve in panel.curves)]
        found = found[len(of_panel) :]
        epsilon = of_panel[0].epsilon
        at = "" if epsilon is None else f", epsilon = {epsilon:g}"
        print(f"\nFinal regret on {instance}{at}, T = {horizon:,}, {runs}")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        for column in ("regret", "error", "behind", "error", "", "claimed", "composed"):
            table.add_column(column, justify="right", no_wrap=True)
        for row in of_panel:
            numbers = [
                "" if value != value else plain(value)
                for value in (row.regret, row.error, row.behind, row.behind_error)
            ]
            claimed, composed = row.privacy, ""
            if row.claimed is not None and row.composed is not None:
                claimed = f"{row.claimed:.4g}"
                composed = f"{row.composed:.4g}".replace("inf", "no bound")
            table.add_row(row.label, *numbers, "clear" if row.is_clear else "", claimed, composed)
        console.print(table)
        print(textwrap.fill(verdict(of_panel), console.width))
    print(f"\n{textwrap.fill(f'Columns: {COLUMNS}', console.width)}")
