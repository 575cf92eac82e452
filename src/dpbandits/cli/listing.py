"""What has a name on the command line, one line each, and what is cited for it.

Files are only read as text, so that a broken file is listed too. What comes from the user's project
or from a plugin ends with its name in parentheses.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterator, Sequence

import yaml

from dpbandits.config import conf_files
from dpbandits.experiments import kinds
from dpbandits.experiments.kinds import Kind
from dpbandits.files import project
from dpbandits.files.provenance import revision
from dpbandits.kernel import registry, roots
from dpbandits.kernel.errors import UserError, nearest, shown

SOFTWARE = """\
@misc{{dpbandits,
  title   = {{{{{title}}}}},
  author  = {{{{{author}}}}},
  version = {{{version}}},
  year    = {{{date-released:%Y}}},
  note    = {{Revision {revision}}}
}}"""
Row = tuple[str, str, str, str]  # kind, name, description and owner


def lines(words: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line for every figure, algorithm, file of conf/algorithm, environment, instance.

    A file whose algorithm has the same name is left out. Words, such as `algorithms` or the key of
    a paper, leave the lines that have all of them. Raises UserError if there are none.
    """
    played = [kind for kind in kinds.every() if kind.has_members]
    players = [row for kind in played for row in _rows(kind)]
    names = {row[1] for row in players}
    rows = [
        *_configured("figure", "figure"),
        *sorted(players, key=lambda row: row[0]),
        *(row for row in _configured("+algorithm", "algorithm") if row[1] not in names),
        *_members("environment", "environment", registry.environment_names()),
        *_configured("instance", "environment"),
    ]
    for word in words:
        kind, valid = word.removesuffix("s"), {name for _, name, *_ in rows}
        matching = [row for row in rows if row[0].strip("+") == kind]
        matching = matching or [row for row in rows if _has(row, word)]
        if not matching:
            valid |= {f"{kind.strip('+')}s" for kind, *_ in rows}
            raise UserError(f"list: nothing has {shown(' '.join(words))}; {nearest(word, valid)}")
        rows = matching
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for kind, name, about, owner in rows:
        text = f"{about} ({owner})".lstrip() if owner else about
        yield f"{kind:<{widths[0]}}  {name:<{widths[1]}}  {text}".rstrip()


def _has(row: Row, word: str) -> bool:
    # Whether it is a word of the name or description.
    return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", " ".join(row[1:]), re.IGNORECASE))


def _rows(kind: Kind) -> Iterator[Row]:
    return _members(kind.key, "algorithm", registry.names(kind.name))


def _configured(kind: str, group: str) -> Iterator[Row]:
    for name in project.names(group):
        try:
            content = conf_files.read_member(group, name)
            if group == "algorithm":
                member = next((content[k.key] for k in kinds.every() if content.get(k.key)), "")
                about = f"{member} {_comment(group, name)}".strip()
            elif group == "environment":
                keys = [key for key in content if key not in ("family", "name")]
                values = ", ".join(f"{key} = {shown(content[key])}" for key in keys)
                about = f"{content.get('family', '')} {values}; {_comment(group, name)}"
            else:
                # The title of a figure may name the instance, or its number of arms.
                title, environment = str(content.get("title", "")), content.get("environment")
                if "{" in title and environment in project.names("environment"):
                    instance = conf_files.read_member("environment", environment)
                    title = title.replace("{instance}", str(instance.get("name", environment)))
                    title = re.sub(r"\{arms[^}]*\}", str(len(instance.get("means", ()))), title)
                number = conf_files.original(name)
                paper = " ".join(map(str, filter(None, (content.get("paper"), number))))
                about = f"{paper}: {title}" if number else f"{paper} {title}".strip()
        except UserError as error:
            about = f"({error})"
        yield kind, name, about, project.owner(project.home(group, name))


def _members(kind: str, group: str, names: Collection[str]) -> Iterator[Row]:
    for name in names:
        member = registry.member(group, name)
        try:
            source = (member.root.folder / member.path).read_bytes()
            text = ast.get_docstring(ast.parse(source)) or ""
        except (OSError, SyntaxError, ValueError):
            text = "(its file cannot be read as Python)"
        yield kind, name, text.partition("\n")[0], project.owner(member.root.folder)


def _comment(group: str, name: str) -> str:
    # The comment at the head of a file, in one line.
    text = project.find(project.member_file(group, name)).read_text("utf-8")
    head = re.match(r"(#.*\n)*", text)
    return " ".join(line.strip("# ") for line in head[0].splitlines()) if head else ""


def _cited_in(figure: str) -> set[str]:
    # The paper of a figure and its files of conf/algorithm, with those of a figure that it extends.
    sources = {str(conf_files.read_member("figure", figure).get("paper"))}
    for group, name in conf_files.defaults(project.member_file("figure", figure)):
        is_figure = not group and name in project.names("figure")
        sources |= _cited_in(name) if is_figure else {name}
    return sources


def cite(names: Sequence[str]) -> None:
    """Print BibTeX entries of the project and of the papers that names stand for.

    A name is a figure, the key of a paper or an algorithm; without names, print all papers of
    dpbandits. Raises UserError for an unknown name.
    """
    from dpbandits.factory import papers as of  # late: the list waits for no NumPy

    shipped = {paper.key: paper for paper in (*of.PAPERS, *of.SOURCES) if paper.key not in of.OURS}
    papers = {**dict.fromkeys(of.of_project()), **shipped}
    figures, files = project.names("figure"), project.names("algorithm")
    cited: dict[str, set[str]] = {}
    for name in names:
        if name not in {*papers, *figures, *files, *registry.members("algorithm")}:
            near = nearest(name, [*papers, *figures, *files])
            near += f"; papers of yours: {of.REFERENCES}" * bool(roots.discovery().project)
            raise UserError(f"{shown(name)} is not a figure, paper or algorithm; {near}")
        sources = _cited_in(name) if name in figures else {name}  # it draws those of several papers
        # The head of an algorithm's file names its sources.
        heads = " ".join(_comment("algorithm", algorithm) for algorithm in sources & {*files})
        cited[name] = {key for key in papers if key in sources | {*re.findall(r"\w+", heads)}}
    software = yaml.safe_load((project.SHIPPED / "CITATION.cff").read_text("utf-8"))
    software["author"] = " and ".join(author["name"] for author in software["authors"])
    entries = [SOFTWARE.format(**software, revision=revision())]
    for key, entry in papers.items():
        if any(key in keys for keys in cited.values()) or (entry and not names):
            entries.append((entry or of.paper(key)).bibtex)
    print(*entries, sep="\n\n")
    sys.stdout.flush()
    for name in (name for name, keys in cited.items() if not keys):
        file = project.member_file("algorithm", name)
        print(f"dpbandits: {name} has no paper: {file} names none", file=sys.stderr)
