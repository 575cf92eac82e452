"""`dpbandits cite`: BibTeX of the project and of papers."""

import re
import sys
from collections.abc import Sequence
from importlib.metadata import version

from dpbandits.config import conf_files
from dpbandits.core import registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.factory import citations
from dpbandits.factory.papers import OWN, PAPERS, Paper
from dpbandits.files import project
from dpbandits.files.provenance import revision

PROJECT = """\
@software{{dpbandits,
  title   = {{dpbandits: The paper-figure factory for differentially private bandits}},
  author  = {{{{The dpbandits developers}}}},
  version = {{{version}}},
  note    = {{Revision {revision}}}
}}"""


def cite(names: Sequence[str]) -> int:
    """Print BibTeX entries of the project and of the papers that names stand for; return 0.

    A name is a figure, the key of a paper or an algorithm; without names, print all papers. Raises
    UserError for an unknown name.
    """
    papers = [paper for paper in PAPERS if paper.key != OWN]
    chosen = {key for name in names for key in _keys(name, papers)}
    print(PROJECT.format(version=version("dpbandits"), revision=revision()))
    for paper in papers:
        if not names or paper.key in chosen:
            print(f"\n{citations.entry(paper)}")
    sys.stdout.flush()
    for name in names:
        if not _keys(name, papers):
            file = project.member_file("algorithm", name)
            print(f"dpbandits: {name} has no paper: {file} names none", file=sys.stderr)
    return 0


def _keys(name: str, papers: Sequence[Paper]) -> set[str]:
    # Keys of the papers that a name stands for. A figure draws algorithms of several papers.
    known = [paper.key for paper in papers]
    if name in known:
        return {name}
    if name in project.names("figure"):
        content = conf_files.read_member("figure", name)
        taken = [entry for entry in content.get("defaults", []) if isinstance(entry, dict)]
        members = [str(member) for pair in taken for member in pair.values()]
        of_algorithms = {key for member in members for key in _of_member(member, known)}
        return {str(content.get("paper"))} | of_algorithms
    if name in project.names("algorithm") or name in registry.algorithm_names():
        return _of_member(name, known)
    every = [*known, *project.names("figure"), *project.names("algorithm")]
    raise UserError(f"{shown(name)} is not a figure, paper or algorithm; {nearest(name, every)}")


def _of_member(name: str, known: Sequence[str]) -> set[str]:
    # The papers that the head of an algorithm's YAML names as its source.
    file = project.find(project.member_file("algorithm", name))
    head = file.read_text("utf-8") if file.is_file() else ""
    comment = " ".join(re.findall(r"^#(.*)$", head, re.MULTILINE))
    return {key for key in known if key in comment}
