"""BibTeX of papers."""

from dpbandits.factory.papers import Paper


def entry(paper: Paper) -> str:
    """Return the BibTeX entry of a paper, with what the papers themselves state."""
    kind, place = ("article", "journal") if paper.journal else ("inproceedings", "booktitle")
    fields = {
        "title": f"{{{paper.title}}}",
        "author": paper.authors,
        place: paper.journal or paper.venue,
        **({"volume": paper.volume} if paper.volume else {}),
        "year": str(paper.year),
    }
    lines = [f"  {name:<9} = {{{text}}}" for name, text in fields.items()]
    return f"@{kind}{{{paper.key},\n" + ",\n".join(lines) + "\n}"
