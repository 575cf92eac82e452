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
from dpbandits.judge import claims_files, claims_table, gather
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.verdicts import Verdict
from dpbandits.report import markdown

FOLDER = "docs/reproducibility"
PICTURE = "docs/images/claims.svg"
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
    known = papers()
    if not known:
        raise UserError(
            "report: this project has no claims of its own, conf/claims/<paper>.yaml; the reports"
            " of dpbandits are in docs/reproducibility/ of its repository"
        )
    for name in names:
        if name not in known:
            raise UserError(f"{shown(name)} has no claims; {nearest(name, known)}")
    chosen = [name for name in known if name in names or not names]
    for name in chosen:
        parts = texts.glob(f"{name}*.txt") if texts else ()
        whole = " ".join(part.read_text("utf-8") for part in parts)
        for claim in claims_files.missing_quotes(claims_files.read(name), whole) if whole else ():
            file = project.member_file("claims", name)
            raise UserError(f"{file}: {claim}: the quote is not in {texts}/{name}.txt")
    if gathers and (status := gather.gather(chosen)):
        return status
    for path, content in files(chosen).items():
        write_atomically(project.folder() / path, content, remedy="")
        print(path)
    return 0


def papers() -> list[str]:
    """Return the papers with claims, in their order; in a user's project those of the project."""
    own, order = found().project, [known.key for known in PAPERS]
    names = [
        name
        for name in claims_files.papers()
        if own is None or project.home("claims", name) == own.folder
    ]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def results(names: Sequence[str]) -> list[Gathered]:
    """Return the committed results of papers. Raises UserError if a paper has none."""
    gathered = []
    for name in names:
        result = claims_table.read(name)
        if result is None:
            file, command = f"{claims_table.FOLDER}/{name}.csv", f"dpbandits report --gather {name}"
            raise UserError(f"{file} does not exist; `{command}` writes it")
        gathered.append(result)
    return gathered


def files(names: Sequence[str]) -> dict[str, bytes]:
    """Return the pages, pictures and joint tables of these papers and of all, by their paths."""
    gathered = {result.paper.paper: result for result in results(papers())}
    picture = partial(forest.picture, {c: verdict.value for verdict, c in COLOURS.items()})
    decided = {paper(name).short: _rows(result) for name, result in gathered.items()}
    decided = {short: rows for short, rows in decided.items() if rows}
    written = {
        f"{FOLDER}/README.md": markdown.index([*gathered.values()]).encode(),
        PICTURE: picture(decided, "Sentences of all papers", named=False),
    }
    for name in names:
        short = paper(name).short
        written[f"{FOLDER}/{name}.md"] = markdown.page(gathered[name]).encode()
        written[f"{FOLDER}/{name}.csv"] = claims_table.joint_table(gathered[name])
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
