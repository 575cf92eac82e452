"""The errors of others, in one line.

Beside errors.py, which every result depends on: a better word here throws no result away.
"""


def in_one_line(error: BaseException) -> str:
    """What an exception says; some have many lines, some have none."""
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, MemoryError):
        told = f" ({text})" if text else ""
        return f"out of memory{told}; fewer runs at once need less, engine.workers=1 the least"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
