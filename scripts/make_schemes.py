"""Draw the picture of docs/speed.md: `python scripts/make_schemes.py`.

The walk is drawn from seeded rewards, not from a figure's runs.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
BLUE, RED = "#0072B2", "#D55E00"


def leader_run(ax: Axes) -> None:
    """Draw the sum and the bonus of UCB's leader against M n, up to the first miss."""
    rng = np.random.default_rng(15)
    first, sum_before, bonus, rival = 40, 33.0, 6.0, 0.88
    n = first + np.arange(1, 61)
    walk = sum_before + bonus + np.cumsum(rng.random(60) < 0.75)
    line = rival * n
    last = int(np.argmax(walk <= line))
    ax.plot(n[: last + 1], walk[: last + 1], ".-", color=BLUE, label="released sum + bonus")
    ax.plot(n[: last + 12], line[: last + 12], color=RED, label="$M n$, $M$ the largest rival")
    ax.plot(n[last], walk[last], "o", color=BLUE)
    text = "first round that misses\nthe line: the run ends"
    place = (n[last] - 9, walk[last] + 3)
    ax.annotate(text, (n[last], walk[last]), place, arrowprops={"arrowstyle": "->"}, ha="center")
    ax.set_xlabel("pulls of the leader, $n$")
    ax.set_ylabel("rewards")
    ax.legend(loc="lower right")


PICTURES: dict[str, tuple[Callable[[Axes], None], float]] = {
    "leader-run": (leader_run, 2.6),
}


def main() -> int:
    matplotlib.use("Agg")
    with pyplot.style.context(ROOT / "figures" / "style" / "paper.mplstyle"):
        for name, (draw, height) in PICTURES.items():
            figure, ax = pyplot.subplots(figsize=(6.0, height), layout="constrained")
            draw(ax)
            figure.savefig(IMAGES / f"{name}.png", dpi=150, metadata={"Software": None})
            pyplot.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
