"""Process of a command: typed values, its status, and limits under which it does not begin."""

import resource

import pytest

from dpbandits.cli.process import LEAST_MEMORY, load_joblib, status_of, values_of
from dpbandits.kernel.errors import UserError


def test_typed_values_are_numbers_truth_values_or_texts_and_have_names() -> None:
    typed = ["a=1", "b=1e3", "c=true", "d=false", "e=x=y", "f=-0.5"]
    expected = {"a": 1, "b": 1000.0, "c": True, "d": False, "e": "x=y", "f": -0.5}
    assert repr(values_of(typed)) == repr(expected)
    with pytest.raises(UserError, match="a is set twice"):
        values_of(["a=1", "a=2"])
    for word in ("a", "=1", "a="):
        with pytest.raises(UserError, match=f"written as name=value, got '{word}'"):
            values_of([word])


def test_a_closed_pipe_is_no_error_also_where_rich_ends_the_process() -> None:
    def broken() -> int:
        raise BrokenPipeError

    def ended() -> int:
        try:
            return broken()
        except BrokenPipeError:
            raise SystemExit(1)  # noqa: B904 - as rich does

    def left() -> int:
        raise SystemExit(5)

    assert status_of(broken) == status_of(ended) == 0
    with pytest.raises(SystemExit, match="5"):
        status_of(left)


def test_the_least_memory_is_enough_and_a_byte_less_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [LEAST_MEMORY, resource.RLIM_INFINITY]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    load_joblib()
    limits[0] -= 1
    with pytest.raises(UserError, match="may use 1,048,575 kB of memory"):
        load_joblib()
