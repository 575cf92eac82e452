"""Figures that a command or a program describes, without a file of their own in conf/figure/."""

from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import OmegaConf

from dpbandits.config import conf_files, hydra_config
from dpbandits.config.compose import KEYS
from dpbandits.config.errors import one_line_errors
from dpbandits.config.origins import Origins
from dpbandits.config.readers.figure import Reader
from dpbandits.config.section import Section
from dpbandits.config.settings import Settings, read_settings
from dpbandits.core import registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec

WITHOUT_A_FIGURE = ("~figure",)  # the group is required, but only figures with a file are in it


class OriginsOfWords(Origins):
    """Origins of the values that a command or a program gave; its name begins every message.

    `source` describes the origin of these values, for example `command line`. A curve whose
    algorithm is a member of conf/algorithm/ has the other values of that file.
    """

    def __init__(
        self, name: str, plain: Mapping[str, Any], source: str, members: Mapping[str, str]
    ) -> None:
        super().__init__(name, plain, frozenset(), {})
        self.source = source
        self.of_member = {
            f"figure.curves.{curve}.{key}": project.member_file("algorithm", member)
            for curve, member in members.items()
            for key in conf_files.read_member("algorithm", member)
        }
        self.words: set[str] = set()  # paths of the values that replace those of a member's file

    def of(self, path: str) -> str:
        """Return the member's file that sets a value, or the origin of all others."""
        return self.source if path in self.words else self.of_member.get(path, self.source)


def curve_of(name: str) -> tuple[dict[str, Any], bool]:
    """Return the curve of an algorithm; True if it is a member of conf/algorithm/.

    The name is that of a member, which has parameters and a label of its own, or one of the
    registry. Raises UserError for any other name, a stopping rule, a bound and a file that names no
    algorithm.
    """
    members = project.names("algorithm")
    if name in members:
        content = dict(conf_files.read_member("algorithm", name))
        if "rule" in content:
            raise UserError(f"{shown(name)} is a stopping rule, which plays no arms")
        if "bound" in content:
            raise UserError(f"{shown(name)} is a bound, which plays no arms")
        if content.get("algorithm") is None:
            file = project.member_file("algorithm", name)
            raise UserError(f"{file} names no algorithm; add the line `algorithm: <name>`")
        return content, True
    known = registry.algorithm_names()
    if name not in known:
        raise UserError(f"unknown algorithm {shown(name)}; {nearest(name, {*known, *members})}")
    return {"algorithm": name}, False


def environment_of(name: str, changes: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return the environment of this name, with changes to its description.

    The name is that of a file in conf/environment/, or of a law, whose parameters are then the
    changes. Raises UserError for any other name.
    """
    if name in project.names("environment"):
        if not changes:
            return name
        return {**conf_files.read_member("environment", name), **changes, "name": None}
    laws = registry.environment_names()
    if name not in laws:
        known = {*project.names("environment"), *laws}
        raise UserError(f"unknown environment {shown(name)}; {nearest(name, known)}")
    return {"law": name, **changes}


def settings_of(overrides: Sequence[str], name: str) -> tuple[Settings, int]:
    """Return the folders and the engine of the configuration, and its seed.

    The overrides may set keys of the paths and of the engine; `name` begins messages. Raises
    UserError for invalid ones.
    """
    with one_line_errors(overrides):
        config = hydra_config.compose([*WITHOUT_A_FIGURE, *overrides])
        plain: Any = OmegaConf.to_container(config, resolve=True)
    keys = frozenset(override.partition("=")[0] for override in overrides)
    chosen = {o.partition("=")[0]: o.partition("=")[2] for o in overrides if "." not in o}
    origins = Origins(name, plain, keys, chosen)
    whole = Section(origins, plain, "")
    for group in ("paths", "engine"):
        section = whole.section(group)
        section.keys(KEYS[group], [k for k in KEYS[group] if k not in ("workers", "scheduler")])
    return read_settings(origins, overrides), whole.content["seed"]


def specification(
    name: str,
    figure: Mapping[str, Any],
    seed: Any,
    source: str,
    members: Mapping[str, str],
    words: Sequence[str] = (),
) -> FigureSpec:
    """Return the figure with the content that a file in conf/figure/ would have, checked.

    `members` maps curves to the members of conf/algorithm/ that they come from, `words` lists the
    paths that replace values of these files. Raises UserError for any invalid key or value.
    """
    plain = {
        "figure": dict(figure),
        "seed": seed,
        "runs": None,
        "profile": {"name": "paper", "horizon_scale": 1},
    }
    origins = OriginsOfWords(name, plain, source, members)
    origins.words.update(words)
    return Reader(origins).read()
