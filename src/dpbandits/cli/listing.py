"""What has a name on the command line, one line each, and what is cited for it.

Files are only read as text, so that a broken file is listed too. What comes from the user's project
or from a plugin ends with its name in parentheses.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import yaml

from dpbandits.config import conf_files
from dpbandits.core import registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project
from dpbandits.files.provenance import revision

LONGEST_LIST = 5  # longest list of means written out
SOFTWARE = """\
@software{{dpbandits,
  title   = {{{{{title}}}}},
  author  = {{{{{author}}}}},
  version = {{{version}}},
  note    = {{Revision {revision}}}
}}"""
Row = tuple[str, ...]


def lines() -> Iterator[str]:
    """Yield a line for every figure, algorithm, rule, file of conf/algorithm, law, environment."""
    kinds = {
        "figure": _rows("figure", _figure),
        "algorithm": _members("algorithm", registry.algorithm_names()),
        "rule": _members("stopping rule", registry.stopping_rule_names()),
        "+algorithm": _rows("algorithm", _configured),
        "law": _members("law", registry.environment_names()),
        "environment": _rows("environment", _environment),
    }
    first = max(map(len, kinds))
    second = max(len(row[0]) for rows in kinds.values() for row in rows)
    for kind, rows in kinds.items():
        # The columns after the name differ from kind to kind, and are aligned within each.
        widths = [second, *(max(map(len, column)) for column in list(zip(*rows, strict=True))[1:])]
        for row in rows:
            columns = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            yield f"{kind:<{first}}  {'  '.join(columns)}".rstrip()


def _rows(group: str, row: Callable[[str, Mapping[str, Any]], Row]) -> list[Row]:
    # A row for each file of a group in conf/; one that cannot be read has only its last column.
    rows: list[Row] = []
    for name in project.names(group):
        try:
            *columns, last = row(name, conf_files.read_member(group, name))
        except UserError as error:
            *columns, last = name, "", f"({error})"
        owner = project.owner(project.home(group, name))
        rows.append((*columns, f"{last} ({owner})".lstrip() if owner else last))
    return rows


def _members(kind: str, names: Iterable[str]) -> list[Row]:
    rows: list[Row] = []
    for name in names:
        member = registry.member(kind, name)
        try:
            text = ast.get_docstring(ast.parse(member.file.read_bytes())) or ""
        except (OSError, SyntaxError, ValueError):
            text = "(its file cannot be read as Python)"
        text, owner = text.partition("\n")[0], project.owner(member.root.folder)
        rows.append((name, f"{text} ({owner})".lstrip() if owner else text))
    return rows


def _figure(name: str, content: Mapping[str, Any]) -> Row:
    # A title may name the instance, or its number of arms.
    title, environment = str(content.get("title", "")), content.get("environment")
    if "{" in title and environment in project.names("environment"):
        instance = conf_files.read_member("environment", environment)
        title = title.replace("{instance}", str(instance.get("name", environment)))
        title = re.sub(r"\{arms[^}]*\}", str(len(instance.get("means", ()))), title)
    return name, str(content.get("paper", "")), title


def _configured(name: str, content: Mapping[str, Any]) -> Row:
    member = content.get("algorithm") or content.get("rule") or content.get("bound")
    return name, str(member or ""), _comment("algorithm", name)


def _environment(name: str, content: Mapping[str, Any]) -> Row:
    parts = list[str]()
    for key, value in content.items():
        if key == "arms":
            parts.insert(0, f"K = {value}")
        elif key == "means":
            parts.append(_means(value))
        elif key not in ("law", "name"):
            parts.append(f"{key} = {value}")
    about = (", ".join(parts), _comment("environment", name))
    return name, str(content.get("law", "")), "; ".join(filter(None, about))


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
    head = re.match(r"(#.*\n)*", project.find(project.member_file(group, name)).read_text("utf-8"))
    return " ".join(line.strip("# ") for line in head[0].splitlines()) if head else ""


def cite(names: Sequence[str]) -> int:
    """Print BibTeX entries of the project and of the papers that names stand for; return 0.

    A name is a figure, the key of a paper or an algorithm; without names, print all papers. Raises
    UserError for an unknown name.
    """
    from dpbandits.factory.papers import OWN, PAPERS  # late: the list does not wait for NumPy

    papers = [paper for paper in PAPERS if paper.key != OWN]
    keys = [paper.key for paper in papers]
    cited = {name: _keys(name, keys) for name in names}
    software = yaml.safe_load((project.SHIPPED / "CITATION.cff").read_text("utf-8"))
    author = " and ".join(author["name"] for author in software["authors"])
    installed, commit = version("dpbandits"), revision()
    print(
        SOFTWARE.format(title=software["title"], author=author, version=installed, revision=commit)
    )
    for paper in papers:
        if not names or any(paper.key in found for found in cited.values()):
            print(f"\n{paper.bibtex}")
    sys.stdout.flush()
    for name in (name for name, found in cited.items() if not found):
        file = project.member_file("algorithm", name)
        print(f"dpbandits: {name} has no paper: {file} names none", file=sys.stderr)
    return 0


def _keys(name: str, papers: Sequence[str]) -> set[str]:
    # Keys of the papers that a name stands for. A figure draws algorithms of several papers; the
    # head of an algorithm's YAML names its source.
    if name in papers:
        return {name}
    if name in project.names("figure"):
        content = conf_files.read_member("figure", name)
        taken = [entry for entry in content.get("defaults", []) if isinstance(entry, dict)]
        members = [str(member) for pair in taken for member in pair.values()]
        configured = {*members} & {*project.names("algorithm")}
        return {str(content.get("paper"))}.union(*(_keys(member, papers) for member in configured))
    if name in project.names("algorithm"):
        return {key for key in papers if key in _comment("algorithm", name)}
    if name in registry.algorithm_names():
        return set()
    known = [*papers, *project.names("figure"), *project.names("algorithm")]
    raise UserError(f"{shown(name)} is not a figure, paper or algorithm; {nearest(name, known)}")
