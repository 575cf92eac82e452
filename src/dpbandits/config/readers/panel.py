"""Reader of the panels of a figure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpbandits.config import templates
from dpbandits.config.layers import Layers, record
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.curve import OF_AUDITS, OF_RULES, CurveReader, Surroundings, Values
from dpbandits.config.readers.source import SourceReader
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.spec.figure import Panel, Quantity

TEXTS = ("title", "row", "column")  # texts of a panel, with names of values in braces
PANEL_KEYS = (*TEXTS, "curves", "parameters", "each", "sweep", "shows", "checkpoints", *SHARED)


class PanelReader:
    """Reader of the panels of a figure. Its methods raise UserError for bad keys and values."""

    def __init__(self, origins: Origins, figure: Mapping[str, Any], runs: int) -> None:
        self.origins = origins
        self.figure = figure
        self.sources = SourceReader(origins)
        self.curves = CurveReader(origins, figure, self.sources, runs)

    def read(self, letter: str, content: Any, curves: Mapping[str, Any]) -> Panel:
        """Return one panel with these curves, checked."""
        origins, path = self.origins, f"figure.panels.{letter}"
        panel = origins.mapping(content, path)
        origins.keys(panel, PANEL_KEYS, path, ())
        layers = Layers(((path, panel), ("figure", self.figure)), origins.reads)
        own = {name for curve in curves for name in self.curves.takes(curve, curves[curve], layers)}
        shared = origins.mapping(panel.get("parameters"), f"{path}.parameters")
        origins.keys(shared, sorted(own), f"{path}.parameters", ())
        layers = layers.inside(f"{path}.parameters", shared)
        sweep = self._values(panel.get("sweep"), f"{path}.sweep")
        sweep = sweep or self._values(self.figure.get("sweep"), "figure.sweep")
        each = self._values(panel.get("each"), f"{path}.each")
        around = Surroundings(layers, each, sweep, own)
        read = tuple(
            curve for name in curves for curve in self.curves.read(name, curves[name], around)
        )
        for members, values in (("stopping rules", OF_RULES), ("algorithms", OF_AUDITS)):
            if panel.get("shows") in values and all(c.shows is Quantity.REGRET for c in read):
                message = f"{path}.shows is for {members}, of which the panel has none"
                raise origins.error(message, f"{path}.shows")
        named = self.sources.of_panel(layers, shared)
        if each:
            named["each"] = templates.Several(each.values)
        title, row, column = (
            templates.read(origins, panel.get(key) or "", named, f"{path}.{key}") for key in TEXTS
        )
        return Panel(letter, title, read, row, column)

    def of_figure(self, key: str, panels: Mapping[str, Any]) -> str:
        """Return a text of the figure; a value that differs between panels is listed in full."""
        merged: dict[str, list[Any]] = {}
        for letter, content in panels.items():
            path = f"figure.panels.{letter}"
            panel = self.origins.mapping(content, path)
            layers = Layers(((path, panel), ("figure", self.figure)))
            for name, value in self.sources.of_panel(layers, ()).items():
                if value not in merged.setdefault(name, []):
                    merged[name].append(value)
        named = {name: templates.Several(values) for name, values in merged.items()}
        return templates.read(self.origins, self.figure.get(key) or "", named, f"figure.{key}")

    def _values(self, content: Any, path: str) -> Values | None:
        # The content of a `sweep` or an `each`, checked.
        record(self.origins.reads, path, content)
        if content is None:
            return None
        origins, mapping = self.origins, self.origins.mapping(content, path)
        origins.keys(mapping, ("key", "values", "fit"), path, ("key", "values"))
        key, values = origins.text(mapping["key"], f"{path}.key"), mapping["values"]
        if isinstance(values, Mapping):
            values = self._in_equal_steps(values, f"{path}.values")
        try:
            parameters.coerce(parameters.Ascending, values)
        except ValueError as error:
            message = f"{path}.values must be {error}, got {shown(values)}"
            raise origins.error(message, f"{path}.values") from None
        fit = mapping.get("fit")
        ends = None if fit is None else origins.ends(fit, f"{path}.fit")
        return Values(key, values, path, ends)

    def _in_equal_steps(self, content: Mapping[str, Any], path: str) -> list[float]:
        # `values: {first: 0, last: 1, number: 101}`
        kinds = {"first": float, "last": float, "number": parameters.Count}
        self.origins.keys(content, kinds, path, kinds)
        first, last, number = (
            self.origins.checked(kind, content[name], f"{path}.{name}")
            for name, kind in kinds.items()
        )
        return [float(value) for value in np.linspace(first, last, number)]
