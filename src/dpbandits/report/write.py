"""The command `report`: judges claims if asked to, and writes the pages and their pictures."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.roots import found
from dpbandits.drawing import forest
from dpbandits.drawing.formulas import plain
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.judge import gather, reader, table
from dpbandits.judge.table import Gathered
from dpbandits.judge.verdicts import Verdict
from dpbandits.report import pages

FOLDER = "docs/reproducibility"
OF_ALL = "docs/images/claims.svg"
COLOURS = {
    Verdict.REPRODUCED: "#14733f",
    Verdict.DEPENDS: "#6b35a0",
    Verdict.INCONCLUSIVE: "#5b5e63",
    Verdict.NOT: "#b02a1e",
}


def report(names: Sequence[str], gathers: bool, texts: Path | None = None) -> int:
    """Write the pages of some papers, or of all, and the page over all; return the exit status.

    With `gathers`, the claims of these papers are judged anew, from as many runs as it takes. With
    `texts`, a folder of <paper>.txt, quotes that are not in a paper's text are refused. Raises
    UserError for an unknown name, a wrong quote or results that cannot be read.
    """
    every = papers()
    if not every:
        raise UserError(
            "report: this project has no claims of its own, conf/claims/<paper>.yaml; the reports"
            " of dpbandits are in docs/reproducibility/ of its repository"
        )
    for name in names:
        if name not in every:
            raise UserError(f"{shown(name)} has no claims; {nearest(name, every)}")
    chosen = [name for name in every if name in names or not names]
    for name in chosen:
        parts = sorted(texts.glob(f"{name}*.txt")) if texts else []
        whole = " ".join(part.read_text("utf-8") for part in parts)
        for claim in reader.missing_quotes(reader.read(name), whole) if whole else ():
            file = project.member_file("claims", name)
            raise UserError(f"{file}: {claim}: the quote is not in {parts[0]}")
    if gathers and (status := gather.gather(chosen)):
        return status
    for path, content in files(chosen).items():
        write_atomically(project.folder() / path, content, remedy="")
        print(path)
    return 0


def papers() -> list[str]:
    """Return the papers with claims, in their order; in a user's project those of the project."""
    own = found().project
    every = [
        name
        for name in reader.papers()
        if own is None or project.home("claims", name) == own.folder
    ]
    order = [known.key for known in PAPERS]
    return sorted(every, key=lambda name: order.index(name) if name in order else len(order))


def results(names: Sequence[str]) -> list[Gathered]:
    """Return the committed results of papers. Raises UserError if a paper has none."""
    found = [table.read(name) for name in names]
    for name, gathered in zip(names, found, strict=True):
        if gathered is None:
            file, command = f"{table.FOLDER}/{name}.csv", f"dpbandits report --gather {name}"
            raise UserError(f"{file} does not exist; `{command}` writes it")
    return [gathered for gathered in found if gathered]


def files(names: Sequence[str]) -> dict[str, bytes]:
    """Return the pages, pictures and joint tables of these papers and of all, by their paths."""
    every = {gathered.paper.paper: gathered for gathered in results(papers())}
    picture = partial(forest.picture, {c: verdict.value for verdict, c in COLOURS.items()})
    rows = [(paper(name).short, _rows(gathered)) for name, gathered in every.items()]
    decided = {short: of_paper for short, of_paper in rows if of_paper}
    written = {
        f"{FOLDER}/README.md": pages.index([*every.values()]).encode(),
        OF_ALL: picture(decided, "Sentences of all papers", named=False),
    }
    for name in names:
        short = paper(name).short
        written[f"{FOLDER}/{name}.md"] = pages.of_paper(every[name]).encode()
        written[f"{FOLDER}/{name}.csv"] = table.joint_table(every[name])
        if short in decided:
            plot = picture({short: decided[short]}, f"Sentences of {short}", named=True)
            written[f"{FOLDER}/{name}.svg"] = plot
    return written


def _rows(gathered: Gathered) -> list[forest.Row]:
    # The sentences that runs decide; those that hold first, the farthest from turning leading.
    found = [
        forest.Row(
            f"{plain(judged.claim.short)}  {i}",
            COLOURS[judged.verdict],
            *(judged.drawn.estimate, judged.drawn.low, judged.drawn.high),
            [result.estimate for result in judged.results.values()],
        )
        for i, judged in enumerate(gathered.sentences(), 1)
        if judged.drawn.comparisons
    ]
    order = [*COLOURS.values()]
    return sorted(found, key=lambda row: (order.index(row.colour), row.estimate))
