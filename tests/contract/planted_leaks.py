"""Leaks for the tests of releases: changes of a function's source, in memory."""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
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
    dp_lambda_lap,
    dp_se,
    dp_se_gauss,
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

    def __str__(self) -> str:
        return f"{self.name} ({self.algorithm})"


ADAPTIVE = (adap_ucb, adap_klucb, adac_ucb)
BATCHES = (dp_klucb, dp_imed)
MODULES: dict[str, tuple[ModuleType, ...]] = {
    **dict.fromkeys(("adap-ucb", "adap-klucb", "adac-ucb"), ADAPTIVE),
    **dict.fromkeys(("dp-klucb", "dp-imed"), BATCHES),
    **dict.fromkeys(("dp-ucb", "dp-ucb-bound"), (counters,)),
    **{"dp-se": (dp_se, dp_se_gauss), "dp-se-gauss": (dp_se, dp_se_gauss)},
    **{"dp-lambda-lap": (dp_lambda_lap,), "dp-ts": (counters, dp_ts), "lazy-dp-ts": (lazy_dp_ts,)},
    **{"dp-exp3-lap": (dp_exp3_lap,), "dp-ucb-int": (dp_ucb_int,), "private-ucb": (counters,)},
    **{"gdp-elim-new": (gdp_elim_new,), "ldp-ucb-l": (ldp_ucb_l,)},
}

# A line for the name, one for the algorithms, the function and the message, then the edits.
TABLE = """\
no noise from the second epoch on
dp-se, dp-se-gauss | play | without noise
-+ noise(params, rng, 1.0 / r)
++ (noise(params, rng, 1.0 / r) if epoch < 2 else 0.0)

lifetime means with the noise of an epoch
dp-se | play | no declaration allows a release of rewards
-    epoch = 0
+    epoch = 0
+    total, n = np.zeros(active.size), 0
-            private_mean[i] = sums[i] / r +
+            total[active[i]] += sums[i]
+            n += r if i == 0 else 0
+            private_mean[i] = total[active[i]] / n +

the noise of the first arm for all arms
dp-se | play | second release
-+ noise(params, rng, 1.0 / r)
++ drawn
-        private_mean = np.empty(arms)
+        private_mean = np.empty(arms)
+        drawn = noise(params, rng, 1.0 / r)

the rewards of the previous episode once more
adap-ucb, adap-klucb, adac-ucb | play | no declaration allows a release of rewards
-    indices =
+    old = np.zeros(arms)
+    indices =
-        private_mean[chosen] = total / episode +
+        old[chosen], total = total, (old[chosen] + total) / 2.0
+        private_mean[chosen] = total / episode +

no noise from release 2 on
adap-ucb | play | without noise
-+ noise(params, rng, 1.0 / episode)
++ (noise(params, rng, 1.0 / episode) if episode < 1 else 0.0)

no noise from release 3 on
adap-ucb, adac-ucb | play | without noise
-+ noise(params, rng, 1.0 / episode)
++ (noise(params, rng, 1.0 / episode) if episode < 2 else 0.0)

no noise from release 5 on
adap-ucb | play | without noise
-+ noise(params, rng, 1.0 / episode)
++ (noise(params, rng, 1.0 / episode) if episode < 8 else 0.0)

no noise from the third batch on
dp-imed | play | without noise
-chosen, batch) + laplace(rng, 1.0, params.epsilon)
+chosen, batch) + (laplace(rng, 1.0, params.epsilon) if pulls[chosen] < 3 else 0.0)

the rewards of the previous batch once more
dp-klucb, dp-imed | play | no declaration allows a release of rewards
-    indices =
+    old = np.zeros(arms)
+    indices =
-        total = pull_many(bandit, chosen, batch) + laplace(rng, 1.0, params.epsilon)
+        new = pull_many(bandit, chosen, batch)
+        old[chosen], new = new, old[chosen] + new
+        total = new + laplace(rng, 1.0, params.epsilon)

the noise of two rewards for all longer episodes
adap-ucb | play | no declaration allows a release of rewards
-noise(params, rng, 1.0 / episode)
+noise(params, rng, 1.0 / max(episode, 4))

no noise in the third node
private-ucb, dp-ucb, dp-ucb-bound | complete_node | without noise
-(node + noise)
+(node + (noise if c != 3 else 0.0))

a node that keeps its first level
private-ucb | complete_node | no declaration allows a release of rewards
-    nodes[which, i] = node
+    nodes[which, i] = node + (item if i > 0 else 0.0)

the noise of a release for the rewards after it
dp-ucb-int | play | second release
-    while playing(bandit):
+    last = np.empty(arms, object)
+    while playing(bandit):
-                private_mean[arm] = sums[arm] / n + laplace(rng, 1.0 / n, release_epsilon[arm])
+                last[arm] = laplace(rng, 1.0 / n, release_epsilon[arm])
+            private_mean[arm] = sums[arm] / n + last[arm]

a mean of more rewards than its noise is for
dp-ucb-int | play | no declaration allows a release of rewards
-n == release[arm]
+n == release[arm] + (n > first)
-laplace(rng, 1.0 / n,
+laplace(rng, 1.0 / (n - (n > first)),
-math.pow(n, -params.v / 2.0)
+math.pow(n - (n > first), -params.v / 2.0)

no noise on gains that exceed b
dp-exp3-lap | play | without noise
-        noisy = pull(bandit, arm) + laplace(rng, 1.0, params.epsilon)
+        gain = pull(bandit, arm)
+        noisy = gain + laplace(rng, 1.0, params.epsilon)
+        noisy = gain if noisy > b + 1.0 else noisy

no noise on a reward that the base knows
dp-lambda-lap | play | without noise
-+ laplace(rng, 1.0, params.epsilon)
++ (laplace(rng, 1.0, params.epsilon) if seen[chosen] < 3.0 else 0.0)

no noise on a reward in every eighth round
ldp-ucb-l | play | without noise
-+ laplace(rng, 1.0, params.epsilon)
++ (laplace(rng, 1.0, params.epsilon) if t % 8 != 0 else 0.0)

no noise from the second phase on
gdp-elim-new | play | without noise
-perturb(law, rng) / max(n, 1.0)
+(perturb(law, rng) / n if gap > 0.3 else 0.0)

the noise of the next phase
gdp-elim-new | play | no declaration allows a release of rewards
-/ max(n, 1.0)
+/ (n + passes)

no noise from the third release on
lazy-dp-ts | observe | without noise
-laplace(rng, 1.0, epsilon)
+(laplace(rng, 1.0, epsilon) if n < 4 else 0.0)

all of epsilon in each part of the sum
dp-ts | hybrid_counters | no declaration allows a release of rewards
-released, log_epsilon, tree_epsilon)
+released, 2.0 * log_epsilon, 2.0 * tree_epsilon)
"""


def _leaks() -> Iterator[Leak]:
    for block in TABLE.split("\n\n"):
        name, head, *lines = block.splitlines()
        algorithms, function, message = head.split(" | ")
        edits: list[tuple[str, str]] = []
        for is_old, part in groupby(lines, lambda line: line.startswith("-")):
            text = "\n".join(line[1:] for line in part)
            edits = [*edits, (text, "")] if is_old else [*edits[:-1], (edits[-1][0], text)]
        for algorithm in algorithms.split(", "):
            yield Leak(name, algorithm, MODULES[algorithm], function, tuple(edits), message)


LEAKS = tuple(_leaks())


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
