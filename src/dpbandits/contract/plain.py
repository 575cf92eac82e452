"""Play of an algorithm in plain Python: the process that conditions.py starts.

Reads a name and parameters from standard input as JSON, and writes the pulls and curves to standard
output as JSON; output of the algorithm goes to standard error. The policy also plays a bandit that
reports every access from outside the bandit's own functions, on a law that has neither means nor
gaps, and games that record its releases (noise.py).
"""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from types import FrameType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpbandits.audit.subject import Subject
from dpbandits.contract import noise
from dpbandits.contract.conditions import PLAIN, experiment, outcome, reason
from dpbandits.contract.traced import Endless
from dpbandits.kernel import linear, registry
from dpbandits.kernel.bandit import Bandit, draw, draw_sum, has_closed_sum, new_bandit, regret


class Hidden(NamedTuple):
    """Coins with hidden probabilities: no `means`, no `gaps`."""

    coins: np.ndarray


draw.register(Hidden)(lambda law, rng, arm, t: float(rng.random() < law.coins[arm]))
has_closed_sum.register(Hidden)(lambda law: True)  # so that a batch is one draw, as on coins
draw_sum.register(Hidden)(lambda law, rng, arm, n: float(rng.binomial(n, law.coins[arm])))
regret.register(Hidden)(lambda law, pulls: 0.0)


class Watched(Bandit):
    """Bandit that records which of its fields the policy and code outside dpbandits read."""

    seen: ClassVar[set[str]] = set()
    policy = ""  # its module

    def __getattribute__(self, name: str) -> Any:
        if name in Bandit._fields:  # a policy calls functions and reads no field
            module = str(sys._getframe(1).f_globals.get("__name__"))
            if module == Watched.policy or module.partition(".")[0] != "dpbandits":
                Watched.seen.add(name)
        return super().__getattribute__(name)

    def __getitem__(self, place: Any) -> Any:
        Watched.seen.update(np.atleast_1d(Bandit._fields[place]).tolist())
        return super().__getitem__(place)

    def __iter__(self) -> Iterator[Any]:
        Watched.seen.update(Bandit._fields)
        return super().__iter__()


LINES = 6_000_000  # of both games together; those of dpbandits' algorithms take up to 1,500,000
TRACED = 10_000_000  # of the games that record releases, the longest last


class Limit:
    """Trace function for `sys.settrace` that raises Endless after some lines of the games."""

    def __init__(self, lines: int) -> None:
        self.lines = self.left = lines

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Count a line, and none of the traces themselves."""
        if frame.f_globals.get("__name__") in RECORDING:
            return None
        self.left -= 1
        if self.left < 0:
            raise Endless(f"its games do not end within {self.lines:,} lines of Python")
        return self


RECORDING = ("dpbandits.contract.declared", "dpbandits.contract.traced")


def outcomes(subject: Subject) -> dict[str, Any]:
    """Return both outcomes, the fields of the bandit that the policy reads, and an error or ''."""
    means, horizon, run = PLAIN
    modes = () if subject.answers else (False, True)  # answers.py compares runs with answers
    games = [outcome(experiment(subject, means, horizon), run, mode) for mode in modes]
    rewards, rng = (np.random.Generator(np.random.PCG64(run + role)) for role in (0, 1))
    law, rounds = Hidden(np.array(means)), np.array([horizon])
    bandit = new_bandit(law, len(means), horizon, rounds, rewards)
    is_linear = registry.is_linear(subject.algorithm)
    bandit = Watched(*bandit._replace(features=linear.of_game(law, len(means), is_linear)))
    module, error = registry.algorithm(subject.algorithm), ""
    Watched.policy = module.__name__
    try:
        module.play(subject.params(horizon), bandit, rng)
    except Exception as raised:
        error = reason(raised, registry.member("algorithm", subject.algorithm))
    return {"outcomes": games, "fields": sorted(Watched.seen), "error": error}


def main() -> dict[str, Any]:
    """Return the outcomes; of games that do not end, only the place and the reason, `endless`."""
    request = json.load(sys.stdin)
    subject = Subject(request["name"], tuple(request["settings"].items()))
    member = registry.member("algorithm", subject.algorithm)
    sys.settrace(Limit(LINES))
    try:
        answer = outcomes(subject)
    except Endless as error:
        return {"endless": reason(error, member)}
    sys.settrace(Limit(TRACED))
    return {**answer, "noise": noise.verdict(subject)}


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # a print in the algorithm must not corrupt the JSON
        answer = main()
    sys.settrace(None)
    json.dump(answer, sys.stdout)
