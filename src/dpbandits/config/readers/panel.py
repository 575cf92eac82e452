"""Reader of the panels of a figure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpbandits.config.instances import describe, instance
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers import templates
from dpbandits.config.readers.curve import (
    OF_AUDITS,
    OF_PAIRS,
    OF_RULES,
    CurveReader,
    Surroundings,
    Values,
)
from dpbandits.config.readers.game import GameReader
from dpbandits.config.readers.layers import Layers, record
from dpbandits.config.section import Section
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.spec.figure import Curve, Panel, Quantity
from dpbandits.tables import published

TEXTS = ("title", "row", "column")  # texts of a panel, with names of values in braces
PANEL_KEYS = (
    *(*TEXTS, "curves", "parameters", "each", "sweep", "shows", "against", "regret"),
    *("checkpoints", "published"),
    *SHARED,
)


class PanelReader:
    """Reader of the panels of a figure. Its methods raise UserError for bad keys and values."""

    def __init__(self, origins: Origins, figure: Section, runs: int) -> None:
        self.origins = origins
        self.figure = figure
        self.games = GameReader(origins)
        self.curves = CurveReader(origins, figure, self.games, runs)

    def read(self, letter: str, content: Any, curves: Mapping[str, Any]) -> Panel:
        """Return one panel with these curves, checked."""
        panel = Section(self.origins, content, f"figure.panels.{letter}")
        panel.keys(PANEL_KEYS)
        layers = Layers(self._mappings(panel), self.origins.reads)
        own = {key for name in curves for key in self.curves.takes(name, curves[name], layers)}
        shared = panel.section("parameters")
        shared.keys(sorted(own))
        layers = layers.inside(shared.path, shared.content)
        sweep = self._values(panel, "sweep") or self._values(self.figure, "sweep")
        each = self._values(panel, "each")
        around = Surroundings(layers, each, sweep, own, self._against(panel))
        read = tuple(
            curve for name in curves for curve in self.curves.read(name, curves[name], around)
        )
        if panel.get("published") is not None:
            read = self._with_published(panel, read)
        for members, values in (
            ("stopping rules", OF_RULES),
            ("algorithms", (*OF_AUDITS, *OF_PAIRS)),
        ):
            if panel.get("shows") in values and all(c.shows is Quantity.REGRET for c in read):
                raise panel.error(f" is for {members}, of which the panel has none", "shows")
        named = self.games.of_panel(layers, shared.content)
        if each:
            named["each"] = templates.Several(each.values)
        title, row, column = (templates.read(panel, key, named) for key in TEXTS)
        return Panel(letter, title, read, row, column)

    def of_figure(self, key: str, panels: Mapping[str, Any]) -> str:
        """Return a text of the figure; a value that differs between panels is listed in full."""
        merged: dict[str, list[Any]] = {}
        for letter, content in panels.items():
            panel = Section(self.origins, content, f"figure.panels.{letter}")
            layers = Layers(self._mappings(panel))
            for name, value in self.games.of_panel(layers, ()).items():
                if value not in merged.setdefault(name, []):
                    merged[name].append(value)
        named = {name: templates.Several(values) for name, values in merged.items()}
        return templates.read(self.figure, key, named)

    def _against(self, panel: Section) -> str | None:
        # The curve with which the others of a panel are compared; both keys need each other.
        self.origins.reads.add(panel.path_of("against"))
        if panel.get("shows") not in OF_PAIRS:
            if panel.get("against") is not None:
                raise panel.error(f" needs shows: {' or '.join(OF_PAIRS)}", "against")
            return None
        if panel.get("against") is None:
            raise panel.error(f" needs the key `against`, the curve of {OF_PAIRS[0]} 0", "shows")
        return panel.choice("against", self.figure.section("curves").content)

    def _with_published(self, panel: Section, read: tuple[Curve, ...]) -> tuple[Curve, ...]:
        # The curves with the points read off a figure of the paper; a changed game has none.
        number = panel.checked(parameters.Count, "published")
        rows = published.rows(self.figure.text("paper"), number)
        if not rows:
            raise panel.error(f": no point of Fig. {number} is published", "published")
        every = tuple(
            replace(curve, published=published.points(rows, curve, self._instance))
            for curve in read
        )
        for curve in every:
            if curve.published and not published.has_law(curve):
                raise panel.error(
                    f": {curve.label} plays on a table of gains; published points can be compared"
                    " only if the environment has a law",
                    "published",
                )
        return every

    def _instance(self, name: str) -> tuple[str, Any]:
        return instance(describe(self.origins, name, "figure.environment"), name)

    def _mappings(self, panel: Section) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        return ((panel.path, panel.content), (self.figure.path, self.figure.content))

    def _values(self, section: Section, key: str) -> Values | None:
        # The content of a `sweep` or an `each`, checked.
        record(self.origins.reads, section.path_of(key), section.get(key))
        if section.get(key) is None:
            return None
        content = section.section(key)
        content.keys(("key", "values", "fit"), ("key", "values"))
        values = content.get("values")
        if isinstance(values, Mapping):
            values = self._in_equal_steps(content.section("values"))
        try:
            parameters.coerce(parameters.Ascending, values)
        except ValueError as error:
            raise content.error(f" must be {error}, got {shown(values)}", "values") from None
        fit = None if content.get("fit") is None else content.ends("fit")
        return Values(content.text("key"), values, content.path, fit)

    def _in_equal_steps(self, steps: Section) -> list[float]:
        # `values: {first: 0, last: 1, number: 101}`
        kinds = {"first": float, "last": float, "number": parameters.Count}
        steps.keys(kinds, kinds)
        first, last, number = (steps.checked(kind, name) for name, kind in kinds.items())
        return [float(value) for value in np.linspace(first, last, number)]
