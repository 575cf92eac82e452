"""Fig. 1 of azize2022: the adaptive episodes of AdaP-UCB and AdaP-KLUCB."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dpbandits.drawing.plotting import PAGE, Drawing
from dpbandits.drawing.shapes import ROUND
from dpbandits.drawing.styles import style_of
from dpbandits.kernel.errors import UserError

CONTIGUOUS = 14  # number of first rounds that the grid `log` records without gaps
MARKED = 4  # episode at whose start the paper computes indexes


def episodes(drawing: Drawing) -> Figure:
    """Fig. 1: the arm of every round, in episodes that double the pulls of their arm.

    Dark cells are the rewards that the indexes use when an episode begins: those of each arm's last
    episode before it. Raises UserError if there are too few or too many steps to draw.
    """
    (panel,) = drawing.panels
    pulls = np.array([series.centre for series in panel.series])
    arms, steps = pulls.shape
    if panel.series[0].x[-1] > steps or steps <= arms:
        raise UserError(
            f"{drawing.title}: the picture has room for {arms + 1} to {CONTIGUOUS} steps"
        )
    played_episodes = _episodes(pulls)
    marked = min(MARKED, len(played_episodes) - arms)
    begin = played_episodes[arms + marked - 1][0]
    read = {
        arm: (first, end) for first, end, arm in played_episodes if end <= begin
    }  # each arm's last
    figure = Figure(figsize=(PAGE, 0.9 + 0.3 * arms))
    figure.set_layout_engine("constrained")
    ax = figure.subplots()
    colours = [style_of(name).colour for name in ("adap-ucb", "adap-klucb", "dp-se", "dp-ucb")]
    for number, (first, end, arm) in enumerate(played_episodes):
        box = Rectangle((first + 0.04, arm + 0.1), end - first - 0.08, 0.8, linewidth=0)
        box.set_facecolor(colours[arm % len(colours)])
        box.set_alpha(0.6 if read.get(arm) == (first, end) else 0.2)
        ax.add_patch(box)
        for t in range(first, end):
            ax.text(t + 0.5, arm + 0.5, f"$r_{{{t + 1}}}$", ha="center", va="center")
        if number >= arms:
            ax.axvline(first, color="#6b6b6b", linewidth=0.8, linestyle=":")
            ax.text(first, -0.05, f"$t_{{{number - arms + 1}}}$", ha="center", va="bottom")
    ax.set_xlim(0, steps)
    ax.set_ylim(arms, 0)
    ax.set_xticks(np.arange(steps) + 0.5, [str(t + 1) for t in range(steps)])
    ax.set_yticks(np.arange(arms) + 0.5, [series.label for series in panel.series])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    means = ", ".join(_mean_of(arm, *read[arm]) for arm in sorted(read))
    used = f"Dark: the rewards that the indexes use at $t_{{{marked}}}$, as {means}"
    ax.set_xlabel(f"{ROUND}\n{used}")
    return figure


def _episodes(pulls: np.ndarray) -> list[tuple[int, int, int]]:
    # Every episode as (first step, step after its last, arm); the first ones pull each arm once.
    played = np.diff(pulls, axis=1, prepend=0).argmax(axis=0)
    arms, steps = pulls.shape
    played_episodes = [(t, t + 1, int(played[t])) for t in range(arms)]
    while (first := played_episodes[-1][1]) < steps:
        arm = int(played[first])
        length = int(pulls[arm, first]) - 1  # as often as the arm had been pulled before
        played_episodes.append((first, min(first + length, steps), arm))
    return played_episodes


def _mean_of(arm: int, first: int, end: int) -> str:
    # The private mean of the rewards of an episode.
    mean, scale = "+".join(f"r_{{{t + 1}}}" for t in range(first, end)), r"\epsilon"
    if (m := end - first) > 1:
        mean, scale = f"({mean})/{m}", rf"({m}\epsilon)"
    return rf"${mean} + \mathrm{{Lap}}(1/{scale})$ (arm {arm + 1})"
