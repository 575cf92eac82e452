"""Keys of results: a digest of everything that determines the bits of an experiment's runs.

These are the experiment, the versions of the libraries that draw the numbers, and all sources that
the experiment reaches: imports are followed from the experiment's roots, which the registry imports
by name. Sources that find others, compile them or word errors are left out (APART), and nothing
that draws imports the words of kinds: what they say changes no number. Comments, docstrings and
layout do not count. Of the sources of a project or plugin, the files that they open when they are
imported count too, and the other libraries that they import. Equal keys mean equal bits.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dpbandits.experiments.experiment import Experiment
from dpbandits.kernel import libraries, loading, roots
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import Root, source_path

FORMAT = 2  # of the keys and blocks
APART = frozenset(
    f"kernel/{name}.py"
    for name in ("compilation", "errors", "libraries", "loading", "registry", "roots")
)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef  # nodes that have docstrings


class EditedSources(UserError):
    """Reason why runs are not stored: their sources have been edited meanwhile."""


@cache
def key(experiment: Experiment) -> str:
    """Return the digest of the experiment's identity, 20 hexadecimal digits.

    Raises UserError if its description holds something other than JSON values.
    """
    try:
        canonical = json.dumps(identity(experiment), sort_keys=True, separators=(",", ":"))
    except TypeError as error:
        _, file = roots.source(experiment.roots[0])
        problem = f"description of {type(experiment).__name__} is not JSON: {error}"
        raise UserError(f"{file}: the {problem}") from None
    return hashlib.sha256(canonical.encode()).hexdigest()[:20]


def identity(experiment: Experiment) -> dict[str, Any]:
    """Return everything that determines the bits of an experiment's results, as JSON values."""
    reached = sources(experiment.roots)
    _import(reached)
    # As imported: the files of a library may be of another version by now.
    versions = {name: import_module(name).__version__ for name in experiment.libraries}
    return {
        "format": FORMAT,
        "experiment": experiment.description(),
        "sources": reached | {_name(path): digest for _, path, digest in _opened(reached)},
        "versions": libraries.states(*_imports(reached)) | versions,
    }


def foreign(reached: Iterable[str]) -> list[tuple[Root, str]]:
    """Return the root and the path there of each reached source that is not of dpbandits."""
    return [
        (root, name.removeprefix(prefix))
        for root in roots.discovery().roots[1:]
        for name in reached
        if name.startswith(prefix := source_path(root, ""))
    ]


def _import(reached: Iterable[str]) -> None:
    # What a module opens is known once it has been executed. One that cannot be imported says so
    # where it is used.
    for root, path in foreign(reached):
        with suppress(Exception):
            below = path.removesuffix(".py").removesuffix("__init__").strip("/")
            import_module(".".join([root.package, *filter(None, below.split("/"))]))


def _opened(reached: Iterable[str]) -> Iterator[tuple[str, str, str | None]]:
    # Each reached source with the path and the digest of a file that it has opened, as booked.
    for root, source in foreign(reached):
        booked = loading.BOOKED.get(str(root.folder / source), {})
        yield from ((source_path(root, source), path, digest) for path, digest in booked.items())


def _name(path: str) -> str:
    # Name of an opened file: like that of a source, if it is in the folder of a root.
    for root in roots.discovery().roots[1:]:
        if Path(path).is_relative_to(root.folder):
            return source_path(root, Path(path).relative_to(root.folder).as_posix())
    return path


def _imports(reached: Iterable[str]) -> tuple[list[bytes], list[str]]:
    # The sources whose imports may be of libraries, and the packages that are none.
    texts = [root.sources()[path] for root, path in foreign(reached)]
    return texts, [root.package for root in roots.discovery().roots]


@cache
def sources(names: tuple[str, ...], every_root: tuple[Root, ...] = ()) -> dict[str, str]:
    """Return the digest of every source reachable from the named ones, by path.

    The names are paths such as algorithms/ucb.py; those of roots other than the first begin with
    the package, as in my_paper/algorithms/mine.py. The roots are by default all that were found.
    Raises FileNotFoundError if no root has such a file, UserError for a relative import.
    """
    every_root = every_root or roots.discovery().roots
    contents = {
        source_path(root, name): text
        for root in every_root
        for name, text in root.sources().items()
    }
    if unknown := [name for name in names if name not in contents]:
        raise FileNotFoundError(unknown[0])
    reached: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        path = waiting.pop()
        if path not in contents or path in reached or path in APART:
            continue
        reached[path], imports = _read_imports(path, contents[path])
        # Importing a name executes its module and every __init__ above; it may be a module itself.
        for package, *parts in (name.split(".") for name in imports):
            bases = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
            files = [f"{base}{end}" for base in bases for end in (".py", "/__init__.py")]
            for root in (root for root in every_root if root.package == package):
                waiting += [source_path(root, file) for file in ("__init__.py", *files)]
                for file in files:
                    if source_path(root, file) not in contents and (root.folder / file).is_file():
                        raise UserError(
                            f"{path} imports {file}, which was no source of the project when the"
                            f" command started: move it into {', '.join(roots.FOLDERS)}, or repeat"
                            " the command"
                        )
    return dict(sorted(reached.items()))


@cache
def _read_imports(path: str, content: bytes) -> tuple[str, frozenset[str]]:
    # The digest of a source, without its docstrings, and the names of all modules, and perhaps of
    # members of modules, that it imports.
    tree = ast.parse(content, path)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UserError(f"{path}: relative imports are not followed; write them in full")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16], frozenset(names)


def check_sources(experiment: Experiment) -> None:
    """Raise EditedSources if a source has other code on disk than when it was read.

    Files that sources have opened and libraries that they import are checked, too. The modules that
    this process has imported may then be neither the one nor the other.
    """
    reached = sources(experiment.roots)
    changed = [
        f"{_name(path)} (which {source} opens)"
        for source, path, digest in _opened(reached)
        if loading.digest(path) != digest
    ]
    changed += filter(libraries.is_edited, libraries.states(*_imports(reached)))
    for name, digest in reached.items():
        root, path = roots.source(name)
        try:
            content = (root.folder / path).read_bytes()
            same = content == root.sources()[path] or _read_imports(name, content)[0] == digest
        except (OSError, SyntaxError, ValueError, UserError):  # gone, or being edited
            same = False
        if not same:
            changed.append(name)
    if changed:
        raise EditedSources(
            f"{', '.join(changed)}: edited since this command started, so that runs which use it"
            " are not stored; repeat the command"
        )
