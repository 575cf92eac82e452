"""`dpbandits reference`: store a figure's curves as its reference, with which `check` compares."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from dpbandits.checks.against_reference import referenced, thinned
from dpbandits.files import project, provenance
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.run.runner import complete
from dpbandits.tables import audits, references
from dpbandits.tables.series import STATISTICS, summarise


def store(figures: Sequence[str], profile: str) -> int:
    """Play the figures at the scale of a profile and store them; return the largest exit status.

    A figure that cannot be a reference is reported and does not stop the others.
    """
    status = ExitStatus.DONE
    for figure in figures:
        try:
            done = store_figure(figure, profile)
        except UserError as error:
            print(f"dpbandits: {error}", file=sys.stderr)
            done = ExitStatus.MISTAKE
        status = max(status, done)
    return status


def store_figure(figure: str, profile: str) -> ExitStatus:
    """Play a figure at the scale of a profile and store it; with the figure of the audits, these.

    Raises UserError if a figure of dpbandits is not from a clean checkout, or if no curve needs the
    reference. A project's figure needs none: the record has the digest of the project's sources.
    """
    spec, settings = referenced(figure, profile)
    revision = provenance.git_revision()
    if not (provenance.is_clean(revision) or project.owner(project.home("figure", figure))):
        at = f"the checkout is at {revision}: commit first" if revision else "it needs a checkout"
        raise UserError(f"{figure} is a figure of dpbandits: {at}")
    if not spec.panels:
        raise UserError(f"{figure}: the reference at the papers' scale suffices for a check")
    completed = complete(spec.runs_of_experiments(), settings, figure, settings.folder(figure))
    if completed.failures:
        return ExitStatus.FAILED
    series, verb = summarise(spec, completed.store), "run"
    if profile == references.CI:
        names, verb = ("x", *STATISTICS), "reference --ci"
        series = [
            replace(s, **{n: getattr(s, n)[thinned(range(len(s.x)))] for n in names})
            for s in series
        ]
    seconds = sum(map(completed.store.seconds, spec.experiments()))  # of all threads together
    origin = {"command": f"dpbandits {verb} {figure}", **provenance.provenance()}
    references.write(spec, profile, series, origin | {"seconds": round(seconds, 3)})
    if (figure, profile) == (audits.FIGURE, references.PAPER):
        audits.write(spec, references.read_series(spec, profile))
    print(f"{figure}: stored in {references.file(figure)}", flush=True)
    return ExitStatus.DONE
