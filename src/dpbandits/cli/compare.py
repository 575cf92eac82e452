"""`dpbandits compare`: algorithms beside one another on one game, without any YAML."""

import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from rich.table import Table

from dpbandits.api.arguments import environment_of, player, players_of, specification
from dpbandits.api.plays import Comparison, comparison
from dpbandits.checks.comparisons import with_error
from dpbandits.cli.process import console, value_of, values_of
from dpbandits.config import compose
from dpbandits.factory import captions, produce
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.privacy.notions import NOTIONS
from dpbandits.spec.figure import as_file_name, text
from dpbandits.store.blocks import Store
from dpbandits.tables.privacy_table import rows

COLUMNS = (
    "Columns: regret: mean over the runs at the horizon, with its standard error; behind: mean"
    " difference in the same run from the lowest of the same definition of privacy, which is clear"
    " if it exceeds three of its standard errors; claimed and composed: epsilon that the paper"
    " claims, and that the releases compose to."
)
DEFAULTS = {"environment": None, "means": None, "epsilon": 1, "horizon": 1_000_000}
KEYS = [*DEFAULTS, "delta", "runs", "seed", "workers", "checkpoints", "centre", "spread"]
Values = dict[str, Any]


def run_comparison(arguments: Sequence[str]) -> int:
    """Play algorithms in one game, draw their regret, and print the table and a verdict.

    Raises UserError for an invalid word.
    """
    given = {arg.partition("=")[0] for arg in arguments if "=" in arg}
    algorithms = _expanded([arg for arg in arguments if "=" not in arg], given)
    if not algorithms:
        example = "dpbandits compare dp-se adap-klucb environment=c2"
        raise UserError(f"compare: no algorithm is named: {example}")
    asked = _asked(algorithms, arguments)
    values = asked.values
    environment, means, epsilon = (values.pop(key) for key in ("environment", "means", "epsilon"))
    if asked.changes:
        if environment is None:
            raise UserError("compare: environment.<key> changes an environment, and none is named")
        described = environment if isinstance(environment, dict) else environment_of(environment)
        environment = {**described, **asked.changes, "name": None}
    players = players_of(
        [
            (name, dict(zip(asked.ranges[name], setting, strict=True)))
            for name in algorithms
            for setting in itertools.product(*asked.ranges[name].values())
        ]
    )
    for entry in players:
        params = registry.algorithm(entry.algorithm).Params
        given = {*params._field_defaults, *entry.settings, *values, "epsilon"}
        for name in (f for f in params._fields if f not in given):
            missing = name if name in KEYS else f"{entry.name}.{name}"
            raise UserError(f"compare: {entry.name} needs {name}: add {missing}=<value>")
    budgets = epsilon if isinstance(epsilon, list) else [epsilon]
    game = environment, means
    spec, settings = specification("compare", players, budgets, game, values, asked.overrides)
    recorded = [arg for arg in arguments if not re.match(r"(?:paths|engine)\.|workers=", arg)]
    spec = replace(spec, name=as_file_name(asked.game))
    command = shlex.join(["dpbandits", "compare", *recorded])
    settings = replace(settings, out=settings.out / "compare", command=command)
    if status := produce.produce(spec, settings):
        return status
    _print(spec.title, comparison(spec, players, budgets, Store(settings.cache), 0))
    favoured = (statement.text for statement in captions.order_of_arms(spec))
    console().print("\n".join(["", *favoured, COLUMNS]))
    return 0


@dataclass
class Asked:
    """What the words of a command ask for."""

    game: str  # a name that does not depend on how values are written
    ranges: dict[str, dict[str, list[Any]]]  # parameters by algorithm, a curve for each value
    values: Values = field(default_factory=lambda: {**DEFAULTS})  # of KEYS
    changes: Values = field(default_factory=dict)  # to the environment
    overrides: list[str] = field(default_factory=list)  # of places and the engine


def _asked(algorithms: Sequence[str], arguments: Sequence[str]) -> Asked:
    asked = Asked("+".join(algorithms), {name: {} for name in algorithms})
    for key, value in sorted(values_of([arg for arg in arguments if "=" in arg]).items()):
        owner, _, name = key.partition(".")
        numbers = [value]
        if isinstance(value, str) and value.startswith("{"):
            numbers = [compose.value(key, value)]
        elif isinstance(value, str):
            numbers = [value_of(part) for part in value.strip("[]").split(",")]
        if owner in ("paths", "engine"):
            asked.overrides.append(f"{key}={value}")
        elif owner == "environment" and name:
            asked.changes[name] = numbers if len(numbers) > 1 else numbers[0]
        elif owner in asked.ranges and name:
            asked.ranges[owner][name] = numbers
        elif key in KEYS:
            asked.values[key] = numbers if len(numbers) > 1 else numbers[0]
        else:
            valid = [*KEYS, *(f"{name}.<parameter>" for name in algorithms)]
            problem = f"compare: unknown key {shown(key)} (command line)"
            raise UserError(f"{problem}; {nearest(key, valid)}")
        if owner not in ("paths", "engine", "workers") and numbers != [DEFAULTS.get(key)]:
            asked.game += f"-{key}={','.join(map(text, numbers))}"
    return asked


def _expanded(choices: Sequence[str], given: set[str]) -> list[str]:
    # The named algorithms and those of groups: `all`, `not-private` or a definition of privacy. An
    # algorithm of a group is left out if it has a parameter that is not given and has no default.
    titles = {notion: notion.title.lower().replace(" ", "-") for notion in NOTIONS}
    expanded = dict[str, None]()
    for choice in choices:
        if choice not in ("all", "not-private", *titles.values()):
            expanded[choice] = None
            continue
        for name in registry.algorithm_names():
            module = registry.algorithm(name)
            private = hasattr(module, "guarantee")
            group = titles[rows([name])[0].guarantee.notion] if private else "not-private"
            supplied = {"epsilon", "horizon", *module.Params._field_defaults, *given}
            supplied |= player(name, {}).settings.keys()
            needed = [f"{name}.{k}" for k in module.Params._fields if k not in supplied]
            if choice in ("all", group) and {*needed} <= given:
                expanded[name] = None
            elif choice in ("all", group):
                print(f"{choice}: {name} is left out, it needs {', '.join(needed)}")
    return list(expanded)


def _print(title: str, result: Comparison) -> None:
    terminal, play = console(), next(iter(result.plays.values()))
    runs = f"{len(play.regret):,} run{'s' * (len(play.regret) > 1)}"
    for epsilon, verdict in zip(result.epsilons, result.verdicts, strict=True):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        for column in ("regret", "behind", "", "claimed", "composed"):
            table.add_column(column, justify="right", no_wrap=True)
        panel = (standing for standing in result.standings if standing.epsilon == epsilon)
        for privacy, group in groupby(panel, attrgetter("privacy")):
            table.add_row(privacy)
            for standing in group:
                budgets = ("", "")
                if standing.claimed is not None and standing.composed is not None:
                    budgets = f"{standing.claimed:.4g}", f"{standing.composed:.4g}"
                behind = with_error(standing.behind, standing.behind_error).replace("nan", "")
                clear = "clear" if standing.is_clear else ""
                regret = with_error(standing.regret, standing.error)
                spent = (budget.replace("inf", "no bound") for budget in budgets)
                table.add_row(f"  {standing.label}", regret, behind, clear, *spent)
        game = f"epsilon = {epsilon:g}, T = {play.horizon:,}, {runs}"
        terminal.print(f"\nFinal {title[0].lower()}{title[1:]}, {game}", soft_wrap=True)
        terminal.print(table)
        terminal.print(verdict)
