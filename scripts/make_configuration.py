"""Write docs/configuration.md from the code: `python scripts/make_configuration.py`."""

import importlib
import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from dpbandits.config import conf_files, schema
from dpbandits.drawing.formulas import RAISED
from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel import parameters, registry


def imported(environment: str) -> ModuleType:
    """Return the module of an environment."""
    return importlib.import_module(f"dpbandits.environments.{environment.replace('-', '_')}")


FILE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
HEAD = """\
# Configuration keys

This page is written by `scripts/make_configuration.py`. Defaults are those that commands use. The
[keys of files](#keys-of-files) come last; [Keys of figures](figure-keys.md) has examples.

"""
KEYS_OF_FILES = """\
## Keys of files

|key |of |meaning|
|---|---|---|
"""
SHARED = """\
## Shared parameters

Two or more algorithms, stopping rules or environments have these parameters. Each below lists
those that it takes, and its own. A parameter without a default must be given.

"""
KEYS = {  # of all sections
    "seed": "root of every random stream",
    "runs": "independent runs of an experiment",
    "cache": "folder of results",
    "out": "folder of pictures and tables",
    "jobs": "whether a multirun writes the files of every job",
    "block": "least number of runs of a task",
    "workers": "threads, or processes of a cluster",
    "scheduler": "address of a Dask cluster",
    "name": "name of the profile",
    "horizon_scale": "factor of every horizon",
    "paper": "key of its paper",
    "title": "title, a template",
    "draw": "drawing function",
    "note": "further remark of the caption",
    "about": "content, for the caption",
    "sweep": "key and values of the x axis",
    "curves": "curves",
    "panels": "panels",
    "notions": "lists of curves, for panels to name",
    "profiles": "changes under a profile",
    "original": "number in the paper",
    "slopes": "whether log-log slopes are fitted",
    "input_privacy": "whether legends have the ε given",
    "annotated": "whether to draw more than the original",
    "centre": "statistic of a curve",
    "spread": "statistic of its band",
    "level": "level of confidence intervals",
    "checkpoints": "rounds that are recorded",
    "width": "inches, `column` or `page`",
    "font_size": "points",
    "untitled": "whether titles are left out",
    "legend": "place of the legend; of a curve its text",
    "x_axis": "`linear` or `log`",
    "y_axis": "`linear` or `log`",
    "format": "the only format to write",
    "style": "style of matplotlib, by name or file",
    "epsilon": "privacy budget ε",
    "delta": "δ of (ε, δ)-DP",
    "environment": "instance",
    "row": "heading of a row of panels",
    "column": "heading of a column of panels",
    "against": "curve whose regret is subtracted",
    "parameters": "values for all its curves",
    "each": "key and values that repeat every curve",
    "shows": "quantity that is plotted",
    "published": "figure whose read-off points are drawn",
    "label": "name in tables",
    "variant": "variant of an open choice, for the label",
    "colour": "colour",
    "marker": "marker",
    "line": "line style",
    "annotation": "whether the original lacks it",
    "share": "part of ε that it gets, or `composed`",
}
KEYS |= {name: key.meaning for kind in kinds.every() for name, key in kind.keys.items()}
KEYS |= {kind.key: f"what is played: {kind.title.lower()}" for kind in kinds.every()}
PLAYED = [kind for kind in kinds.every() if kind.has_members]
MEMBERS: dict[str, tuple[Iterable[str], Callable[[str], Any]]] = {
    **{kind.title: (kind.names(), kind.module) for kind in PLAYED},
    "Environments": (registry.environment_names(), imported),
}
OF_GAME = "the run's"  # default of `horizon`, which the figure sets
MEANINGS = {  # of numbers, a module's own first; of a choice it is the docstring of its type
    "epsilon": "privacy budget ε",
    "delta": "δ of (ε, δ)-DP",
    "dp-ucb-int.delta": "δ' of the composed guarantee",
    "rho": "ρ of zero-concentrated DP",
    "horizon": "rounds T",
    "alpha": "exploration α of the index",
    "beta": "exploration β of the index",
    **{f"{rule}.alpha": "relative error of the mean" for rule in registry.names("stopping")},
    **{f"{rule}.beta": "failure probability" for rule in registry.names("stopping")},
    "risk": "largest probability of a wrong answer (δ in papers)",
    **dict.fromkeys(
        ("gope.risk", "adac-gope.risk"), "probability δ of eliminating the best action"
    ),
    **dict.fromkeys(("rs-oful.risk", "adac-oful.risk"), "risk δ of the confidence ellipsoids"),
    "tolerance": "how far a design may be from G-optimal, as a share",
    **dict.fromkeys(
        ("rs-oful.doubling", "adac-oful.doubling"),
        "C: an episode ends when det V has grown 1 + C times",
    ),
    "regulariser": "λ of the least squares",
    "eigenvalue": "λ₀ of Assumption 5.15, least eigenvalue of the contexts' second moment",
    "theta": "parameter θ*, of d numbers",
    "features": "features of the actions, one after another",
    "deviation": "standard deviation of a reward",
    "dimension": "dimension d of the features",
    "normalised": "whether contexts are scaled to norm 1",
    "s": "exponent s of the threshold",
    "ratio": "growth α of an arm's batches",
    "first_batch": "pulls of each arm in its first batch",
    "gamma": "failure probability γ of the bound on the noise",
    "v": "exponent v of the release schedule",
    "doubling": "whether episodes double an arm's pulls",
    "forgetting": "whether a mean uses the last episode alone",
    "arms": "number of arms K",
    "means": "mean reward of every arm",
    "concentration": "c of Beta(c μ, c (1 - μ))",
    "low": "least mean",
    "high": "largest mean",
    "memory": "rounds m that the adversary remembers",
}


def page() -> str:
    """Return the text of the page."""
    sections = {
        "top": ("seed", "runs"),
        "paths": schema.PATHS,
        "engine": schema.ENGINE,
        "profile": schema.PROFILE,
        "figure": schema.keys_in("figure"),
        "panel": schema.keys_in("panels"),
        "curve": schema.keys_in("curves"),
    }
    owners: dict[str, list[str]] = {}
    for section, keys in sections.items():
        for key in keys:
            owners.setdefault(key, []).append(section)
    rows = [f"|`{key}` |{', '.join(of)} |{KEYS[key]}|" for key, of in owners.items()]
    members = {name: module_of(name) for names, module_of in MEMBERS.values() for name in names}
    fields = {name: _fields(name, module) for name, module in members.items()}
    shared = _shared(fields.values())
    parts = [HEAD + SHARED + "\n".join(shared.values()) + "\n"]
    for title, (names, _) in MEMBERS.items():
        parts.append(f"## {title}\n")
        parts += [_member(name, members[name], fields[name], shared) for name in names]
    return "\n".join([*parts, KEYS_OF_FILES + "\n".join(rows) + "\n"])


def _fields(name: str, module: ModuleType) -> dict[str, str]:
    """Return what the list has of each field."""
    defaults = module.Params._field_defaults | _in_use(name)
    items = {}
    for field, annotation in parameters.fields(module.Params).items():
        default = OF_GAME if field == "horizon" else _default(defaults, field, annotation)
        item = f"* `{field}`: {meaning(name, field, annotation)}; {_valid_values(annotation)}"
        items[field] = item + (f"; default {default}" if default else "")
    return items


def _shared(fields: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the most frequent item of each field, if two or more members have it."""
    most_frequent: dict[str, str] = {}
    for (field, item), count in Counter(x for of in fields for x in of.items()).most_common():
        if count >= 2:
            most_frequent.setdefault(field, item)
    return most_frequent


def _member(
    name: str, module: ModuleType, fields: Mapping[str, str], shared: Mapping[str, str]
) -> str:
    first = (module.__doc__ or "").strip().splitlines()[0]
    lines = [f"### {name}\n", f"{first}\n"]
    common = [f"`{field}`" for field, item in fields.items() if shared.get(field) == item]
    if common:
        lines.append(f"[Shared](#shared-parameters): {', '.join(common)}\n")
    specific = [item for field, item in fields.items() if shared.get(field) != item]
    if specific:
        lines += [*specific, ""]
    return "\n".join(lines)


def meaning(name: str, field: str, annotation: Any) -> str:
    """Return what a field of an algorithm, rule or environment means."""
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        summary = (annotation.__doc__ or "").splitlines()[0].removeprefix("Variant: ").rstrip(".")
        return summary[0].lower() + summary[1:]
    return MEANINGS.get(f"{name}.{field}") or MEANINGS[field]


def _in_use(name: str) -> dict[str, Any]:
    # What commands use in place of the defaults of the code: the algorithm's file.
    if name not in project.names("algorithm"):
        return {}
    return {**conf_files.read_yaml(f"conf/algorithm/{name}.yaml")}


def _default(defaults: Mapping[str, Any], field: str, annotation: Any) -> str:
    if field not in defaults:
        return ""
    value = parameters.plain_value(defaults[field])
    if isinstance(value, bool) and annotation is not bool:  # YAML reads `on` as true
        value = "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else f"{value}".lower()


def _valid_values(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return ", ".join(f"`{parameters.variant_name(member)}`" for member in annotation)
    for declared in typing.get_args(annotation)[1:]:
        if isinstance(declared, parameters.Constraint):
            wording = declared.wording.removeprefix("from ").removeprefix("a whole number from ")
            powers = re.sub(r"\b1e(?=-?\d)", "10^", wording)
            return re.sub(r"\^(-?\d+)", lambda power: power[1].translate(RAISED), powers)
    return parameters.WORDS.get(annotation, "numbers")


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    sys.exit(0)
