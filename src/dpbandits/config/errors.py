"""Errors of Hydra and OmegaConf as errors of one line."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config.interrupts import reraise_interrupt
from dpbandits.config.overrides import check, check_files
from dpbandits.config.unknown_override import unknown_override
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

# Patterns of messages, each with the function from its groups to a message of one line.
MESSAGES: tuple[tuple[str, Callable[..., str]], ...] = (
    (
        r"Could not append to config\..* already at '(.+)'",
        lambda key: f"{shown(key)} is there already: leave out the plus (command line)",
    ),
    (
        r"(?:Ambiguous value for argument|Sweep parameters) '(.+)'",
        lambda override: _several(override),
    ),
    (
        r"(?s).*You must specify 'figure'",
        lambda: f"which figure? figure=<name>; {nearest('', project.names('figure'))}",
    ),
    (
        r"In '([^']+)': \w+ raised while composing.*\n?(.*)",
        lambda file, reason: (
            f"conf/{file}.yaml cannot be merged with the files that it names: {reason}"
        ).removesuffix(": "),
    ),
)


def _several(override: str) -> str:
    key, _, value = override.partition("=")
    if re.fullmatch(r"\d{1,3}(,\d{3})+", value):
        return f"{shown(override)} has several values: write {key}={value.replace(',', '_')}"
    return (
        f"{shown(override)} has several values: a list is key=[1,2]; for a figure of each value use"
        " `dpbandits multirun figure=<name> key=1,2`"
    )


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Check the files and the overrides of a command, and reduce errors of Hydra to one line.

    Raises UserError for the errors of Hydra and OmegaConf.
    """
    check_files(overrides)
    try:
        check(overrides)
        yield
    except MissingConfigException as error:
        raise UserError(_missing(error)) from error
    except OverrideParseException as error:
        raise UserError(
            f"cannot read {shown(error.override)}: write key=value, a list as key=[1,2]; a text"
            """ with spaces, commas or the like needs two pairs of quotes, key='"a, b"'"""
        ) from error
    except (HydraException, OmegaConfBaseException) as error:
        reraise_interrupt(error)
        raise UserError(_one_line(error, overrides)) from error
    except ValueError as error:
        if "digits" not in str(error):
            raise
        raise UserError("a number of the command line has thousands of digits") from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or "the files of conf/ cannot be put together").splitlines()[0]


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    text = str(error)
    if key := re.match(r"Could not (?:override|delete from config\.) '([^']+)'", text):
        return unknown_override(key[1], overrides)
    for pattern, message in MESSAGES:
        if groups := re.match(pattern, text):
            return message(*groups.groups())
    return first_line(error)


def _missing(error: MissingConfigException) -> str:
    # `In 'figure/x': Could not find 'algorithm/y'`, with the valid options.
    group, _, name = str(error.missing_cfg_file or "").rpartition("/")
    if group == "figure" and name in project.names("algorithm"):
        return f"{first_line(error).rstrip('.')}: a curve is `- /algorithm@curves.{name}: {name}`"
    if not name or error.options is None:
        return first_line(error)
    place = re.match(r"In '([^']+)'", str(error))
    where = f" (conf/{place[1]}.yaml)" if place and "/" in place[1] else ""
    return f"unknown {group} '{name}'{where}; {nearest(name, error.options)}"
