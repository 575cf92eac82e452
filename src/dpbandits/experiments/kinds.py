"""Protocol of a kind of experiment: its keys in YAML, its quantities and its words.

A kind is two files of one name: experiments/regret.py has the numbers, kinds/regret.py the words:
how it is written in YAML, and what captions, tables and judges say of it. A project brings a kind
of its own in two such files. Code elsewhere asks the kind, never which kind it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.privacy.notions import DELTA, Guarantee
from dpbandits.privacy.releases import composed_epsilon

Declaration = Literal["releases", "guarantee", "warning"]  # functions of an algorithm's file


class Quantity(NamedTuple):
    """Quantity that a curve plots."""

    name: str  # in YAML
    meaning: str  # for documentation
    label: str  # of the y axis over a parameter
    over_time: str = ""  # label of the y axis over the rounds; "": not drawn over them
    pair: Literal["", "difference", "ratio"] = ""  # to a counterpart, which `against` names
    of: str = ""  # quantity of which it is the difference or the ratio
    needs_runs: bool = True
    is_share: bool = False  # 0 or 1 in a run: the statistic of a curve is the mean
    by_mean: bool = False  # a run is only its effect on a mean: no other statistic has a meaning


class Key(NamedTuple):
    """Key of a kind in the YAML of a figure."""

    type: Any  # of msgspec or of kernel.parameters, or the list of valid names
    meaning: str
    places: tuple[str, ...] = ("figure", "panel", "curve")
    parts: Any = None  # NamedTuple that a mapping is read as; layers may set some of its fields
    is_swept: bool = False


class Given(Protocol):
    """What a figure's file gives a curve: the innermost of its layers sets every value.

    Messages name the figure, the path of the key, what is wrong and the file.
    """

    @property
    def name(self) -> str:
        """Name of the member, such as an algorithm."""

    @property
    def module(self) -> Any:
        """Module of the member; None if it has none."""

    @property
    def seed(self) -> int:
        """Root of every random stream."""

    @property
    def path(self) -> str:
        """Path of the curve."""

    def value(self, key: str) -> tuple[Any, str]:
        """Return the value of a key and its path; (None, "") if no layer has it."""

    def needed(self, key: str) -> tuple[Any, str]:
        """Return the same. Raises UserError without a value."""

    def checked(self, kind: Any, value: Any, path: str) -> Any:
        """Return the value as a type of msgspec or of kernel.parameters. Raises UserError."""

    def error(self, path: str, problem: str) -> UserError:
        """Return the error at a path."""

    def scale(self, path: str) -> float:
        """Return the profile's factor on horizons; 1 for a value that it leaves as it is."""

    def instance(self) -> tuple[str, Any]:
        """Return the environment and its Params. Raises UserError."""

    def parts(self, key: str) -> Any:
        """Return the parts of a key, merged from all layers. Raises UserError."""

    def params(self, **game: Any) -> Any:
        """Return the Params of the member; `game` has what the game sets. Raises UserError."""

    def grid(self) -> Any:
        """Return the checkpoints of a curve over time. Raises UserError."""


@dataclass(frozen=True)
class Words:
    """Name and values of one experiment, for messages, captions, tables and judges."""

    name: str  # in one line, for progress and error messages
    settings: Mapping[str, Any]  # values of its parameters that are not part of the game
    arguments: Mapping[str, Any]  # what a function of theory/ may be given of it
    # Arguments of `releases`, `guarantee` and `warning`; None: the member's file declares nothing.
    declaring: tuple[Any, ...] | None
    rounds: int | None = None  # of every run, if known before
    bandit: tuple[str, Any] | None = None  # environment and instance
    means: tuple[float, ...] = ()  # of the arms, of a game without an environment
    phrase: str = ""  # on the game, where there is no environment and no means
    remark: str = ""  # on the game, after its name
    unmet: str = ""  # why the member's guarantee does not hold in this game
    unit: str = "run"  # what a caption counts
    spends: bool = True  # a caption says what its releases compose to
    later: tuple[str, ...] = ()  # parts of the description that affect no early round of a curve
    shared: Mapping[str, Any] = field(default_factory=dict)  # equal: the runs have the same game


class Kind(ABC):
    """Words of a kind. The answers given here are those of a kind without a curve over time."""

    name: str  # of its files
    key: str  # in YAML: names the member that a curve plays
    title: str  # heading of its members on pages
    experiment: type[Experiment]
    quantities: tuple[Quantity, ...]  # the usual one first
    keys: Mapping[str, Key] = {}
    has_members = True  # algorithms name it as their kind
    plays_bandits = False  # they play the bandit of kernel/bandit.py, so that audits can play them
    usual: Mapping[str, Any] = {}  # values of parameters, for tables of privacy and for checks

    def names(self) -> Collection[str]:
        """Return the names of the members that its curves may play."""
        passed = registry.NOT_STORED.items()
        own = [n for n, of in passed if hasattr(of, "play") and _kind_of(of) == self.name]
        return [*registry.names(self.name), *own]

    def module(self, name: str) -> Any:
        """Return the module of a member, which has LABEL and Params; None if it has none."""
        return registry.algorithm(name)

    def fields(self, given: Given) -> Mapping[str, Any]:
        """Return the parameters that a curve may set, with their types."""
        return parameters.fields(given.module.Params)

    def quantity(self, asked: str | None, given: Given) -> Quantity:
        """Return the quantity that `shows` asks for. Raises UserError for one of another kind."""
        by_name = {quantity.name: quantity for quantity in self.quantities}
        if asked is None:
            return self.quantities[0]
        if asked not in by_name:
            problem = f": {asked} is not for {given.name}, of kind {self.name}"
            raise given.error(given.value("shows")[1], f"{problem}; {nearest('', by_name)}")
        return by_name[asked]

    def swept(self, given: Given, key: str | None) -> Sequence[float] | None:
        """Return the values over which a curve is drawn in place of the figure's; None: those."""
        return None

    def style(self, given: Given) -> str:
        """Return what sets the colour and the marker of a curve."""
        return given.name

    def text_values(self, given: Given) -> Mapping[str, Any]:
        """Return values of the game that texts may name, beside those of the figure's keys."""
        return {}

    @abstractmethod
    def read(self, given: Given, shows: Quantity) -> Experiment:
        """Return the experiment of a curve. Raises UserError."""

    @abstractmethod
    def words(self, experiment: Any) -> Words:
        """Return what is said of an experiment."""

    def declared(self, experiment: Any, what: Declaration) -> Any:
        """Return what the member's file declares, None if it has no such function.

        These are the releases that the algorithm makes, the paper's privacy guarantee (`Guarantee`)
        and, unless it is None too, a warning for readers of its curve.
        """
        said = words(experiment)
        if (arguments := said.declaring) is None or (said.unmet and what != "warning"):
            return None
        declare = getattr(registry.algorithm(experiment.member), what, None)
        return declare(*arguments) if declare else None

    def game(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of `releases` and `guarantee` after the Params, for a table."""
        return ()

    def notes(self, experiment: Any, load: Load) -> str:
        """Return what a reader of the results must know of the runs, or ""."""
        return ""

    def same_distribution(self, experiment: Any, over_time: bool) -> dict[str, Any]:
        """Return the part of the description on which the distribution of its numbers depends."""
        without = "seed", "grid", *(words(experiment).later if over_time else ())
        return {k: v for k, v in experiment.description().items() if k not in without}

    def most(self, experiment: Any, arguments: Mapping[str, Any]) -> float | None:
        """Return the largest value of a run, with which bounds are compared; None: not known."""
        return None

    @abstractmethod
    def cases(self, member: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Experiment]]:
        """Yield small experiments of a member with these parameters, each with its game."""

    def case_params(self, member: str, values: Mapping[str, Any], **game: Any) -> Any:
        """Return the Params of a case, from given values, those of its game and the usual ones."""
        cls = self.module(member).Params
        settings = {k: v for k, v in {**self.usual, **game, **values}.items() if k in cls._fields}
        return parameters.build(cls, settings, member, lambda _: f"a case of {self.name}")


def every() -> list[Kind]:
    """Return all kinds, of dpbandits, plugins and the project, in alphabetical order."""
    return list(_every(tuple(registry.members("kind").items())))


@cache
def _every(members: tuple[tuple[str, registry.Member], ...]) -> tuple[Kind, ...]:
    kinds = []
    for name, member in members:
        kind = registry.kind(name)
        if not isinstance(kind, Kind):
            raise UserError(f"kind '{name}': {member.shown}: kind must be a Kind, got {kind!r}")
        lacking = [k for k in ("key", "title", "experiment", "quantities") if not hasattr(kind, k)]
        if lacking:
            raise UserError(f"kind '{name}': {member.shown} must define {' and '.join(lacking)}")
        kind.name = name
        kinds.append(kind)
    places = {name: member.shown for name, member in members}
    owners: dict[tuple[str, str], tuple[str, Any]] = {}
    for kind in kinds:
        entries = [(("quantity", quantity.name), quantity) for quantity in kind.quantities]
        for entry, what in (*entries, *((("key", key), of) for key, of in kind.keys.items())):
            other, same = owners.setdefault(entry, (kind.name, what))
            if same != what:
                files = f"{places[other]} and {places[kind.name]}"
                problem = f"two kinds have a {entry[0]} '{entry[1]}'"
                raise UserError(f"{problem}, {files}: rename one of them")
    return tuple(kinds)


def bandit_players() -> list[str]:
    """Return the names of all algorithms that play bandits, those of regret first."""
    playing = sorted(
        (kind for kind in every() if kind.plays_bandits), key=lambda k: k.name != registry.USUAL
    )
    return [name for kind in playing for name in registry.names(kind.name)]


def of(experiment: Experiment) -> Kind:
    """Return the kind of an experiment. Raises UserError if none has its class."""
    kind_of = _by_class(tuple(every()))
    if type(experiment) not in kind_of:
        names = ", ".join(sorted(cls.__name__ for cls in kind_of))
        raise UserError(f"no kind has experiments of class {type(experiment).__name__}: {names}")
    return kind_of[type(experiment)]


@cache
def _by_class(kinds: tuple[Kind, ...]) -> Mapping[type[Experiment], Kind]:
    return {kind.experiment: kind for kind in kinds}


def of_member(name: str) -> Kind:
    """Return the kind to which an algorithm belongs. Raises UserError if there is no such kind."""
    if name in registry.NOT_STORED:
        return _named(_kind_of(registry.NOT_STORED[name]), name)
    return _named(registry.member("algorithm", name).kind, name)


def _kind_of(passed: Any) -> str:
    # Name of the kind of an algorithm that was passed from Python.
    kind: str = getattr(passed, "KIND", registry.USUAL)
    return kind


def _named(name: str, member: str) -> Kind:
    kinds = {kind.name: kind for kind in every() if kind.has_members}
    if name not in kinds:
        passed = member in registry.NOT_STORED
        file = member if passed else registry.member("algorithm", member).shown
        raise UserError(f"{file}: unknown KIND {shown(name)}; {nearest(name, kinds)}")
    return kinds[name]


def quantities() -> dict[str, Quantity]:
    """Return the quantities of all kinds by name."""
    return {quantity.name: quantity for kind in every() for quantity in kind.quantities}


@cache
def words(experiment: Experiment) -> Words:
    """Return what is said of an experiment."""
    return of(experiment).words(experiment)


def setting(experiment: Experiment, naming: Callable[[str, Any], str]) -> str:
    """Return a phrase on the game for captions, without the horizon; "" if there is none.

    `naming` returns the text of an environment and its instance; without an environment, of means.
    """
    said = words(experiment)
    if said.bandit:
        return ", ".join(filter(None, [naming(*said.bandit), said.remark]))
    return naming("", said.means) if said.means else said.phrase


def gaps(experiment: Experiment) -> Any:
    """Return the gaps of the arms, (arms,); None if there are no arms with means."""
    if (game := words(experiment).bandit) is None:
        return None
    environment, instance = game
    return registry.environment(environment).gaps(instance)


def declared(experiment: Experiment, what: Declaration) -> Any:
    """Return what the member's file declares, as `Kind.declared` does."""
    return of(experiment).declared(experiment, what)


@cache
def composed_budget(experiment: Experiment) -> float | None:
    """Return the epsilon that declared releases compose to; None if there are none.

    The delta is that of `delta_of`. The result is math.inf if the number of releases is unbounded,
    or if their deltas add up to more than this delta.
    """
    releases = declared(experiment, "releases")
    return None if releases is None else composed_epsilon(releases, delta_of(experiment))


def given_budget(experiment: Experiment) -> float:
    """Return the epsilon given to a private experiment; for zCDP the one that its rho implies."""
    values, guarantee = experiment.params._asdict(), declared(experiment, "guarantee")
    if guarantee is None:
        return float(values["epsilon"])
    return guarantee.notion.epsilon(float(values[guarantee.notion.budget]), delta_of(experiment))


def delta_of(experiment: Experiment) -> float:
    """Return the delta at which budgets are composed: that of the guarantee, 0 without one."""
    guarantee: Guarantee | None = declared(experiment, "guarantee")
    if guarantee is None:
        return 0.0
    return DELTA if guarantee.notion.needs_delta else guarantee.delta


def in_words(values: Mapping[str, Any]) -> str:
    """Return `name=value` for all values."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
