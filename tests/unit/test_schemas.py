"""The keys of the public JSON files are those of docs/files.md."""

import json
from typing import Any

import pytest
from commands import ROOT, documented_keys

from dpbandits.config import compose
from dpbandits.factory import export, produce
from dpbandits.files import schemas

FIGURE = "ftpl-gauss-cdf"  # exact, so that the whole figure with its claims takes no time


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Contents of the JSON files of one figure, by their schemas."""
    folder = tmp_path_factory.mktemp("schemas")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        paths = [f"paths.{name}={folder / name}" for name in ("cache", "out")]
        spec, settings = compose.load(FIGURE, paths)
        assert produce.produce(spec, settings) == 0
        assert export.export(spec, settings, "json", folder / "export.json") == 0
    contents = [json.loads(path.read_text()) for path in folder.rglob("*.json")]
    return {content["schema"]: content for content in contents}


@pytest.mark.parametrize("schema", [schemas.FIGURE, schemas.VERDICT, schemas.EXPORT])
def test_a_file_has_the_documented_keys_and_no_others(
    schema: str, written: dict[str, dict[str, Any]]
) -> None:
    assert set(written[schema]) == documented_keys(schema)
