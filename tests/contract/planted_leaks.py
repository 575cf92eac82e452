"""Leaks for the tests of releases: changes of a function's source, in memory."""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

from dpbandits.algorithms import (
    adac_ucb,
    adap_klucb,
    adap_ucb,
    dp_exp3_lap,
    dp_imed,
    dp_klucb,
    dp_se,
    dp_ts,
    dp_ucb_int,
    gdp_elim_new,
    lazy_dp_ts,
    ldp_ucb_l,
)
from dpbandits.mechanisms import counters


class Leak(NamedTuple):
    """Edits of one function, and the algorithm that then loses privacy."""

    name: str
    algorithm: str
    modules: tuple[ModuleType, ...]  # the first defines the function, and all of them use it
    function: str
    edits: tuple[tuple[str, str], ...]
    message: str  # of the error that detects it
    keeps_arms: bool = False  # equal releases still give equal arms

    def __str__(self) -> str:
        return f"{self.name} ({self.algorithm})"


DP_SE_NOISE = "laplace(rng, 1.0 / r, params.epsilon)"
EPISODE_NOISE = "noise(params, rng, 1.0 / episode)"
ADAPTIVE = (adap_ucb, adap_klucb, adac_ucb)
BATCH_NOISE = "laplace(rng, 1.0, params.epsilon)"
BATCH = f"pull_many(bandit, chosen, batch) + {BATCH_NOISE}"
BATCHES = (dp_klucb, dp_imed)
RELEASED = "laplace(rng, 1.0 / n, release_epsilon[arm])"
PRIVATISED = "privatised(params, rng, pull(bandit, chosen))"
WITHOUT, FROM = "without noise", "no declaration allows a release of rewards"

LEAKS = (
    Leak(
        "no noise from the second epoch on",
        "dp-se",
        (dp_se,),
        "play",
        ((f"+ {DP_SE_NOISE}", f"+ ({DP_SE_NOISE} if epoch < 2 else 0.0)"),),
        WITHOUT,
    ),
    Leak(
        "lifetime means with the noise of an epoch",
        "dp-se",
        (dp_se,),
        "play",
        (
            ("    epoch = 0\n", "    epoch = 0\n    total, n = np.zeros(active.size), 0\n"),
            (
                "            private_mean[i] = sums[i] / r +",
                "            total[active[i]] += sums[i]\n"
                "            n += r if i == 0 else 0\n"
                "            private_mean[i] = total[active[i]] / n +",
            ),
        ),
        FROM,
        keeps_arms=True,
    ),
    Leak(
        "the noise of the first arm for all arms",
        "dp-se",
        (dp_se,),
        "play",
        (
            (f"+ {DP_SE_NOISE}", "+ noise"),
            (
                "        private_mean = np.empty(arms)\n",
                f"        private_mean = np.empty(arms)\n        noise = {DP_SE_NOISE}\n",
            ),
        ),
        "second release",
    ),
    *(
        Leak(
            "the rewards of the previous episode once more",
            algorithm,
            ADAPTIVE,
            "play",
            (
                ("    indices = ", "    old = np.zeros(arms)\n    indices = "),
                (
                    "        private_mean[chosen] = total / episode +",
                    "        old[chosen], total = total, (old[chosen] + total) / 2.0\n"
                    "        private_mean[chosen] = total / episode +",
                ),
            ),
            FROM,
            keeps_arms=True,
        )
        for algorithm in ("adap-ucb", "adap-klucb", "adac-ucb")
    ),
    *(
        Leak(
            f"no noise from release {n} on",
            algorithm,
            ADAPTIVE,
            "play",
            ((f"+ {EPISODE_NOISE}", f"+ ({EPISODE_NOISE} if episode < {2 ** (n - 2)} else 0.0)"),),
            WITHOUT,
        )
        for algorithm, n in (("adap-ucb", 2), ("adap-ucb", 3), ("adap-ucb", 5), ("adac-ucb", 3))
    ),
    Leak(  # not of DP-KLUCB, whose compiled index takes no statistic without noise
        "no noise from the third batch on",
        "dp-imed",
        BATCHES,
        "play",
        ((BATCH, BATCH.replace(BATCH_NOISE, f"({BATCH_NOISE} if pulls[chosen] < 3 else 0.0)")),),
        WITHOUT,
    ),
    *(
        Leak(
            "the rewards of the previous batch once more",
            algorithm,
            BATCHES,
            "play",
            (
                ("    indices = ", "    old = np.zeros(arms)\n    indices = "),
                (
                    f"        total = {BATCH}\n",
                    "        new = pull_many(bandit, chosen, batch)\n"
                    "        old[chosen], new = new, old[chosen] + new\n"
                    f"        total = new + {BATCH_NOISE}\n",
                ),
            ),
            FROM,
            keeps_arms=True,
        )
        for algorithm in ("dp-klucb", "dp-imed")
    ),
    Leak(
        "the noise of two rewards for all longer episodes",
        "adap-ucb",
        ADAPTIVE,
        "play",
        ((EPISODE_NOISE, "noise(params, rng, 1.0 / max(episode, 4))"),),
        FROM,
        keeps_arms=True,
    ),
    Leak(
        "no noise in the third node",
        "private-ucb",
        (counters,),
        "complete_node",
        (("(node + noise)", "(node + (noise if c != 3 else 0.0))"),),
        WITHOUT,
    ),
    Leak(
        "a node that keeps its first level",
        "private-ucb",
        (counters,),
        "complete_node",
        (
            (
                "    nodes[which, i] = node\n",
                "    nodes[which, i] = node + (item if i > 0 else 0.0)\n",
            ),
        ),
        FROM,
        keeps_arms=True,
    ),
    *(
        Leak(
            "no noise in the third node of a tree",
            algorithm,
            (counters,),
            "complete_node",
            (("(node + noise)", "(node + (noise if c != 3 else 0.0))"),),
            WITHOUT,
        )
        for algorithm in ("dp-ucb", "dp-ucb-bound")
    ),
    Leak(
        "the noise of a release for the rewards after it",
        "dp-ucb-int",
        (dp_ucb_int,),
        "play",
        (
            (
                "    while playing(bandit):\n",
                "    last = np.empty(arms, object)\n    while playing(bandit):\n",
            ),
            (
                f"                private_mean[arm] = sums[arm] / n + {RELEASED}\n",
                f"                last[arm] = {RELEASED}\n"
                "            private_mean[arm] = sums[arm] / n + last[arm]\n",
            ),
        ),
        "second release",
    ),
    Leak(
        "a mean of more rewards than its noise is for",
        "dp-ucb-int",
        (dp_ucb_int,),
        "play",
        (
            ("n == release[arm]", "n == release[arm] + (n > first)"),
            ("laplace(rng, 1.0 / n,", "laplace(rng, 1.0 / (n - (n > first)),"),
            ("math.pow(n, -params.v / 2.0)", "math.pow(n - (n > first), -params.v / 2.0)"),
        ),
        FROM,
        keeps_arms=True,
    ),
    Leak(
        "no noise on gains that exceed b",
        "dp-exp3-lap",
        (dp_exp3_lap,),
        "play",
        (
            (
                "        noisy = pull(bandit, arm) + laplace(rng, 1.0, params.epsilon)\n",
                "        gain = pull(bandit, arm)\n"
                "        noisy = gain + laplace(rng, 1.0, params.epsilon)\n"
                "        noisy = gain if noisy > b + 1.0 else noisy\n",
            ),
        ),
        WITHOUT,
    ),
    Leak(
        "no noise on a reward in every eighth round",
        "ldp-ucb-l",
        (ldp_ucb_l,),
        "play",
        ((PRIVATISED, f"(pull(bandit, chosen) if t % 8 == 0 else {PRIVATISED})"),),
        WITHOUT,
    ),
    Leak(
        "no noise from the second phase on",
        "gdp-elim-new",
        (gdp_elim_new,),
        "play",
        (("perturb(law, rng) / max(n, 1.0)", "(perturb(law, rng) / n if gap > 0.3 else 0.0)"),),
        WITHOUT,
    ),
    Leak(
        "the noise of the next phase",
        "gdp-elim-new",
        (gdp_elim_new,),
        "play",
        (("/ max(n, 1.0)", "/ (n + passes)"),),
        FROM,
        keeps_arms=True,
    ),
    Leak(
        "no noise from the third release on",
        "lazy-dp-ts",
        (lazy_dp_ts,),
        "release",
        (("laplace(rng, 1.0, epsilon)", "(laplace(rng, 1.0, epsilon) if n < 4 else 0.0)"),),
        WITHOUT,
    ),
    Leak(
        "all of epsilon in each part of the sum",
        "dp-ts",
        (dp_ts,),
        "first_pulls",
        (("0.5 * params.epsilon", "params.epsilon"),),
        FROM,
        keeps_arms=True,
    ),
)


@contextmanager
def planted(leak: Leak) -> Iterator[None]:
    """Replace the function by its leaking version, which runs in plain Python."""
    home = leak.modules[0]
    function: Any = getattr(home, leak.function)
    source = inspect.getsource(getattr(function, "py_func", function))
    source = textwrap.dedent(source[source.index("def ") :])
    for old, new in leak.edits:
        assert source.count(old) == 1, (leak.name, old)
        source = source.replace(old, new)
    scope: dict[str, Any] = {}
    exec(compile(source, f"<{leak.name}>", "exec"), home.__dict__, scope)
    with ExitStack() as patches:
        for module in leak.modules:
            patches.enter_context(patch.object(module, leak.function, scope[leak.function]))
        yield
