"""Files of conf/ that are refused before Hydra, which calls targets and resolvers, reads any.

A file is judged by its parsed keys and values, so that neither escapes, folded lines, anchors nor
merge keys hide one. It may not name a program or load files from elsewhere. Only conf/config.yaml
and sweeps may set some keys of Hydra, and only `paths` there and in profiles may read environment
variables. Figures, algorithms and environments do not choose folders, engine or seed either.
"""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from dpbandits.kernel.errors import UserError, shown

MEMBERS = ("figure", "ranked", "algorithm", "environment")
OWNERS = "comes from the command line, the profile or conf/config.yaml: this file may not set it"
REFUSED = {  # keys that files of a group may not have
    **dict.fromkeys(MEMBERS, ("paths", "engine", "seed", "profile")),
    "sweep": ("paths", "engine"),
}
CODE = "might let Hydra run code: only the command line may set it"
NAMES = "may only name another key of the figure, as in ${figure.epsilon}"
LOADS = "may only name members of its own group, or as docs/projects.md allows"
PLAIN = re.compile(r"\$\{([\w-]+(?:\.[\w-]+)*)\}")  # an interpolation that names a key
MOST = 20_000  # keys and values of a file, with those that aliases repeat
SPECIAL = re.compile(r"_\w*_|hydra")  # a part of a key that Hydra reads, such as _target_
GLOBAL = "# @package _global_"  # header of the files that set keys of several sections
ABOVE = r"hydra|hydra\.(run|sweep|job|sweeper|sweeper\.params)"
SWEPT = r"sweeper\.params\.[+~]*(figure|algorithm@figure|runs\b|seed\b|profile\b)[\w.-]*"
HYDRA = {  # keys of Hydra that files of a group may set; '' is conf/config.yaml
    "": rf"{ABOVE}|hydra\.(mode|output_subdir|run\.dir|sweep\.(sub)?dir|job\.chdir|{SWEPT})",
    "sweep": rf"{ABOVE}|hydra\.(mode|{SWEPT})",
    "figure": r"defaults\./ranked@_here_",  # its keys are the figure's
}
CHOICE = re.compile(r"hydra\.sweeper\.params\.([^.]*|.*@.*)")  # may choose a file
MEMBER = r"(\w[\w.-]*|null)"
DEFAULTS = {  # entries of defaults, beside _self_ and members of the file's own group
    "": rf"(profile|engine|sweep|figure): ({MEMBER}|\?\?\?)"
    r"|override hydra/(hydra|job)_logging: none",
    "figure": rf"(override )?/algorithm@curves\.[\w-]+: {MEMBER}|/ranked@_here_: {MEMBER}",
    "ranked": rf"/algorithm@curves\.[\w-]+: {MEMBER}",
    "sweep": rf"override /(figure|profile|engine): {MEMBER}",
}


@cache
def check(layers: tuple[Path, ...]) -> None:
    """Raise UserError for a file of conf/ with which Hydra might run code or write elsewhere."""
    for conf in (layer / "conf" for layer in layers):
        for folder in conf.glob("*"):
            if folder.name.casefold() == "hydra":  # its files would replace Hydra's own
                raise UserError(f"{folder}: a file in it {CODE}")
        # A folder of a group may be a link, which `rglob` does not follow.
        for path in sorted({*conf.rglob("*.yaml"), *conf.glob("*/*.yaml")}):
            group = path.relative_to(conf).parts[0] if path.parent != conf else ""
            for key, problem in _problems(path, group):
                raise UserError(f"{path}: {shown(key)} {problem}")


def is_special(key: str) -> bool:
    """Return whether a part of a dotted key is one that Hydra reads."""
    return any(SPECIAL.fullmatch(part) for part in re.split(r"[./@]", key))


def _problems(path: Path, group: str) -> Iterator[tuple[str, str]]:
    # A file that is no YAML is passed over, as nothing can load it. Claims are never Hydra's: their
    # header, which could make them so, is judged alone.
    try:
        text = path.read_text("utf-8")
        root = None if group == "claims" else yaml.compose(text, yaml.SafeLoader)
        entries = list(itertools.islice(_content(root), MOST + 1))
    except RecursionError:
        yield "", "is nested too deeply"
        return
    except (yaml.YAMLError, OSError, ValueError):
        return
    if len(entries) > MOST:
        yield entries[-1][0], f"is beyond the {MOST:,} keys and values of a file, with its aliases"
    for key, _ in entries:
        if is_special(key) and not re.fullmatch(HYDRA.get(group, "(?!)"), key):
            yield key, CODE
        if key.partition(".")[0] in REFUSED.get(group, ()):
            yield key, OWNERS
    for key, node in entries:
        if isinstance(node, yaml.ScalarNode) and (problem := _problem(key, node.value, group)):
            yield key, problem
    for line in text.splitlines():  # where Hydra finds the header
        is_known = line.strip() == GLOBAL and group in ("profile", "sweep")
        if re.match(r"\s*#\s*@", line) and not is_known:
            yield line.strip("# \t"), CODE


def _problem(key: str, value: str, group: str) -> str:
    # What is wrong with a value; '' for nothing.
    top, _, entry = key.partition(".")
    if top == "defaults":
        member = f"{entry}: {value}" if entry else value
        allowed = rf"_self_|{MEMBER}|{DEFAULTS.get(group, '(?!)')}"
        return "" if re.fullmatch(allowed, member) else f"{LOADS}, got {shown(member)}"
    if key.startswith("hydra.sweeper.params."):
        value = value.replace("\\", "")  # before interpolations of the jobs
        if CHOICE.fullmatch(key) and not re.fullmatch(r"[\w., ()*-]*", value):
            return f"must be names, got {shown(value)}"
    is_own = top == "paths" and group in ("", "profile")  # which may read the environment
    return NAMES if "${" in PLAIN.sub("", value) and not is_own else ""


def _content(root: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    # Dotted key and value of all that a file holds. An alias is what it repeats, and merged keys
    # have the place that they are merged into.
    waiting = [("", root)]
    while waiting:
        path, node = waiting.pop()
        children: list[tuple[str, yaml.Node]] = []
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                is_merge = key.tag == "tag:yaml.org,2002:merge"
                child_path = path if is_merge else f"{path}.{key.value}".lstrip(".")
                children.append((child_path, value))
        elif isinstance(node, yaml.SequenceNode):
            children = [(path, value) for value in node.value]
        yield from children
        waiting += reversed(children)
