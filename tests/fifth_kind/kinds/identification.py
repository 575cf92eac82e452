"""Identification of the best arm: how it is written, and what is said of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from best_arm.experiments.identification import TIME, WRONG, IdentificationExperiment

from dpbandits.environments import bernoulli
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words, in_words
from dpbandits.kernel import parameters, registry


class Identification(Kind):
    """Words of games that end with an answer."""

    key = "algorithm"
    title = "Identification"
    experiment = IdentificationExperiment
    quantities = (
        Quantity(TIME, "rounds until the answer", "Rounds until the answer"),
        Quantity(WRONG, "share of wrong answers", "Share of wrong answers"),
    )
    keys: Mapping[str, Key] = {"limit": Key(parameters.Rounds, "most rounds of a game")}
    usual: Mapping[str, Any] = {"epsilon": 1.0, "risk": 0.05}

    def read(self, given: Given, shows: Quantity) -> Experiment:
        environment, instance = given.instance()
        limit = given.checked(parameters.Rounds, *given.needed("limit"))
        params = given.params()
        return IdentificationExperiment(
            given.name, params, environment, instance, limit, given.seed
        )

    def words(self, experiment: IdentificationExperiment) -> Words:
        environment = registry.environment(experiment.environment)
        arms, settings = (
            environment.arms(experiment.instance),
            parameters.as_json(experiment.params),
        )
        game = f"{environment.title(experiment.instance)} K={arms}"
        return Words(
            name=f"{experiment.member}({in_words(settings)}) identifies on {game}",
            settings=settings,
            arguments={
                **experiment.instance._asdict(),
                **experiment.params._asdict(),
                "arms": arms,
            },
            declaring=(experiment.params, arms),
            bandit=(experiment.environment, experiment.instance),
            unit="game",
            shared=experiment.description(),
        )

    def game(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["arms"],)

    def notes(self, experiment: IdentificationExperiment, load: Load) -> str:
        undecided = int((load(slice(1, 2)) < 0).sum())
        return f"{undecided} games reached the limit of {experiment.limit:,} rounds" * (
            undecided > 0
        )

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        params = self.case_params(member, values)
        instance = bernoulli.Params((0.8, 0.4, 0.3))
        yield (
            "bernoulli",
            IdentificationExperiment(member, params, "bernoulli", instance, 10_000, 2022),
        )


kind = Identification()
