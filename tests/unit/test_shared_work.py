"""The sets of files that one worker plays."""

from commands import ROOT
from shared_work import SCOPES, TOGETHER


def test_every_file_of_a_set_exists_and_is_in_no_other() -> None:
    files = {file.stem for file in (ROOT / "tests").glob("*/test_*.py")}
    assert {*SCOPES} <= files
    assert len(SCOPES) == sum(map(len, TOGETHER.values()))
