"""`dpbandits compare`: algorithms beside one another on one game, without any YAML."""

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from rich.table import Table

from dpbandits.api.arguments import (
    FORM,
    IDENTIFICATION,
    PLAYED_BY,
    environment_of,
    member_of,
    player,
    players_of,
    specification,
)
from dpbandits.api.identifications import LIMIT, results, stopping_times
from dpbandits.api.plays import STANDARD_ERROR, Comparison, comparison
from dpbandits.checks.comparisons import with_error
from dpbandits.cli.compare_identification import Identifications
from dpbandits.cli.process import console, value_of, values_of
from dpbandits.config import compose
from dpbandits.config.schema import NAME
from dpbandits.experiments import kinds
from dpbandits.factory import produce
from dpbandits.files.atomic import write_atomically
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.privacy.notions import NOTIONS
from dpbandits.spec.figure import FORMATS, as_file_name, text
from dpbandits.store.blocks import Store
from dpbandits.tables.privacy_table import rows
from dpbandits.tables.statistics import CONFIDENCE, LEVEL

COLUMNS = (
    "Columns: regret: mean over the runs at the horizon, with its standard error; behind: mean"
    " difference in the same run from the lowest of the same definition of privacy, which is clear"
    " if it exceeds three of its standard errors; claimed and composed: epsilon that the paper"
    " claims, and that the releases compose to."
)
DEFAULTS = {"environment": None, "means": None, "epsilon": 1, "horizon": 1_000_000}
LAST = ("runs", "seed", "workers", "centre", "spread")  # keys of every comparison
KEYS = [*DEFAULTS, "delta", "checkpoints", *LAST]
# The same of algorithms that identify the best arm, and what stands for a key of regret there.
IDENTIFYING = {"environment": None, "means": None, "epsilon": 1, "limit": LIMIT}
IDENTIFYING_KEYS = [*IDENTIFYING, "risk", *LAST]
MEANT = {
    "delta": "delta is privacy's; the chance of a wrong answer is risk: risk=<value>",
    "horizon": "a run ends with its answer, or undecided at limit: limit=<rounds>",
    "checkpoints": "a run has no curve over the rounds, so no checkpoints",
}
OTHER_KEYS = ("environment.<key>", "paths.<key>", "engine.<key>")
Values = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Files besides those of the figure: a copy of the picture, and tables of the standings."""

    output: Path | None = None  # of the picture; tables are beside it
    latex: bool = False
    csv: bool = False

    def check(self, form: Values) -> None:
        """Raise UserError if the picture cannot be written, or is not among the formats."""
        if self.output is None:
            return
        ending, only = self.output.suffix.removeprefix("."), form.get("format")
        if ending not in FORMATS or only not in (None, ending):
            valid = [f".{only}"] if only else [f".{kind}" for kind in FORMATS]
            valid_endings = " or ".join(valid)
            raise UserError(f"--output {shown(str(self.output))} must end in {valid_endings}")
        if not self.output.parent.is_dir():
            raise UserError(f"--output: there is no folder {shown(str(self.output.parent))}")

    def write(self, name: Path, latex: Callable[[], str], csv: Callable[[], bytes]) -> None:
        """Write and print the files; `name` is that of the figure's files without an ending."""
        files = dict[Path, bytes]()
        table = self.output or name.with_name(f"{name.name}-table.csv")
        if self.output:
            picture = name.with_name(f"{name.name}{self.output.suffix}")
            files[self.output] = picture.read_bytes()
        if self.latex:
            files[table.with_suffix(".tex")] = latex().encode()
        if self.csv:
            files[table.with_suffix(".csv")] = csv()
        for path, content in files.items():
            write_atomically(path, content)
            print(path)


def run_comparison(arguments: Sequence[str], wanted: Wanted) -> int:
    """Play algorithms in one game, draw their regret, and print the table and a verdict.

    Raises UserError for an invalid word.
    """
    given = {arg.partition("=")[0] for arg in arguments if "=" in arg}
    algorithms = _expanded([arg for arg in arguments if "=" not in arg], given)
    if not algorithms:
        example = "dpbandits compare dp-se adap-klucb environment=c2"
        raise UserError(f"compare: no algorithm is named: {example}")
    of = _kind(algorithms)
    defaults, keys = DEFAULTS, KEYS
    if of == IDENTIFICATION:
        defaults, keys = IDENTIFYING, IDENTIFYING_KEYS
        for key in sorted(MEANT.keys() & given):
            raise UserError(f"compare: {MEANT[key]}")
    asked = _asked(algorithms, arguments, defaults, keys)
    values = asked.values
    wanted.check(asked.form)
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
        ],
        of=(of,),
    )
    for entry in players:
        params = registry.algorithm(entry.algorithm).Params
        given = {*params._field_defaults, *entry.settings, *values, "epsilon"}
        for name in (f for f in params._fields if f not in given):
            missing = name if name in keys else f"{entry.name}.{name}"
            raise UserError(f"compare: {entry.name} needs {name}: add {missing}=<value>")
    budgets = epsilon if isinstance(epsilon, list) else [epsilon]
    game = environment, means
    specified = stopping_times if of == IDENTIFICATION else specification
    spec, settings = specified(
        "compare", players, budgets, game, values, asked.overrides, asked.form
    )
    recorded = [arg for arg in arguments if not re.match(r"(?:paths|engine)\.|workers=", arg)]
    spec = replace(spec, name=as_file_name(asked.name or asked.game))
    command = shlex.join(["dpbandits", "compare", *recorded])
    settings = replace(settings, out=settings.out / "compare", command=command)
    if status := produce.produce(spec, settings):
        return status
    store, name = Store(settings.cache), settings.folder(spec.name) / spec.name
    if of == IDENTIFICATION:
        found = Identifications(spec.title, results(spec, players, store, 0))
        found.show()
        wanted.write(name, found.latex, found.csv)
        return 0
    result = comparison(spec, players, budgets, store, 0)
    _print(spec.title, result)
    console().print("\n".join(["", *result.remarks, COLUMNS]))
    spread = spec.spread if spec.spread == CONFIDENCE else STANDARD_ERROR
    interval = spread, asked.form.get("level", LEVEL)
    wanted.write(name, partial(result.latex, *interval), partial(result.csv, *interval))
    return 0


def _kind(algorithms: Sequence[str]) -> str:
    # The kind that all algorithms have; those of regret and of answers have no common number.
    of = {kinds.of_member(member_of(name)[0]).name: name for name in algorithms}
    several = {kind: name for kind, name in of.items() if kind in PLAYED_BY}
    if len(several) > 1:
        does = " and ".join(f"{name} {PLAYED_BY[kind][0]}" for kind, name in several.items())
        raise UserError(f"compare: {does}: compare them in two commands")
    return next(iter(several), registry.USUAL)  # any other kind is refused there


@dataclass
class Asked:
    """What the words of a command ask for."""

    game: str  # a name that does not depend on how values are written
    ranges: dict[str, dict[str, list[Any]]]  # parameters by algorithm, a curve for each value
    values: Values  # of the keys of the comparison
    name: str = ""  # of the files, if it is given
    form: Values = field(default_factory=dict)  # keys of FORM
    changes: Values = field(default_factory=dict)  # to the environment
    overrides: list[str] = field(default_factory=list)  # of places and the engine


def _asked(
    algorithms: Sequence[str], arguments: Sequence[str], defaults: Values, keys: Sequence[str]
) -> Asked:
    asked = Asked("+".join(algorithms), {name: {} for name in algorithms}, {**defaults})
    pairs = [arg.removeprefix("figure.") for arg in arguments if "=" in arg]
    for key, value in sorted(values_of(pairs).items()):
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
        elif key in keys:
            asked.values[key] = numbers if len(numbers) > 1 else numbers[0]
        elif key in FORM:
            asked.form[key] = value
        elif key == "name":
            asked.name = str(value)
            if not re.match(NAME, asked.name):
                raise UserError(f"compare: name is that of files, without folders: {shown(value)}")
        else:
            valid = [*keys, *FORM, "name", *OTHER_KEYS]
            valid += [f"{name}.<parameter>" for name in algorithms]
            problem = f"compare: unknown key {shown(key)} (command line)"
            raise UserError(f"{problem}; {nearest(key, valid)}")
        if owner not in ("paths", "engine", "workers", "name") and numbers != [defaults.get(key)]:
            asked.game += f"-{key}={','.join(map(text, numbers))}"
    return asked


def _expanded(choices: Sequence[str], given: set[str]) -> list[str]:
    # The named algorithms and those of groups: `all`, `not-private` or a definition of privacy. An
    # algorithm of a group is left out if it has a parameter that is not given and has no default.
    titles = {notion: notion.title.lower().replace(" ", "-") for notion in NOTIONS}
    expanded = dict[str, None]()
    for choice, number in Counter(choices).items():
        if number > 1:
            curves = f"{choice}.<parameter>=<a>,<b> draws it with several values"
            raise UserError(f"compare: {choice} is named twice; {curves}")
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
