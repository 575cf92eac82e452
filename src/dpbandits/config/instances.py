"""Instances of environments, and texts with names of values: `$K = {arms}$`."""

import csv
import io
import math
import re
import string
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.config import conf_files
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import Located, nearest, shown
from dpbandits.spec.figure import Data

TABLE = re.compile(r"(?P<file>.+\.(?:csv|tsv))(?::(?P<column>.+))?")  # means=rates.csv:ctr
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
    description, _ = own_data(description, origin, figure)
    content = {key: value for key, value in description.items() if key not in ("name", "family")}
    environment = description.get("family")
    if "law" in description:
        raise Located(f"{figure}: the key law of an environment is now called family ({origin})")
    if environment not in {*registry.environment_names(), *registry.NOT_STORED}:
        near = nearest(str(environment), registry.environment_names())
        raise Located(f"{figure}: unknown environment {shown(environment)} ({origin}); {near}")
    if isinstance(means := content.get("means"), Mapping):
        owner = f"{environment}: means"
        if not {*means} & {*Steps._fields}:
            problem = "must be a list, got names with a mean each: give its values alone"
            raise Located(f"{owner} {problem}, {shown([*means.values()])} ({origin})")
        steps = parameters.build(Steps, means, owner, lambda field: origin)
        content["means"] = np.linspace(*steps).tolist()
    family = registry.environment(environment)
    try:
        built = parameters.build(family.Params, content, environment, lambda field: origin)
    except Located as error:
        hint = _hint(means) if f"{environment}: means must be" in str(error) else ""
        raise Located(f"{error}{hint}") from None
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
) -> tuple[Mapping[str, Any], Data | None]:
    """Return a description with the means of the table that it names, and that table, if any.

    The means are a column of a table, `rates.csv`, `rates.csv:ctr` or `{file: rates.csv, column:
    ctr}`. A YAML file may be somebody else's: it may name only a file below the project's folder,
    unless `anywhere`. Raises UserError for a file, column or row that cannot be used.
    """
    if (table := _table(description.get("means"))) is None:
        return description, None
    where, folder = f"{caller}: {table.get('file')}", Path() if anywhere else project.folder()
    try:
        if not {"file"} <= {*table} <= {"file", "column"}:
            raise ValueError("needs the keys of {file: rates.csv, column: ctr} and no other")
        path = (folder / str(table["file"])).resolve()
        if not (anywhere or path.is_relative_to(folder.resolve())):
            raise ValueError(f"must be a file below {folder}")
        content = path.read_bytes()
        column, means = _means(content, str(table.get("column", "")), path.suffix)
    except (OSError, ValueError, RuntimeError, csv.Error) as error:
        raise Located(f"{where} {getattr(error, 'strerror', None) or error} ({origin})") from error
    inside = path.is_relative_to(home := project.folder().resolve())
    file = str(path.relative_to(home) if inside else table["file"])
    data = Data(file, column, sha256(content).hexdigest())
    return {**description, "means": means}, data


def names_a_table(value: Any) -> bool:
    """Return whether a text is the file of a table, with or without a column."""
    return isinstance(value, str) and bool(TABLE.fullmatch(value))


def _table(means: Any) -> Mapping[str, Any] | None:
    # The table that means stand for, with the keys of its long form.
    if names_a_table(means) and (match := TABLE.fullmatch(means)):
        return {key: part for key, part in match.groupdict().items() if part}
    return means if isinstance(means, Mapping) and {"file", "column"} & {*means} else None


def _rows(content: bytes, suffix: str) -> list[tuple[int, list[str]]]:
    # The rows of a table with the numbers of their lines, without empty ones at the end.
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    reader = csv.reader(text, delimiter="\t" if suffix == ".tsv" else ",", skipinitialspace=True)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    while rows and not any(rows[-1][1]):
        rows.pop()
    if not rows:
        raise ValueError("is empty")
    return rows


def _column(header: list[str], chosen: str) -> tuple[str, int, bool]:
    # The name of the column that a name or number means, its index, and whether the first line has
    # names: no mean is taken for a name, and no name for a mean.
    if not chosen and len(header) > 1:
        raise ValueError(f"has {len(header)} columns: add :<name or number>; {nearest('', header)}")
    if chosen and header.count(chosen) > 1:
        raise ValueError(f"has several columns {shown(chosen)}: choose one by its number")
    if chosen in header:
        return chosen, header.index(chosen), True
    index = int(chosen or "1") - 1 if (chosen or "1").isdecimal() else -1
    if not 0 <= index < len(header):
        raise ValueError(f"has no column {shown(chosen)}; {nearest(chosen, header)}")
    if all(map(_is_number, header)):
        return str(index + 1), index, False
    if _is_number(header[index]):
        either = f"{shown(header[index])} of line 1 may be a name or a mean"
        raise ValueError(f"{either}: choose the column by its name, or add a line of names")
    return header[index], index, True


def _means(content: bytes, chosen: str, suffix: str) -> tuple[str, list[float]]:
    # The name of a column, or its number if it has none, and its means.
    rows, means = _rows(content, suffix), []
    name, index, has_names = _column(rows[0][1], chosen)
    for line, row in rows[has_names:]:
        cell = row[index] if index < len(row) else ""
        try:
            means.append(parameters.coerce(parameters.Delta, float(cell)))
        except ValueError:
            got = f"column {name} must be a number in [0, 1], got {shown(cell)}{_hint([cell])}"
            raise ValueError(f"line {line}: {got}") from None
    return name, means


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        return math.isfinite(float(cell))
    return False


def _hint(means: Any) -> str:
    # What to do with percentages, which are no means.
    cells = [str(mean) for mean in means] if isinstance(means, list) else []
    numbers = [float(cell) for cell in cells if _is_number(cell)]
    is_percent = any(cell.endswith("%") for cell in cells)
    if is_percent or (numbers and min(numbers) >= 0 and 2 <= max(numbers) <= 100):
        return "; divide percentages by 100"
    return ""


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
