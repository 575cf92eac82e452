"""Completion of the command line by argcomplete: figures, algorithms, override keys and names.

It reads only the files of conf/: a shell waits for the answer, and Hydra would take a second.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import argcomplete

from dpbandits.config import conf_files
from dpbandits.config.origins import leaves
from dpbandits.core import registry
from dpbandits.files import project

Completer = Callable[..., Iterable[str]]

NEW_CURVE = "algorithm@figure.curves.mine"  # `mine` is an example of a new name
UNLIKELY = re.compile(r"figure\.(claims|profiles)\.|.*\.(algorithm|rule)$")


def complete(parser: argparse.ArgumentParser, actions: Mapping[str, list[argparse.Action]]) -> None:
    """Answer a shell's request for completion, and then end the process.

    `actions` maps each argument to the parser's actions that take it.
    """
    for argument, completer in COMPLETERS.items():
        for action in actions.get(argument, ()):
            setattr(action, "completer", completer)  # noqa: B010 -- where argcomplete looks for it
    argcomplete.autocomplete(parser, default_completer=argcomplete.completers.SuppressCompleter())


def figures(**_: Any) -> list[str]:
    """Return the names of all figures."""
    return project.names("figure")


def papers(**_: Any) -> list[str]:
    """Return the keys of the papers that have figures."""
    return sorted({str(_read("figure", name).get("paper", "")) for name in project.names("figure")})


def algorithms(**_: Any) -> list[str]:
    """Return the names of all algorithms."""
    return registry.algorithm_names()


def parameters(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the parameters that the file of an algorithm sets, as `alpha=`."""
    if parsed_args.algorithm not in project.names("algorithm"):
        return []
    content = _read("algorithm", parsed_args.algorithm)
    return [f"{key}=" for key in content if key not in ("algorithm", "rule", "label")]


def overrides(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the keys of a figure and of all commands, or the values of a key that takes names."""
    key, equals, _value = prefix.partition("=")
    if equals:
        return [f"{key}={value}" for value in _values(key)]
    own = list(dict.fromkeys(_keys(getattr(parsed_args, "figure", None))))
    likely = [path for path in own if not UNLIKELY.match(path)]
    if prefix.startswith("~"):
        return [f"~{path}" for path in (*_curves_and_panels(own), *likely)]
    if prefix.startswith("+"):
        from dpbandits.config.readers.figure import FIGURE_KEYS  # late: it takes a second

        added = [f"figure.{name}" for name in FIGURE_KEYS if f"figure.{name}" not in own]
        return [f"+{path}=" for path in (NEW_CURVE, *added)]
    return [f"{path}=" for path in (*_general(), *likely)]


def words(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return figures and overrides, in any order."""
    return [*figures(), *overrides(prefix, parsed_args)]


def rivals(prefix: str, **_: Any) -> list[str]:
    """Return the algorithms, the keys and the environments of a comparison."""
    key, equals, _value = prefix.partition("=")
    if equals:
        return [f"{key}={value}" for value in _values(key)]
    keys = [f"{name}=" for name in ("environment", "means", "epsilon", "horizon", "runs", "seed")]
    return [*sorted({*algorithms(), *project.names("algorithm")}), *keys]


def _values(key: str) -> list[str]:
    # The names that a key accepts, also for algorithm@figure.curves.x.
    group = key.lstrip("+").partition("@")[0].rpartition(".")[2]
    if group == "algorithm" and "@" not in key:
        return registry.algorithm_names()
    groups = ("profile", "engine", "environment", "algorithm")
    return project.names(group) if group in groups else []


def _general() -> Iterable[str]:
    # The keys of conf/config.yaml and of its groups.
    content = conf_files.read_yaml("conf/config.yaml")
    yield from ("profile", "engine")
    for path, _ in leaves({k: v for k, v in content.items() if k not in ("defaults", "hydra")}):
        yield path
    yield from (f"engine.{path}" for path, _ in leaves(_read("engine", "local")))


def _keys(figure: str | None) -> Iterable[str]:
    # The keys of a figure's file, and those of the algorithm files that its curves use.
    if figure is None or figure not in project.names("figure"):
        return
    content = _read("figure", figure)
    for entry in content.pop("defaults", []):
        for taken, name in entry.items() if isinstance(entry, Mapping) else ():
            curve = str(taken).partition("@")[2]
            if curve and name in project.names("algorithm"):
                yield from (path for path, _ in leaves(_read("algorithm", name), f"figure.{curve}"))
    yield from (path for path, _ in leaves(content, "figure"))


def _curves_and_panels(paths: Iterable[str]) -> Iterable[str]:
    # The whole curves and panels that contain the paths.
    whole = re.compile(r"figure\.(?:curves|panels)\.[^.]+")
    return dict.fromkeys(match[0] for path in paths if (match := whole.match(path)))


def _read(group: str, name: str) -> dict[str, Any]:
    return dict(conf_files.read_member(group, name))


COMPLETERS: dict[str, Completer] = {
    "figure": figures,
    "overrides": overrides,
    "words": words,
    "algorithm": algorithms,
    "algorithms": algorithms,
    "parameters": parameters,
    "rivals": rivals,
    "subjects": algorithms,
    "--paper": papers,
    "--output": argcomplete.completers.FilesCompleter(),
    "--out": argcomplete.completers.DirectoriesCompleter(),
}
