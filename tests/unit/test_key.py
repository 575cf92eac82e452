"""A key changes with every source that a cell can reach, and with nothing else."""

import shutil
from pathlib import Path

import pytest

from dpbandits.config import compose
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import libraries
from dpbandits.kernel import roots as found_roots
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import Discovery, Root
from dpbandits.store import key
from dpbandits.store.key import EditedSources

REACHED_BY_ADAP_UCB = (
    "algorithms/adap_ucb.py",
    "experiments/regret.py",
    "kernel/bandit.py",
    "experiments/experiment.py",
    "kernel/environment.py",
    "kernel/randomness.py",
    "environments/bernoulli.py",
    "mechanisms/laplace.py",
    "mechanisms/__init__.py",
)
FAR_FROM_ADAP_UCB = (
    "algorithms/adap_klucb.py",
    "algorithms/dp_se.py",
    "algorithms/ucb.py",
    "config/compose.py",
    "config/figure_reader.py",
    "experiments/kinds.py",
    "kernel/compilation.py",
    "kernel/errors.py",
    "kernel/kl.py",
    "kernel/registry.py",
    "kernel/roots.py",
    "kinds/regret.py",
    "tables/series.py",
    "tables/statistics.py",
    "drawing/plotting.py",
    "environments/beta.py",
    "factory/produce.py",
    "files/atomic.py",
    "run/runner.py",
    "store/blocks.py",
    "store/key.py",
    "theory/azize2022.py",
)

PACKAGE = found_roots.PACKAGE.folder


def roots(algorithm: str, environment: str) -> tuple[str, ...]:
    """Return the roots of a cell."""
    policy, law = algorithm.replace("-", "_"), environment.replace("-", "_")
    return f"algorithms/{policy}.py", f"environments/{law}.py", "experiments/regret.py"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package. Digests are cached by path: each state needs its own copy."""
    return copied(tmp_path / "before")


def copied(folder: Path) -> Path:
    copy = folder / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def of_adap_ucb(package: Path) -> dict[str, str]:
    return key.sources(roots("adap-ucb", "bernoulli"), (Root("dpbandits", package),))


# The package itself ----------------------------------------------------------------------------


def test_a_cell_reaches_its_algorithm_its_environment_and_what_they_import() -> None:
    assert set(REACHED_BY_ADAP_UCB) <= set(of_adap_ucb(PACKAGE))


def test_a_cell_does_not_reach_other_algorithms_nor_what_comes_after_the_numbers() -> None:
    assert all((PACKAGE / path).is_file() for path in FAR_FROM_ADAP_UCB)
    assert not set(FAR_FROM_ADAP_UCB) & set(of_adap_ucb(PACKAGE))


def test_an_edit_moves_the_digests_of_reached_files_alone(package: Path, tmp_path: Path) -> None:
    before = of_adap_ucb(package)
    assert before == of_adap_ucb(PACKAGE)
    edited = copied(tmp_path / "after")
    for path in ("mechanisms/laplace.py", *FAR_FROM_ADAP_UCB):
        with (edited / path).open("a") as file:
            file.write("\nMORE = 1\n")
    (edited / "algorithms" / "of_tomorrow.py").write_text("MORE = 1\n")
    after = of_adap_ucb(edited)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == {"mechanisms/laplace.py"}


def test_ten_keys_are_not_moved_by_a_new_kind_or_a_reworded_label(
    package: Path, tmp_path: Path, in_checkout: None
) -> None:
    figures = ("adap-c2", "exp3-switching", "stopping-rules", "privacy-audit", "adac-price")
    every = (compose.load(figure, ["profile=smoke"])[0].experiments() for figure in figures)
    ten = [experiment for experiments in every for experiment in (experiments[0], experiments[-1])]
    assert len({*ten}) == 10
    edited = copied(tmp_path / "after")
    for folder in ("experiments", "kinds"):
        shutil.copy(edited / folder / "stopping.py", edited / folder / "of_tomorrow.py")
    label = edited / "kinds" / "regret.py"
    label.write_text(label.read_text("utf-8").replace("Price of privacy", "What privacy costs"))
    for experiment in ten:
        before, after = (
            key.sources(experiment.roots, (Root("dpbandits", folder),))
            for folder in (package, edited)
        )
        assert before == after
        assert not [path for path in before if path.startswith("kinds/")]


# Definition of an import: a made-up package -------------------------------------------------------

FILES = {
    "__init__.py": "",
    "experiments/regret.py": "from dpbandits import helper\n",
    "helper.py": "import dpbandits.deep.inner as inner\n",
    "deep/__init__.py": "",
    "deep/inner.py": "",
    "lonely.py": "",
    "algorithms/__init__.py": "",
    "algorithms/my_policy.py": "",
    "environments/__init__.py": "",
    "environments/my_law.py": "",
}


def made_up(folder: Path, **changes: str) -> Path:
    """Write the files above, some of them changed; a key is a path without its suffix."""
    package = folder / "dpbandits"
    for path, text in FILES.items():
        file = package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changes.get(path.removesuffix(".py"), text))
    return package


def reached(package: Path) -> set[str]:
    return set(digests_of(package))


def digests_of(package: Path) -> dict[str, str]:
    return key.sources(roots("my-policy", "my-law"), (Root("dpbandits", package),))


def test_imports_are_followed_from_file_to_file(tmp_path: Path) -> None:
    assert reached(made_up(tmp_path)) == {
        "__init__.py",
        "experiments/regret.py",
        "helper.py",
        "deep/__init__.py",
        "deep/inner.py",
        "algorithms/my_policy.py",
        "environments/my_law.py",
    }


@pytest.mark.parametrize(
    "statement",
    [
        "from dpbandits import lonely",
        "from dpbandits.lonely import thing",
        "import dpbandits.lonely",
        "import math, dpbandits.lonely as other",
        "from dpbandits import (\n    helper,\n    lonely as other,\n)",
        "def late():\n    from dpbandits import lonely\n",
        "class Inside:\n    from dpbandits.lonely import thing\n",
    ],
)
def test_every_form_of_an_import_is_followed(tmp_path: Path, statement: str) -> None:
    package = made_up(tmp_path, **{"algorithms/my_policy": statement})
    assert "lonely.py" in reached(package)


def test_what_a_package_s_init_imports_is_reached_through_its_modules(tmp_path: Path) -> None:
    changes = {"deep/__init__": "from dpbandits import lonely\n"}
    assert "lonely.py" in reached(made_up(tmp_path, **changes))


def test_libraries_are_not_followed(tmp_path: Path) -> None:
    package = made_up(tmp_path, helper="import numpy\nfrom lonely import thing\n")
    assert "lonely.py" not in reached(package)
    assert "deep/inner.py" not in reached(package)


def test_a_source_imports_the_packages_that_it_names_and_no_neighbour() -> None:
    source = b"import a.b, c as d\nfrom e.f import g\nfrom . import h\nfrom .i import j\n"
    assert libraries.imported(source) == {"a", "c", "e"}
    assert libraries.imported(b"import") == set()


@pytest.mark.parametrize("statement", ["from . import lonely", "from .lonely import thing"])
def test_a_relative_import_is_refused(tmp_path: Path, statement: str) -> None:
    package = made_up(tmp_path, helper=statement)
    with pytest.raises(UserError, match=r"helper\.py: relative imports are not followed"):
        reached(package)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = 2\n", False),
        ("def f():\n    x = 1\n    'a'\n", "def f():\n    x = 1\n    return 'a'\n", False),
        ("def f(a=1): pass\n", "def f(a=2): pass\n", False),
        ("@a\ndef f(): pass\n", "@b\ndef f(): pass\n", False),
        ("if a:\n    b\nc\n", "if a:\n    b\n    c\n", False),
        ("x = 1\ny = 2\n", "\n\nx   =  1  # one\n\n\ny = (\n    2\n)\n", True),
        ("x = 'a'\n", 'x = "a"\n', True),
        ('def f():\n    """A."""\n', 'def f():\n    """B.\n\n    C.\n    """\n', True),
        ('class C:\n    """A."""\n\n    x = 1\n', 'class C:\n    """B."""\n\n    x = 1\n', True),
        ("x = 1\n", '"""A first one."""\n\nx = 1\n', True),
    ],
)
def test_what_is_done_moves_the_digest_and_words_and_layout_do_not(
    tmp_path: Path, before: str, after: str, same: bool
) -> None:
    one, other = (
        digests_of(made_up(tmp_path / str(i), helper=text))["helper.py"]
        for i, text in enumerate((before, after))
    )
    assert (one == other) == same


def test_imports_are_followed_from_one_root_to_another(tmp_path: Path) -> None:
    package = made_up(tmp_path)
    own = tmp_path / "own_project"
    (own / "algorithms").mkdir(parents=True)
    (own / "algorithms" / "mine.py").write_text("from dpbandits import helper\n")
    both = Root("dpbandits", package), Root("own_project", own)
    names = "own_project/algorithms/mine.py", "experiments/regret.py"
    reached = key.sources(names, both)
    assert {"own_project/algorithms/mine.py", "helper.py", "deep/inner.py"} <= set(reached)


def test_an_edit_in_mid_run_is_noticed_unless_it_rewords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: RegretExperiment
) -> None:
    package = copied(tmp_path)
    found = Discovery(None, (), (Root("dpbandits", package),))
    monkeypatch.setattr(found_roots, "discovery", lambda: found)
    key.check_sources(cell)
    helper = package / "mechanisms" / "laplace.py"
    text = helper.read_text()
    helper.write_text(f"# A comment.\n{text}")
    (package / "algorithms" / "ucb.py").write_text("x = 1\n")  # not reached
    key.check_sources(cell)
    for edited in (f"{text}\nMORE = 1\n", "half of an edi("):
        helper.write_text(edited)
        with pytest.raises(EditedSources, match=r"^mechanisms/laplace\.py: edited since"):
            key.check_sources(cell)
    helper.unlink()
    with pytest.raises(EditedSources):
        key.check_sources(cell)
