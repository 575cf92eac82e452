"""Store a figure's curves as its reference: `python scripts/make_reference.py <figure> ...`.

Copies out/<figure>/<figure>.csv to figures/reference/<figure>/curves.csv and writes source.yaml
beside it: command, revision, versions and date from the sidecar, runs, horizons, and the time of
computation. Rejects curves that are not at the papers' scale, that come from a modified checkout,
or that do not match their sidecar.

With --ci the reference is for the profile `ci`. It holds the curves that a check cannot compare
with the reference at the papers' scale, or only with too few runs. Ten times the runs of a check
are played and stored as ci.csv, at the points that a check compares.
"""

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from dpbandits.cells.bandit_cell import Cell
from dpbandits.checks import against_reference, matching_points
from dpbandits.config import conf_files
from dpbandits.core.errors import UserError
from dpbandits.files import provenance
from dpbandits.tables import references
from dpbandits.tables.series import STATISTICS, summarise, to_csv

ROOT = Path(__file__).resolve().parents[1]
TIMES = 10  # factor on the number of runs of a check


class Unfit(Exception):
    """Reason why curves cannot be a reference."""


def main(words: list[str]) -> int:
    names = [word for word in words if word != "--ci"]
    if not names:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for name in names:
        try:
            if "--ci" in words:
                keep_ci(name)
            else:
                keep(ROOT / "out" / name / name, ROOT / "figures" / "reference" / name)
            print(f"{name}: stored in figures/reference/{name}")
        except (Unfit, UserError, OSError, ValueError, KeyError) as why:
            print(f"{name}: {type(why).__name__}: {why}", file=sys.stderr)
            status = 1
    return status


def keep(file: Path, folder: Path) -> None:
    """Check a table against its sidecar, and copy it with its source into a reference's folder.

    Raises Unfit if the curves cannot be a reference.
    """
    table = file.with_suffix(".csv").read_bytes()
    sidecar = json.loads(file.with_suffix(".json").read_bytes())
    command, revision = sidecar["command"], sidecar["provenance"]["revision"]
    digest = hashlib.sha256(table).hexdigest()
    if sidecar["files"]["csv"] != digest:
        raise Unfit("the table does not match its sidecar")
    if command != f"dpbandits run {sidecar['figure']}":
        raise Unfit(f"made by `{command}`, which changes the figure's file")
    if revision is None or revision.endswith("-dirty"):
        raise Unfit(f"made at revision {revision}: commit, then run the command again")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "curves.csv").write_bytes(table)
    (folder / "source.yaml").write_text(yaml.safe_dump(source(sidecar, digest), sort_keys=False))


def keep_ci(name: str) -> None:
    """Play the figure as a check does, with the references' seed and more runs, and store it.

    Raises Unfit if the checkout is not clean, no curve needs the reference, or runs failed.
    """
    revision = provenance.git_revision()
    if revision is None or revision.endswith("-dirty"):
        raise Unfit(f"the checkout is at {revision}: commit first")
    seed = conf_files.read_yaml("conf/config.yaml")["seed"]
    spec, settings = against_reference.prepare(name, [f"seed={seed}"])
    spec = matching_points.beyond(spec, matching_points.whole_reference(name), TIMES)
    if not spec.panels:
        raise Unfit("the reference at the papers' scale suffices for a check")
    store = against_reference.play(spec, settings)
    if store is None:
        raise Unfit("runs failed")
    kept = [
        replace(
            s,
            **{
                n: getattr(s, n)[matching_points.thinned(range(len(s.x)))]
                for n in ("x", *STATISTICS)
            },
        )
        for s in summarise(spec, store)
    ]
    table, folder = to_csv(kept), references.folder(name)
    content = {
        "command": f"python scripts/make_reference.py --ci {name}",
        "revision": revision,
        "date": provenance.now(),
        "runs": sorted(set(spec.runs_of_cells().values())),
        "horizons": sorted({c.horizon for c in spec.cells() if isinstance(c, Cell)}),
        "seconds": round(sum(map(store.seconds, spec.cells())), 3),  # of all threads together
        "machine": provenance.provenance()["machine"],
        "versions": provenance.versions(),
        "sha256": hashlib.sha256(table).hexdigest(),  # of ci.csv
    }
    (folder / "ci.csv").write_bytes(table)
    (folder / "ci-source.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def source(sidecar: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return the content of source.yaml: the provenance of the curves."""
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
