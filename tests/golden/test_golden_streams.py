"""Every random stream has, to the letter, the name that is kept in streams.jsonl.

The name is the seed. Golden rows show some draws of some streams; this shows that no stream at all
has become another.
"""

from pathlib import Path

import golden_streams
import pytest
from golden_rows import COMMAND, cases

from dpbandits import project

ROOT = Path(__file__).resolve().parents[2]
PLAYED = sorted(path.stem for path in (ROOT / "conf" / "algorithm").glob("*.yaml"))

pytestmark = pytest.mark.usefixtures("in_checkout")


def advice(name: str) -> str:
    return f"If it is to draw other numbers from now on: {COMMAND} {name}"


@pytest.mark.parametrize("name", PLAYED)
def test_the_streams_have_their_golden_names(name: str) -> None:
    golden = golden_streams.read()
    moved = []
    for case in cases():
        if case.plays == name:
            if case.name not in golden:
                moved.append(f"{case.name}: there are no golden names of its streams")
            elif words := golden_streams.difference(golden[case.name], golden_streams.names(case)):
                moved.append(f"{case.name}, {words}")
    assert not moved, "\n".join([*moved, advice(name)])


def test_every_case_has_golden_names_and_no_other() -> None:
    missing = {case.name for case in cases()} ^ golden_streams.read().keys()
    assert not missing, f"{sorted(missing)}; this keeps them: {COMMAND}"
    assert {case.plays for case in cases()} == {*project.names("algorithm")}
