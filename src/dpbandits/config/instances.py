"""Instances of environments, and texts with names of values: `$K = {arms}$`."""

import csv
import io
import math
import re
import string
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.config import conf_files
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import Located, nearest, shown

FEW = 10  # means that a description lists at most
NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Steps(NamedTuple):
    """Means in equal steps."""

    first: float
    last: float
    arms: parameters.Arms


def instance(description: Mapping[str, Any], origin: str, figure: str) -> tuple[str, Any]:
    """Return the name of the environment and its parameters.

    The description is that of a file in conf/environment/; means in equal steps are written
    `means: {first: 0.75, last: 0.25, arms: 5}`. Raises UserError, with the origin, if it is
    invalid.
    """
    description = own_data(description, origin, figure)
    content = {key: value for key, value in description.items() if key not in ("name", "family")}
    environment = description.get("family")
    if "law" in description:
        raise Located(f"{figure}: the key law of an environment is now called family ({origin})")
    if environment not in {*registry.environment_names(), *registry.NOT_STORED}:
        near = nearest(str(environment), registry.environment_names())
        raise Located(f"{figure}: unknown environment {shown(environment)} ({origin}); {near}")
    if isinstance(content.get("means"), Mapping):
        owner = f"{environment}: means"
        steps = parameters.build(Steps, content["means"], owner, lambda field: origin)
        content["means"] = np.linspace(*steps).tolist()
    family = registry.environment(environment)
    built = parameters.build(family.Params, content, environment, lambda field: origin)
    if not family.law:
        return environment, built
    arms = family.arms(built)
    gaps: Any = getattr(family.law(built), "gaps", None)
    width = family.RANGE[1] - family.RANGE[0]
    if np.shape(gaps) != (arms,) or np.min(gaps) != 0 or np.max(gaps) > width:
        numbers = f"an array of {arms} numbers in [0, {width:g}]"
        rule = f"must have `gaps`, {numbers}, 0 for the best arm"
        raise Located(
            f"{environment}: what law(params) returns {rule}; got {shown(gaps)} ({origin})"
        )
    return environment, built


def own_data(
    description: Mapping[str, Any], origin: str, caller: str, anywhere: bool = False
) -> Mapping[str, Any]:
    """Return a description with the means of a table, which `{file: x.csv, column: y}` names.

    A YAML file may be somebody else's: it may name only a file below the project's folder, unless
    `anywhere`. Raises UserError for a file, column or row that cannot be used.
    """
    table, means = description.get("means"), []
    if not isinstance(table, Mapping) or not {"file", "column"} & {*table}:
        return description
    where, folder = f"{caller}: {table.get('file')}", Path() if anywhere else project.folder()
    try:
        if {*table} != {"file", "column"}:
            raise ValueError("needs both keys and no other, {file: rates.csv, column: ctr}")
        path, column = (folder / str(table["file"])).resolve(), str(table["column"])
        if not (anywhere or path.is_relative_to(folder.resolve())):
            raise ValueError(f"must be a file below {folder}")
        text = io.StringIO(path.read_text("utf-8-sig"), newline="")
        rows = csv.DictReader(text, skipinitialspace=True)
        if (columns := list(rows.fieldnames or ())).count(column) != 1:
            raise ValueError(f"must have one column {shown(column)}; {nearest(column, columns)}")
        for row in rows:
            try:
                means.append(parameters.coerce(parameters.Delta, float(row[column])))
            except (ValueError, TypeError):  # None if the row is too short
                got = f"{column} must be a number in [0, 1], got {shown(row[column])}"
                raise ValueError(f"line {rows.line_num}: {got}") from None
    except (OSError, ValueError, RuntimeError, csv.Error) as error:
        raise Located(f"{where} {getattr(error, 'strerror', None) or error} ({origin})") from error
    return {**description, "means": means}


def name(environment: str, params: Any) -> str:
    """Return the papers' name of an instance, which is `name` in its file of conf/environment/.

    If no file names it, return its environment and number of arms.
    """
    family = registry.environment(environment)
    unnamed = family.title(params)
    if unnamed == environment:
        unnamed = environment.replace("-", " ").capitalize()
    unnamed = f"{unnamed}, K = {family.arms(params)}"
    return _names(project.layers()).get((environment, params), unnamed)


def description(environment: str, params: Any) -> str:
    """Return the text for an instance: its name if a file has one, else its arms and environment.

    Without an environment, `params` are means of arms of which only these matter.
    """
    names = _names(project.layers())
    fields = parameters.as_json(params) if environment else {"means": params}
    means = fields.get("means", ())
    # A few in full; of more in equal steps the ends, otherwise the first two and the last.
    if len(means) <= FEW:
        numbers = ", ".join(f"{mean:g}" for mean in means)
    elif np.allclose(np.diff(means), means[1] - means[0], rtol=1e-6, atol=0):
        numbers = f"in equal steps from {means[0]:g} to {means[-1]:g}"
    else:
        numbers = f"{means[0]:g}, {means[1]:g}, ..., {means[-1]:g}"
    if not environment:
        bernoulli = ((tuple(i.means), text) for (n, i), text in names.items() if n == "bernoulli")
        return dict(bernoulli).get(tuple(params), f"K = {len(params)}, means {numbers}")
    usual, text = type(params)._field_defaults, f"environment {environment}"
    if "means" in fields:
        text = f"{environment.replace('-', ' ').capitalize()} arms of means {numbers}"
    elif phrase := registry.environment(environment).phrase(params):
        text, usual = phrase, params._asdict()
    others = [k for k in fields if k not in ("arms", "means")]
    more = [f"{k}={fields[k]}" for k in others if getattr(params, k) != usual.get(k)]
    arms = f"K = {registry.environment(environment).arms(params)}"
    return names.get((environment, params), ", ".join([arms, text, *more]))


@cache
def _names(layers: tuple[Path, ...]) -> Mapping[tuple[str, Any], str]:
    # A name belongs to the instance, in whatever form a command gives it. A file with a mistake
    # gives none: the mistake is reported where the file is used.
    names: dict[tuple[str, Any], str] = {}
    for member in project.names("environment"):
        with suppress(Exception):  # also of an environment of a project
            content = conf_files.read_member("environment", member)
            if isinstance(content.get("name"), str):
                names[instance(content, member, member)] = content["name"]
    return names


class Several(tuple[Any, ...]):
    """Values of several panels, listed each in the given format: `1, 2 and 3`."""


class Texts(string.Formatter):
    """Formatter of values: `{arms:words}` spells a number out, `{with_k:with|without}` chooses.

    A number without a format is written as in formulas: 0.1, 10^{-10}, e^{-10}. A text may name a
    value, or an entry as in `{stream[mean]}`, but no attribute of it.
    """

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Return the value that the name stands for. Raises KeyError or TypeError if none does."""
        name, bracket, entry = field_name.partition("[")
        return kwargs[name][entry.removesuffix("]")] if bracket else kwargs[name], name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return the text of a value."""
        if isinstance(value, Several):
            parts = [self.format_field(item, format_spec) for item in value]
            return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
        if isinstance(value, bool):
            yes, _, no = (format_spec or "True|False").partition("|")
            return yes if value else no
        if isinstance(value, int) and format_spec == "words":
            return NUMERALS[value] if 0 <= value < len(NUMERALS) else str(value)
        if isinstance(value, float) and not format_spec:
            for base, log in (("10", math.log10), ("e", math.log)) if value > 0 else ():
                whole = round(log(value))
                if abs(whole) > 4 and math.isclose(log(value), whole, rel_tol=1e-12):
                    return f"{base}^{{{whole}}}"
            format_spec = "g"
        if re.search(r"\d{3}", format_spec):
            raise ValueError("a width or precision of at most two digits")
        return str(super().format_field(value, format_spec))
