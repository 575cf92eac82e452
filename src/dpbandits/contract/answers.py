"""Checks of an algorithm that stops with an answer, on games up to a limit of rounds."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from dpbandits.audit.subject import Subject
from dpbandits.contract import conditions, members
from dpbandits.contract.conditions import Broken, NotApplicable, reason
from dpbandits.contract.members import Example
from dpbandits.environments import bernoulli
from dpbandits.experiments.identification import IdentificationExperiment
from dpbandits.kernel import registry
from dpbandits.kernel.answers import UNDECIDED
from dpbandits.kernel.bandit import Bandit
from dpbandits.kernel.compilation import specialised

STOPS = "stops with an answer or at the limit"
INSTANCES = ((0.9, 0.1), (0.6, 0.46), (0.75, 0.5, 0.4))
LIMIT = 4000
LIMITS = (80_000, 40_000, LIMIT, 700)
RUNS_OF_PREFIX = 5


def played(
    subject: Subject, means: tuple[float, ...], limit: int, run: int, per_round: bool = False
) -> Bandit:
    """Return the bandit after one run on Bernoulli arms. Raises RuntimeError as the kind does."""
    params, instance = subject.params(limit), bernoulli.Params(means)
    game = IdentificationExperiment(subject.algorithm, params, "bernoulli", instance, limit, seed=1)
    bandit, rng = game.game(run, per_round)
    policy = specialised(registry.algorithm(subject.algorithm).play, params, bandit, rng)
    policy(params, bandit, rng)
    game.check(bandit)
    return bandit


def stops(subject: Subject) -> str:
    """Check that the policy stops with an answer or at the limit, from a round per arm on."""
    conditions.in_plain_python(subject)  # first: it ends a game that would never end
    games, answered = 0, 0
    for means in ((0.9, 0.1), (0.3, 0.6, 0.5), (0.5, *(0.4,) * 6)):
        rounds = (len(means), len(means) + 1, 3 * len(means) + 2, 100, 1000, LIMITS[0])
        for limit, per_round in product(rounds, (False, True)):
            where = f"K = {len(means)}, limit = {limit:,}"
            try:
                bandit = played(subject, means, limit, 0, per_round)
            except Exception as error:
                cause = reason(error, registry.member("algorithm", subject.algorithm))
                remedy = "`play` must compile, and pull until it calls `answer` of"
                remedy += " dpbandits.kernel.answers or `playing(bandit)` is false"
                raise Broken(f"{where}: {cause}", remedy) from error
            if bandit.pulls.sum() != bandit.clock[0] or bandit.pulls.min() < 0:
                remedy = "`play` must not write to the bandit, whose functions count pulls"
                raise Broken(f"{where}: {bandit.pulls.sum()} pulls", remedy)
            games, answered = games + 1, answered + (bandit.answer[0] != UNDECIDED)
    return f"{games} games of at most {LIMITS[0]:,} rounds, {answered} with an answer"


def prefix(subject: Subject) -> str:
    """Check that a run is the same for every limit, up to the smaller one."""
    if "horizon" in subject.params(LIMIT)._fields:
        raise NotApplicable("Params have a field `horizon`")
    compared = 0
    for means, run in product(INSTANCES, range(RUNS_OF_PREFIX)):
        longest, *shorter = (played(subject, means, limit, run) for limit in LIMITS)
        for short in shorter:
            compared += 1
            if short.answer[0] == UNDECIDED:
                is_same = longest.clock[0] > short.horizon
            else:
                is_same = np.array_equal(short.pulls, longest.pulls)
                is_same &= short.answer[0] == longest.answer[0]
            if not is_same:
                limits = f"limits of {short.horizon:,} and {longest.horizon:,} rounds"
                remedy = "use neither `rounds_left` nor `bandit.horizon` for a decision"
                raise Broken(f"run {run} on means {means} differs between {limits}", remedy)
    return f"{compared} runs are equal at the limits {', '.join(f'{n:,}' for n in LIMITS[::-1])}"


def same_distribution(subject: Subject) -> str:
    """Check that batched and single pulls follow the same distribution."""
    samples, runs = [], conditions.RUNS
    for means in INSTANCES:
        bandits = [played(subject, means, LIMIT, run, run >= runs) for run in range(2 * runs)]
        outcomes = np.array([[bandit.answer[0], *bandit.pulls] for bandit in bandits])
        samples.append((means, outcomes[:runs], outcomes[runs:]))
    return conditions.equal_laws(samples, "answer")


def _of_cases(check: Callable[[Example], str]) -> Callable[[Subject], str]:
    # A check on the cases of the kind.
    return lambda subject: check(Example(subject.algorithm, subject.settings))


CHECKS: Mapping[str, Callable[[Any], str]] = {
    "the file is complete": conditions.complete_file,
    "its parameters can be configured": conditions.configurable,
    STOPS: stops,
    "same bits alone and alongside other runs": _of_cases(members.same_bits),
    "the limit has no effect before it is reached": prefix,
    "batched and single pulls follow the same distribution": same_distribution,
    "declared releases are possible": conditions.possible_releases,
    "releases compose to the guarantee": conditions.composed_as_guaranteed,
    "the noise drawn is the noise declared": conditions.noise_as_declared,
    "an audit finds no greater loss": conditions.no_greater_loss,
    "plain Python gives the same bits": _of_cases(members.same_bits_in_python),
    "the policy sees only its rewards": conditions.only_rewards,
}
