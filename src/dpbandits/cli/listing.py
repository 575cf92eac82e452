"""List of everything that has a name on the command line, one line each.

What comes from the user's project or from a plugin ends with its name in parentheses.

Files are only read as text, so that a broken file is listed too. There is one exception: a title
with a placeholder, such as {instance}, is filled in from the loaded figure.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dpbandits.config import conf_files
from dpbandits.config.overrides import check_figure_name
from dpbandits.core import registry
from dpbandits.core.errors import UserError
from dpbandits.files import project

LONGEST_LIST = 5  # longest list of means written out
Row = tuple[str, ...]


def lines() -> Iterator[str]:
    """Yield a line for every figure, algorithm, rule, file of conf/algorithm, law, environment."""
    kinds: dict[str, list[Row]] = {
        "figure": _rows("figure", _figure),
        "algorithm": list(_members("algorithm", registry.algorithm_names())),
        "rule": list(_members("stopping rule", registry.stopping_rule_names())),
        "+algorithm": _rows("algorithm", _configured),
        "law": list(_members("law", registry.environment_names())),
        "environment": _rows("environment", _environment),
    }
    first = max(map(len, kinds))
    second = max(len(row[0]) for rows in kinds.values() for row in rows)
    for kind, rows in kinds.items():
        # The columns after the name differ from kind to kind, and are aligned within each.
        widths = [second, *(max(map(len, column)) for column in list(zip(*rows, strict=True))[1:])]
        for row in rows:
            cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            yield f"{kind:<{first}}  {'  '.join(cells)}".rstrip()


def _rows(group: str, row: Callable[[str], Row]) -> list[Row]:
    # A row for each file of a group in conf/. The columns of a file that cannot be read are empty,
    # except for the last one.
    rows: list[Row] = []
    for name in project.names(group):
        try:
            *columns, last = row(name)
        except UserError as error:
            *columns, last = name, "", f"({error})"
        rows.append((*columns, _with_owner(last, project.owner(project.home(group, name)))))
    return rows


def _with_owner(text: str, owner: str) -> str:
    # Adds the name of the project or plugin that something comes from.
    return f"{text} ({owner})".lstrip() if owner else text


def _figure(name: str) -> Row:
    check_figure_name(name)
    content = conf_files.read_member("figure", name)
    paper, title = str(content.get("paper", "")), str(content.get("title", ""))
    if "{" in title:  # a placeholder, which is filled in from the loaded figure
        from dpbandits.config import compose  # late: it imports what the figure plays

        try:
            title = compose.load(name, [])[0].title
        except UserError:
            title = "(its file has a mistake)"
    return name, paper, title


def _members(kind: str, names: Iterable[str]) -> Iterator[Row]:
    for name in names:
        member = registry.member(kind, name)
        try:
            text = ast.get_docstring(ast.parse(member.file.read_bytes())) or ""
        except (OSError, SyntaxError, ValueError):
            text = "(its file cannot be read as Python)"
        yield name, _with_owner(text.partition("\n")[0], project.owner(member.root.folder))


def _configured(name: str) -> Row:
    content = conf_files.read_member("algorithm", name)
    member = content.get("algorithm") or content.get("rule") or content.get("bound")
    return name, str(member or ""), _comment("algorithm", name)


def _environment(name: str) -> Row:
    content = dict(conf_files.read_member("environment", name))
    law = str(content.pop("law", ""))
    content.pop("name", None)  # used in titles
    parts = []
    if arms := content.pop("arms", None):
        parts.append(f"K = {arms}")
    if means := content.pop("means", None):
        parts.append(_means(means))
    parts += [f"{key} = {value}" for key, value in content.items()]
    about = (", ".join(parts), _comment("environment", name))
    return name, law, "; ".join(filter(None, about))


def _means(means: Any) -> str:
    if isinstance(means, Mapping):
        return f"K = {means.get('arms')}, means {means.get('first')} to {means.get('last')}"
    if not isinstance(means, list):
        return f"means {means}"
    if len(means) <= LONGEST_LIST or not all(isinstance(mean, int | float) for mean in means):
        return f"K = {len(means)}, means {', '.join(map(str, means))}"
    return f"K = {len(means)}, means in [{min(means)}, {max(means)}]"


def _comment(group: str, name: str) -> str:
    # The comment at the head of a file, in one line.
    text = project.find(project.member_file(group, name)).read_text("utf-8")
    comment = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.strip("# "))
    return " ".join(comment)
