"""Members of installed packages: entry points name them."""

from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT, Done, Process

TEMPLATE = ROOT / "template" / "algorithms" / "my_algorithm.py"
GROUP = "[dpbandits.algorithms]"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Folder of installed packages, with the plugin made_up and its policy."""
    policies = tmp_path / "site" / "made_up" / "policies"
    policies.mkdir(parents=True)
    (policies.parent / "__init__.py").write_text("")
    (policies / "__init__.py").write_text("")
    (policies / "first.py").write_text(TEMPLATE.read_text("utf-8"), "utf-8")
    register(tmp_path / "site", "made-up-etc = made_up.policies.first")
    return tmp_path / "site"


def register(site: Path, *lines: str) -> None:
    about = site / "made_up-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join([GROUP, *lines, ""]))


def dpbandits(site: Path, *words: str) -> Done:
    results = site.parent / "results"
    results.mkdir(exist_ok=True)
    path = f"{ROOT / 'src'}:{site}"
    return Process(*DPBANDITS, *words, folder=str(results), PYTHONPATH=path).done()


def test_a_member_of_a_plugin_is_listed_and_played(site: Path) -> None:
    listed = dpbandits(site, "list").out.splitlines()
    (line,) = [line for line in listed if "made-up-etc" in line]
    assert line.startswith("algorithm ")
    assert line.endswith("(made_up)")
    done = dpbandits(site, "privacy", "made-up-etc")
    assert done.status == 0, done.err
    assert "DP-ETC" in done.out


def test_a_plugin_may_bring_conf(site: Path) -> None:
    folder = site / "made_up" / "conf" / "algorithm"
    folder.mkdir(parents=True)
    (folder / "made-up-etc-500.yaml").write_text("# half\nalgorithm: made-up-etc\npulls: 500\n")
    words = "+algorithm@figure.curves.etc=made-up-etc-500", "profile=smoke", "~figure.curves.dp-ucb"
    paths = f"paths.out={site.parent / 'out'}", f"paths.cache={site.parent / 'cache'}"
    done = dpbandits(site, "run", "adap-c2", *words, *paths)
    assert done.status == 0, done.err
    assert (site.parent / "cache" / "made-up-etc").is_dir()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("gone = made_up.policies.gone", "of which no source is installed"),
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
    done = dpbandits(site, "privacy", *(["broken"] if "broken" in line else []))
    assert done.status == 2
    (message,) = done.err.splitlines()
    assert reason in message
