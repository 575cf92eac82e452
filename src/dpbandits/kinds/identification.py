"""Identification of the best arm: how it is written, and what is said of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.environments import bernoulli
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.experiments.identification import (
    COMPLETED,
    IS_UNDECIDED,
    PULLS,
    TIME,
    WRONG,
    IdentificationExperiment,
)
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words, in_words
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.answers import UNDECIDED

QUANTITIES = (
    Quantity(TIME, "pulls until the answer", "Stopping time"),
    Quantity(COMPLETED, "pulls of the completed phases of all arms", "Pulls of completed phases"),
    Quantity(WRONG, "share of wrong answers", "Share of wrong answers", is_share=True),
    Quantity(
        IS_UNDECIDED,
        "share of runs without an answer at the limit",
        "Share undecided",
        is_share=True,
    ),
    Quantity(PULLS, "pulls of the arm `arm` until the answer", "Pulls until the answer"),
)
PARTS = (
    (0.1, "up to a tenth of the runs"),
    (0.5, "a tenth to half of the runs"),
    (1 - 1e-9, "most runs"),
)


class IdentificationKind(Kind):
    """Keys, quantities and words of games that end with an answer."""

    key = "algorithm"
    title = "Identification"
    experiment = IdentificationExperiment
    quantities = QUANTITIES
    keys: Mapping[str, Key] = {
        "values": Key(parameters.Ascending, "values of the sweep for this curve alone", ("curve",)),
        "limit": Key(parameters.Rounds, "rounds after which a run stays undecided", is_swept=True),
        "arm": Key(parameters.Count, "arm whose pulls are plotted", ("figure", "panel", "curve")),
    }
    plays_bandits = True
    usual: Mapping[str, Any] = {"epsilon": 1.0, "risk": 0.05}

    def swept(self, given: Given, key: str | None) -> Sequence[float] | None:
        # Those of the curve, where it is too slow for others.
        values, path = given.value("values")
        return values if values is None else given.checked(parameters.Ascending, values, path)

    def read(self, given: Given, shows: Quantity) -> Experiment:
        environment, instance = given.instance()
        arms = registry.environment(environment).arms(instance)
        arm, path = given.value("arm")
        if shows.name == PULLS and not (arm and arm <= arms):
            got = "none" if arm is None else arm
            raise given.error(path or f"{given.path}.arm", f"must be from 1 to {arms}, got {got}")
        if given.value("delta")[0] is not None:
            problem = f"is privacy's; the chance of a wrong answer of {given.name} is `risk`"
            raise given.error(given.value("delta")[1], problem)
        return IdentificationExperiment(
            member=given.name,
            params=given.params(),
            environment=environment,
            instance=instance,
            limit=given.checked(parameters.Rounds, *given.needed("limit")),
            seed=given.seed,
            pulls_of=arm - 1 if shows.name == PULLS else None,  # figures count arms from 1
        )

    def words(self, experiment: IdentificationExperiment) -> Words:
        environment = registry.environment(experiment.environment)
        arms, settings = (
            environment.arms(experiment.instance),
            parameters.as_json(experiment.params),
        )
        game = f"{environment.title(experiment.instance)} K={arms} limit={experiment.limit}"
        gaps = environment.gaps(experiment.instance)
        is_tied = gaps is not None and np.unique(gaps).size < arms
        return Words(
            name=f"{experiment.member}({in_words(settings)}) identifies on {game}",
            settings=settings,
            arguments={
                **experiment.instance._asdict(),
                **experiment.params._asdict(),
                "arms": arms,
                "limit": experiment.limit,
            },
            declaring=(experiment.params, arms, experiment.limit),
            bandit=(experiment.environment, experiment.instance),
            remark="other arms tied (theorems assume distinct means)" if is_tied else "",
            shared=experiment.description(),
        )

    def game(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return values["arms"], values["horizon"]

    def notes(self, experiment: IdentificationExperiment, load: Load) -> str:
        share = float((load(slice(1, 2)) == UNDECIDED).mean())
        if share == 0.0:
            return ""
        # In few classes, so that one sentence holds for many points of a figure.
        runs = next((part for most, part in PARTS if share <= most), "all runs")
        return f"{runs} are undecided at the limit of {experiment.limit:,} rounds"

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        params = self.case_params(member, values)
        games = {
            "close arms": (20_000, (0.77, 0.9, 0.3)),
            "arms apart": (20_000, (0.4, 0.9, 0.3)),
            "a low limit": (500, (0.6, 0.5, 0.5, 0.2)),
        }
        for name, (limit, means) in games.items():
            instance = bernoulli.Params(means)
            yield name, IdentificationExperiment(member, params, "bernoulli", instance, limit, 2022)


kind = IdentificationKind()
