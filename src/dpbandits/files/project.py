"""Layers of files: those of the user's project, of plugins, and those that come with dpbandits.

Each layer is a folder with conf/ and figures/. The first layer that has a file provides it, so that
a project's own config.yaml, profiles and engines win. Figures, algorithms, environments and claims
must have names of their own.
"""

from pathlib import Path

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import check_owner, discovery

DISTINCT = ("figure", "algorithm", "environment", "claims")  # groups without two of one name
_INSTALLED = Path(__file__).parents[1] / "_shipped"  # in a wheel; the layout is the checkout's
SHIPPED = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[3]


def folder() -> Path:
    """Return the folder of results: the project's, the checkout's, else the current folder.

    A checkout is a folder with conf/config.yaml and figures/, at or above the current one. Raises
    UserError as `layers` does.
    """
    first = layers()[0]
    return Path.cwd() if first == _INSTALLED else first


def layers() -> tuple[Path, ...]:
    """Return the folders of files, in the order in which they are searched.

    Raises UserError for a project or plugin that cannot be used, or if there are no files.
    """
    folders = (p.root.folder for p in discovery().plugins if (p.root.folder / "conf").is_dir())
    plugins = dict.fromkeys(folders)
    if (root := discovery().project) is not None:
        if not (root.folder / "conf").is_dir():
            raise UserError(
                f"{root.folder} has no folder conf/, in which a project keeps its figures;"
                " `dpbandits init` shows what a project consists of"
            )
        return root.folder, *plugins, SHIPPED
    here = Path.cwd()
    for candidate in (here, *here.parents, SHIPPED):
        if (candidate / "conf" / "config.yaml").is_file() and (candidate / "figures").is_dir():
            if candidate != SHIPPED:
                check_owner(candidate, "conf/config.yaml", "figures")
            return *plugins, candidate
    raise UserError(
        "conf/config.yaml and figures/ are neither in this folder nor above it, and this"
        " installation of dpbandits lacks them: install it again"
    )


def find(file: str) -> Path:
    """Return the path of a file, such as conf/figure/adap-c2.yaml, in the first layer that has it.

    If no layer has it, return the path in the last one.
    """
    paths = [layer / file for layer in layers()]
    return next((path for path in paths if path.exists()), paths[-1])


def names(group: str) -> list[str]:
    """Return the sorted names of a group in conf/.

    Groups are figure, algorithm, environment, claims, profile, engine and sweep. Raises UserError
    for two members of one name if they must be distinct.
    """
    homes: dict[str, Path] = {}
    for layer in layers():
        for path in (layer / "conf" / group).glob("*.yaml"):
            if path.stem in homes and group in DISTINCT:
                raise UserError(f"{homes[path.stem]}: the name is taken by {path}; rename the file")
            homes.setdefault(path.stem, path)
    return sorted(homes)


def own_names(group: str) -> list[str]:
    """Return the names of the user's project; without a project, all names."""
    mine = discovery().project
    return [name for name in names(group) if mine is None or home(group, name) == mine.folder]


def home(group: str, name: str) -> Path:
    """Return the layer that has a member of a group; the last layer if none has it."""
    return find(member_file(group, name)).parents[2]


def member_file(group: str, name: str) -> str:
    """Return the path of a configuration file within its layer, for messages too."""
    return f"conf/{group}/{name}.yaml"


def owner(layer: Path) -> str:
    """Return the name of the project or plugin that a layer belongs to; '' for dpbandits."""
    owners = {root.folder: root.package for root in discovery().roots[1:]}
    return owners.get(layer, "")
