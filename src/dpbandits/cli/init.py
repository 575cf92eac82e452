"""Verb `init`: write a small project of one's own."""

from pathlib import Path

from dpbandits.core.errors import UserError, shown
from dpbandits.core.roots import MARKER, installed_elsewhere, is_package_name
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically

# A project as it is written, except for its names my-paper and my_paper.
TEMPLATE = project.SHIPPED / "template"
HIDDEN = {"gitignore": ".gitignore"}  # under another name, because it would have an effect there


def init(name: str) -> int:
    """Write a project into a new or empty folder; return the status 0.

    Its package has the name of the folder, with underscores. Raises UserError if the folder has
    files already, or if the name cannot be that of a package.
    """
    folder = Path(name)
    title = folder.resolve().name
    package = title.replace("-", "_")
    if not is_package_name(package) or installed_elsewhere(package, folder.resolve()):
        raise UserError(
            f"{shown(name)} cannot be the name of a project: use lower-case letters, digits and"
            " hyphens, as in my-paper, and no name of an installed Python package"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{shown(name)} exists already: choose a new or an empty folder")
    files = [path for path in TEMPLATE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    # The marker is written last: without it, a folder that was begun is no project.
    for path in sorted(files, key=lambda path: (path.name == MARKER, path)):
        relative = path.relative_to(TEMPLATE)
        target = folder / relative.with_name(HIDDEN.get(relative.name, relative.name))
        target = target.with_name(target.name.replace("my_paper", package))
        text = path.read_text("utf-8").replace("my_paper", package).replace("my-paper", title)
        write_atomically(target, text.encode(), remedy="")
    print(f"{folder}/ is a project with an algorithm, an instance and a figure; inside it,")
    print("  dpbandits run my-figure")
    print("draws the figure, and README.md lists what else can be done")
    return 0
