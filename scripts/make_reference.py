"""Store a figure's curves as its reference: `python scripts/make_reference.py <figure> ...`.

Plays the runs that the cache lacks and writes the curves, with command, provenance and time of
computation, to figures/reference/<figure>.csv and .json. The checkout must be clean. With the
figure of the audits, it writes the table of audits that captions read.

With --ci the reference is for the profile `ci`. It holds the curves that a check cannot compare
with the reference at the papers' scale, or only with too few runs. Ten times the runs of a check
are played, and the points that a check compares are stored.
"""

import sys
from dataclasses import replace

from dpbandits.checks.against_reference import referenced, thinned
from dpbandits.files import provenance
from dpbandits.kernel.errors import UserError
from dpbandits.run.runner import complete
from dpbandits.tables import audits, references
from dpbandits.tables.series import STATISTICS, summarise


class Unfit(Exception):
    """Reason why curves cannot be a reference."""


def main(arguments: list[str]) -> int:
    names = [arg for arg in arguments if arg != "--ci"]
    if not names:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for name in names:
        try:
            keep(name, references.CI if "--ci" in arguments else references.PAPER)
            print(f"{name}: stored in {references.file(name)}")
        except (Unfit, UserError, OSError) as why:
            print(f"{name}: {type(why).__name__}: {why}", file=sys.stderr)
            status = 1
    return status


def keep(name: str, profile: str) -> None:
    """Play the figure at the scale of a profile and store it.

    Raises Unfit if the checkout is not clean, no curve needs the reference, or runs failed.
    """
    revision = provenance.git_revision()
    if revision is None or revision.endswith("-dirty"):
        raise Unfit(f"the checkout is at {revision}: commit first")
    spec, settings = referenced(name, profile)
    if not spec.panels:
        raise Unfit("the reference at the papers' scale suffices for a check")
    completed = complete(spec.runs_of_experiments(), settings, name, settings.folder(name))
    if completed.failures:
        raise Unfit("runs failed")
    series, is_ci = summarise(spec, completed.store), profile == references.CI
    if is_ci:
        names = ("x", *STATISTICS)
        series = [
            replace(s, **{n: getattr(s, n)[thinned(range(len(s.x)))] for n in names})
            for s in series
        ]
    script = f"python scripts/make_reference.py --ci {name}"
    seconds = sum(map(completed.store.seconds, spec.experiments()))  # of all threads together
    origin = {"command": script if is_ci else f"dpbandits run {name}", **provenance.provenance()}
    references.write(spec, profile, series, origin | {"seconds": round(seconds, 3)})
    if (name, profile) == (audits.FIGURE, references.PAPER):
        audits.write(spec, references.read_series(spec, profile))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
