"""A project of one's own: its members beside the built-in ones, its machine code apart."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import DPBANDITS, ROOT, Done, Process
from dask_processes import DaskProcesses

FIGURE = ("run", "my-figure", "profile=smoke")
ALGORITHM, DRAWING = "algorithms/my_algorithm.py", "figures/my_own_paper.py"
YAML = "conf/figure/my-figure.yaml"
TAKEN = "the name is taken by"


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
    """Run a command that must be refused in one line and write nothing; return the line."""
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
    checkout, leave = tmp_path / "checkout", shutil.ignore_patterns("__pycache__", "reference")
    for name in ("src", "conf", "figures"):
        shutil.copytree(ROOT / name, checkout / name, ignore=leave)
    for path in (YAML, "conf/algorithm/my-algorithm.yaml", "conf/environment/my-instance.yaml"):
        shutil.copy(own / path, checkout / path)
    shutil.copy(own / ALGORITHM, checkout / "src/dpbandits/algorithms")
    shutil.copy(own / DRAWING, checkout / "figures")
    assert dpbandits(checkout, *FIGURE, PYTHONPATH=str(checkout / "src")).counts[:2] == (12, 0)
    for algorithm in ("my-algorithm", "dp-se"):
        in_project, in_package = blocks(own, algorithm), blocks(checkout, algorithm)
        for epsilon, curves in in_project.items():
            np.testing.assert_array_equal(curves, in_package[epsilon])


def test_a_law_of_a_project_is_played_by_algorithms_of_the_package(own: Path) -> None:
    text = (ROOT / "src/dpbandits/environments/bernoulli.py").read_text("utf-8")
    renamed = re.sub(r"\bBernoulli\b", "Coins", text)
    (own / "environments" / "coins.py").write_text(renamed, "utf-8")
    edit(own / "conf/environment/my-instance.yaml", "law: bernoulli", "law: coins")
    for computed in ((12, 0), (0, 12)):
        assert dpbandits(own, *FIGURE).counts[:2] == computed
    assert "coins" in dpbandits(own, "list").out


def test_a_project_is_found_from_below_and_by_its_variable(own: Path, tmp_path: Path) -> None:
    lines = dpbandits(own, "list").out.splitlines()
    named = {line.split()[1] for line in lines if "(my_own_paper)" in line}
    assert named == {"my-figure", "my-algorithm", "my-instance"}
    assert dpbandits(own / "conf" / "figure", *FIGURE).counts[:2] == (0, 12)
    assert dpbandits(tmp_path, *FIGURE, DPBANDITS_PROJECT=str(own)).counts[:2] == (0, 12)
    line = refused(tmp_path / "für mich", "list", DPBANDITS_PROJECT="nowhere")
    assert line.endswith("DPBANDITS_PROJECT=nowhere: this folder has no dpbandits.toml")


def test_own_profiles_win_results_can_be_moved_and_multiruns_work(
    own: Path, tmp_path: Path
) -> None:
    (own / "conf" / "profile").mkdir()
    smoke = (ROOT / "conf/profile/smoke.yaml").read_text("utf-8")
    (own / "conf/profile/smoke.yaml").write_text(smoke.replace("runs: 2", "runs: 3"), "utf-8")
    assert dpbandits(own, *FIGURE).counts[:2] == (6, 12)
    moved = tmp_path / "blocks"
    assert dpbandits(own, *FIGURE, DPBANDITS_RESULTS=str(moved)).counts[:2] == (18, 0)
    assert {path.name for path in moved.iterdir()} == {"my-algorithm", "dp-se", "adap-klucb"}
    done = dpbandits(own, "multirun", "figure=my-figure", "profile=smoke", "seed=1,2")
    assert done.status == 0, done.err
    assert (own / "out/smoke/multirun/my-figure/my-figure-by-seed.csv").is_file()


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


@pytest.mark.parametrize(
    ("file", "copy", "message"),
    [
        (YAML, "conf/figure/adap-c2.yaml", TAKEN),
        ("conf/algorithm/my-algorithm.yaml", "conf/algorithm/dp-se.yaml", TAKEN),
        (ALGORITHM, "algorithms/dp_se.py", "two algorithms are named 'dp-se', src/dpbandits/alg"),
        (DRAWING, "figures/azize2022.py", TAKEN),
    ],
)
def test_a_member_of_a_taken_name_is_refused(own: Path, file: str, copy: str, message: str) -> None:
    shutil.copy(own / file, own / copy)
    command = ("run", "adap-c2", "profile=smoke") if file == DRAWING else FIGURE
    assert message in refused(own, *command)


@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        (YAML, "draw: budgets", "draw: budget", "has no function 'budget'; did you mean 'budgets'"),
        (DRAWING, "legend_below(figure,", "legend_below(figur,", f"{DRAWING}, line 15: NameError"),
        (ALGORITHM, "pulls: Count = 1000", "pulls: dict = {}", "pulls is annotated with dict"),
        (ALGORITHM, "import numpy as np", "import nonsense", f"{ALGORITHM}, line 6: ModuleNotFou"),
    ],
)
def test_a_mistake_in_a_file_of_a_project_is_refused_with_its_place(
    own: Path, file: str, before: str, after: str, message: str
) -> None:
    edit(own / file, before, after)
    done = dpbandits(own, *FIGURE)
    (line,) = done.err.splitlines()
    assert done.status == 2
    assert message in line


def test_a_play_that_is_no_kernel_is_named(own: Path) -> None:
    edit(own / "algorithms/my_algorithm.py", "@kernel\n", "")
    words = *FIGURE, "figure.horizon=5000", "runs=1"
    done = dpbandits(own, *words)
    assert done.status == 0
    line = done.err.splitlines()[0]  # then perhaps the progress
    assert "algorithms/my_algorithm.py: `play` is not a kernel, so it runs in plain Python" in line
    assert dpbandits(own, *words).err == ""  # nothing is played


@pytest.mark.parametrize(
    "text",
    [
        *(f"package = {json.dumps(name)}\n" for name in ("numpy", "algorithms", "My_Paper")),
        *("package = 3\n", "package = ", "package = 'a_b'\nmore = 1\n", ""),
    ],
)
def test_a_marker_of_a_project_that_names_no_new_package_is_refused(own: Path, text: str) -> None:
    (own / "dpbandits.toml").write_text(text)
    assert "dpbandits.toml" in refused(own, "list")


@pytest.mark.parametrize("name", ["My-Paper", "numpy", "3d", ".", "my-own-paper"])
def test_init_refuses_a_name_that_is_no_package_and_a_folder_with_files(
    own: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "1").mkdir()
    folder = own.parent if name == own.name else tmp_path / "1"
    message = "exists already" if name == own.name else "cannot be the name of a project"
    assert message in refused(folder, "init", name)


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
