"""Figures as the checkout describes them, composed once a process for the tests that read them."""

from collections.abc import Sequence
from functools import cache

from commands import ROOT

from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec

_compose = compose.load  # the fixture `composed_once` replaces it


def load(
    figure: str, overrides: Sequence[str], is_variant: bool = False
) -> tuple[FigureSpec, Settings]:
    """Return a figure and its settings, composed once unless a test edits a copy of the files."""
    if project.folder() == ROOT:
        return _load(figure, tuple(overrides), is_variant)
    return _compose(figure, overrides, is_variant)


@cache
def _load(figure: str, overrides: tuple[str, ...], is_variant: bool) -> tuple[FigureSpec, Settings]:
    return _compose(figure, overrides, is_variant)
