"""Checks against plain Python: the bits of compiled code, and what the policy reads."""

import json
import os
import subprocess
import sys
from typing import Any

from dpbandits.core import parameters
from dpbandits.verify import compile_errors
from dpbandits.verify.result import Result, failed, passed
from dpbandits.verify.subject import Subject

ROUNDING = (
    "write math.log, x * x and loops in place of np.log, x**2 and np.sum, which round differently;"
    " do not divide by zero; draw random numbers from `rng` alone"
)


def in_plain_python(subject: Subject) -> list[Result]:
    """Check that plain Python gives the bits of compiled code, and that the policy only pulls."""
    from dpbandits.verify.plain import GAMES, outcome

    answer = _ask(subject)
    same, reads = "plain Python gives the same bits", "the policy sees only its rewards"
    if isinstance(answer, str):
        remedy = "make it run without the compiler, NUMBA_DISABLE_JIT=1"
        return [failed(same, answer, remedy), failed(reads, answer, remedy)]
    results = []
    compiled = [outcome(subject, mode) for mode in (False, True)]
    error = next((each["error"] for each in answer["outcomes"] if "error" in each), "")
    means, horizon, run = GAMES
    if error or compiled != answer["outcomes"]:
        results.append(
            failed(
                same,
                error or f"run {run} on means {means}, T = {horizon}, has other pulls or regrets",
                compile_errors.remedy(error, subject, ROUNDING),
            )
        )
    else:
        results.append(passed(same, f"2 games of {horizon:,} rounds, bit for bit"))
    peeks = answer["peeks"]
    if peeks["fields"] or peeks["error"]:
        fields = ", ".join(f"bandit.{name}" for name in peeks["fields"])
        what = " and ".join(filter(None, [fields and f"`play` reads {fields}", peeks["error"]]))
        results.append(
            failed(
                reads,
                f"on a law without means: {what}",
                f"use {compile_errors.USED}"
                " of dpbandits.core.bandit, and nothing else of the bandit",
            )
        )
    else:
        results.append(passed(reads, f"{horizon:,} rounds on a law without means and gaps"))
    return results


def _ask(subject: Subject) -> dict[str, Any] | str:
    # The answer of a process without the compiler, or the last line of its error.
    own = subject.params(1000)
    values = {k: v for k, v in parameters.plain(own).items() if k != "horizon" and v is not None}
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits.verify.plain"],
        input=json.dumps({"name": subject.name, "values": values}),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
