"""A project of one's own: its members beside the built-in ones, its machine code apart."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import DPBANDITS, ROOT, Done, Process
from dask_processes import DaskProcesses

FIGURE = ("run", "my-figure", "profile=smoke")


def dpbandits(folder: Path, *words: str, **environment: str) -> Done:
    """Run a command inside a folder."""
    sources = {"PYTHONPATH": str(ROOT / "src")} | environment
    return Process(*DPBANDITS, *words, folder=str(folder), **sources).done()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project that `init` writes, with the runs of its figure."""
    folder = tmp_path_factory.mktemp("projects")
    done = dpbandits(folder, "init", "my-own-paper")
    assert (done.status, done.err) == (0, "")
    assert dpbandits(folder / "my-own-paper", *FIGURE).counts == (12, 0, "drawn")
    return folder / "my-own-paper"


@pytest.fixture
def own(written: Path, tmp_path: Path) -> Path:
    """Copy of that project, which a test may change, below a folder with a special name."""
    return Path(shutil.copytree(written, tmp_path / "für mich" / "my-own-paper"))


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


def refused(folder: Path, *words: str, **environment: str) -> str:
    """Run a command that must be refused in one line; return the line."""
    before = sorted(folder.rglob("*"))
    done = dpbandits(folder, *words, **environment)
    assert (done.status, done.out) == (2, ""), done
    (line,) = done.err.splitlines()
    made = {path.name for path in set(folder.rglob("*")) - {*before}} - {"__pycache__"}
    assert not {name for name in made if not name.endswith(".pyc")}
    return line


def blocks(project: Path, algorithm: str) -> dict[str, np.ndarray]:
    """Return the stored curves of an algorithm by epsilon."""
    curves = {}
    for identity in (project / "cache" / algorithm).glob("*/identity.json"):
        cell = json.loads(identity.read_text())["cell"]
        (block,) = identity.parent.glob("*.npz")
        with np.load(block) as content:
            curves[cell["params"]["epsilon"]] = content["curves"]
    assert len(curves) == 2
    return curves


def test_the_sidecar_names_the_project_and_the_sources_are_in_the_fingerprint(own: Path) -> None:
    sidecar = json.loads((own / "out" / "smoke" / "my-figure" / "my-figure.json").read_text())
    assert sidecar["provenance"]["project"] == {"package": "my_own_paper", "revision": None}
    (first, _) = (own / "cache" / "my-algorithm").glob("*/identity.json")
    assert "my_own_paper/algorithms/my_algorithm.py" in json.loads(first.read_text())["sources"]
    assert dpbandits(own, *FIGURE).counts[:2] == (0, 12)
    edit(own / "algorithms" / "my_algorithm.py", "= 1000", "= 999")
    assert dpbandits(own, *FIGURE).counts[:2] == (4, 8)


def test_an_algorithm_has_the_same_bits_in_a_project_and_in_the_package(
    own: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    for name in ("src", "conf", "figures"):
        leave = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / name, checkout / name, ignore=leave)
    for path in ("conf/figure/my-figure.yaml", "conf/algorithm/my-algorithm.yaml"):
        shutil.copy(own / path, checkout / path)
    shutil.copy(own / "conf/environment/my-instance.yaml", checkout / "conf/environment")
    shutil.copy(own / "algorithms/my_algorithm.py", checkout / "src/dpbandits/algorithms")
    shutil.copy(own / "figures/my_own_paper.py", checkout / "figures")
    environment = {"PYTHONPATH": str(checkout / "src")}
    assert dpbandits(checkout, *FIGURE, **environment).counts[:2] == (12, 0)
    for algorithm in ("my-algorithm", "dp-se"):
        in_project, in_package = blocks(own, algorithm), blocks(checkout, algorithm)
        for epsilon, curves in in_project.items():
            np.testing.assert_array_equal(curves, in_package[epsilon])


def test_machine_code_of_a_project_is_kept_apart(own: Path, tmp_path: Path) -> None:
    cache = {"DPBANDITS_CACHE": str(tmp_path / "machine-code")}
    shutil.rmtree(own / "cache")
    assert dpbandits(own, *FIGURE, **cache).counts[:2] == (12, 0)
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for index in (tmp_path / "machine-code").rglob("*.nbi"):
        kinds[b"my_own_paper" in index.read_bytes()].append(index.parent.parent.name)
    assert kinds[True]
    assert kinds[False]
    assert not {*kinds[True]} & {*kinds[False]}  # no index mentions both
    # A process without the project reads the package's own code.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = f"paths.out={elsewhere}", f"paths.cache={elsewhere}"
    plain = dpbandits(elsewhere, "run", "adap-c2", "profile=smoke", *out, **cache)
    assert plain.status == 0, plain.err
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "machine-code").rglob("*.nbc")}
    shutil.rmtree(own / "cache")
    assert dpbandits(own, *FIGURE, **cache).counts[:2] == (12, 0)
    assert kept == {
        path: path.stat().st_mtime_ns for path in (tmp_path / "machine-code").rglob("*.nbc")
    }


def test_a_law_of_a_project_is_played_by_algorithms_of_the_package(own: Path) -> None:
    text = (ROOT / "src/dpbandits/environments/bernoulli.py").read_text("utf-8")
    renamed = re.sub(r"\bBernoulli\b", "Coins", text)
    (own / "environments" / "coins.py").write_text(renamed, "utf-8")
    edit(own / "conf/environment/my-instance.yaml", "law: bernoulli", "law: coins")
    for computed in ((12, 0), (0, 12)):
        assert dpbandits(own, *FIGURE).counts[:2] == computed
    assert "coins" in dpbandits(own, "list").out


def test_list_says_where_members_come_from(own: Path) -> None:
    lines = dpbandits(own, "list").out.splitlines()
    named = {line.split()[1]: line for line in lines if "(my_own_paper)" in line}
    assert {"my-figure", "my-algorithm", "my-instance"} == named.keys()


def test_a_project_is_found_from_below_and_by_its_variable(own: Path, tmp_path: Path) -> None:
    assert dpbandits(own / "conf" / "figure", *FIGURE).counts[:2] == (0, 12)
    named = {"DPBANDITS_PROJECT": str(own)}
    assert dpbandits(tmp_path, *FIGURE, **named).counts[:2] == (0, 12)
    line = refused(tmp_path / "für mich", "list", DPBANDITS_PROJECT="nowhere")
    assert line.endswith("DPBANDITS_PROJECT=nowhere: this folder has no dpbandits.toml")


def test_own_profiles_win_and_results_can_be_moved(own: Path, tmp_path: Path) -> None:
    (own / "conf" / "profile").mkdir()
    smoke = (ROOT / "conf/profile/smoke.yaml").read_text("utf-8")
    (own / "conf/profile/smoke.yaml").write_text(smoke.replace("runs: 2", "runs: 3"), "utf-8")
    assert dpbandits(own, *FIGURE).counts[:2] == (6, 12)
    moved = tmp_path / "blocks"
    assert dpbandits(own, *FIGURE, DPBANDITS_RESULTS=str(moved)).counts[:2] == (18, 0)
    assert {path.name for path in moved.iterdir()} == {"my-algorithm", "dp-se", "adap-klucb"}


def test_a_project_has_multiruns(own: Path) -> None:
    done = dpbandits(own, "multirun", "figure=my-figure", "profile=smoke", "seed=1,2")
    assert done.status == 0, done.err
    assert (own / "out/smoke/multirun/my-figure/my-figure-by-seed.csv").is_file()


def test_a_cluster_on_this_machine_plays_the_project(own: Path) -> None:
    pytest.importorskip("distributed")
    before = {name: blocks(own, name) for name in ("my-algorithm", "dp-se")}
    shutil.rmtree(own / "cache")
    done = dpbandits(own, *FIGURE, "engine=dask", "engine.workers=1")
    assert done.counts[:2] == (12, 0)
    for name, by_epsilon in before.items():
        for epsilon, curves in by_epsilon.items():
            np.testing.assert_array_equal(blocks(own, name)[epsilon], curves)


@pytest.mark.parametrize("joined", [True, False])
def test_a_worker_without_the_project_is_refused_in_one_line(
    own: Path, tmp_path: Path, joined: bool
) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "dask").mkdir()
    processes = DaskProcesses(tmp_path / "dask")
    try:
        sources = {"PYTHONPATH": str(ROOT / "src")}
        with_project = {**sources, "DPBANDITS_PROJECT": str(own)}
        processes.worker(**(sources if joined else with_project))
        done = dpbandits(own, *FIGURE, "runs=4", *processes.engine)
        if joined:
            assert (done.status, done.out) == (2, "")
            (line,) = done.err.splitlines()
            assert "projects and plugins none, here my_own_paper" in line
        else:
            assert done.counts[:2] == (12, 12)
    finally:
        processes.close()


# Bad input ---------------------------------------------------------------------------------------


def test_a_project_without_conf_is_refused(own: Path) -> None:
    shutil.rmtree(own / "conf")
    assert "my-own-paper has no folder conf/" in refused(own, *FIGURE)


@pytest.mark.parametrize(
    ("file", "taken"),
    [
        ("conf/figure/my-figure.yaml", "conf/figure/adap-c2.yaml"),
        ("conf/algorithm/my-algorithm.yaml", "conf/algorithm/dp-se.yaml"),
        ("conf/environment/my-instance.yaml", "conf/environment/c2.yaml"),
    ],
)
def test_a_file_of_a_taken_name_is_refused(own: Path, file: str, taken: str) -> None:
    shutil.copy(own / file, own / taken)
    line = refused(own, *FIGURE)
    assert f"{own / taken}: the name is taken by {ROOT / taken}; rename the file" in line


def test_an_algorithm_of_a_taken_name_is_refused(own: Path) -> None:
    shutil.copy(own / "algorithms/my_algorithm.py", own / "algorithms/dp_se.py")
    assert "two algorithms are named 'dp-se', src/dpbandits/algorithms/dp_se.py and" in refused(
        own, *FIGURE
    )


def test_drawings_of_a_taken_name_are_refused(own: Path) -> None:
    shutil.copy(own / "figures/my_own_paper.py", own / "figures/azize2022.py")
    assert "azize2022.py: the name is taken by" in refused(own, "run", "adap-c2", "profile=smoke")


def test_a_missing_drawing_function_is_refused(own: Path) -> None:
    edit(own / "conf/figure/my-figure.yaml", "draw: budgets", "draw: budget")
    line = refused(own, *FIGURE)
    assert "figures/my_own_paper.py has no function 'budget'; did you mean 'budgets'?" in line


def test_an_error_in_a_drawing_function_names_the_line(own: Path) -> None:
    edit(own / "figures/my_own_paper.py", "legend_below(figure,", "legend_below(figur,")
    done = dpbandits(own, *FIGURE)
    assert done.status == 2
    (line,) = done.err.splitlines()
    assert "figures/my_own_paper.py, line 15: NameError: name 'figur' is not defined" in line


def test_params_that_numba_cannot_type_are_refused(own: Path) -> None:
    edit(own / "algorithms/my_algorithm.py", "pulls: Count = 1000", "pulls: dict = {}")
    line = refused(own, *FIGURE)
    assert "algorithms/my_algorithm.py: Params.pulls is annotated with dict, which kernels" in line


def test_a_play_that_is_no_kernel_is_named(own: Path) -> None:
    edit(own / "algorithms/my_algorithm.py", "@kernel\n", "")
    words = *FIGURE, "figure.horizon=5000", "runs=1"
    done = dpbandits(own, *words)
    assert done.status == 0
    (line,) = done.err.splitlines()
    assert "algorithms/my_algorithm.py: `play` is not a kernel, so it runs in plain Python" in line
    assert dpbandits(own, *words).err == ""  # nothing is played


def test_runs_that_fail_to_compile_name_the_command_that_explains_it(own: Path) -> None:
    edit(
        own / "algorithms/my_algorithm.py", "pull_many(bandit, arm, params.pulls)", "bandit.pulled"
    )
    done = dpbandits(own, *FIGURE)
    assert done.status == 3
    assert "; `dpbandits verify my-algorithm` explains what to change; all failures" in done.err


def test_an_algorithm_that_does_not_import_is_refused(own: Path) -> None:
    edit(own / "algorithms/my_algorithm.py", "import numpy as np", "import nonsense")
    line = refused(own, *FIGURE)
    assert "algorithms/my_algorithm.py, line 6: ModuleNotFoundError: No module named" in line


@pytest.mark.parametrize("package", ["numpy", "json", "algorithms", "dpbandits", "My_Paper", 3, ""])
def test_a_package_name_that_is_taken_or_none_is_refused(own: Path, package: object) -> None:
    (own / "dpbandits.toml").write_text(f"package = {json.dumps(package)}\n")
    line = refused(own, "list")
    assert "dpbandits.toml: package " in line


@pytest.mark.parametrize("text", ["package = ", "package = 'a_b'\nmore = 1\n", "", "\0"])
def test_a_marker_that_is_not_as_expected_is_refused(own: Path, text: str) -> None:
    (own / "dpbandits.toml").write_text(text)
    assert "dpbandits.toml" in refused(own, "list")


@pytest.mark.parametrize("name", ["My-Paper", "numpy", "3d", "a b", ".", "class"])
def test_init_refuses_a_name_that_is_no_package(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "1"
    folder.mkdir()
    assert "cannot be the name of a project" in refused(folder, "init", name)


def test_init_refuses_a_folder_with_files(own: Path) -> None:
    line = refused(own.parent, "init", "my-own-paper")
    assert "'my-own-paper' exists already: choose a new or an empty folder" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_init_refuses_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    line = refused(tmp_path, "init", "my-own-paper")
    assert "cannot write" in line
    assert "paths.cache" not in line  # advice for commands that play runs


def test_reports_of_a_project_are_those_of_its_own_claims(own: Path) -> None:
    for names in ((), ("azize2022",)):
        assert "report: this project has no claims of its own" in refused(own, "report", *names)
    example = (ROOT / "docs" / "claims.md").read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    (own / "conf" / "claims").mkdir()
    (own / "conf" / "claims" / "my_paper.yaml").write_text(example, "utf-8")
    edit(own / "conf" / "figure" / "my-figure.yaml", "horizon: 1_000_000", "horizon: 1_000")
    done = dpbandits(own, "report", "--gather")
    assert (done.status, done.err) == (0, "")
    page = (own / "docs" / "reproducibility" / "my_paper.md").read_text("utf-8")
    assert "Our algorithm is much better than the others." in page
    assert (own / "figures/reference/claims/my_paper.csv").is_file()
    assert "; sentences about this figure: 1 " in dpbandits(own, "run", "my-figure", "runs=2").out


def test_an_algorithm_among_the_defaults_without_a_curve_is_explained(own: Path) -> None:
    file = own / "conf" / "figure" / "my-figure.yaml"
    edit(file, "  - /algorithm@curves.dp-se: dp-se\n", "  - dp-se\n")
    line = refused(own, "run", "my-figure")
    assert line.endswith("a curve is `- /algorithm@curves.dp-se: dp-se`")
