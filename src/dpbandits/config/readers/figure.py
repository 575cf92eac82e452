"""Strict reader from a figure's plain mapping to a FigureSpec.

An unknown key is an error, and every such error names the key, its place and the nearest valid key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.claims import ClaimsReader
from dpbandits.config.readers.panel import PanelReader
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
        self.origins = origins
        self.plain = origins.plain
        self.figure = origins.mapping(self.plain["figure"], "figure")

    def read(self) -> FigureSpec:
        """Return the whole figure, checked. Raises UserError for any bad key or value."""
        origins, figure = self.origins, self.figure
        origins.keys(figure, FIGURE_KEYS, "figure", ())
        self._apply_profile()
        origins.keys(figure, FIGURE_KEYS, "figure", REQUIRED)
        for name, kind in (("epsilon", parameters.Budget), ("delta", parameters.Delta)):
            if figure.get(name) is not None:
                origins.checked(kind, figure[name], f"figure.{name}")
        self.curves = origins.mapping(figure.get("curves"), "figure.curves")
        if not self.curves:
            raise origins.error("figure.curves is empty, there is nothing to draw", "figure.curves")
        panels = origins.mapping(figure.get("panels"), "figure.panels") or {"a": None}
        drawn = self._drawn_curves(panels)
        runs, path = self.plain["runs"], "runs"
        of_profile = "figure.runs" in origins.of_profile
        if runs is None or (of_profile and not origins.is_overridden("runs")):
            runs, path = figure["runs"], "figure.runs"
        runs = origins.checked(parameters.Count, runs, path)
        reader = PanelReader(origins, figure, runs)
        all_panels = tuple(
            reader.read(str(letter), panels[letter], {n: self.curves[n] for n in drawn[letter]})
            for letter in panels
        )
        return FigureSpec(
            name=origins.figure,
            paper=origins.text(figure["paper"], "figure.paper"),
            title=reader.of_figure("title", panels),
            draw=origins.text(figure["draw"], "figure.draw"),
            runs=runs,
            centre=origins.choice(figure["centre"], statistics.CENTRES, "figure.centre"),
            spread=origins.choice(
                figure.get("spread") or "none", statistics.SPREADS, "figure.spread"
            ),
            slopes=origins.checked(bool, figure.get("slopes", False), "figure.slopes"),
            panels=all_panels,
            claims=self._claims(all_panels),
            note=origins.text(figure.get("note") or "", "figure.note"),
            about=reader.of_figure("about", panels),
            original=self._original(figure.get("original")),
            seed=origins.checked(parameters.Seed, self.plain["seed"], "seed"),
            profile=self.plain["profile"]["name"],
            changes=origins.changes,
        )

    # The figure as a whole

    def _claims(self, panels: Sequence[Panel]) -> tuple[Claim, ...]:
        # The claims hold for the paper's own numbers only, not for a changed figure.
        if self.origins.changes:
            return ()
        return ClaimsReader(self.origins, panels).read(self.figure.get("claims"))

    def _original(self, content: Any) -> Original | None:
        # `{ figure: 2, part: (a) }` or `{ table: 2 }`.
        if content is None:
            return None
        origins, path = self.origins, "figure.original"
        original = origins.mapping(content, path)
        origins.keys(original, (*KINDS_OF_ORIGINAL, "part"), path, ())
        kinds = [kind for kind in KINDS_OF_ORIGINAL if kind in original]
        if len(kinds) != 1:
            raise origins.error(f"{path} must name a figure or a table by its number", path)
        number = origins.checked(parameters.Count, original[kinds[0]], f"{path}.{kinds[0]}")
        part = origins.text(original.get("part") or "", f"{path}.part")
        return Original(kinds[0], number, part)

    def _apply_profile(self) -> None:
        # The section for the chosen profile, under `profiles:`, overrides the figure's own values.
        origins = self.origins
        profiles = origins.mapping(self.figure.pop("profiles", None), "figure.profiles")
        origins.keys(profiles, project.names("profile"), "figure.profiles", ())
        name = self.plain["profile"]["name"]
        origins.reads.add(f"figure.profiles.{name}")

        def merge(below: dict[str, Any], over: Mapping[str, Any], path: str) -> None:
            inside = f"figure.profiles.{name}{path.removeprefix('figure')}"
            # Keys that every panel and curve may have need not be set outside the section.
            origins.keys(over, dict.fromkeys((*below, *SHARED, "runs")), inside, ())
            for key, value in over.items():
                where = f"{path}.{key}"
                if isinstance(below.get(key), Mapping):
                    below[key] = dict(below[key])
                    merge(below[key], origins.mapping(value, f"{inside}.{key}"), where)
                elif not origins.stronger_than_profile(where):
                    below[key] = value
                    origins.of_profile.add(where)

        merge(self.figure, origins.mapping(profiles.get(name), f"figure.profiles.{name}"), "figure")

    def _drawn_curves(self, panels: Mapping[str, Any]) -> dict[str, list[str]]:
        # A panel draws the curves that it names, or all; a curve in no panel is an error.
        origins, drawn = self.origins, dict[str, list[str]]()
        for letter, content in panels.items():
            path = f"figure.panels.{letter}"
            named = origins.mapping(content, path).get("curves")
            origins.reads |= {path, f"{path}.curves"}
            if named is not None and not isinstance(named, list):
                message = f"{path}.curves must be a list of curves, got {shown(named)}"
                raise origins.error(message, f"{path}.curves")
            names = self.curves if named is None else named
            drawn[letter] = [origins.choice(n, self.curves, f"{path}.curves") for n in names]
        for name in self.curves:
            if not any(name in names for names in drawn.values()):
                message = f"figure.curves.{name} is among the curves of no panel"
                raise origins.error(message, f"figure.curves.{name}")
        return drawn
