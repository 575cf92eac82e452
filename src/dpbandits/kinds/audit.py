"""Audits of algorithms: their privacy as claimed, as composed and as audited."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpbandits.experiments.audit import (
    AUDITED,
    CLAIMED,
    COMPOSED,
    ONE_CHOICE,
    AuditExperiment,
    Plays,
)
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import (
    Declaration,
    Given,
    Key,
    Kind,
    Quantity,
    Words,
    bandit_players,
    in_words,
)
from dpbandits.kernel import parameters

EPSILON = r"$\epsilon$"


class AuditKind(Kind):
    """Keys, quantities and words of lower bounds on the privacy loss."""

    key = "algorithm"
    title = "Audits"
    experiment = AuditExperiment
    quantities = (
        Quantity(CLAIMED, "epsilon that the paper claims", EPSILON, needs_runs=False),
        Quantity(COMPOSED, "epsilon that the releases compose to", EPSILON, needs_runs=False),
        Quantity(AUDITED, "lower bound on epsilon of all choices", EPSILON),
        Quantity(ONE_CHOICE, "the same of a single choice", EPSILON),
    )
    keys: Mapping[str, Key] = {"plays": Key(Plays, "simulations of an audit")}
    has_members = False  # it audits the algorithms that play bandits

    def names(self) -> list[str]:
        return bandit_players()

    def read(self, given: Given, shows: Quantity) -> Experiment:
        from dpbandits.audit import designs  # late, as in experiments/audit.py
        from dpbandits.audit.subject import Subject

        # Every game of an audit sets its own horizon.
        subject = Subject.of(given.name, given.params(horizon=designs.LONG))
        plays = given.checked(Plays, *given.needed("plays"))
        return AuditExperiment.of(subject, plays, given.seed)

    def words(self, experiment: AuditExperiment) -> Words:
        plays = experiment.plays
        settings = dict(experiment.subject.settings)
        params = parameters.as_json(experiment.params)
        return Words(
            name=f"audit of {experiment.member}({in_words(settings)}) with {plays} games",
            settings={k: v for k, v in params.items() if k != "horizon"},
            arguments=experiment.params._asdict(),
            declaring=None,  # of its subject, below
            phrase=f"{plays:,} games an audit",
            unit="audit",
            spends=False,  # its figure draws the budgets
            shared=experiment.description(),
        )

    def declared(self, experiment: AuditExperiment, what: Declaration) -> Any:
        # Of the longest games; the guarantee is that which events can contradict.
        if what == "guarantee":
            return experiment.guarantee
        return experiment.subject.releases(*experiment.game) if what == "releases" else None

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        yield from ()  # the golden rows are those of its subjects


kind = AuditKind()
