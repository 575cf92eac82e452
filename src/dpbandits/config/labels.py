"""Labels of the curves of a panel, by which legends and tables distinguish them."""

import itertools
from collections.abc import Mapping
from typing import Any

from dpbandits.config.origins import Origins
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.spec.figure import Bound, Curve, Panel


def refuse_equal(panel: Panel, origins: Origins) -> None:
    """Raise UserError if two curves of a panel have one label; propose labels that differ."""
    for other, curve in itertools.combinations(panel.curves, 2):
        if curve.label != other.label:
            continue
        one, two = (_parameters(each) for each in (other, curve))
        differ = [name for name in two if name in one and one[name] != two[name]]
        path = f"figure.curves.{curve.name}"
        raise origins.error(
            f"{path}: panel {panel.letter} has two curves labelled {shown(curve.label)},"
            f" {other.name} and {curve.name}: distinguish them, as in label:"
            f" '{curve.label} ({{{[*differ, 'epsilon'][0]}}})'",
            path,
        )


def _parameters(curve: Curve) -> Mapping[str, Any]:
    source = curve.sources[0]
    if isinstance(source, Bound):
        return dict(source.arguments)
    return parameters.plain(source.params)
