"""Strict reader from a figure's plain mapping to a FigureSpec.

An unknown key is an error, and every such error names the key, its place and the nearest valid key.
"""

from collections.abc import Mapping
from typing import Any

from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.panel import PanelReader
from dpbandits.config.section import Section
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec, Original
from dpbandits.tables import statistics

REQUIRED = ("paper", "title", "draw", "runs", "centre")
FIGURE_KEYS = (
    *(*REQUIRED, "horizon", "environment", "checkpoints", "stream", "epsilon", "delta"),
    *("plays", "spread", "slopes", "input_privacy", "sweep", "curves", "panels", "profiles"),
    *("note", "about", "original", "annotated"),
)
KINDS_OF_ORIGINAL = ("figure", "table")


class Reader:
    """Reader of the figure of a composed configuration."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.plain = origins.plain
        self.figure = Section(origins, self.plain["figure"], "figure")

    def read(self) -> FigureSpec:
        """Return the whole figure, checked. Raises UserError for any bad key or value."""
        origins, figure = self.origins, self.figure
        figure.keys(FIGURE_KEYS)
        self._apply_profile()
        figure.keys(FIGURE_KEYS, REQUIRED)
        for name, kind in (("epsilon", parameters.Budget), ("delta", parameters.Delta)):
            if figure.get(name) is not None:
                figure.checked(kind, name)
        self.curves = figure.section("curves").content
        if not self.curves:
            raise figure.error(" is empty, there is nothing to draw", "curves")
        panels = figure.section("panels").content or {"a": None}
        drawn = self._drawn_curves(panels)
        runs = self._runs()
        reader = PanelReader(origins, figure, runs)
        all_panels = tuple(
            reader.read(str(letter), panels[letter], {n: self.curves[n] for n in drawn[letter]})
            for letter in panels
        )
        original = self._original()
        return FigureSpec(
            name=origins.figure,
            paper=figure.text("paper"),
            title=reader.of_figure("title", panels),
            draw=figure.text("draw"),
            runs=runs,
            centre=figure.choice("centre", statistics.CENTRES),
            spread=figure.choice("spread", statistics.SPREADS, default="none"),
            slopes=figure.checked(bool, "slopes", default=False),
            panels=all_panels,
            note=figure.text("note"),
            about=reader.of_figure("about", panels),
            original=original,
            seed=origins.checked(parameters.Seed, self.plain["seed"], "seed"),
            profile=self.plain["profile"]["name"],
            changes=origins.changes,
            annotated=figure.checked(bool, "annotated", default=False) or original is None,
        )

    # The figure as a whole

    def _runs(self) -> int:
        # Runs of the profile override those of the figure, unless the figure's own section for the
        # profile sets them.
        of_section = "figure.runs" in self.origins.of_profile
        runs: int
        if self.plain["runs"] is None or (of_section and not self.origins.is_overridden("runs")):
            runs = self.figure.checked(parameters.Count, "runs")
        else:
            runs = self.origins.checked(parameters.Count, self.plain["runs"], "runs")
        return runs

    def _original(self) -> Original | None:
        # `{ figure: 2, part: (a) }` or `{ table: 2 }`.
        if self.figure.get("original") is None:
            return None
        original = self.figure.section("original")
        original.keys((*KINDS_OF_ORIGINAL, "part"))
        kinds = [kind for kind in KINDS_OF_ORIGINAL if kind in original]
        if len(kinds) != 1:
            raise original.error(" must name a figure or a table by its number")
        number = original.checked(parameters.Count, kinds[0])
        return Original(kinds[0], number, original.text("part"))

    def _apply_profile(self) -> None:
        # The section for the chosen profile, under `profiles:`, overrides the figure's own values.
        origins = self.origins
        profiles = self.figure.section("profiles")
        self.figure.content.pop("profiles", None)
        profiles.keys(project.names("profile"))
        name = self.plain["profile"]["name"]
        origins.reads.add(profiles.path_of(name))

        def merge(below: dict[str, Any], over: Section, path: str) -> None:
            # Keys that every panel and curve may have need not be set outside the section.
            over.keys(dict.fromkeys((*below, *SHARED, "runs")))
            for key, value in over.content.items():
                where = f"{path}.{key}"
                if isinstance(below.get(key), Mapping):
                    below[key] = dict(below[key])
                    merge(below[key], over.section(key), where)
                elif not origins.stronger_than_profile(where):
                    below[key] = value
                    origins.of_profile.add(where)

        merge(self.figure.content, profiles.section(name), "figure")

    def _drawn_curves(self, panels: Mapping[str, Any]) -> dict[str, list[str]]:
        # A panel draws the curves that it names, or all; a curve in no panel is an error.
        origins, drawn = self.origins, dict[str, list[str]]()
        for letter, content in panels.items():
            panel = Section(origins, content, f"figure.panels.{letter}")
            named = panel.get("curves")
            origins.reads |= {panel.path, panel.path_of("curves")}
            if named is not None and not isinstance(named, list):
                raise panel.error(f" must be a list of curves, got {shown(named)}", "curves")
            names = self.curves if named is None else named
            drawn[letter] = [
                origins.choice(name, self.curves, panel.path_of("curves")) for name in names
            ]
        compared = {
            Section(origins, content, f"figure.panels.{letter}").get("against")
            for letter, content in panels.items()
        }
        for name in self.curves:
            if name not in compared and not any(name in names for names in drawn.values()):
                raise self.figure.error(" is among the curves of no panel", f"curves.{name}")
        return drawn
