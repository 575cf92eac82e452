"""Comparison of the releases that a game made with those that its algorithm declares."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from traced import Game, Recorded, Reward, of_choices

from dpbandits.privacy.releases import ApproximateDP, Gaussian, Laplace, Release

SLACK = 1.0 + 1e-9  # for rounded sums


class Undeclared(AssertionError):
    """Error raised for a release that no declaration allows, or a declaration without a release."""


class Match(NamedTuple):
    """Declared release, and the recorded releases that it allows."""

    declared: Release
    recorded: list[Recorded]


def matched(
    game: Game, declared: Iterable[Release], *, rescaled: bool = False, complete: bool = True
) -> list[Match]:
    """Return the releases of a game, each assigned to one declared release.

    A recorded release reads rewards of one arm, has the declared noise, and reads only rewards
    first..last. All recorded releases of one declaration together move by at most `sensitivity`
    times `times` for every single reward. Raises Undeclared if that is impossible. If the
    declaration is `complete`, also raises if an arm was pulled beyond the rewards first..last and
    nothing was recorded for them.

    `rescaled` is for declarations that divide statistics by their scale before they are added up.
    """
    matches = [Match(one, []) for one in sorted(declared, key=lambda one: (one.arm, one.last))]
    loads: list[dict[Reward, float]] = [{} for _ in matches]
    made = [(*window(one), one) for one in of_choices(game)]
    for arm, first, last, recorded in sorted(made, key=lambda one: one[:3]):
        for match, load in zip(matches, loads, strict=True):
            moves = _moves(recorded, match.declared, rescaled)
            if moves is None or match.declared.arm != arm:
                continue
            if not match.declared.first <= first <= last <= match.declared.last:
                continue
            most = _sensitivity(match.declared) * match.declared.times * SLACK
            if all(load.get(reward, 0.0) + moved <= most for reward, moved in moves.items()):
                for reward, moved in moves.items():
                    load[reward] = load.get(reward, 0.0) + moved
                match.recorded.append(recorded)
                break
        else:
            raise Undeclared(
                f"after round {recorded.after}: no declaration allows a release of rewards"
                f" {first} to {last} of arm {arm} with noise of scale {recorded.scale:.6g} and"
                f" factors up to {max(map(abs, recorded.reads.values())):.6g}"
            )
    for match in matches if complete else []:
        if not match.recorded and match.declared.last < game.arms.count(match.declared.arm):
            raise Undeclared(f"declared but not released: {match.declared}")
    return matches


def window(release: Recorded) -> tuple[int, int, int]:
    """Return the arm, the first and the last reward of a release."""
    arms = {arm for arm, _ in release.reads}
    if len(arms) != 1:
        raise Undeclared(f"after round {release.after}: one release reads the arms {sorted(arms)}")
    numbers = [number for _, number in release.reads]
    return arms.pop(), min(numbers), max(numbers)


def _moves(recorded: Recorded, declared: Any, rescaled: bool) -> dict[Reward, float] | None:
    # How far every reward moves the statistic, in the unit of the declaration; None if the noise is
    # of another kind or scale.
    if isinstance(declared, ApproximateDP):
        if recorded.budget is None or not _equal(
            recorded.budget, (declared.epsilon, declared.delta)
        ):
            return None
        factor = 1.0 / recorded.scale if recorded.scale else math.inf
    elif (
        isinstance(declared, Gaussian if recorded.is_gaussian else Laplace)
        and recorded.budget is None
        and recorded.scale > 0.0
    ):
        if not (rescaled or _equal([recorded.scale], [declared.scale])):
            return None
        factor = declared.scale / recorded.scale
    else:
        return None
    return {reward: factor * abs(own) for reward, own in recorded.reads.items()}


def _sensitivity(declared: Release) -> float:
    return 1.0 if isinstance(declared, ApproximateDP) else declared.sensitivity


def _equal(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(first, second, strict=True))
