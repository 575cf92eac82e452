"""Checks of an algorithm: its file, its parameters, how it plays, and its privacy.

A check ends with its numbers in one line, or raises Broken or NotApplicable.
"""

import ast
import itertools
import json
import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import Any
from unittest import SkipTest

import numpy as np
from scipy import stats

from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment, play_run
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import PACKAGE
from dpbandits.privacy.notions import BUDGETS, budget_of
from dpbandits.privacy.releases import is_sound
from dpbandits.run.user_algorithms import DECORATE, error_place, is_kernel

# Instances on which choices are close, so that outcomes vary between runs.
INSTANCES = ((0.5, 0.5), (0.6, 0.46), (0.75, 0.5, 0.4))
HORIZON = 4000
HORIZONS = (80_000, 40_000, HORIZON, 700)  # a shorter curve is the beginning of the longest
RUNS_OF_PREFIX = 5
RUNS = 400  # of each mode and instance
FALSE_ALARMS = 1e-4  # of the whole check of laws, by Bonferroni over its comparisons
FEW = 50  # distinct values up to which a sample is compared by its counts
PLAIN = ((0.62, 0.5, 0.55), 1500, 3)  # means, horizon and run of the game in plain Python
PLAYS = 1_000_000  # games of the audit, fewer if they are so long that they have more rounds
ROUNDS_OF_AUDIT = 2_000_000_000
GAMES = ((2, 50), (5, 1000), (5, 20_000), (32, 20_000))  # arms and rounds
ROUNDING = 1e-9  # of a composed budget
POWER = 0.1  # least bound of an audit that tested something, as a share of the guarantee
ANNOTATE = "annotate the fields of Params with int, float, bool, tuple[float, ...] or an IntEnum"


class Broken(AssertionError):
    """A check failed: its numbers, and what to change."""

    def __init__(self, numbers: str, remedy: str) -> None:
        super().__init__(f"{numbers}; to fix it: {remedy}")
        self.numbers, self.remedy = numbers, remedy


class NotApplicable(SkipTest):
    """The check does not apply, for the reason given."""


class NotTested(SkipTest):
    """The check applies, but what it saw tests nothing, for the reason given."""


def reason(error: BaseException, member: registry.Member) -> str:
    """Return an error, also one of numba's many lines, as file, line, function and cause."""
    if place := error_place(error):
        return place
    text, root = re.sub(r"\x1b\[\d*m", "", str(error)), member.root
    # numba nests errors. The innermost is named by its class, or it is what the last stage reports.
    innermost = re.search(r"\w+Error: (?!Failed in nopython).+", text)
    stage = re.split(r"Failed in nopython.*\n", text)[-1]
    stage = re.split(r"\n\s*(?:There are|File|During)", stage)[0]
    cause = innermost[0] if innermost else f"{type(error).__name__}: {stage}"
    cause = " ".join(re.sub(r"( of type \w+)\(.*", r"\1", cause).split())
    frames = extract_tb(error.__traceback__)[::-1]
    places = re.findall(r'(?:File "|from )([^"\n]+?)(?:", line | \()(\d+)', text)
    places += [(frame.filename, str(frame.lineno)) for frame in frames]
    places = [(os.path.relpath(file, root.folder), int(line)) for file, line in places]
    if name := re.search(r"name '(\w+)' is not defined", cause):  # numba gives no place
        source = root.sources()[member.path].decode().splitlines()
        lines = (n for n, line in enumerate(source, 1) if re.search(rf"\b{name[1]}\b", line))
        places += [(member.path, line) for line in lines]
    # Innermost first. What a member of dpbandits calls is not at fault.
    below = f"{Path(member.path).parent}/" if root is PACKAGE else ""
    for path, line in places:
        if path in root.sources() and path.startswith(below):
            tree = ast.walk(ast.parse(root.sources()[path]))
            functions = [node for node in tree if isinstance(node, ast.FunctionDef)]
            around = [f.name for f in functions if f.lineno <= line <= (f.end_lineno or 0)]
            where = f"{registry.Member(root, path).shown}, line {line}"
            return f"{', in '.join([where, *around[-1:]])}: {cause}"
    return f"{member.shown}: {cause}"


def is_private(name: str, arguments: str) -> bool:
    """Return whether a complete file declares releases, with these arguments, and a guarantee.

    Raises Broken if `play` is no kernel, or if only one of the two is there.
    """
    module = registry.algorithm(name)
    if not is_kernel(module.play):
        raise Broken("`play` is not a kernel", DECORATE)
    missing = [name for name in ("releases", "guarantee") if not hasattr(module, name)]
    if len(missing) == 2 and not budget_of(module.Params._fields):
        return False
    if missing:
        wanted = " and ".join(f"{name}({arguments})" for name in missing)
        remedy = f"define {wanted}; one that is not private has no field {' or '.join(BUDGETS)}"
        raise Broken(f"Params have a budget, but there is no {' and no '.join(missing)}", remedy)
    return True


def complete_file(subject: Subject) -> str:
    """Check that `play` is a kernel and that what is private declares releases and guarantee."""
    if not is_private(subject.algorithm, "params, arms, horizon"):
        return "not private"
    module = registry.algorithm(subject.algorithm)
    budget = subject.guarantee(*GAMES[0]).notion.budget
    if budget not in module.Params._fields:
        problem = f"`releases` and `guarantee` are defined, but Params have no `{budget}`"
        raise Broken(problem, f"name the budget `{budget}` in Params, annotated with Positive")
    return "private"


def configurable(subject: Subject) -> str:
    """Check that Params have types that a file can hold, and refuse wrong values in one line."""
    params = subject.params(1000)
    annotations, values = parameters.fields(type(params)), parameters.as_json(params)
    for name, annotation in annotations.items():
        try:
            value = getattr(params, name)
            if value is not None and parameters.coerce(annotation, values[name]) != value:
                raise Broken(f"`{name}` = {value!r} is another value in a file", ANNOTATE)
            parameters.build(type(params), {**values, name: "?"}, "", str)
        except TypeError as error:
            raise Broken(f"`{name}`: {error}", ANNOTATE) from None
        except UserError as error:
            if name not in str(error) or "\n" in str(error):
                problem = f"a wrong `{name}` is answered by {error}"
                raise Broken(problem, "name it in one line") from None
        else:
            raise Broken(f"`{name}` may be a word", ANNOTATE)
    return f"{len(annotations)} fields of Params"


def experiment(
    subject: Subject, means: tuple[float, ...], horizon: int, grid: Grid = Grid.LOG
) -> RegretExperiment:
    """Return the experiment of an algorithm on Bernoulli arms."""
    params, instance = subject.params(horizon), bernoulli.Params(means)
    return RegretExperiment(subject.algorithm, params, "bernoulli", instance, horizon, grid, seed=1)


def every_round(subject: Subject) -> str:
    """Check that the policy plays exactly to the horizon, from one round per arm on."""
    games = [
        (means, horizon, per_round)
        for means in ((0.3, 0.6), (0.3, 0.6, 0.5), (0.5,) * 7)
        for horizon in (len(means), len(means) + 1, 3 * len(means) + 2, 100, 1000)
        for per_round in (False, True)
    ]
    in_plain_python(subject)  # first: it ends a game that would never end
    member = registry.member("algorithm", subject.algorithm)
    for means, horizon, per_round in games:
        where = f"K = {len(means)}, T = {horizon}"
        try:
            bandit = play_run(experiment(subject, means, horizon, Grid.END), 0, per_round)
        except Exception as error:
            raise Broken(
                f"{where}: {reason(error, member)}",
                "`play` must compile and pull until `playing(bandit)` is false, also if the game"
                " ends within its first phase; decorate helpers with `inlined` of"
                " dpbandits.kernel.compilation, and give `pull_many` ints",
            ) from error
        if int(bandit.pulls.sum()) != horizon or bandit.pulls.min() < 0:
            remedy = "`play` must not write to the bandit, whose functions count pulls"
            raise Broken(f"{where}: {bandit.pulls.sum()} pulls", remedy)
    return f"{len(games)} games of between K and 1,000 rounds, 2 to 7 arms"


def same_bits(subject: Subject) -> str:
    """Check that a run has the same bits alone, alongside other runs and a second time."""
    for means in INSTANCES:
        played = experiment(subject, means, HORIZON)
        together, _ = played.play(range(8))
        again, _ = played.play(range(8))
        alone = np.array([played.play(range(run, run + 1))[0][0] for run in range(7, -1, -1)])
        parts = np.vstack([played.play(range(0, 3))[0], played.play(range(3, 8))[0]])
        for curves in (again, alone[::-1], parts):
            if not np.array_equal(together, curves):
                run = int(np.flatnonzero((together != curves).any(axis=1))[0])
                raise Broken(
                    f"run {run} ends at {together[run, -1]:g} and at {curves[run, -1]:g}",
                    "draw every random number from `rng`, the argument of `play`, never from"
                    " np.random; keep no state outside `play`",
                )
    return f"8 runs on {len(INSTANCES)} instances, in 4 ways each"


def prefix(subject: Subject) -> str:
    """Check that an anytime algorithm makes the same choices for every horizon."""
    if "horizon" in parameters.fields(registry.algorithm(subject.algorithm).Params):
        raise NotApplicable("Params have a field `horizon`")
    compared = 0
    for means, run in itertools.product(INSTANCES, range(RUNS_OF_PREFIX)):
        longest, *shorter = (experiment(subject, means, horizon) for horizon in HORIZONS)
        long = dict(zip(longest.checkpoints(), play_run(longest, run).curve, strict=True))
        for short in shorter:
            for t, regret in zip(short.checkpoints(), play_run(short, run).curve, strict=True):
                compared += t in long
                if long.get(t, regret) != regret:
                    raise Broken(
                        f"run {run} on means {means} differs between T = {short.horizon:,} and"
                        f" {longest.horizon:,} from round {t:,} on",
                        "give Params a field `horizon: Rounds` if the algorithm uses T, or use"
                        " neither `rounds_left` nor `bandit.horizon` for a decision",
                    )
    horizons = ", ".join(f"{horizon:,}" for horizon in HORIZONS[::-1])
    return f"{compared:,} values of regret equal at T = {horizons}"


def same_distribution(subject: Subject) -> str:
    """Check that batched and single pulls follow the same distribution."""
    samples = []
    for means in INSTANCES:
        played = experiment(subject, means, HORIZON, Grid.END)
        bandits = [play_run(played, run, per_round=run >= RUNS) for run in range(2 * RUNS)]
        outcomes = np.array([[bandit.curve[-1], *bandit.pulls] for bandit in bandits])
        samples.append((means, outcomes[:RUNS], outcomes[RUNS:]))
    return equal_laws(samples)


def equal_laws(
    samples: Sequence[tuple[tuple[float, ...], np.ndarray, np.ndarray]], first: str = "regret"
) -> str:
    """Compare batched and single outcomes (`first`, pulls of each arm), with the means of the arms.

    Outcomes are of shape (runs, 1 + arms). Raises Broken with a probability below FALSE_ALARMS if
    both have one distribution.
    """
    compared = [
        (p_value(batched[:, i], single[:, i]), f"pulls of arm {i}" if i else first, means)
        for means, batched, single in samples
        for i in range(1 + len(means))
    ]
    (least, what, means), limit = min(compared), FALSE_ALARMS / len(compared)
    numbers = f"{len(compared)} two-sample tests of {len(samples[0][1])} runs, least p-value"
    numbers += f" {least:.2g} ({what} on means {means}); the limit is {limit:.1g}"
    if least < limit:
        remedy = "decisions inside a batch must not depend on its rewards; use what `pull_many`"
        remedy += " returns only after the batch, and read the clock with `rounds_played`"
        raise Broken(numbers, remedy)
    vary = any(len(np.unique(batched, axis=0)) > 1 for _, batched, _ in samples)
    return numbers if vary else f"{numbers}; all outcomes are alike, no power"


def p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of two samples: the probability that equal ones differ as much as these.

    Few distinct values: chi-squared test on their counts, with rare values pooled, as Kolmogorov
    and Smirnov's has no power there. Many: the latter. A single value in both samples gives 1.
    """
    values = np.unique(np.concatenate([first, second]))
    if values.size > FEW:
        with warnings.catch_warnings():  # scipy takes the asymptotic value for p of nearly 1
            warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")
            return float(stats.ks_2samp(first, second).pvalue)
    counts = np.array([[np.sum(sample == v) for v in values] for sample in (first, second)])
    rare = counts.sum(axis=0) < 10
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def same_bits_in_python(subject: Subject) -> str:
    """Check that plain Python gives the bits of compiled code, in both modes."""
    means, horizon, run = PLAIN
    played = experiment(subject, means, horizon)
    interpreted = in_plain_python(subject)["outcomes"]
    error = next((result["error"] for result in interpreted if "error" in result), "")
    if error or interpreted != [outcome(played, run, mode) for mode in (False, True)]:
        raise Broken(
            error or f"run {run} on means {means}, T = {horizon}, has other pulls or regrets",
            "write math.log, x * x and loops in place of np.log, x**2 and np.sum, which round"
            " differently; do not divide by zero; draw random numbers from `rng` alone",
        )
    return f"2 games of {horizon:,} rounds, bit for bit"


def only_rewards(subject: Subject) -> str:
    """Check that the policy reads no field of the bandit, on a law that has no means."""
    answer = in_plain_python(subject)
    if answer["fields"] or answer["error"]:
        fields = ", ".join(f"bandit.{name}" for name in answer["fields"])
        raise Broken(
            f"on a law without means, `play` reads: {fields or 'no field'}. {answer['error']}",
            "use the functions of dpbandits.kernel.bandit, and nothing else of the bandit",
        )
    return f"{PLAIN[1]:,} rounds on a law without means and gaps"


def outcome(played: RegretExperiment, run: int, per_round: bool) -> dict[str, Any]:
    """Return the pulls and the exact curve of one run, or the error."""
    try:
        bandit = play_run(played, run, per_round)
    except Exception as error:
        return {"error": reason(error, registry.member("algorithm", played.member))}
    curve = [float(value).hex() for value in bandit.curve]
    return {"pulls": bandit.pulls.tolist(), "curve": curve}


@cache
def in_plain_python(subject: Subject) -> dict[str, Any]:
    """Return what a process without the compiler writes (plain.py).

    Raises Broken if it fails, or if the games do not end.
    """
    asked = {"name": subject.algorithm, "settings": dict(subject.settings)}
    answer: dict[str, Any] = without_compiler("dpbandits.contract.plain", asked)
    if "endless" in answer:
        remedy = "pull in every passage of a loop, and end it when `playing(bandit)` is false"
        raise Broken(answer["endless"], remedy)
    return answer


def without_compiler(module: str, asked: Any) -> Any:
    """Return the JSON that a module writes as a process without the compiler, which reads `asked`.

    Raises Broken if it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(asked),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        error = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
        raise Broken(error, "make it run without the compiler, NUMBA_DISABLE_JIT=1")
    return json.loads(done.stdout)


def possible_releases(subject: Subject) -> str:
    """Check that declared releases read rewards that a game has, with valid noise."""
    number = 0
    for arms, rounds in private_games(subject):
        for release in subject.releases(arms, rounds):
            number += 1
            in_game = 0 <= release.arm < arms and 1 <= release.first <= release.last <= rounds
            if not (in_game and is_sound(release) and release.times >= 0):
                raise Broken(
                    f"K = {arms}, T = {rounds}: {release} is impossible",
                    "fix `releases`: arms count from 0, rewards from 1 within the horizon; noise,"
                    " sensitivity and times are positive",
                )
    return f"{number:,} releases in {len(GAMES)} games"


def composed_as_guaranteed(subject: Subject) -> str:
    """Check that the declared releases compose to the guaranteed budget."""
    games = []
    for arms, rounds in private_games(subject):
        guarantee = subject.guarantee(arms, rounds)
        composed = subject.composed(arms, rounds, guarantee.delta)
        number = "no bound" if math.isinf(composed) else f"{composed:.4g}"
        numbers, why = f"epsilon {number} of {guarantee.epsilon:g}", guarantee.differs
        numbers += f" at K = {arms}, T = {rounds:,}"
        if composed > guarantee.epsilon * (1 + ROUNDING) and not why:
            if guarantee.notion.on_every_table and not guarantee.notion.one_choice:
                remedy = "add noise in `play`, or correct the scale in `releases`; if the paper"
                remedy += " claims less than its releases compose to, give the reason in `differs`"
                raise Broken(numbers, f"{remedy} of the guarantee")
            why = f"the guarantee is {guarantee.notion.title}"
        games.append((composed, numbers, why))
    _, *texts = max(games, key=lambda game: game[0])
    return "; ".join(filter(None, texts))


def no_greater_loss(subject: Subject) -> str:
    """Check that an audit does not refute the guarantee or the declared releases."""
    private_games(subject)
    try:
        plays = min(PLAYS, ROUNDS_OF_AUDIT // subject.horizons[-1])
        findings = Auditor(subject, seed=1, workers=None).audit(plays)
    except UserError as error:
        raise NotApplicable(str(error)) from None
    worst = max(findings, key=lambda finding: finding.epsilon)
    numbers = f"at least {worst.epsilon:.3g} of epsilon = {worst.guarantee.epsilon:g}"
    numbers += f", with 99 % confidence, from {plays:,} games"
    if any(finding.refutes_guarantee or finding.refutes_releases for finding in findings):
        remedy = "release every statistic that `play` uses with noise of its sensitivity: some"
        raise Broken(numbers, f"{remedy} reward has less than declared")
    if worst.epsilon < POWER * worst.guarantee.epsilon:
        raise NotTested(f"{numbers}, which is next to nothing; try smaller parameters")
    return numbers


def noise_as_declared(subject: Subject) -> str:
    """Check that `play` draws the noise that `releases` declares, and uses no reward without it."""
    private_games(subject)
    answer = in_plain_python(subject)["noise"]
    if "failed" in answer:
        raise Broken(answer["failed"], answer["remedy"])
    if "untested" in answer:
        raise NotTested(answer["untested"])
    return str(answer["passed"])


def private_games(subject: Subject) -> tuple[tuple[int, int], ...]:
    """Return arms and rounds of some games. Raises NotApplicable without a guarantee of privacy."""
    if not hasattr(registry.algorithm(subject.algorithm), "guarantee"):
        raise NotApplicable("the algorithm declares no privacy")
    return GAMES
