"""Noise that `play` draws, against what `releases` declares, in traced games of plain Python.

In games of two arms every noisy sum must be one that is declared. An elimination algorithm declares
releases as if no arm were eliminated; those of games of three arms need only cost no more.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpbandits.audit.subject import Subject
from dpbandits.contract.conditions import reason
from dpbandits.contract.declared import SLACK, Match, Undeclared, matched, most_spent, not_made
from dpbandits.contract.traced import (
    Endless,
    Game,
    Unreleased,
    of_choices,
    plain_python,
    played,
)
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import PACKAGE
from dpbandits.privacy.notions import budget_of
from dpbandits.privacy.releases import (
    ApproximateDP,
    Gaussian,
    Release,
    SparseVector,
    composed_epsilon,
    composed_rho,
)

# Factors of the budget, arms and rounds of the games. Noise that does not depend on the budget, or
# on another field of the same value, is then another noise than the declared one.
GAMES = (
    *((1.0, 2, 64), (0.7, 2, 1000), (0.03, 2, 1000), (30.0, 3, 1000), (0.7, 12, 1000)),
    *((1.0, 2, 5000), (0.7, 2, 20_000)),
)
ADD = "release it with noise first (`laplace`, `gaussian`): sums and multiples of rewards are"
ADD += " traced, but whatever else is computed from them is taken for a use without noise"
DECLARE = "make `play` and `releases` agree on the rewards, the sensitivity and the scale"


@dataclass
class Seen:
    """What the games showed: noisy sums, games, longest game, and declarations that were drawn."""

    sums: int = 0
    games: int = 0
    longest: int = 0
    drawn: int = 0
    declared: int = 0

    def __str__(self) -> str:
        return (
            f"{self.sums:,} noisy sums of {self.games} games have declared rewards, counts and"
            f" scales; at T = {self.longest:,}, {self.drawn:,} of {self.declared:,} declared"
            " releases are drawn"
        )


def tables(arms: int, rounds: int) -> Iterator[tuple[np.ndarray, float]]:
    """Yield rewards, float64 of shape (arms, rounds), with a factor of the noise.

    All arms are equal, the first is best, the last is best, or chance decides.
    """
    best = np.zeros((arms, rounds))
    yield best + 0.5, 0.0
    best[0] = 1.0
    yield best, 0.01
    yield best[::-1], 0.01
    yield np.random.default_rng(rounds).integers(0, 2, (arms, rounds)) * 1.0, 3.0


def compared(subject: Subject, seen: Seen) -> None:
    """Play all games and raise Unreleased or Undeclared for the first that draws other noise."""
    member = registry.member("algorithm", subject.algorithm)
    package = "dpbandits.algorithms." if member.root is PACKAGE else f"{member.root.package}."
    with plain_python(package):
        for factor, arms, rounds in GAMES:
            other = with_budget(subject, factor)
            try:
                declared = list(other.releases(arms, rounds))
            except UserError:  # a budget that this algorithm does not allow
                continue
            drawn, passed = set[int](), dict[int, Release]()
            for table, loud in tables(arms, rounds):
                game, matches, is_literal = assigned(other, declared, table, loud)
                seen.sums += len(of_choices(game))
                seen.games += 1
                drawn |= {i for i, match in enumerate(matches) if match.recorded}
                missing = set(not_made(game, matches) if is_literal else ())
                passed |= {i: m.declared for i, m in enumerate(matches) if m.declared in missing}
            if absent := [passed[i] for i in passed.keys() - drawn]:
                raise Undeclared(f"never drawn, though games go on beyond its rewards: {absent[0]}")
            if arms == 2:
                seen.longest, seen.drawn, seen.declared = rounds, len(drawn), len(declared)


def with_budget(subject: Subject, factor: float) -> Subject:
    """Return the subject with a multiple of its budget."""
    budget = budget_of(dict(subject.settings))
    values = ((name, factor * v if name == budget else v) for name, v in subject.settings)
    return replace(subject, settings=tuple(values))


def assigned(
    subject: Subject, declared: list[Release], table: np.ndarray, loud: float
) -> tuple[Game, list[Match], bool]:
    """Play a game, assign its releases, and return whether the declaration was taken literally.

    Otherwise it names rewards by rounds or rescales statistics, or the releases of three arms cost
    no more than declared. Raises Undeclared as for the literal one, Unreleased, and Private.
    """
    module, (arms, rounds) = registry.algorithm(subject.algorithm), table.shape
    first: Undeclared | None = None
    for by_round in (False, True):
        rng = np.random.default_rng(arms)
        # With spikes, which reach what a policy does rarely.
        noises = (loud * float(rng.laplace() / (0.1 + rng.random())) for _ in iter(int, 1))
        uniforms = (float(rng.random()) for _ in iter(int, 1))
        game = Game(table, noises, uniforms, by_round=by_round)
        try:
            played(module, subject.params(rounds), rounds, game, per_round=by_round)
        except Unreleased as error:
            if is_choice(declared, game):
                raise Private from error
            raise
        for rescaled in (False, True):
            try:
                matches = matched(game, declared, rescaled=rescaled)
                return game, matches, arms == 2 and not (rescaled or by_round)
            except Undeclared as error:
                first = first or error
        if arms > 2 and most_spent(game) <= composed(declared) * SLACK:
            return game, [], False
    if is_choice(declared, game):
        raise Private
    raise first or Undeclared("")


class Private(Exception):
    """A choice is private by itself, without noise that is added to a sum."""


def is_choice(declared: list[Release], game: Game) -> bool:
    """Return whether declared releases are mechanisms other than an added noise."""
    kinds = {type(release) for release in declared}
    with_noise = any(isinstance(release.noise.law, tuple) for release in game.releases)
    return SparseVector in kinds or (ApproximateDP in kinds and not with_noise)


def composed(declared: list[Release]) -> float:
    """Return the rho of declared Gaussian releases, else the epsilon."""
    if any(isinstance(release, Gaussian) for release in declared):
        return composed_rho(declared)
    return composed_epsilon(declared)


def verdict(subject: Subject) -> dict[str, Any]:
    """Return what the games show: `passed`, `untested`, or `failed` with a `remedy`."""
    if not hasattr(registry.algorithm(subject.algorithm), "releases"):
        return {"passed": "", "longest": 0}
    seen, member = Seen(), registry.member("algorithm", subject.algorithm)
    answer: dict[str, Any] = {}
    try:
        with suppress(Endless):  # what was compared by then
            compared(subject, seen)
        answer = {"passed": str(seen)} if seen.sums else {"untested": "its games have no noisy sum"}
    except Private:
        answer = {"untested": "its choices are private by themselves, not by noise on a sum"}
    except Unreleased as error:
        answer = {"failed": reason(error, member), "remedy": ADD}
    except Undeclared as error:
        answer = {"failed": f"{place(error, member)}{error}", "remedy": DECLARE}
    except Exception as error:
        answer = {"untested": f"plain Python cannot trace it: {reason(error, member)}"}
    return {**answer, "longest": seen.longest}


def place(error: Undeclared, member: registry.Member) -> str:
    """Return file and line of a release that is not declared."""
    if error.recorded is None:
        return ""
    file, line = error.recorded.line
    path = file.removeprefix(f"{member.root.folder}/")
    return f"{registry.Member(member.root, path).shown}, line {line}: "
