"""Layers of mappings that set the values of a curve, with a record of the keys looked up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpbandits.config.origins import Origins, leaves
from dpbandits.config.section import Section


@dataclass(frozen=True)
class Layers:
    """Mappings of a curve, its panel and its figure, each with its path, the innermost first.

    The innermost mapping that has a key sets its value. Every lookup adds its paths to `reads`,
    from the innermost layer to the one that has the key. So `reads` lacks a key that another layer
    overrides, and has an absent key, for example a deleted one, that would set the value.
    """

    mappings: tuple[tuple[str, Mapping[str, Any]], ...]
    reads: set[str] = field(default_factory=set)

    def find(self, key: str) -> tuple[Any, str]:
        """Return the innermost value of a key and its path; (None, "") if no layer has it."""
        for path, mapping in self.mappings:
            value = mapping.get(key)
            record(self.reads, f"{path}.{key}", value)
            if value is not None:
                return value, f"{path}.{key}"
        return None, ""

    def needed(self, key: str, origins: Origins) -> tuple[Any, str]:
        """Return the innermost value of a key and its path. Raises UserError if no layer has it."""
        value, path = self.find(key)
        if value is None:
            raise origins.error(f"figure.{key} is missing", f"figure.{key}")
        return value, path

    def merged(
        self, key: str, recorded: Iterable[str], origins: Origins
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values and the paths of all fields of a mapping that every layer may change.

        Only the lookups for `recorded` are added to `reads`. Raises UserError if a layer's value is
        no mapping.
        """
        values, paths = dict[str, Any](), dict[str, str]()
        for path, mapping in self.mappings:
            own = Section(origins, mapping.get(key), f"{path}.{key}")
            self.reads.update(own.path_of(name) for name in recorded if name not in values)
            for name in own.content:
                if name not in values:
                    values[name], paths[name] = own.get(name), own.path_of(name)
        return values, paths

    def inside(self, path: str, mapping: Mapping[str, Any]) -> "Layers":
        """Return these layers with one more inside them."""
        return Layers(((path, mapping), *self.mappings), self.reads)

    def unrecorded(self) -> "Layers":
        """Return the same layers with a record of their own, for lookups that set no cell."""
        return Layers(self.mappings)


def record(reads: set[str], path: str, value: Any) -> None:
    """Add the path of a value, and the paths of all values inside it, to a record."""
    reads.add(path)
    if isinstance(value, Mapping):
        reads.update(leaf for leaf, _ in leaves(value, path))
