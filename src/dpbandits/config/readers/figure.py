"""Strict reader from a figure's plain mapping to a FigureSpec.

An unknown key is an error, and every such error names the key, its place and the nearest valid key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dpbandits.config.origins import Origins
from dpbandits.config.readers.claims import ClaimsReader
from dpbandits.config.readers.panel import PanelReader
from dpbandits.config.readers.source import SHARED
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.curves import statistics
from dpbandits.files import project
from dpbandits.spec.claims import Claim
from dpbandits.spec.figure import FigureSpec, Original, Panel

REQUIRED = ("paper", "title", "draw", "runs", "centre")
FIGURE_KEYS = (
    *(*REQUIRED, "horizon", "environment", "checkpoints", "stream", "epsilon", "delta"),
    *("plays", "spread", "slopes", "input_privacy", "sweep", "curves", "panels", "profiles"),
    *("claims", "note", "about", "original"),
)
KINDS_OF_ORIGINAL = ("figure", "table")


class Reader:
    """Reader of the figure of a composed configuration."""

    def __init__(self, origins: Origins) -> None:
        self.at = origins
        self.plain = origins.plain
        self.figure = origins.mapping(self.plain["figure"], "figure")
        self.given: set[str] = set()  # paths that the figure's own section for the profile sets

    def read(self) -> FigureSpec:
        """Return the whole figure, checked. Raises UserError for any bad key or value."""
        at, figure = self.at, self.figure
        at.keys(figure, FIGURE_KEYS, "figure", ())
        self._apply_profile()
        at.keys(figure, FIGURE_KEYS, "figure", REQUIRED)
        for name, kind in (("epsilon", parameters.Budget), ("delta", parameters.Delta)):
            if figure.get(name) is not None:
                at.checked(kind, figure[name], f"figure.{name}")
        self.curves = at.mapping(figure.get("curves"), "figure.curves")
        if not self.curves:
            raise at.error("figure.curves is empty, there is nothing to draw", "figure.curves")
        panels = at.mapping(figure.get("panels"), "figure.panels") or {"a": None}
        named = self._named_curves(panels)
        runs, path = self.plain["runs"], "runs"
        if runs is None or ("figure.runs" in self.given and not at.was_typed("runs")):
            runs, path = figure["runs"], "figure.runs"  # may come from the figure's profile section
        runs = at.checked(parameters.Count, runs, path)
        reader = PanelReader(at, figure, self.given, runs)
        all_panels = tuple(
            reader.read(str(letter), panels[letter], {n: self.curves[n] for n in named[letter]})
            for letter in panels
        )
        return FigureSpec(
            name=at.figure,
            paper=at.text(figure["paper"], "figure.paper"),
            title=reader.of_figure("title", panels),
            draw=at.text(figure["draw"], "figure.draw"),
            runs=runs,
            centre=at.choice(figure["centre"], statistics.CENTRES, "figure.centre"),
            spread=at.choice(figure.get("spread") or "none", statistics.SPREADS, "figure.spread"),
            slopes=at.checked(bool, figure.get("slopes", False), "figure.slopes"),
            panels=all_panels,
            claims=self._claims(all_panels),
            note=at.text(figure.get("note") or "", "figure.note"),
            about=reader.of_figure("about", panels),
            original=self._original(figure.get("original")),
            seed=at.checked(parameters.Seed, self.plain["seed"], "seed"),
            profile=self.plain["profile"]["name"],
            changes=at.changes,
        )

    # The figure as a whole

    def _claims(self, panels: Sequence[Panel]) -> tuple[Claim, ...]:
        # The claims hold for the paper's own numbers only, not for a changed figure.
        at = self.at
        if at.changes:
            return ()
        return ClaimsReader(at, panels).read(self.figure.get("claims"))

    def _original(self, content: Any) -> Original | None:
        # `{ figure: 2, part: (a) }` or `{ table: 2 }`.
        if content is None:
            return None
        at, path = self.at, "figure.original"
        told = at.mapping(content, path)
        at.keys(told, (*KINDS_OF_ORIGINAL, "part"), path, ())
        kinds = [kind for kind in KINDS_OF_ORIGINAL if kind in told]
        if len(kinds) != 1:
            raise at.error(f"{path} must name a figure or a table by its number", path)
        number = at.checked(parameters.Count, told[kinds[0]], f"{path}.{kinds[0]}")
        return Original(kinds[0], number, at.text(told.get("part") or "", f"{path}.part"))

    def _apply_profile(self) -> None:
        # The section for the chosen profile, under `profiles:`, overrides the figure's own values.
        at = self.at
        profiles = at.mapping(self.figure.pop("profiles", None), "figure.profiles")
        at.keys(profiles, project.names("profile"), "figure.profiles", ())
        name = self.plain["profile"]["name"]

        def merge(below: dict[str, Any], over: Mapping[str, Any], path: str) -> None:
            inside = f"figure.profiles.{name}{path.removeprefix('figure')}"
            # Keys that every panel and curve may have need not be set outside the section.
            at.keys(over, dict.fromkeys((*below, *SHARED, "runs")), inside, ())
            for key, value in over.items():
                where = f"{path}.{key}"
                if isinstance(below.get(key), Mapping):
                    below[key] = dict(below[key])
                    merge(below[key], at.mapping(value, f"{inside}.{key}"), where)
                elif not (at.was_typed(where) or (key in SHARED and at.was_typed(f"figure.{key}"))):
                    # Typed values override the profile, also its values for a panel or a curve.
                    below[key] = value
                    self.given.add(where)

        merge(self.figure, at.mapping(profiles.get(name), f"figure.profiles.{name}"), "figure")

    def _named_curves(self, panels: Mapping[str, Any]) -> dict[str, list[str]]:
        # A panel draws the curves that it names, or all; a curve in no panel is an error.
        at, found = self.at, {}
        for letter, content in panels.items():
            path = f"figure.panels.{letter}"
            named = at.mapping(content, path).get("curves")
            if named is not None and not isinstance(named, list):
                message = f"{path}.curves must be a list of curves, got {shown(named)}"
                raise at.error(message, f"{path}.curves")
            names = self.curves if named is None else named
            found[letter] = [at.choice(n, self.curves, f"{path}.curves") for n in names]
        for name in self.curves:
            if not any(name in names for names in found.values()):
                message = f"figure.curves.{name} is among the curves of no panel"
                raise at.error(message, f"figure.curves.{name}")
        return found
