"""Loading of figures: Hydra composes the configuration, config.readers checks it and builds values.

Every error of either is a UserError of one line.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import changed, conf_files, hydra_config, labels, unused_overrides
from dpbandits.config.errors import first_line
from dpbandits.config.errors import one_line_errors as one_line_errors  # for cli/multirun.py too
from dpbandits.config.interrupts import reraise_interrupt
from dpbandits.config.origins import Origins, OriginsOfFile
from dpbandits.config.overrides import GROUPS
from dpbandits.config.readers.figure import Reader
from dpbandits.config.section import Section
from dpbandits.config.settings import Settings, read_settings
from dpbandits.config.written_texts import refuse_unwritable
from dpbandits.core.errors import UserError, shown
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec

KEYS = {
    "paths": ("cache", "out"),
    "engine": ("workers", "block", "scheduler"),
    "profile": ("name", "horizon_scale"),
}
TOP_KEYS = ("seed", "runs", "figure", *KEYS)


class Read(NamedTuple):
    """Result of reading a configuration: the figure, the settings and the origin of each value."""

    spec: FigureSpec
    settings: Settings
    origins: Origins


def load(
    figure: str, overrides: Sequence[str], is_variant: bool = False
) -> tuple[FigureSpec, Settings]:
    """Return the figure and the settings that `figure=<figure> <overrides>` describe.

    Raises UserError for an invalid configuration or an override without effect. A variant that the
    judge plays may repeat what the file says, and draws nothing: its labels may be equal.
    """
    if "=" in figure:
        raise UserError(f"{shown(figure)} is not a figure: its name comes first, then key=value")
    for override in overrides:
        if re.match(r"[+~]*figure=", override):
            raise UserError(f"the figure is named twice: {figure} and {override}")
        if re.match(r"[+~]*sweep=", override):
            raise UserError(f"a saved sweep is for `dpbandits multirun {override}`")
        if re.match(r"[+~]*hydra\b", override):
            raise UserError(
                f"{shown(override)} is a setting of Hydra, which only"
                f" `dpbandits multirun figure={figure} ...` uses"
            )
    words = [f"figure={figure}", *overrides]
    with one_line_errors(words):
        read = _read(hydra_config.compose(words), figure, overrides, is_variant)
        if not is_variant:
            unused_overrides.refuse_idle(read.origins)
        return read.spec, read.settings


def load_curves_of(algorithm: str, figure: str) -> FigureSpec | None:
    """Return a figure as its files define it, with the curves of one algorithm alone.

    Panels without such a curve are left out; the result is None if no panel has one. This takes a
    third of the time of `load` for a figure of many algorithms. Raises UserError for an invalid
    configuration.
    """
    with one_line_errors([f"figure={figure}"]):
        whole = dict(hydra_config.without_overrides(figure))
        origins = OriginsOfFile(figure, project.member_file("figure", figure))
        own = Section(origins, whole["figure"], "figure")
        every = own.section("curves")
        names = [n for n in every.content if every.section(n).get("algorithm") == algorithm]
        panels = {}
        for letter, content in (own.section("panels").content or {"a": None}).items():
            panel = Section(origins, content, f"figure.panels.{letter}")
            drawn = panel.choices("curves", every.content, "curve") if "curves" in panel else names
            if kept := [name for name in drawn if name in names]:
                panels[letter] = {**panel.content, "curves": kept}
        if not panels:
            return None
        curves = {name: every.get(name) for name in names}
        whole["figure"] = {**own.content, "curves": curves, "panels": panels}
        return _read(OmegaConf.create(whole), figure, []).spec


def job_of_hydra() -> tuple[str, list[str]]:
    """Return the figure of the job that @hydra.main has begun, and its other overrides.

    The values of a saved sweep are among the overrides, as if they were on the command line.
    """
    job = HydraConfig.get()
    overrides = [o for o in job.overrides.task if o.partition("=")[0] not in ("figure", "sweep")]
    return job.runtime.choices["figure"], overrides


def from_hydra(config: DictConfig) -> Read:
    """Return the figure and settings of the configuration that @hydra.main passes to its function.

    Overrides without effect are not rejected here. Raises UserError for an invalid configuration.
    """
    figure, overrides = job_of_hydra()
    with one_line_errors([f"figure={figure}", *overrides]):
        return _read(config, figure, overrides)


def _read(
    config: DictConfig, figure: str, overrides: Sequence[str], is_variant: bool = False
) -> Read:
    parsed = hydra_config.parse(overrides)
    keys = frozenset(str(o.package or o.key_or_group) for o in parsed)
    usual = conf_files.usual_members()
    chosen = usual | {o.key_or_group: o.value() for o in parsed if o.key_or_group in GROUPS}
    differences = changed.changes(parsed, config, figure, str(usual.get("profile")))
    plain = _resolved(config, Origins(figure, {}, keys, chosen))
    origins = Origins(figure, plain, keys, chosen, differences)
    whole = Section(origins, plain, "")
    whole.keys(TOP_KEYS, ("seed", "figure"))
    refuse_unwritable(origins)
    for group, valid in KEYS.items():
        section = whole.section(group)
        section.keys(valid, [key for key in valid if key not in ("workers", "scheduler")])
        plain[group] = section.content
    origins.choice(plain["profile"]["name"], project.names("profile"), "profile.name", "profile")
    spec = Reader(origins).read()
    for panel in () if is_variant else spec.panels:
        labels.refuse_equal(panel, origins)
    return Read(spec, read_settings(origins, overrides), origins)


def _resolved(config: DictConfig, origins: Origins) -> dict[str, Any]:
    try:
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        reraise_interrupt(error)
        # `Interpolation key 'x' not found`, `Missing mandatory value: x` and similar.
        problem = re.sub(r"^\w+ raised while resolving interpolation: ", "", first_line(error))
        path = str(error.full_key)
        raise origins.error(f"{path}: {problem}", path) from error
    assert isinstance(plain, Mapping)
    return {str(key): value for key, value in plain.items()}
