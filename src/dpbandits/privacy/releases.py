"""Releases as data, and the budget that they compose to.

Neighbours are two tables of rewards that differ in one entry, the i-th reward of one arm. A release
declares which rewards of which arm it reads, how far one of them can move the released statistic
(sensitivity) and the noise. Releases that read a common reward compose sequentially, their budgets
add up; releases of disjoint rewards compose in parallel, the largest counts.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Laplace(NamedTuple):
    """Statistics of the arm's own rewards first..last (1-based, inclusive), plus Lap(scale) each.

    `sensitivity` is the L1 norm of how far one reward can move all of them together: that of a mean
    over m rewards is 1/m, that of the sums over disjoint blocks is 1.
    """

    arm: int
    first: int
    last: int
    sensitivity: float
    scale: float

    @property
    def epsilon(self) -> float:
        """The pure-DP budget of this release alone."""
        return self.sensitivity / self.scale


def composed_epsilon(releases: Iterable[Laplace]) -> float:
    """The event-level epsilon of all releases together: the largest sum over a single reward.

    Raises TypeError for a release whose mechanism is unknown; nothing is approximated.
    """
    events: list[tuple[int, int, float]] = []
    for release in releases:
        if not isinstance(release, Laplace):
            raise TypeError(f"unknown release {release!r}: its budget cannot be composed")
        sound = release.sensitivity >= 0 and release.scale > 0
        if not (sound and 1 <= release.first <= release.last):
            raise ValueError(f"not a release of rewards first..last: {release!r}")
        events.append((release.arm, release.first, release.epsilon))
        events.append((release.arm, release.last + 1, -release.epsilon))
    # Sweep over each arm's rewards; where one release ends and the next begins, end comes first.
    largest, active, arm_before = 0.0, 0.0, None
    for arm, _, change in sorted(events):
        active = change if arm != arm_before else active + change
        arm_before = arm
        largest = max(largest, active)
    return largest
