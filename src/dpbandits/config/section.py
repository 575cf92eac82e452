"""Mapping of the configuration at a path, with checked access to its values."""

from collections.abc import Iterable, Mapping
from typing import Any

from dpbandits.config.origins import Origins
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, nearest, shown


class Section:
    """Keys and values at a path of a configuration; the path of the whole is empty.

    Every method raises UserError, with the path and the origin, for an invalid key or value.
    """

    def __init__(self, origins: Origins, content: Any, path: str) -> None:
        if content is not None and not isinstance(content, Mapping):
            raise origins.error(f"{path} must hold keys and values, got {shown(content)}", path)
        self.origins = origins
        self.path = path
        self.content: dict[str, Any] = dict(content or {})

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def get(self, key: str) -> Any:
        """Return the unchecked value of a key; None if there is none."""
        return self.content.get(key)

    def path_of(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def error(self, problem: str, key: str = "") -> UserError:
        """Return the error `<figure>: <path of the section or key><problem> (<origin>)`."""
        path = self.path_of(key) if key else self.path
        return self.origins.error(f"{path}{problem}", path)

    def keys(self, valid: Iterable[str], required: Iterable[str] = ()) -> None:
        """Check that all keys are valid and that no required one is missing."""
        for name in self.content:
            if name not in valid:
                path = self.path_of(name)
                error = self.origins.error(f"unknown key {shown(path)}", path)
                raise UserError(f"{error}; {nearest(str(name), valid)}")
        for name in required:
            if self.get(name) is None:
                raise self.error(" is missing", name)

    def section(self, key: str) -> "Section":
        """Return the mapping at a key, an empty one if there is none."""
        return Section(self.origins, self.get(key), self.path_of(key))

    def checked(self, annotation: Any, key: str, default: Any = None) -> Any:
        """Return the value of a key as the annotated type; the default if there is none."""
        if default is not None and self.get(key) is None:
            return default
        return self.origins.checked(annotation, self.get(key), self.path_of(key))

    def text(self, key: str) -> str:
        """Return the text at a key; an empty one if there is none."""
        text = self.get(key)
        if text is not None and not isinstance(text, str):
            raise self.error(f" must be a text, got {shown(text)}", key)
        return text or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the list of texts at a key; an empty one if there is none."""
        texts = self.get(key) or []
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise self.error(f" must be a list of texts, got {shown(texts)}", key)
        return tuple(texts)

    def choice(self, key: str, choices: Iterable[str], default: str = "") -> str:
        """Return the value of a key, or the default, which must be one of the choices."""
        value = self.get(key)
        return self.origins.choice(value or default or value, choices, self.path_of(key))

    def choices(self, key: str, choices: Iterable[str], things: str) -> list[str]:
        """Return one value or a list of values, each of which must be one of the choices."""
        value, valid = self.get(key), list(choices)
        names = value if isinstance(value, list) else [value]
        if not names:
            raise self.error(f" is empty, it names no {things}", key)
        return [self.origins.choice(name, valid, self.path_of(key)) for name in names]

    def ends(self, key: str) -> tuple[float, float]:
        """Return the two numbers at a key, which must ascend."""
        numbers = self.checked(parameters.Ascending, key)
        if len(numbers) != 2:
            raise self.error(f" must be two numbers, got {shown(self.get(key))}", key)
        return numbers[0], numbers[1]
