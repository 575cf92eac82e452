"""Claims of a paper, as tests of the curves of figures: frozen values, already validated.

checks.verdicts evaluates the tests.
"""

from dataclasses import dataclass
from enum import Enum

from dpbandits.spec.claim_tests import Test


@dataclass(frozen=True)
class FigureTest:
    """Test of the curves of a figure."""

    figure: str
    test: Test


@dataclass(frozen=True)
class Reading:
    """Possible meaning of a sentence, with the tests that must all hold for it."""

    name: str  # empty if the sentence has one meaning only
    tests: tuple[FigureTest, ...]


class Kind(Enum):
    """Kind of claim."""

    SENTENCE = "sentence"  # the paper's words
    THEOREM = "theorem"  # a theorem of the paper in our words, in square brackets
    OURS = "ours"  # what this project says instead or besides, in square brackets


@dataclass(frozen=True)
class Claim:
    """Statement of a paper, with its readings."""

    paper: str
    name: str
    kind: Kind
    quote: str  # the paper's words, or ours in square brackets
    section: str  # place in the paper
    explanation: str  # why it does not reproduce, or what it hangs on
    readings: tuple[Reading, ...]
    published: str = ""  # the paper's number, if it has one
    central: bool = False  # one of the central claims of the paper
    named: tuple[str, ...] = ()  # figures that it is about, whether or not a test names them

    @property
    def id(self) -> str:
        """Name of the claim among those of all papers."""
        return f"{self.paper}/{self.name}"

    @property
    def figures(self) -> tuple[str, ...]:
        """Figures that it is about, in the order of its file."""
        tested = (test.figure for reading in self.readings for test in reading.tests)
        return tuple(dict.fromkeys((*self.named, *tested)))
