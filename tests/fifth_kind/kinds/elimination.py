"""Elimination of all arms but one: how it is written, and what is said of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from best_arm.experiments.elimination import MISSED, TIME, EliminationExperiment

from dpbandits.environments import bernoulli
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words, in_words
from dpbandits.kernel import parameters, registry


class Elimination(Kind):
    """Words of games that end with one arm."""

    key = "algorithm"
    title = "Elimination"
    experiment = EliminationExperiment
    quantities = (
        Quantity(TIME, "rounds until one arm is left", "Rounds until one arm is left"),
        Quantity(MISSED, "share of games that miss the best arm", "Share of misses"),
    )
    keys: Mapping[str, Key] = {"most_rounds": Key(parameters.Rounds, "most rounds of a game")}
    usual: Mapping[str, Any] = {"epsilon": 1.0, "risk": 0.05}

    def read(self, given: Given, shows: Quantity) -> Experiment:
        environment, instance = given.instance()
        most = given.checked(parameters.Rounds, *given.needed("most_rounds"))
        params = given.params()
        return EliminationExperiment(given.name, params, environment, instance, most, given.seed)

    def words(self, experiment: EliminationExperiment) -> Words:
        environment = registry.environment(experiment.environment)
        arms, settings = (
            environment.arms(experiment.instance),
            parameters.as_json(experiment.params),
        )
        game = f"{environment.title(experiment.instance)} K={arms}"
        return Words(
            name=f"{experiment.member}({in_words(settings)}) eliminates on {game}",
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

    def notes(self, experiment: EliminationExperiment, load: Load) -> str:
        unfinished = int((load(slice(1, 2)) < 0).sum())
        return f"{unfinished} games end after {experiment.most_rounds:,} rounds" * (unfinished > 0)

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        params = self.case_params(member, values)
        instance = bernoulli.Params((0.8, 0.4, 0.3))
        yield (
            "bernoulli",
            EliminationExperiment(member, params, "bernoulli", instance, 10_000, 2022),
        )


kind = Elimination()
