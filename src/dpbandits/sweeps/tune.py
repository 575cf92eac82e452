"""Search for the parameter value with which a curve ends at the least mean regret.

`dpbandits tune adap-headline figure.curves.adap-ucb.alpha=0.5..5`. Optuna's TPE proposes values,
seeded with the seed of the figure: the same command tries the same values, and earlier trials are
read from the cache.
"""

import importlib
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dpbandits.config import compose
from dpbandits.core.errors import UserError, shown
from dpbandits.curves.series import STATISTICS, Series, summarise, values
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.missing_runs import complete
from dpbandits.run.progress import duration
from dpbandits.spec.figure import FigureSpec
from dpbandits.sweeps import files
from dpbandits.sweeps.tuned import Range, Trial, of_valid, only, verdict, write

NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\.\.({NUMBER})")
SEEDS = 2**32  # Optuna's seeds are below it; those of figures may be larger


def tune(figure: str, words: Sequence[str], trials: int) -> int:
    """Try `trials` values, print the best, write table and picture; return the status, FAILED if
    trials failed.

    Raises UserError if `trials` is below 1, if a range is invalid, if the ranges are not all of one
    curve, if no panel draws the curve, if it is a bound or a budget, or if Optuna is not installed.
    """
    start = time.monotonic()
    if trials < 1:
        raise UserError(f"--trials must be 1 or more, got {trials}")
    ranges, overrides = _split(words)
    optuna = _optuna()
    name = _curve_of(ranges)
    spec, settings = compose.load(figure, [*overrides, *(f"{r.key}={r.low!r}" for r in ranges)])
    _, of_all = compose.load(figure, overrides)  # its changes are those of every trial
    folder = settings.out / "tune" / figure / of_all.variant
    alone = _alone(spec, name)
    ranges = [of_valid(r, only(alone)) for r in ranges]
    sampler = optuna.samplers.TPESampler(seed=spec.seed % SEEDS)
    study = optuna.create_study(sampler=sampler)
    done: list[Trial] = []
    known: dict[tuple[float, ...], float | None] = {}  # several proposals may round to one value
    for number in range(trials):
        asked = study.ask()
        chosen = {r.key: r.rounded(_suggested(asked, r)) for r in ranges}
        place = tuple(chosen.values())
        if place not in known:
            trial = _try(figure, overrides, name, chosen, number, folder)
            known[place] = trial.mean if trial else None
            done += [trial] if trial else []
        mean = known[place]
        # Optuna needs an end for every trial; its sampler ignores failed ones.
        study.tell(asked, mean, None if mean is not None else optuna.trial.TrialState.FAIL)
    failed = sum(mean is None for mean in known.values())
    if not done:
        print("dpbandits: every trial failed, for the reasons above", file=sys.stderr)
        return ExitStatus.FAILED
    command = files.command(("dpbandits", "tune", figure), [*words, f"--trials={trials}"])
    written = write(alone, folder, ranges, done, command)
    spent = duration(time.monotonic() - start)
    print(f"{verdict(done)}; {len(known)} values tried; {spent}; {written}")
    return ExitStatus.FAILED if failed else ExitStatus.DONE


def _split(words: Sequence[str]) -> tuple[list[Range], list[str]]:
    # The ranges to search, and the overrides of every trial.
    ranges, overrides = [], []
    for word in words:
        key, _, text = word.partition("=")
        if not (match := RANGE.fullmatch(text)):
            overrides.append(word)
            continue
        low, high = float(match[1]), float(match[2])
        if not low < high:
            raise UserError(
                f"{shown(word)} is not a range: write key=low..high with low below high"
            )
        ranges.append(Range(key, low, high))
    if not ranges:
        raise UserError(
            "nothing to search: write key=low..high, for example figure.curves.x.alpha=0.5..5"
        )
    return ranges, overrides


def _optuna() -> ModuleType:
    try:
        optuna = importlib.import_module("optuna")
    except ImportError as error:
        raise UserError(
            "the search needs Optuna, which is not installed:"
            " .venv/bin/python -m pip install -r requirements-optuna.lock"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _curve_of(ranges: Sequence[Range]) -> str:
    keys = [r.key.lstrip("+").split(".") for r in ranges]
    names = {key[2] if key[:2] == ["figure", "curves"] and len(key) > 3 else "" for key in keys}
    if len(names) > 1 or "" in names:
        listed = ", ".join(r.key for r in ranges)
        raise UserError(
            f"all ranges must belong to one curve, figure.curves.<name>.<key>, got {listed}"
        )
    return names.pop()


def _alone(spec: FigureSpec, name: str) -> FigureSpec:
    # The curve, in the first panel that has it.
    for panel in spec.panels:
        curves = tuple(curve for curve in panel.curves if curve.name == name)
        if not curves:
            continue
        if curves[0].is_exact:
            raise UserError(
                f"{spec.name}: the curve {name} is a bound or a budget, which has no runs to"
                " compare: tune a curve of an algorithm or a rule"
            )
        return replace(spec, panels=(replace(panel, curves=curves[:1]),))
    raise UserError(
        f"{spec.name}: the curve {name} is drawn in no panel, others are only compared with it:"
        " tune one of them, or add it to the curves of a panel"
    )


def _suggested(asked: Any, searched: Range) -> float:
    # The value that Optuna proposes for a range in one of its trials.
    low, high, log = searched.low, searched.high, searched.is_logarithmic
    if searched.is_whole:
        return float(asked.suggest_int(searched.key, int(low), int(high), log=log))
    return float(asked.suggest_float(searched.key, low, high, log=log))


def _try(
    figure: str,
    overrides: Sequence[str],
    name: str,
    chosen: Mapping[str, float],
    number: int,
    folder: Path,
) -> Trial | None:
    # None if the trial failed, which has been reported.
    settings_of_trial = [f"{key}={value!r}" for key, value in chosen.items()]
    try:
        spec, settings = compose.load(figure, [*overrides, *settings_of_trial])
    except UserError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return None
    alone = _alone(spec, name)
    done = complete(alone.runs_of_cells(), settings, f"{figure}, trial {number + 1}", folder)
    if done.failures:
        print(f"dpbandits: the trial {', '.join(settings_of_trial)} failed", file=sys.stderr)
        return None
    store = done.store
    (series,) = summarise(alone, store)
    at_the_end = values(only(alone), store)[:, -1]
    runs = len(at_the_end)
    standard_error = float(at_the_end.std(ddof=1) / np.sqrt(runs)) if runs > 1 else None
    return Trial(number, chosen, float(at_the_end.mean()), standard_error, _last_point(series))


def _last_point(series: Series) -> Series:
    arrays: dict[str, Any] = {name: getattr(series, name)[-1:] for name in ("x", *STATISTICS)}
    return replace(series, **arrays)
