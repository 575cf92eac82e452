"""Arguments of the verbs, as keywords of argparse."""

from typing import Any

SEVERAL = (
    "overrides",
    "parameters",
    "rivals",
    "subjects",
    "words",
)  # each takes all remaining words

COMPARE_DEFAULTS = {  # values of `compare` that are not given
    "epsilon": "1",
    "horizon": "1_000_000",
    "runs": "100",
    "checkpoints": "linear",
    "centre": "mean",
    "spread": "std",
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "names": {
        "nargs": "*",
        "metavar": "name",
        "help": "figures, keys of papers or algorithms; default: all papers",
    },
    "name": {"help": "new folder, such as my-paper"},
    "figure": {"help": "name of the figure; `dpbandits list` prints all names"},
    # Without a default, the error for a missing figure would ask for overrides too.
    "overrides": {"nargs": "*", "default": [], "metavar": "key=value"},
    "words": {"nargs": "*", "default": [], "metavar": "figure | key=value"},
    "subjects": {
        "nargs": "*",
        "default": [],
        "metavar": "algorithm | name=value",
        "help": "algorithms, and parameters of all of them, such as epsilon=0.5",
    },
    "rivals": {
        "nargs": "*",
        "default": [],
        "metavar": "algorithm | key=value",
        "help": "algorithms, and environment=c2 or means=0.9,0.5, epsilon=0.1,1, horizon=10_000,"
        " runs=50, seed=1, dp-se.beta=0.01,0.1 (a curve for each value), workers=1; defaults: "
        + " ".join(f"{key}={value}" for key, value in COMPARE_DEFAULTS.items()),
    },
    "papers": {
        "nargs": "*",
        "metavar": "paper",
        "help": "keys of papers; default: all",
    },
    "--gather": {
        "action": "store_true",
        "help": "judge the claims first, from as many runs as it takes, and store the results",
    },
    "--texts": {
        "metavar": "folder",
        "help": "folder of the papers' texts, <paper>.txt: refuse quotes that are not in them",
    },
    "algorithms": {
        "nargs": "*",
        "metavar": "algorithm",
        "help": "names of algorithms; default: all private ones",
    },
    "algorithm": {"help": "name of the algorithm; `dpbandits list` prints all names"},
    "parameters": {
        "nargs": "*",
        "default": [],
        "metavar": "name=value",
        "help": "parameters of the algorithm",
    },
    "--epsilon": {"default": "1", "metavar": "EPSILON", "help": "privacy budget; default: 1"},
    "--rho": {"default": "1", "metavar": "RHO", "help": "privacy budget of zCDP; default: 1"},
    "--plays": {
        "default": "10_000_000",
        "metavar": "N",
        "help": "total number of games; default: ten million",
    },
    "--many-arms": {
        "default": "64",
        "metavar": "K",
        "help": "number of arms in the games with many arms, which are played besides those with"
        " two; default: 64",
    },
    "--changed-reward": {
        "metavar": "N",
        "help": "change the N-th reward of an arm; 1, 2, 3, 4 and 16 by default",
    },
    "--seed": {"type": int, "default": 1, "metavar": "N", "help": "seed of the games; default: 1"},
    "--workers": {
        "type": int,
        "metavar": "N",
        "help": "number of threads; default: one per core",
    },
    "--horizon": {
        "default": "1_000_000",
        "metavar": "T",
        "help": "number of rounds; default: a million (DP-UCB-INT takes minutes beyond 10^10)",
    },
    "--arms": {"default": "5", "metavar": "K", "help": "number of arms; default: 5"},
    "--delta": {
        "metavar": "DELTA",
        "help": "delta of every algorithm that has one; default: the algorithm's own, or 10^-6",
    },
    "--paper": {"metavar": "KEY", "help": "only the figures of this paper, such as azize2022"},
    "--trials": {
        "type": int,
        "default": 20,
        "metavar": "N",
        "help": "number of values to try; default: 20",
    },
    "--format": {
        "default": "csv",
        "choices": ("csv", "json", "pgfplots"),
        "help": "a tidy table, strict JSON, or a picture for LaTeX; default: csv",
    },
    "--out": {
        "metavar": "FOLDER",
        "help": "folder of the pages; default: out/gallery, or a folder in out/galleries if"
        " figures or overrides are given",
    },
    "--output": {
        "metavar": "FILE",
        "help": "file, written completely or not at all; default: standard output",
    },
}
