"""Members of a project of one's own and of installed packages, beside the built-in ones."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT, Done, Process, below
from dask_processes import DaskProcesses

from dpbandits.run import ExitStatus

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
    """Run a command that must be refused in one line; return the line."""
    done = dpbandits(folder, *words, **environment)
    assert (done.status, done.out) == (2, ""), done
    (line,) = done.err.splitlines()
    return line


def test_the_sidecar_names_the_project_and_the_sources_are_in_the_fingerprint(own: Path) -> None:
    sidecar = json.loads((own / "out" / "smoke" / "my-figure" / "my-figure.json").read_text())
    project = sidecar["provenance"]["project"]
    assert (project["package"], project["revision"]) == ("my_own_paper", None)
    (first, _) = (own / "cache" / "my-algorithm").glob("*/identity.json")
    assert "my_own_paper/algorithms/my_algorithm.py" in json.loads(first.read_text())["sources"]
    assert dpbandits(own, *FIGURE).counts[:2] == (0, 12)
    edit(own / "algorithms" / "my_algorithm.py", "= 1000", "= 999")
    assert dpbandits(own, *FIGURE).counts[:2] == (4, 8)


def test_a_law_of_a_project_is_played_by_algorithms_of_the_package(own: Path) -> None:
    shutil.copy(ROOT / "src/dpbandits/environments/bernoulli.py", own / "environments/coins.py")
    edit(own / "environments/coins.py", "Bernoulli", "Coins")
    edit(own / "conf/environment/my-instance.yaml", "family: bernoulli", "family: coins")
    assert dpbandits(own, *FIGURE).counts[:2] == (12, 0)
    assert "coins" in dpbandits(own, "list").out


def test_a_project_is_found_from_below_and_by_its_variable(own: Path, tmp_path: Path) -> None:
    lines = dpbandits(own, "list").out.splitlines()
    named = {line.split()[1] for line in lines if "(my_own_paper)" in line}
    mine = {"my-figure", "my-algorithm", "my-instance", "clipped-gaussian", "my-gaussians"}
    assert named == mine
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
    names = {"my-algorithm", "dp-se", "adap-klucb", "format"}
    assert {path.name for path in moved.iterdir()} == names
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
    project = {"DPBANDITS_PROJECT": str(own)} if joined else {}
    try:
        processes.worker(PYTHONPATH=str(ROOT / "src"), **project)
        words = (*FIGURE, "runs=4", *processes.engine)
        if joined:
            assert dpbandits(own, *words).counts[:2] == (12, 12)
        else:
            done = dpbandits(own, *words)
            assert done.status == ExitStatus.FAILED
            assert "cannot read the task: ModuleNotFoundError" in done.err
            assert "with DPBANDITS_PROJECT set to the project's folder" in done.err
    finally:
        processes.close()


@pytest.mark.parametrize(
    ("file", "copy", "message"),
    [
        (YAML, "conf/figure/adap-c2.yaml", TAKEN),
        ("conf/algorithm/my-algorithm.yaml", "conf/algorithm/dp-se.yaml", TAKEN),
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
        (DRAWING, "legend_below(figure,", "legend_below(figur,", f"{DRAWING}, line 14: NameError"),
        (ALGORITHM, "import numpy as np", "import nonsense", f"{ALGORITHM}, line 6: ModuleNotFou"),
    ],
)
def test_a_mistake_in_a_file_of_a_project_is_refused_with_its_place(
    own: Path, file: str, before: str, after: str, message: str
) -> None:
    edit(own / file, before, after)
    done = dpbandits(own, *FIGURE)
    assert done.status == 2
    (line,) = done.err.splitlines()
    assert message in line


def test_commands_about_the_built_in_members_run_no_code_of_a_project(own: Path) -> None:
    # As unpacked from somebody else's archive, with its repository.
    for folder in ("algorithms", "environments", "figures"):
        (own / folder / "evil.py").write_text("raise SystemExit('it ran')\n")
    git = ("git", "-C", str(own), "-c", "user.name=x", "-c", "user.email=x")
    for git_words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run((*git, *git_words), check=True)
    program = f"touch {own}/ran; cat"
    for name in ("core.fsmonitor", "filter.x.clean", "diff.external", "diff.x.textconv"):
        subprocess.run((*git, "config", name, program), check=True)
    (own / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    (own / "dpbandits.toml").touch()
    for command in ("privacy", "privacy dp-se", "run lower-bounds"):
        done = dpbandits(own, *command.split())
        assert (done.status, done.err) == (0, "")
    assert not (own / "ran").exists()
    project = json.loads((own / "out/lower-bounds/lower-bounds.json").read_text())["provenance"]
    assert len(project["project"]["revision"]) == 12


def test_a_project_whose_name_the_locale_cannot_spell_is_refused(own: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "set the environment variable PYTHONUTF8=1" in refused(own, *FIGURE, **ascii_only)


def test_a_play_that_is_no_kernel_is_named(own: Path) -> None:
    edit(own / "algorithms/my_algorithm.py", "@kernel\n", "")
    words = *FIGURE, "figure.horizon=5000", "runs=1"
    done = dpbandits(own, *words)
    assert done.status == 0
    (line,) = done.err.splitlines()
    assert "algorithms/my_algorithm.py: `play` is not a kernel, so it runs in plain Python" in line
    assert dpbandits(own, *words).err == ""  # nothing is played


@pytest.mark.parametrize("text", ["package = 'numpy'\n", "package = 3\n", "package = ", ""])
def test_a_marker_of_a_project_that_names_no_new_package_is_refused(own: Path, text: str) -> None:
    (own / "dpbandits.toml").write_text(text)
    assert "dpbandits.toml" in refused(own, "list")


@pytest.mark.parametrize(
    ("name", "message"),
    [("numpy", "cannot be the name of a project"), ("my-own-paper", "exists already")],
)
def test_init_refuses_a_name_that_is_no_package_and_a_folder_with_files(
    own: Path, name: str, message: str
) -> None:
    assert message in refused(own.parent, "init", name)


def test_an_init_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    begun = tmp_path / "my-own-paper"

    def written() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in begun.rglob("*") if path.is_file()}

    assert dpbandits(tmp_path, "init", "my-own-paper").status == 0
    complete = written()
    (begun / "dpbandits.toml").unlink()
    (begun / "README.md").rename(begun / ".README.md.0123456789abcdef.partial")
    assert dpbandits(tmp_path, "init", "my-own-paper").status == 0
    assert written() == complete
    (begun / "dpbandits.toml").unlink()
    for kept in ("README.md", "of mine.partial"):
        (begun / "README.md").write_bytes(complete[begun / "README.md"])
        (begun / kept).write_text("of mine")
        assert "exists already" in refused(tmp_path, "init", "my-own-paper")
        assert (begun / kept).read_text() == "of mine"


def test_reports_of_a_project_are_those_of_its_own_claims(own: Path) -> None:
    for names in ((), ("azize2022",)):
        assert "report: this project has no claims of its own" in refused(own, "report", *names)
    example = (ROOT / "docs" / "claims.md").read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    example = example.replace("my_paper", "my_own_paper")
    (own / "conf" / "claims").mkdir()
    (own / "conf" / "claims" / "my_own_paper.yaml").write_text(example, "utf-8")
    edit(own / "conf" / "figure" / "my-figure.yaml", "horizon: 1_000_000", "horizon: 1_000")
    (own / "references.bib").write_text("@misc{my_own_paper, title={Mine}, year=2026}\n")
    assert dpbandits(own, "run", "my-figure").status == 0
    done = dpbandits(own, "report", "--gather")
    assert (done.status, done.err) == (0, "")
    assert "1 claim judged" in done.out
    pages = [*(own / "docs").rglob("*.md")]
    for page, text in ((page, page.read_text("utf-8")) for page in pages):
        links = {link.partition("#")[0] for link in re.findall(r"\]\(([^)]*)\)", text)} - {""}
        assert [link for link in links if not (page.parent / link).is_file()] == [], page
    report = (own / "docs" / "reproducibility" / "my_own_paper.md").read_text("utf-8")
    assert "Our algorithm is much better than the others." in report
    assert "*Mine*, 2026 (`dpbandits cite my_own_paper`)" in report
    assert "![My algorithm beside DP-SE and AdaP-KLUCB on My instance](my-figure.png)" in report
    assert (own / "figures/reference/claims/my_own_paper.csv").is_file()


def test_a_project_keeps_a_reference_and_an_edited_algorithm_lies_outside_it(own: Path) -> None:
    assert "`dpbandits reference my-figure` makes one" in refused(own, "check")
    stored = dpbandits(own, "reference", "my-figure")
    assert stored.out.endswith("my-figure: stored in figures/reference/my-figure.csv\n")
    checked = dpbandits(own, "check", "seed=5")
    assert (checked.status, checked.err) == (0, "")
    edit(own / ALGORITHM, "argmax(private_mean)", "argmax(-private_mean)")
    checked = dpbandits(own, "check")
    assert checked.status == ExitStatus.ALARM
    assert "my-figure: 144 comparisons" in checked.out
    assert "(a) DP-ETC at" in checked.out
    assert "DP-SE at" not in checked.out


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Folder of installed packages, with the plugin made_up and its policy."""
    policies = tmp_path / "site" / "made_up" / "policies"
    policies.mkdir(parents=True)
    (policies.parent / "__init__.py").write_text("")
    (policies / "__init__.py").write_text("")
    (policies / "first.py").write_text((ROOT / "template" / ALGORITHM).read_text("utf-8"), "utf-8")
    register(tmp_path / "site", "made-up-etc = made_up.policies.first")
    return tmp_path / "site"


def register(site: Path, *lines: str) -> None:
    about = site / "made_up-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(["[dpbandits.algorithms]", *lines, ""]))


def with_plugin(site: Path, *words: str) -> Done:
    return dpbandits(site.parent, *words, PYTHONPATH=f"{ROOT / 'src'}:{site}")


def test_a_member_of_a_plugin_is_listed_and_played(site: Path) -> None:
    listed = with_plugin(site, "list").out.splitlines()
    (line,) = [line for line in listed if "made-up-etc" in line]
    assert line.startswith("algorithm ")
    assert line.endswith("(made_up)")
    done = with_plugin(site, "privacy", "made-up-etc")
    assert done.status == 0, done.err
    assert "DP-ETC" in done.out


def test_a_plugin_may_bring_conf(site: Path) -> None:
    folder = site / "made_up" / "conf" / "algorithm"
    folder.mkdir(parents=True)
    (folder / "made-up-etc-500.yaml").write_text("# half\nalgorithm: made-up-etc\npulls: 500\n")
    words = "+algorithm@figure.curves.etc=made-up-etc-500", "profile=smoke", *below(site.parent)
    assert with_plugin(site, "run", "adap-c2", *words).counts
    assert (site.parent / "cache" / "made-up-etc").is_dir()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("gone = no_such_package.policies", "of which no source is installed"),
        ("dp-se = made_up.policies.first", "two algorithms are named 'dp-se'"),
        ("broken = made_up.policies.broken", "broken.py, line 1: ModuleNotFoundError: No module"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_refused_in_one_line(
    site: Path, line: str, reason: str
) -> None:
    (site / "made_up" / "policies" / "broken.py").write_text("import nonsense\n")
    register(site, line)
    done = with_plugin(site, "privacy", *(["broken"] if "broken" in line else []))
    assert done.status == 2
    (message,) = done.err.splitlines()
    assert reason in message
