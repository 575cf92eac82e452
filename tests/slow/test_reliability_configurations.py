"""Hundreds of wrong configurations: one line each, and no work begins.

They are wrong by construction. If a command accepts one, either the command or this generator has a
bug, and the test fails.
"""

import contextlib
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from commands import ROOT
from complaints import readable
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from in_process import called

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

EXAMPLES, DISTINCT, SEED = 320, 200, 25

Row = Callable[[str, str, str], None]


class Mistake(NamedTuple):
    """Arguments of `dpbandits run`, and a file of the checkout with changed content."""

    typed: tuple[str, ...]
    file: str = ""
    content: bytes = b""


# On the command line ------------------------------------------------------------------------------

# Figures with their own horizon and environment, which no profile changes, and with a panel `a`.
figures = st.sampled_from(["adap-c2", "adap-c4", "adap-headline", "exp3-switching"])
words = st.from_regex(r"zz[a-z]{1,12}", fullmatch=True)  # no name begins like this
numbers = st.one_of(st.integers(), st.floats(), st.integers(10**20, 10**4000))
raw = st.one_of(
    st.text(min_size=1, max_size=40),
    st.binary(min_size=1, max_size=20).map(lambda b: b.decode("utf-8", "surrogateescape")),
).filter(lambda text: not text.startswith(("-", "~")) and "__" not in text)

REFERENCES = ("${zz}", "${oc.env:ZZ_NOT_SET}", "???", "${oc.decode:'['}")
NO_NUMBER = ("nan", "abc", "''", "[1,2]", "[]", "{a:1}", "'1'", "1e999", "true", "-1", *REFERENCES)
NO_WHOLE = (*NO_NUMBER, "1.5", "0x10", str(10**40), "0")
NO_NAME = ("5", "[a]", "{a:1}", "true", "nan", "[]", "zz", "../zz", "''", *REFERENCES)
NOTHING = ("5", "[1]", "zz", "{zz:1}", "[[]]", "true")
WHOLE = ("runs", "figure.horizon", "engine.block", "engine.workers")
NAMES = ("paper", "draw", "centre", "checkpoints", "environment")
SWEEPS = ("[a,b]", "[]", "5", "[1,nan]", "[2,1]", "{first:1,last:2}", "null")
LAWS = ("{law:zz}", "{law:bernoulli}", "{law:bernoulli,means:[0.5,1.5]}", "{5:1}")
WRONG: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(WHOLE, NO_WHOLE),
    **dict.fromkeys(("++figure.epsilon", "profile.horizon_scale"), NO_NUMBER),
    **{f"figure.{key}": NO_NAME for key in NAMES},
    **{f"figure.{key}": NOTHING for key in ("panels", "curves")},
    **{f"++figure.{key}": NOTHING for key in ("sweep", "panels.a.curves", "panels.a.shows")},
    "++figure.panels.a.sweep": tuple(f"{{key:epsilon,values:{v}}}" for v in SWEEPS),
    "++figure.environment": LAWS,
    "paths.out": ("5", "[a]", "true", "''", "null", "'~zz-nobody/out'", *REFERENCES),
    "engine": ("zz", "null", "5", "''", "local,dask"),
    "profile": ("zz", "null", "5", "paper,smoke"),
}
REQUIRED = ("paper", "title", "draw", "centre", "horizon", "environment", "checkpoints", "curves")
UNREADABLE = (
    *("runs", "runs=[1,2", "runs==5", "runs:5", 'runs="5', "+", "~", "=", "=5", "runs=\0"),
    *("runs=5 seed=3", "runs={a", "runs=${a", "@=1", "hydra.run.dir=x", "seed=5,6", "seed=glob(*)"),
    *("~paths", "~engine", "~profile.name", *(f"~figure.{key}" for key in REQUIRED)),
)
typed = st.one_of(
    st.sampled_from([f"{key}={value}" for key, values in WRONG.items() for value in values]),
    st.builds(
        "{}{}{}={}".format,
        st.sampled_from(["", "+", "++"]),
        st.sampled_from(["", "figure.", "engine.", "profile.", "paths.", "figure.panels.a."]),
        words,
        st.one_of(numbers.map(str), words),
    ),
    st.builds("~figure.{}".format, words),
    st.sampled_from(UNREADABLE),
    raw,
)

# In files -----------------------------------------------------------------------------------------

FIGURE, CONFIG, ALGORITHM = (
    "conf/figure/adap-c2.yaml",
    "conf/config.yaml",
    "conf/algorithm/adap-ucb.yaml",
)
ENVIRONMENT, ENGINE = "conf/environment/c2.yaml", "conf/engine/local.yaml"
BAD = (
    *("[1, 2]", "{a: 1}", "[]", "true", "!!python/name:os.mkdir", "!!binary aGk=", "!zz 1", "*zz"),
    *(
        "&a [*a]",
        "${zz}",
        "???",
        "{",
        "[1",
        "'zz",
        "@zz",
        "% zz",
        "? a",
        "- 1",
        "1: 2",
        "{a: 1, a: 2}",
    ),
)
KEYS = {
    FIGURE: ("horizon", "runs", "title", "paper", "draw", "centre", "environment", "checkpoints"),
    ALGORITHM: ("algorithm", "alpha", "ties"),
    ENVIRONMENT: ("law", "means"),
    ENGINE: ("block", "workers"),
    CONFIG: ("seed",),
}
TEXT = {file: (ROOT / file).read_text("utf-8") for file in KEYS}


@st.composite
def in_a_file(draw: st.DrawFn) -> Mistake:
    """Return a file with a wrong value, a line or a byte that is invalid, or another content."""
    file = draw(st.sampled_from([*KEYS]))
    text, word, bad = TEXT[file], draw(words), draw(st.sampled_from(BAD))
    key, place = draw(st.sampled_from(KEYS[file])), draw(st.integers(0, len(text)))
    plain = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=20))
    changed, number = re.subn(rf"(?m)^{key}:.*\n(?:[ #-].*\n)*", lambda _: f"{key}: {bad}\n", text)
    content = draw(
        st.one_of(
            st.just((changed if number else f"{text}{key}: {bad}\n").encode()),
            st.sampled_from(["{}: 1", "{}: {{", "'{}", "{}", "- {}", "{}:\n\t- 1", "5: {}"]).map(
                lambda line: f"{text}{line.format(word)}\n".encode()
            ),
            st.sampled_from([b"\0", b"\xff", b"\x07", b"\xc3\x28"]).map(
                lambda byte: text.encode()[:place] + byte + text.encode()[place:]
            ),
            st.binary(max_size=64),
            st.lists(plain, max_size=5).map(lambda value: yaml.safe_dump(value).encode()),
            st.sampled_from(["utf-16", "utf-32"]).map(text.encode),
        )
    )
    return Mistake(("adap-c2",), file, content)


on_the_command_line = st.builds(lambda figure, word: Mistake((figure, word)), figures, typed)


def copied(folder: Path) -> Path:
    """Return a copy of conf/ and figures/ alone."""
    for name in ("conf", "figures"):
        leave = shutil.ignore_patterns("reference", "__*")
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    return folder


def files(folder: Path) -> dict[Path, bytes]:
    """Return everything below a folder, including folders."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def test_malformed_configurations_are_one_line_each_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    def played(*arguments: object) -> None:
        raise AssertionError("a mistake was played")

    monkeypatch.setattr("dpbandits.run.runner.Playing", played, raising=False)
    tried: list[Mistake] = []
    longest, begin = 0, time.monotonic()

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(mistake=st.one_of(on_the_command_line, on_the_command_line, in_a_file()))
    def refused(mistake: Mistake) -> None:
        nonlocal longest
        folder = copied(tmp_path / str(len(tried)))
        tried.append(mistake)
        if mistake.file:
            assert (folder / mistake.file).read_bytes() != mistake.content
            (folder / mistake.file).write_bytes(mistake.content)
        before = files(folder)
        with contextlib.chdir(folder):
            done = called("run", *mistake.typed)
        assert (done.status, done.out) == (2, ""), mistake
        assert done.err.startswith("dpbandits: ")
        readable(done.err.removeprefix("dpbandits: ").removesuffix("\n"))
        assert files(folder) == before
        longest = max(longest, len(done.err))
        shutil.rmtree(folder)

    refused()
    distinct = len(set(tried))
    assert distinct >= DISTINCT
    in_files = sum(bool(mistake.file) for mistake in tried)
    row(
        "Malformed configurations",
        f"{len(tried)} from a generator (seed {SEED}), {distinct} of them distinct, {in_files} in"
        f" files and {len(tried) - in_files} on the command line; invalid by construction",
        f"{len(tried)} rejected with one line and status 2; 0 accepted, 0 tracebacks, 0 files"
        f" written; the longest line has {longest} characters;"
        f" {time.monotonic() - begin:.0f} s",
    )
