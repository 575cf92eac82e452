"""Algorithms on bandits: regret over time or at the horizon, or pulls of an arm."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpbandits.environments import bernoulli, beta
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import Given, Key, Kind, Quantity, Words, in_words
from dpbandits.experiments.regret import LOST, PER_LOG, WORST, Regret, RegretExperiment
from dpbandits.kernel import parameters, registry

AT_THE_HORIZON = "at the horizon"
REGRET = Quantity("regret", "regret", f"Regret {AT_THE_HORIZON}", "Regret")
# The same of a curve with `pulls_of`.
PULLS = REGRET._replace(meaning="pulls", label=f"Pulls {AT_THE_HORIZON}", over_time="Pulls")
QUANTITIES = (
    REGRET,
    Quantity(PER_LOG, "regret over log T", rf"Regret {AT_THE_HORIZON} / $\log T$"),
    Quantity(
        "extra-regret",
        "regret minus that of the same run of `against`",
        r"$\mathrm{Reg}_\mathrm{priv} - \mathrm{Reg}_\mathrm{nonpriv}$",
        "Regret",
        pair="difference",
        of="regret",
    ),
    Quantity(
        "price-of-privacy",
        "extra regret over the mean regret of `against`",
        "Price of privacy",
        "Price of privacy",
        pair="ratio",
        of="regret",
        by_mean=True,
    ),
    Quantity(
        LOST,
        "share of runs that lose the best arm: a regret of at least T/2 times the smallest gap",
        "Share of lost runs",
        is_share=True,
    ),
    Quantity(
        WORST,
        "mean regret of the worst hundredth of the runs (conditional value at risk)",
        "Regret of the worst 1 %",
        by_mean=True,
    ),
)
HORIZON = Key(parameters.Rounds, "rounds T", is_swept=True)


class RegretKind(Kind):
    """Keys, quantities and words of games of a number of rounds."""

    key = "algorithm"
    title = "Algorithms"
    experiment = RegretExperiment
    quantities = QUANTITIES
    keys: Mapping[str, Key] = {
        "horizon": HORIZON,
        "regret": Key([r.value for r in Regret], "`pseudo` or `realised`", ("panel", "curve")),
        "clipped": Key(
            bool, "true: rewards are clipped to what releases assume; false: no guarantee"
        ),
        "pulls_of": Key(parameters.Count, "arm whose pulls are plotted", ("curve",)),
    }
    plays_bandits = True
    usual: Mapping[str, Any] = {"epsilon": 1.0, "rho": 1.0, "delta": 1e-6}

    def quantity(self, asked: str | None, given: Given) -> Quantity:
        quantity = super().quantity(asked, given)
        counts = given.value("pulls_of")[0] is not None
        return PULLS if counts and quantity is REGRET else quantity

    def text_values(self, given: Given) -> Mapping[str, Any]:
        return {} if given.value("environment")[0] is None else {"horizon": horizon(given)}

    def read(self, given: Given, shows: Quantity) -> Experiment:
        environment, instance = given.instance()
        rounds, arms = horizon(given), registry.environment(environment).arms(instance)
        arm, path = given.value("pulls_of")
        if arm is not None and arm > arms:
            raise given.error(path, f"must be an arm from 1 to {arms}, got {arm}")
        if shows.name == LOST and registry.environment(environment).gaps(instance) is None:
            raise given.error(given.value("shows")[1], f"is for arms with means, not {environment}")
        regret, path = given.value("regret")
        if regret is not None and (arm or registry.environment(environment).table):
            problem = "is for arms with means, of which no pulls are recorded instead"
            raise given.error(path, problem)
        return RegretExperiment(
            member=given.name,
            params=given.params(horizon=rounds),
            environment=environment,
            instance=instance,
            horizon=rounds,
            grid=given.grid(),
            seed=given.seed,
            pulls_of=None if arm is None else arm - 1,  # the papers count arms from 1
            regret=Regret(regret or "pseudo"),
            clipped=given.value("clipped")[0],
        )

    def words(self, experiment: RegretExperiment) -> Words:
        environment = registry.environment(experiment.environment)
        arms, params = environment.arms(experiment.instance), parameters.as_json(experiment.params)
        recorded = ""
        if experiment.pulls_of is not None:
            recorded += f", pulls of arm {experiment.pulls_of + 1}"
        if experiment.regret is Regret.REALISED:
            recorded += ", realised regret"
        remark, (low, high) = "", registry.assumed_range(experiment.member)
        if experiment.clipped:
            remark = f"rewards clipped to [{low:g}, {high:g}]"
            recorded += ", clipped"
        game = f"{environment.title(experiment.instance)} K={arms} T={experiment.horizon}"
        # Over time, a shorter game may be the start of a longer one: the horizon affects the first
        # rounds only as a parameter of the algorithm, or of a table of gains.
        ahead = "horizon" in experiment.params._fields or environment.table
        described = experiment.description()
        shared = {key: described[key] for key in ("environment", "instance", "seed")}
        if environment.law:
            described["params"].pop("horizon", None)
            apart = ("horizon", "grid", "pulls_of")
            shared = {k: v for k, v in described.items() if k not in apart}
        return Words(
            name=f"{experiment.member}({in_words(params)}) on {game}{recorded}",
            settings={k: v for k, v in params.items() if k != "horizon"},
            arguments={
                **experiment.instance._asdict(),
                **experiment.params._asdict(),
                "arms": arms,
                "horizon": experiment.horizon,
            },
            declaring=(experiment.params, arms, experiment.horizon),
            rounds=experiment.horizon,
            bandit=(experiment.environment, experiment.instance),
            remark=remark,
            later=() if ahead else ("horizon",),
            shared=shared,
            unmet=experiment.unmet,
        )

    def game(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return values["arms"], values["horizon"]

    def most(self, experiment: RegretExperiment, arguments: Mapping[str, Any]) -> float | None:
        environment = registry.environment(experiment.environment)
        return environment.largest_regret(experiment.instance, arguments["horizon"])

    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        for name, instance in (
            ("bernoulli", bernoulli.Params((0.75, 0.5, 0.4))),
            ("beta", beta.Params((0.75, 0.5, 0.4))),
        ):
            params = self.case_params(member, values, horizon=1000)
            yield name, RegretExperiment(member, params, name, instance, 1000, Grid.LOG, 2022)


def horizon(given: Given) -> int:
    """Return the rounds of a game, which the profile scales unless something else sets them."""
    environment, instance = given.instance()
    value, path = given.needed("horizon")
    rounds: int = given.checked(parameters.Rounds, value, path)
    if (factor := given.scale(path)) != 1.0:
        scaled = max(1, round(rounds * factor))
        rounds = given.checked(parameters.Rounds, scaled, "profile.horizon_scale")
    least, reason = registry.environment(environment).shortest(instance)
    if rounds < least:
        raise given.error(path, f"must be at least {least}, {reason}, got {rounds}")
    return rounds


kind = RegretKind()
