"""Values typed on the command line."""


def value_of(text: str) -> str | bool | int | float:
    """Return the number, the truth value or else the text that a word stands for.

    Numbers may have underscores: 1_000_000. Nothing is checked.
    """
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text.replace("_", ""))
        except ValueError:
            continue
    return text
