"""Output files of sweeps and searches: pictures and table, the sidecar last."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpbandits.drawing import plotting
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance


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
    content = (json.dumps(record, indent=1) + "\n").encode()
    write_atomically(file.with_name(f"{file.name}.json"), content)
    return f"{file}.{{{','.join([*files, 'json'])}}}"


def parameters_of(words: Iterable[str]) -> list[str]:
    """Return the words of a command without overrides of folders and engines."""
    return [word for word in words if is_parameter(word)]


def is_parameter(key: str) -> bool:
    """Return whether a key, or an override, concerns neither folders nor engines."""
    return not key.lstrip("+~").startswith(("paths.", "engine."))


def command(program: Sequence[str], words: Iterable[str]) -> str:
    """Return the command line that repeats the computation."""
    return shlex.join([*program, *parameters_of(words)])
