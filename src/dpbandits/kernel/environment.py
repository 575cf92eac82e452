"""Environments: what their files define, and defaults for the rest."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # commands that play nothing do not wait for NumPy
    import numpy as np

WITHIN = (0.0, 1.0)  # range of rewards that environments and algorithms declare by default
UNBOUNDED = (-sys.float_info.max, sys.float_info.max)
DRAWS = ("law", "table", "drawn")  # of which a file defines one
OWN = ("largest_regret", "shortest", "title", "phrase", "actions")  # which a file may define


class Game(NamedTuple):
    """Law, number of arms and means of one run."""

    law: Any  # draws the rewards
    arms: int
    means: tuple[float, ...]  # of the arms; empty if they have none


@dataclass(frozen=True)
class Environment:
    """Family of instances; an instance has the values of its `Params`.

    Its file defines `Params`, `arms`, one of `law`, `table` and `drawn`, and perhaps functions of
    OWN. All of them take the Params first.
    """

    name: str
    Params: Any
    arms: Callable[..., int]  # number of arms K
    law: Callable[..., Any] | None = None  # independent rewards
    table: Callable[..., Any] | None = None  # gains drawn before a game, of (horizon, rng)
    drawn: Callable[..., Any] | None = None  # module and Params drawn for each run, of (rng)
    RANGE: tuple[float, float] = WITHIN  # of the rewards
    is_of_package: bool = False
    more: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # other functions of OWN

    @classmethod
    def of(cls, name: str, module: Any, is_of_package: bool) -> "Environment":
        """Return the environment that a file, or an object passed from Python, defines."""
        draws = {key: getattr(module, key) for key in (*DRAWS, "RANGE") if hasattr(module, key)}
        more = {key: getattr(module, key) for key in OWN if hasattr(module, key)}
        return cls(
            name, module.Params, module.arms, **draws, is_of_package=is_of_package, more=more
        )

    def game(self, params: Any, horizon: int, before: "Callable[[], np.random.Generator]") -> Game:
        """Return what a run is played on; `before` starts the stream of what is drawn before it."""
        if self.drawn:
            module, params = self.drawn(params, before())
            environment = Environment.of(self.name, module, self.is_of_package)
            return environment.game(params, horizon, before)
        law = self.table(params, horizon, before()) if self.table else self._law(params)
        return Game(law, self.arms(params), tuple(self.means(params)))

    def means(self, params: Any) -> tuple[float, ...]:
        """Return the means of the arms, or none if the environment has no parameter `means`."""
        return tuple(params.means) if "means" in params._fields else ()

    def gaps(self, params: Any) -> "np.ndarray | None":
        """Return the gaps of the arms, (arms,); None if every run has others, or no means."""
        return self._law(params).gaps if self.law else None

    def largest_regret(self, params: Any, rounds: int) -> float:
        """Return the largest possible regret of a run: by the gaps, unless the file says it."""
        if "largest_regret" in self.more:
            return float(self.more["largest_regret"](params, rounds))
        gaps = self.gaps(params)
        return float("inf") if gaps is None else float(gaps.max()) * rounds

    def shortest(self, params: Any) -> tuple[int, str]:
        """Return the least number of rounds, and what it is: that of the arms by default."""
        arms = self.arms(params), "the number of arms"
        least = self.more["shortest"](params) if "shortest" in self.more else arms
        return least if least[0] > arms[0] else arms

    def actions(self, params: Any) -> tuple[float, bool]:
        """Return the largest norm of an action, and whether all are drawn anew in every round.

        Arms without features are unit vectors.
        """
        return self.more["actions"](params) if "actions" in self.more else (1.0, False)

    def title(self, params: Any) -> str:
        """Return the name of an instance that has no name of its own."""
        return str(self.more["title"](params)) if "title" in self.more else self.name

    def phrase(self, params: Any) -> str:
        """Return the text for captions; "" if the file has none."""
        return str(self.more["phrase"](params)) if "phrase" in self.more else ""

    def _law(self, params: Any) -> Any:
        assert self.law is not None
        return self.law(params)
