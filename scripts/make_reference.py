"""Keep a figure's curves as its reference: `python scripts/make_reference.py <figure> ...`.

Copies out/<figure>/<figure>.csv to figures/reference/<figure>/curves.csv, and beside it writes
source.yaml: the command, revision, versions and date that the sidecar tells, the runs and horizons,
how long it took. Refused are curves that are not the papers' scale, that a changed checkout made,
or that are not those of their sidecar.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]


class Unfit(Exception):
    """Why curves cannot be a reference."""


def main(names: list[str]) -> int:
    if not names:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for name in names:
        try:
            keep(ROOT / "out" / name / name, ROOT / "figures" / "reference" / name)
            print(f"{name}: kept in figures/reference/{name}")
        except (Unfit, OSError, ValueError, KeyError) as why:
            print(f"{name}: {type(why).__name__}: {why}", file=sys.stderr)
            status = 1
    return status


def keep(file: Path, folder: Path) -> None:
    """Check the table and the sidecar beside it, and copy what a reference holds."""
    table = file.with_suffix(".csv").read_bytes()
    sidecar = json.loads(file.with_suffix(".json").read_bytes())
    command, revision = sidecar["command"], sidecar["provenance"]["revision"]
    digest = hashlib.sha256(table).hexdigest()
    if sidecar["files"]["csv"] != digest:
        raise Unfit("the table is not the one of its sidecar")
    if command != f"dpbandits run {sidecar['figure']}":
        raise Unfit(f"made by `{command}`, not as its file has it")
    if revision is None or revision.endswith("-dirty"):
        raise Unfit(f"made at revision {revision}: commit, run the command again")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "curves.csv").write_bytes(table)
    (folder / "source.yaml").write_text(yaml.safe_dump(source(sidecar, digest), sort_keys=False))


def source(sidecar: dict[str, Any], digest: str) -> dict[str, Any]:
    """Where the curves come from."""
    provenance = sidecar["provenance"]
    sources = [source for curve in sidecar["curves"] for source in curve["sources"]]
    return {
        "command": sidecar["command"],
        "revision": provenance["revision"],
        "date": provenance["written"],
        "runs": sidecar["runs"],
        "horizons": sorted({source["horizon"] for source in sources if "horizon" in source}),
        "seconds": sidecar["seconds_of_computation"],  # of all threads together
        "machine": provenance["machine"],
        "versions": provenance["versions"],
        "sha256": digest,  # of curves.csv
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
