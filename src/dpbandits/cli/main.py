"""Command line `dpbandits <verb> ...`: a function for every verb, whose docstring is its help.

A function imports what it needs when it is called: no verb waits for the libraries of another.
"""

import re
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, UnknownOptionError

from dpbandits.cli.process import guarded, load_factory, load_joblib, value_of, values_of
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import revision
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError, shown
from dpbandits.kernel.roots import MARKER, is_new_package
from dpbandits.run import ExitStatus

APP = App(
    name="dpbandits",
    help="Figures of differentially private bandits, at the papers' own scale.",
    version=lambda: f"dpbandits {version('dpbandits')} (revision {revision()})",
    default_parameter=Parameter(negative=()),
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `status_of` reports it
)
APP.register_install_completion_command()
LEFTOVER = re.compile(r"\..+\.[0-9a-f]{16}\.partial")  # of a file that was being written
Figures = Annotated[str, Parameter(completer=lambda _: project.names("figure"))]
Figure = Annotated[Figures, Parameter(help="name of the figure; `dpbandits list` prints all")]
OVERRIDES = "Hydra's overrides: runs=5, figure.horizon=100_000, profile=smoke, engine.workers=1,"
OVERRIDES += " paths.out=elsewhere; several values of a key are for `dpbandits multirun`"
Overrides = Annotated[str, Parameter(help=OVERRIDES)]
Algorithm = Annotated[str, Parameter(completer=lambda _: [*registry.members("algorithm")])]
# Checked where it is used, with its range.
READ = Parameter(converter=lambda _, tokens: value_of(tokens[0].value))
Number = Annotated[float, READ]
Whole = Annotated[int, READ]


def run_command() -> int:
    """Parse the command line and call the verb; return its exit status.

    Raises UserError for a mistake in it.
    """
    try:
        status = APP(sys.argv[1:], exit_on_error=False, print_error=False, help_on_error=False)
    except CycloptsError as error:
        hint = ""
        if isinstance(error, UnknownOptionError):
            hint = (
                " Overrides are written without dashes, key=value, and several values are for"
                " `dpbandits multirun`."
            )
        raise UserError(f"{' '.join(str(error).split())}{hint}") from None
    return int(status or ExitStatus.DONE)


main = partial(guarded, run_command)  # the entry point of the console script


@APP.command(name="list")
def list_names(*words: str) -> None:
    """List the figures, algorithms and environments.

    Args:
        words: only lines with these words: figures, algorithms, rules, environments, instances, the
            key of a paper such as azize2022, or a part of a name
    """
    from dpbandits.cli.listing import lines

    print(*lines(words), sep="\n")


@APP.command
def init(name: str, /) -> None:
    """Write a small project with an algorithm, an instance and a figure of one's own.

    If it was killed, the same command completes the project.

    Args:
        name: new folder, such as my-paper
    """
    folder = Path(name)
    title = folder.resolve().name
    package = title.replace("-", "_")
    if not is_new_package(package, folder.resolve()):
        raise UserError(
            f"{shown(name)} cannot be the name of a project: use lower-case letters, digits and"
            " hyphens, as in my-paper, and no name of an installed Python package"
        )
    contents = _template(folder, title, package)
    there = [path for path in folder.rglob("*") if not path.is_dir()]
    leftovers = [path for path in there if LEFTOVER.fullmatch(path.name)]
    same = [path for path in there if path in contents and path.read_bytes() == contents[path]]
    is_begun = len(there) == len(same) + len(leftovers) and not (folder / MARKER).exists()
    if folder.is_file() or not is_begun:
        raise UserError(f"{shown(name)} exists already: choose a new or an empty folder")
    for path in leftovers:
        path.unlink()
    for path, content in contents.items():
        write_atomically(path, content, remedy="")
    print(f"{folder}/ is a project with an algorithm, an instance and a figure; inside it,")
    print("  dpbandits run my-figure")
    print("draws the figure, and README.md lists what else can be done")


def _template(folder: Path, title: str, package: str) -> dict[Path, bytes]:
    # The files of a new project. The marker comes last: without it, a folder is one that was begun.
    template, contents = project.SHIPPED / "template", dict[Path, bytes]()
    files = [path for path in template.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for path in sorted(files, key=lambda path: (path.name == MARKER, path)):
        # The template's gitignore has no dot, because it would have an effect there.
        file = path.relative_to(template).as_posix().replace("gitignore", ".gitignore")
        text = path.read_text("utf-8").replace("THIS_VERSION", version("dpbandits"))
        text = text.replace("my_paper", package).replace("my-paper", title)
        contents[folder / file.replace("my_paper", package)] = text.encode()
    return contents


@APP.command
def run(figure: Figure, /, *overrides: Overrides) -> int:
    """Compute the missing runs of a figure and draw it."""
    from dpbandits.config import compose

    loaded = compose.load(figure, overrides)
    return int(load_factory().produce(*loaded))


@APP.command
def run_all(*overrides: Overrides, paper: str | None = None) -> int:
    """Run every figure, or every figure of one paper.

    Args:
        paper: only the figures of this paper, such as azize2022
    """
    return int(load_factory().produce_all(paper, overrides))


@APP.command(help_flags=(), version_flags=())
def multirun(*words: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Run several figures, or a figure for several values.

    Args:
        words: figure=adap-c1,adap-c2 or figure=adap-c2 seed=1,2, and Hydra's own options
    """
    from dpbandits.cli import hydra_program

    is_plain = not any(word.startswith(("-", "sweep=")) for word in words)
    sys.argv[1:] = ["-m", *words] if words and is_plain else words
    return hydra_program.main()


@APP.command
def plot(figure: Figure, /, *overrides: Overrides) -> int:
    """Draw a figure from cached runs; compute nothing."""
    from dpbandits.config import compose

    loaded = compose.load(figure, overrides)
    return int(load_factory().redraw(*loaded))


@APP.command
def explain(figure: Figure, /, *overrides: Overrides) -> None:
    """List the experiments of a figure: key, number of cached runs, reason for missing ones."""
    from dpbandits.config import compose
    from dpbandits.store.blocks import Store, explain

    spec, settings = compose.load(figure, overrides)
    print(*explain(spec, Store(settings.cache)), sep="\n")


@APP.command
def compare(
    *rivals: Algorithm, output: Path | None = None, latex: bool = False, csv: bool = False
) -> int:
    """Play algorithms in one game and draw their regret, or the time until they answer.

    Args:
        rivals: algorithms or groups (all, not-private, global-dp, ...), and environment=c2 or
            means=0.9,0.5, epsilon=0.1,1, horizon=10_000, runs=50, seed=1, workers=1,
            adap-ucb.alpha=2,4 (a curve for each value); defaults: epsilon=1 horizon=1_000_000
            runs=100 checkpoints=linear centre=mean spread=standard-error; spread=confidence
            level=0.95, and the form: width=column font_size=8 y_axis=linear legend=right name=fig1;
            to identify the best arm limit=1_000_000 risk=0.05 in place of horizon and checkpoints
        output: also write the picture to this path, such as paper/fig1.pdf
        latex: write the table for LaTeX, beside the picture
        csv: write the table as CSV, beside the picture
    """
    load_factory()
    from dpbandits.cli.compare import Wanted, run_comparison

    return run_comparison(rivals, Wanted(output, latex, csv))


@APP.command
def check(*words: Figures) -> int:
    """Play figures again with few runs and compare them with their references.

    Args:
        words: figures, default all of the project; and overrides key=value
    """
    from dpbandits.checks.against_reference import check

    figures = [word for word in words if "=" not in word]
    return check(figures or project.own_names("figure"), [word for word in words if "=" in word])


@APP.command
def reference(*figures: Figures, ci: bool = False) -> int:
    """Play figures and store their curves as references, with which `check` compares.

    Args:
        figures: names of figures; the figures of dpbandits need a clean checkout
        ci: for the scale of the profile `ci`: the curves that `check` cannot compare with the
            reference at the figure's own scale, or only with too few runs, from ten times the runs
    """
    if not figures:
        raise UserError("which figure? dpbandits reference <figure>")
    load_factory()
    from dpbandits.checks.new_reference import store
    from dpbandits.tables import references

    return store(figures, references.CI if ci else references.PAPER)


@APP.command
def export(
    figure: Figure,
    /,
    *overrides: Overrides,
    format: Literal["csv", "json", "tikz"] = "csv",
    output: Path | None = None,
) -> int:
    """Write the curves of a figure from the cache, for another program.

    Args:
        format: a tidy table, strict JSON, or TikZ for LaTeX (needs matplot2tikz)
        output: file, written completely or not at all; default: standard output
    """
    from dpbandits.config import compose

    spec, settings = compose.load(figure, overrides)
    load_factory()
    from dpbandits.factory.stored_results import export

    return export(spec, settings, format, output)


@APP.command
def privacy(
    *algorithms: Algorithm,
    epsilon: Number = 1,
    rho: Number = 1,
    horizon: Whole = 1_000_000,
    arms: Whole = 5,
    delta: Number | None = None,
    target: Number | None = None,
) -> None:
    """Print the privacy that algorithms claim and the budgets that their releases compose to.

    Args:
        algorithms: names of algorithms; default: all private ones of dpbandits
        epsilon: privacy budget
        rho: privacy budget of zCDP
        horizon: number of rounds (DP-UCB-INT takes minutes beyond 10^10)
        arms: number of arms
        delta: delta of every algorithm that has one; default: the algorithm's own, or 10^-6
        target: epsilon that all releases of the named algorithms may cost; prints the budget and
            the noise that cost no more
    """
    from dpbandits.cli.privacy_commands import calibrated_lines, show

    if target is not None:
        game = {"horizon": horizon, "arms": arms}
        print(*calibrated_lines(algorithms, target, delta, game), sep="\n")
        return
    show(algorithms, epsilon=epsilon, rho=rho, horizon=horizon, arms=arms, delta=delta)


@APP.command
def audit(
    algorithm: Algorithm,
    /,
    *parameters: str,
    epsilon: Number = 1,
    plays: Whole = 10_000_000,
    many_arms: Whole | None = None,
    changed_reward: Whole | None = None,
    seed: Whole = 1,
    workers: Whole | None = None,
) -> int:
    """Play an algorithm on neighbouring rewards and bound its privacy loss from below.

    Args:
        algorithm: name of the algorithm; `dpbandits list` prints all names
        parameters: parameters of the algorithm, name=value
        epsilon: privacy budget
        plays: total number of games
        many_arms: number of arms in the games with many arms, which are played besides those with
            two; 64 by default, 8 for linear algorithms
        changed_reward: change this reward of an arm; 1, 2, 3, 4 and 16 by default
        seed: seed of the games
        workers: number of threads; default: one per core
    """
    load_joblib()
    from dpbandits.api import arguments, privacy_results
    from dpbandits.cli.privacy_commands import audit_lines
    from dpbandits.run.progress import duration

    given, start = values_of(parameters), time.monotonic()
    chosen = arguments.player(algorithm, {}, tuple(arguments.PLAYED_BY))
    member = registry.algorithm(chosen.algorithm)
    options: dict[str, Any] = {"epsilon": epsilon, "plays": plays, "many_arms": many_arms}
    options |= {"changed_reward": changed_reward, "seed": seed, "workers": workers}
    if "epsilon" not in member.Params._fields:
        del options["epsilon"]
    options |= given
    print(*audit_lines(result := privacy_results.run_audit(algorithm, **options)), sep="\n")
    games, spent = f"{options['plays']:,} games", duration(time.monotonic() - start)
    print(f"  {games} in {spent}, seed {options['seed']}", flush=True)
    exceeded = ["the budget that its paper claims"] * result.refutes_guarantee
    exceeded += ["the budget of its declared releases"] * result.refutes_releases
    if exceeded:
        print(f"dpbandits: {algorithm} exceeds {' and '.join(exceeded)}", file=sys.stderr)
    return ExitStatus.ALARM if exceeded else ExitStatus.DONE


@APP.command
def verify(*words: Algorithm) -> int:
    """Check algorithms or reward distributions; print each failure with its remedy.

    Args:
        words: algorithms, reward distributions or environments, and parameters of all of them,
            such as epsilon=0.5 or means=0.7,0.4
    """
    load_joblib()  # the audit plays on all cores
    from dpbandits import contract

    names = [word for word in words if "=" not in word]
    if not names:
        raise UserError("which algorithm? dpbandits verify <name> [name=value]")
    parameters = {
        key: [value_of(part) for part in value.split(",")] if "," in str(value) else value
        for key, value in values_of([word for word in words if "=" in word]).items()
    }
    failures, untested, unchecked = 0, 0, list[str]()
    for name, subject in [(name, contract.load(name, parameters)) for name in names]:
        print(f"{name} ({contract.checklist(subject)[1].shown})", flush=True)
        for outcome, numbers, remedy in contract.findings(subject):
            if outcome == "not checked" and len(names) == 1:
                unchecked.append(numbers)  # in the last line
                continue
            untested += outcome == "not tested"
            print(f"  {outcome:<15}{numbers}", flush=True)
            if remedy:
                failures += 1
                print(f"{'to fix it:':>27} {remedy}", flush=True)
    end = f"no check failed, {untested} not tested" if untested else "all checks passed"
    if failures:
        end = f"{failures} check{'s' * (failures > 1)} failed"
    print("; ".join([end, *(f"not checked: {numbers}" for numbers in unchecked)]))
    return ExitStatus.ALARM if failures else ExitStatus.DONE


@APP.command
def cite(*names: Figures) -> None:
    """Print BibTeX of this project and of the papers behind figures or algorithms.

    Args:
        names: figures, keys of papers or algorithms; default: all papers
    """
    from dpbandits.cli.listing import cite

    cite(names)


@APP.command
def report(*papers: str, gather: bool = False) -> int:
    """Write the reproducibility reports of papers, docs/reproducibility/.

    Args:
        papers: keys of papers; default: all
        gather: judge the claims first, from as many runs as it takes, and store the results
    """
    load_factory()
    from dpbandits.site.reports import report

    return report(papers, gather)


@APP.command
def site(*words: Figures, out: Path | None = None) -> int:
    """Write the site: the documentation, pages of figures with claims, of algorithms; play nothing.

    Args:
        words: figures, default all of the project; and overrides key=value
        out: folder of the pages; default: out/site
    """
    load_factory()
    from dpbandits.site.build import from_arguments

    return from_arguments(words, out)


if __name__ == "__main__":
    main()
