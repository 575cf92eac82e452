"""Draw the pictures of docs/how-it-is-fast.md: `python scripts/make_schemes.py`.

The walks are drawn from seeded rewards and noise, not from a figure's runs.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
BLUE, RED, GREY = "#0072B2", "#D55E00", "#808080"


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
    words = "first round that misses\nthe line: the run ends"
    place = (n[last] - 9, walk[last] + 3)
    ax.annotate(words, (n[last], walk[last]), place, arrowprops={"arrowstyle": "->"}, ha="center")
    ax.set_xlabel("pulls of the leader, $n$")
    ax.set_ylabel("rewards")
    ax.legend(loc="lower right")


def dyadic_minima(ax: Axes) -> None:
    """Draw a walk of 32 pulls with the noise of a tree, and the minimum of every dyadic block."""
    rng = np.random.default_rng(4)
    size, drift, scale = 32, 0.55, 0.8
    steps = (rng.random(size) < 0.75) - drift
    noise = {
        (start, level): scale * rng.laplace()
        for level in range(6)
        for start in range(0, size, 1 << level)
    }

    def released(n: int) -> float:
        # The sum of n pulls and the noise of the nodes at the set bits of n.
        total, start = float(steps[:n].sum()), 0
        for level in reversed(range(6)):
            if n >> level & 1:
                total += noise[start, level]
                start += 1 << level
        return total

    walk = [0.0, *(released(n) for n in range(1, size + 1))]
    ax.plot(range(size + 1), walk, ".-", color=BLUE, linewidth=1, label="walk with its noise")
    for level, colour in ((3, GREY), (4, "black"), (5, RED)):
        width = 1 << level
        for start in range(0, size, width):
            lowest = min(walk[start : start + width])
            ends = [start - 0.4, start + width - 0.6]
            label = f"minima of blocks of {width}" if start == 0 else None
            ax.plot(ends, [lowest - 0.12 * (level - 3)] * 2, color=colour, linewidth=2, label=label)
    ax.axhline(min(walk) - 1.1, color="black", linestyle="--", linewidth=1)
    ax.text(size, min(walk) - 1.0, "the line: all 32 pulls in one step", ha="right", va="bottom")
    ax.set_xlabel("pulls in the block")
    ax.set_ylabel("rewards + noise $-$ $M$ (pulls)")
    ax.legend(loc="upper left")


def lanes(ax: Axes) -> None:
    """Draw rounds of sixteen runs in step, and what waits for what."""
    for row, name in enumerate(["lane 0", "lane 1", "...", "lane 15"]):
        y = -row
        ax.text(-0.4, y, name, ha="right", va="center")
        for step in range(3):
            x = 3.2 * step
            text = "..." if name == "..." else "draw  choose  update"
            ax.text(x + 1.2, y, text, ha="center", va="center", fontsize=7)
            if name != "...":
                ax.annotate("", (x + 3.15, y), (x + 2.5, y), arrowprops={"arrowstyle": "->"})
    for step in range(3):
        x = 3.2 * step
        box = FancyBboxPatch((x, -3.4), 2.4, 3.8, "round,pad=0.05", fill=False, color=BLUE)
        ax.add_patch(box)
        ax.text(x + 1.2, 0.75, f"round {step + 1}", ha="center", color=BLUE)
    below = "a box is computed for all lanes at once, eight in a vector; an arrow waits for its box"
    ax.text(4.4, -4.1, below, ha="center", fontsize=7)
    ax.set_xlim(-1.9, 9.7)
    ax.set_ylim(-4.5, 1.2)
    ax.axis("off")


PICTURES: dict[str, tuple[Callable[[Axes], None], float]] = {
    "leader-run": (leader_run, 2.6),
    "dyadic-minima": (dyadic_minima, 3.0),
    "lanes": (lanes, 2.2),
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
