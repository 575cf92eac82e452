"""Play of an algorithm in plain Python: the process that of_python.py starts.

Reads a name and parameters from standard input as JSON, and writes the pulls and curves to standard
output as JSON; output of the algorithm goes to standard error. Here the policy plays a bandit that
reports every access from outside the bandit's own functions, on a law that has neither means nor
gaps.
"""

import json
import sys
from contextlib import redirect_stdout
from typing import Any, ClassVar

import numpy as np

from dpbandits.cells.play_bandit import play_run
from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.verify.hidden_law import Hidden
from dpbandits.verify.subject import Subject

PRIVATE = (*Bandit._fields,)  # all fields: a policy calls functions
GAMES = ((0.62, 0.5, 0.55), 1500, 3)  # means, horizon, run


class Watched(Bandit):
    """Bandit that records which of its fields the policy and code outside dpbandits read."""

    seen: ClassVar[set[str]] = set()
    asker = ""  # module of the policy

    def __getattribute__(self, name: str) -> Any:
        if name in PRIVATE:
            module = str(sys._getframe(1).f_globals.get("__name__"))
            if module == Watched.asker or module.partition(".")[0] != "dpbandits":
                Watched.seen.add(name)
        return super().__getattribute__(name)


def peeks(subject: Subject) -> dict[str, Any]:
    """Return the fields of the bandit that the policy reads, and an error, if there is one."""
    means, horizon, run = GAMES
    rng = np.random.Generator(np.random.PCG64(run))
    policy = np.random.Generator(np.random.PCG64(run + 1))
    law = Hidden(np.array(means))
    bandit = Watched(*new_bandit(law, len(means), horizon, np.array([horizon]), rng))
    Watched.seen, Watched.asker = set(), registry.algorithm(subject.name).__name__
    error = ""
    try:
        subject.module.play(subject.params(horizon), bandit, policy)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"fields": sorted(Watched.seen), "error": error}


def outcome(subject: Subject, per_round: bool) -> dict[str, Any]:
    """Return the pulls and the exact curve of one run, or the error."""
    means, horizon, run = GAMES
    try:
        bandit = play_run(subject.cell(means, horizon), run, per_round)
    except Exception as raised:
        return {"error": f"{type(raised).__name__}: {raised}"}
    curve = [float(value).hex() for value in bandit.curve]
    return {"pulls": bandit.pulls.tolist(), "curve": curve}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    with redirect_stdout(sys.stderr):  # a print in the algorithm must not corrupt the JSON
        this = Subject(request["name"], request["values"])
        answer = {"outcomes": [outcome(this, mode) for mode in (False, True)], "peeks": peeks(this)}
    json.dump(answer, sys.stdout)
