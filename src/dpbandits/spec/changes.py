"""Overrides that change a figure from what its file describes, and the folder named after them.

Overrides of runs, seed, engine and paths do not change the figure: the store shares their results,
and the caption states runs and seed. Every other difference from the file is a change.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

LONGEST_NAME = 80  # characters of a folder's name
FREE = ("runs", "seed", "engine", "paths", "hydra", "sweep")  # first parts of keys: no change
PROFILE = "profile"
ELSEWHERE = re.compile(r"[+~]*(?:paths|engine)(?:[.=]|$)")  # folders and engines change no number


@dataclass(frozen=True)
class Change:
    """One key whose value differs from the figure's file."""

    key: str  # for example `figure.curves.adap-ucb.alpha` or `algorithm@figure.curves.x`
    value: str | None  # None: deleted
    before: str | None  # value in the files; None: absent there

    @property
    def name(self) -> str:
        """Key without the prefix that is common to all figures."""
        return re.sub(r"^(?:\w+@)?figure\.(?:curves\.)?", "", self.key)

    @property
    def words(self) -> str:
        """Text of the change in a caption, with the value that it replaces."""
        before = "" if self.before is None else f" (file: {for_people(self.before)})"
        return self.short if self.value is None else f"{self.short}{before}"

    @property
    def short(self) -> str:
        """Text of the change in the title line of a picture."""
        if self.key == PROFILE:
            return f"scale of the profile {self.value}"
        parts = self.key.rpartition("@")[2].split(".")[1:]
        if "@" in self.key:
            return f"curve {parts[-1]} added: {self.value}"
        of = {"curves": "of curve {}", "panels": "of panel ({})"}.get(parts[0] if parts else "")
        if of and len(parts) > 1:
            name = " ".join(filter(None, [".".join(parts[2:]), of.format(parts[1])]))
            name = name if len(parts) > 2 else name.removeprefix("of ")
        else:
            name = ".".join(parts) or self.key
        return f"without {name}" if self.value is None else f"{name} = {for_people(self.value)}"


def text(value: Any) -> str:
    """Return the canonical spelling of a value: 100_000, 100000 and 1e5 all become `100000`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{k}:{text(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(text, value))}]"
    return str(value)


def for_people(value: str) -> str:
    """Return the spelling for captions: commas between thousands, spaces in lists."""
    if re.fullmatch(r"\d{4,}", value):
        return f"{int(value):,}"
    return value.replace(",", ", ").replace(":", ": ")


def folder_name(all_changes: Sequence[Change]) -> str:
    """Return the name of a figure's folder, for example `environment=c4,horizon=100000`.

    Names that are too long or hold unusual characters get a digest, so that they stay distinct.
    """
    parts = [f"~{c.name}" if c.value is None else f"{c.name}={c.value}" for c in all_changes]
    name = ",".join(sorted(parts))
    clean = as_file_name(name.replace("[", "").replace("]", ""))
    odd = clean != name and len(name) <= LONGEST_NAME
    return f"{clean}-{digest(name)}" if odd else clean


def as_file_name(name: str) -> str:
    """Return a name for a file or folder, shortened and without characters that need quotes."""
    clean = re.sub(r"[^\w.,=+~-]", "_", name)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}-{digest(name)}"


def digest(name: str) -> str:
    """Return eight hexadecimal digits that separate long names with the same beginning."""
    return sha256(name.encode()).hexdigest()[:8]


def is_recorded(override: str) -> bool:
    """Return whether an override, or a key alone, concerns neither folders nor engines."""
    return not ELSEWHERE.match(override)


def recorded(overrides: Iterable[str]) -> list[str]:
    """Return the words of a command without overrides of folders and engines."""
    return [override for override in overrides if is_recorded(override)]
