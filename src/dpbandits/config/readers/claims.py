"""Reader of a paper's claims: every name must exist, every number must be a number."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from dpbandits.config.origins import Origins
from dpbandits.config.readers.claim_tests import TestReader, read_formula
from dpbandits.config.section import Section
from dpbandits.core.errors import UserError
from dpbandits.spec.claim_tests import NotApplicable, Test
from dpbandits.spec.claims import Claim, FigureTest, Kind, Reading
from dpbandits.spec.figure import Panel

CLAIM_KEYS = (
    *("quote", "kind", "section", "explanation", "published", "central"),
    *("figures", "test", "readings"),
)


Panels = Callable[[str], Sequence[Panel]]  # of a figure, by its name


class ClaimsReader:
    """Reader of the claims of a paper.

    `figures` are the names of all figures, `thresholds` the numbers of words, and `panels` returns
    the panels of a figure.
    """

    def __init__(
        self,
        origins: Origins,
        figures: Collection[str],
        thresholds: Mapping[str, float],
        panels: Panels,
    ) -> None:
        self.origins = origins
        self.figures = figures
        self.thresholds = thresholds
        self.panels = panels

    def read(self, name: str, content: Any) -> Claim:
        """Return a claim. Raises UserError for an invalid one."""
        # Many claims have the same keys, so every message names the claim.
        path = f"claims.{name}"
        try:
            return self._claim(name, Section(self.origins, content, path))
        except UserError as error:
            if path in str(error):
                raise
            paper = f"{self.origins.figure}: "
            raise UserError(f"{paper}{path}: {str(error).removeprefix(paper)}") from None

    def figures_of(self, name: str, content: Any) -> tuple[str, ...]:
        """Return the figures that a claim names, unchecked, without reading its tests."""
        claim = Section(self.origins, content, f"claims.{name}")
        named = [claim.get("figures"), *(test.get("figure") for test in _every_test(claim))]
        every = (each for one in named for each in (one if isinstance(one, list) else [one]))
        return tuple(dict.fromkeys(str(each) for each in every if each))

    def _claim(self, name: str, claim: Section) -> Claim:
        claim.keys(CLAIM_KEYS, ("quote", "section"))
        if ("test" in claim) == ("readings" in claim):
            raise claim.error(" must have a test, or readings with a test each")
        figures = claim.choices("figures", self.figures, "figure") if "figures" in claim else []
        if "test" in claim:
            readings = [Reading("", self._tests(claim, "test", figures))]
        else:
            section = claim.section("readings")
            readings = [
                Reading(str(reading), self._tests(section, reading, figures))
                for reading in section.content
            ]
        return Claim(
            paper=self.origins.figure,
            name=name,
            kind=Kind(claim.choice("kind", [kind.value for kind in Kind], Kind.SENTENCE.value)),
            quote=claim.text("quote"),
            section=claim.text("section"),
            explanation=claim.text("explanation"),
            readings=tuple(readings),
            published=claim.text("published"),
            central=claim.checked(bool, "central", default=False),
            named=tuple(figures),
        )

    def _tests(self, section: Section, key: str, figures: Sequence[str]) -> tuple[FigureTest, ...]:
        content = section.get(key)
        if content == []:
            raise section.error(" is empty, it tests nothing", key)
        every = content if isinstance(content, list) else [content]
        path = section.path_of(key)
        tests = list[FigureTest]()
        for each in every:
            test = Section(self.origins, each, path)
            of = test.choices("figure", self.figures, "figure") if "figure" in test else figures
            if not of:
                raise test.error(": neither the test nor the claim names a figure")
            tests += [FigureTest(figure, self._test(test, figure)) for figure in of]
        return tuple(tests)

    def _test(self, test: Section, figure: str) -> Test:
        if "not_applicable" in test:
            test.keys(("figure", "not_applicable"))
            return NotApplicable(test.text("not_applicable"))
        if "formula" in test:
            return read_formula(test, self.thresholds)
        return TestReader(self.panels(figure), self.thresholds).read(test)


def _every_test(claim: Section) -> Iterator[Section]:
    readings = claim.section("readings")
    for section, key in [(claim, "test"), *((readings, name) for name in readings.content)]:
        content = section.get(key)
        for test in content if isinstance(content, list) else [content]:
            yield Section(claim.origins, test, section.path_of(key))
