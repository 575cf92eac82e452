"""Checks of an algorithm of any kind, on the small experiments that its kind names as cases."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dpbandits.contract.conditions import (
    ROUNDING,
    Broken,
    NotApplicable,
    is_private,
    reason,
    without_compiler,
)
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.kernel import registry
from dpbandits.privacy.notions import approximate
from dpbandits.privacy.releases import is_sound

RUNS = 6


class Example(NamedTuple):
    """Algorithm with some of its parameters."""

    name: str
    settings: tuple[tuple[str, Any], ...]

    def cases(self) -> dict[str, Experiment]:
        """Return its small experiments by their games."""
        return dict(kinds.of_member(self.name).cases(self.name, dict(self.settings)))


def complete_file(subject: Example) -> str:
    """Check that `play` is a kernel and that what is private declares releases and guarantee."""
    return "private" if is_private(subject.name, "params, ...") else "not private"


def same_bits(subject: Example) -> str:
    """Check that a run has the same bits alone, alongside other runs and a second time."""
    cases = subject.cases()
    for name, experiment in cases.items():
        try:
            together, _ = experiment.play(range(RUNS))
        except Exception as error:
            cause = reason(error, registry.member("algorithm", subject.name))
            raise Broken(f"{name}: {cause}", "`play` must compile and end") from error
        alone = [experiment.play(range(run, run + 1))[0] for run in range(RUNS)]
        for values in (experiment.play(range(RUNS))[0], np.vstack(alone)):
            if not np.array_equal(together, values):
                remedy = "draw every random number from the generators that `play` is given"
                raise Broken(f"{name}: a run has other values", f"{remedy}; keep no state outside")
    return f"{RUNS} runs of {len(cases)} games, in 3 ways each"


def same_bits_in_python(subject: Example) -> str:
    """Check that plain Python gives the bits of compiled code."""
    asked = [subject.name, dict(subject.settings)]
    if without_compiler("dpbandits.contract.members", asked) != played(subject):
        remedy = "write math.log, x * x and loops in place of np.log, x**2 and np.sum"
        raise Broken("a run has other values", f"{remedy}, which round differently")
    return f"a run of {len(subject.cases())} games, bit for bit"


def played(subject: Example) -> dict[str, list[str]]:
    """Return the exact values of the first run of every case."""
    runs = {name: case.play(range(1))[0][0] for name, case in subject.cases().items()}
    return {name: [float(value).hex() for value in values] for name, values in runs.items()}


def possible_releases(subject: Example) -> str:
    """Check that declared releases have valid noise."""
    number = 0
    for name, experiment in subject.cases().items():
        if (releases := kinds.declared(experiment, "releases")) is None:
            raise NotApplicable("the algorithm declares no privacy")
        for release in releases:
            number += 1
            if not (is_sound(release) and release.times >= 0):
                remedy = "fix `releases`: noise, sensitivity and times are positive"
                raise Broken(f"{name}: {release} is impossible", remedy)
    return f"{number:,} releases"


def composed_as_guaranteed(subject: Example) -> str:
    """Check that the declared releases compose to the guaranteed budget."""
    numbers = []
    for name, experiment in subject.cases().items():
        if (stated := kinds.declared(experiment, "guarantee")) is None:
            raise NotApplicable("the algorithm claims no privacy")
        guarantee = approximate(stated)
        spent = kinds.composed_budget(experiment)
        numbers.append(f"epsilon {spent:.4g} of {guarantee.epsilon:g} on {name}")
        if (spent is None or spent > guarantee.epsilon * (1 + ROUNDING)) and not guarantee.differs:
            remedy = "add noise in `play`, or correct the scale in `releases`; if the paper claims"
            remedy += " less than its releases compose to, give the reason in `differs`"
            raise Broken(numbers[-1], f"{remedy} of the guarantee")
    return "; ".join(numbers)


CHECKS: Mapping[str, Callable[[Any], str]] = {
    "the file is complete": complete_file,
    "same bits alone and alongside other runs": same_bits,
    "declared releases are possible": possible_releases,
    "releases compose to the guarantee": composed_as_guaranteed,
    "plain Python gives the same bits": same_bits_in_python,
}


if __name__ == "__main__":
    name, settings = json.load(sys.stdin)
    json.dump(played(Example(name, tuple(settings.items()))), sys.stdout)
