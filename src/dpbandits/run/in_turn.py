"""Figures that are completed in turn: while one is drawn, the runs of the next ones are played.

The next figures begin when the workers have taken the last task of the current one, so that no
worker is idle. At most two begin ahead, because drawing may take longer than a figure's runs.
"""

from collections import deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from dpbandits.cells.kinds import AnyCell
from dpbandits.run.missing_runs import Completing

Result = TypeVar("Result")
AHEAD = 2  # figures that may play before it is their turn


@dataclass(frozen=True)
class Begun(Generic[Result]):
    """Figure whose runs are being played, and what completes it.

    `finish` passes its argument on to `Completing.finish`.
    """

    completing: Completing
    finish: Callable[[Callable[[], None]], Result]


@dataclass(frozen=True)
class Waiting(Generic[Result]):
    """Figure that waits for its turn: what it plays, and how it begins."""

    cells: Set[AnyCell]
    begin: Callable[[], Begun[Result]]


class InTurn(Generic[Result]):
    """Figures in the order in which they are completed."""

    def __init__(self, figures: Sequence[Waiting[Result]]) -> None:
        self._waiting = deque(figures)
        self._ahead: deque[Begun[Result] | Exception] = deque()

    def finish_next(self) -> Result:
        """Complete the figure whose turn it is, and begin those after it on the way.

        An exception of a figure that began ahead is raised when it is that figure's turn.
        """
        current = self._ahead.popleft() if self._ahead else self._waiting.popleft().begin()
        if isinstance(current, Exception):
            raise current
        completing = current.completing

        def begin_next() -> None:
            while len(self._ahead) < AHEAD and self._waiting and self._may_begin(completing):
                try:
                    self._ahead.append(self._waiting.popleft().begin())
                except Exception as error:
                    self._ahead.append(error)

        return current.finish(begin_next)

    def _may_begin(self, current: Completing) -> bool:
        # A cell that is still being played would be planned again. Two connections to a cluster are
        # not opened at once.
        ahead = [each.completing for each in self._ahead if isinstance(each, Begun)]
        playing = ahead if current.is_done else [current, *ahead]
        cells = self._waiting[0].cells
        return all(each.on_threads and each.cells.isdisjoint(cells) for each in playing)
