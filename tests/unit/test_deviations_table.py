"""The tables of docs/deviations.md are those of the script, and name every reading."""

import re
from enum import IntEnum

import make_deviations
import pytest
from commands import ROOT

from dpbandits.checks.comparisons import plain
from dpbandits.core import parameters, registry
from dpbandits.core.parameters import reading_name
from dpbandits.factory import judged_claims

TEXT = (ROOT / "docs" / "deviations.md").read_text("utf-8")


@pytest.mark.long
@pytest.mark.usefixtures("in_checkout")
def test_the_tables_are_the_ones_that_the_script_writes() -> None:
    assert make_deviations.with_tables(TEXT) == TEXT, "python scripts/make_deviations.py"


@pytest.mark.usefixtures("in_checkout")
def test_references_are_last_means_other_statistics_and_verdicts() -> None:
    lines = judged_claims.committed("readings-tossou2016")
    assert lines is not None
    (frozen,) = lines["m"]["dp-ucb-int-frozen"]
    for words, name in (("", "mean"), (" median", "median")):
        cell = make_deviations.filled(f"<{{readings-tossou2016 m dp-ucb-int-frozen{words}}}>")
        assert cell == f"<{plain(frozen.statistic(len(frozen.all_x) - 1, name))}>"
    both = make_deviations.filled("{readings-tossou2016 mn ucb}")
    assert both.count(" · ") == 1
    link = "[`spread`](reproducibility/tossou2016.md#spread) depends on the reading"
    assert make_deviations.filled("{tossou2016/spread}") == link
    assert make_deviations.filled("P[|x| > 1]") == r"P[\|x\| > 1]"
    with pytest.raises(SystemExit, match="horizons has no committed evidence"):
        make_deviations.filled("{horizons a ucb}")


@pytest.mark.parametrize("algorithm", registry.algorithm_names())
def test_every_reading_of_an_algorithm_is_named(algorithm: str) -> None:
    fields = parameters.fields(registry.algorithm(algorithm).Params)
    for field, annotation in fields.items():
        if isinstance(annotation, type) and issubclass(annotation, IntEnum):
            assert f"`{field}: " in TEXT
            in_code = " ".join(re.findall(r"`([^`\n]+)`", TEXT))
            for member in annotation:
                name = re.escape(reading_name(member))
                assert re.search(rf"(?<![\w-]){name}(?![\w-])", in_code), f"{field}: {name}"
