"""Output files of sweeps and searches: pictures and table, the sidecar last."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpbandits.config.recorded import recorded
from dpbandits.drawing import plotting
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.files.schemas import to_json


def write(file: Path, files: Mapping[str, bytes], sidecar: Mapping[str, Any]) -> str:
    """Write `<file>.<kind>` for every kind, then the sidecar; return the file names for a message.

    Pictures and tables of other kinds are removed: they would be those of an earlier command.
    """
    for kind in (*plotting.FORMATS, "csv"):
        path = file.with_name(f"{file.name}.{kind}")
        if kind in files:
            write_atomically(path, files[kind])
        else:
            path.unlink(missing_ok=True)
    record = {
        **sidecar,
        "provenance": provenance(),
        "files": {kind: sha256(content).hexdigest() for kind, content in files.items()},
    }
    write_atomically(file.with_name(f"{file.name}.json"), to_json(record))
    return f"{file}.{{{','.join([*files, 'json'])}}}"


def command(program: Sequence[str], words: Iterable[str]) -> str:
    """Return the command line that repeats the computation."""
    return shlex.join([*program, *recorded(words)])
