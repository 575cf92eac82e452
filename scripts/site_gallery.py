"""Hook of MkDocs: a copy of out/gallery/ on the site, and the link to it on the page `Gallery`."""

import shutil
from pathlib import Path
from typing import Any

GALLERY = Path("out/gallery")  # beside mkdocs.yml
PAGE, FOLDER = "gallery.md", "gallery/pages"
MARK = "<!-- gallery -->"
LINK = '<a class="md-button" href="pages/index.html">Open the gallery</a>'
ABSENT = "This copy of the site was built without the gallery: `make gallery docs` includes it."


def source(config: Any) -> Path:
    """Return the folder of the gallery that belongs to a configuration."""
    return Path(config["config_file_path"]).parent / GALLERY


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Link to the gallery if there is one."""
    if page.file.src_uri != PAGE:
        return markdown
    there = (source(config) / "index.html").is_file()
    return markdown.replace(MARK, LINK if there else ABSENT)


def on_post_build(config: Any) -> None:
    """Copy the gallery to the site."""
    if (source(config) / "index.html").is_file():
        target = Path(config["site_dir"]) / FOLDER
        shutil.copytree(source(config), target, dirs_exist_ok=True)
