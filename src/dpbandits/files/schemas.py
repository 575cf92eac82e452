"""JSON files that other programs read, and their versions; docs/files.md lists the keys.

A key that is removed, renamed or given another meaning raises the version. A new key does not.
"""

import json
from typing import Any

FIGURE = "dpbandits-figure/1"  # out/<figure>/<figure>.json, beside the pictures
VERDICT = "dpbandits-verdict/3"  # out/<figure>/verdict.json
REFERENCE = "dpbandits-reference/1"  # figures/reference/<figure>.json
CLAIMS = "dpbandits-claims/1"  # figures/reference/claims/<paper>.json
EXPORT = "dpbandits-export/1"  # dpbandits export --format json
MULTIRUN = "dpbandits-multirun/1"  # out/multirun/<figure>/<figure>-by-<keys>.json


def to_json(content: Any) -> bytes:
    """Return the bytes of a JSON file, indented for readers."""
    return (json.dumps(content, indent=1) + "\n").encode()
