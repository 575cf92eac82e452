"""`verify` compares noise on vectors: planted leaks of AdaC-GOPE and AdaC-OFUL (contract/noise.py).

Every leak is an algorithm of a project: copies of a private file and of the file of its twin, with
edits. All of them are played in one process without the compiler.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from test_noise_of_users import verdicts_of

from dpbandits.kernel import registry
from dpbandits.kernel.roots import PACKAGE

TWINS = {"adac-gope": "gope", "adac-oful": "rs-oful"}
RAW, SOME, AGAIN = "without noise", "no declaration allows a release", "for a second release"
Edits = tuple[tuple[str, str], ...]

OF_A_PHASE = "add_noise(params, rng, statistics, 2.0 * math.sqrt(g / length))"
START_OF_PHASES = "    phase, beta = 0, 1.0\n"
OF_AN_EPISODE = "add_noise(params, rng, episode)"
START_OF_EPISODES = "    log_det, growth = 0.0, 1.0"
ESTIMATE = "theta[k] = dot(since[k], sums)"
KEPT = "    noise = np.zeros(d)\n    for k in range(d):\n        noise[k] = rng.normal()\n"
RAW_SUMS: Edits = (
    (START_OF_EPISODES, f"    raw = np.zeros(d)\n{START_OF_EPISODES}"),
    (OF_AN_EPISODE, f"raw += episode\n            {OF_AN_EPISODE}"),
)
# By name: the algorithm, what the check says, and the changes of either file.
BROKEN: Mapping[str, tuple[str, str, Edits]] = {
    "none-in-the-last-component": (
        "adac-gope",
        RAW,
        (("range(statistics.size)", "range(statistics.size - 1)"),),
    ),
    "half-of-the-scale": (
        "adac-gope",
        SOME,
        (("gaussian(rng, sensitivity,", "gaussian(rng, 0.5 * sensitivity,"),),
    ),
    "half-in-one-component": (
        "adac-gope",
        SOME,
        (("gaussian(rng, sensitivity,", "gaussian(rng, sensitivity * (1.0 - 0.5 * (k == 0)),"),),
    ),
    "for-rewards-in-0-1": ("adac-gope", SOME, (("2.0 * math.sqrt(g", "math.sqrt(g"),)),
    "for-an-exact-design": ("adac-gope", SOME, (("math.sqrt(g /", "math.sqrt(d /"),)),
    "for-an-exact-design-of-a-rough-one": (
        "adac-gope",
        SOME,
        (
            ("math.sqrt(g /", "math.sqrt(d /"),
            ("tolerance: Tolerance = 0.01", "tolerance: Tolerance = 0.5"),
        ),
    ),
    "raw-estimates-eliminate": (
        "adac-gope",
        RAW,
        (
            (OF_A_PHASE, f"raw = statistics.copy()\n        {OF_A_PHASE}"),
            ("backward(factor, statistics)", "backward(factor, raw)"),
        ),
    ),
    "one-for-all-phases": (
        "adac-gope",
        AGAIN,
        (
            (START_OF_PHASES, f"{START_OF_PHASES}{KEPT}"),
            (
                OF_A_PHASE,
                "for k in range(basis.size):\n            scale = 2.0 * math.sqrt(g / length)"
                " / math.sqrt(2.0 * params.rho)\n            statistics[k] += scale * noise[k]",
            ),
        ),
    ),
    "one-for-all-components": (
        "adac-gope",
        AGAIN,
        (
            (
                "    for k in range(statistics.size):\n"
                "        statistics[k] += gaussian(rng, sensitivity, params.rho)",
                "    noise = gaussian(rng, sensitivity, params.rho)\n"
                "    for k in range(statistics.size):\n        statistics[k] += noise",
            ),
        ),
    ),
    "sums-of-all-phases": (
        "adac-gope",
        SOME,
        (
            (START_OF_PHASES, f"{START_OF_PHASES}    old = np.zeros(d)\n"),
            (
                "        factor = cholesky(matrix)",
                "        sums += old[: basis.size]\n        old[: basis.size] = sums\n"
                "        factor = cholesky(matrix)",
            ),
        ),
    ),
    "none-in-the-first-component": (
        "adac-oful",
        RAW,
        (("range(sums.size)", "range(1, sums.size)"),),
    ),
    "half-of-the-deviation": (
        "adac-oful",
        SOME,
        (("gaussian(rng, 2.0, params.rho)", "gaussian(rng, 2.0, 4.0 * params.rho)"),),
    ),
    "for-sums-of-rewards-in-0-1": (
        "adac-oful",
        SOME,
        (("gaussian(rng, 2.0,", "gaussian(rng, 1.0,"),),
    ),
    "declared-for-rewards-in-0-1": ("adac-oful", SOME, (("sensitivity=2.0", "sensitivity=1.0"),)),
    "raw-estimates-choose": (
        "adac-oful",
        RAW,
        (*RAW_SUMS, (ESTIMATE, "theta[k] = dot(since[k], raw)")),
    ),
    "a-raw-sum-widens": (
        "adac-oful",
        RAW,
        (*RAW_SUMS, ("radius = beta + wider", "radius = beta + 1e-9 * raw[0] + wider")),
    ),
    "one-for-all-episodes": (
        "adac-oful",
        AGAIN,
        (
            (START_OF_EPISODES, f"{KEPT}{START_OF_EPISODES}"),
            (
                OF_AN_EPISODE,
                "for k in range(d):\n"
                "                episode[k] += math.sqrt(2.0 / params.rho) * noise[k]",
            ),
        ),
    ),
    "none-from-the-fourth-episode-on": (
        "adac-oful",
        RAW,
        ((OF_AN_EPISODE, f"if episodes < 3:\n                {OF_AN_EPISODE}"),),
    ),
    "sums-of-all-episodes": (
        "adac-oful",
        SOME,
        (
            (START_OF_EPISODES, f"    whole = np.zeros(d)\n{START_OF_EPISODES}"),
            (
                OF_AN_EPISODE,
                "whole += episode\n            episode[:] = whole\n"
                f"            sums[:] = 0.0\n            {OF_AN_EPISODE}",
            ),
        ),
    ),
}
SOUND: Mapping[str, tuple[str, Edits]] = {
    "unchanged-phases": ("adac-gope", ()),
    "unchanged-episodes": ("adac-oful", ()),
    "a-rough-design": (
        "adac-gope",
        (("tolerance: Tolerance = 0.01", "tolerance: Tolerance = 0.5"),),
    ),
    "of-a-method": (
        "adac-oful",
        (("gaussian(rng, 2.0, params.rho)", "rng.normal(0.0, math.sqrt(2.0 / params.rho))"),),
    ),
}


def sources(algorithm: str, name: str, edits: Edits) -> dict[str, str]:
    """Return the files of a project's algorithm by name, with the edits in both."""
    twin = TWINS[algorithm].replace("-", "_")
    texts = [
        PACKAGE.sources()[registry.member("algorithm", member).path].decode()
        for member in (algorithm, TWINS[algorithm])
    ]
    for before, after in edits:
        assert any(before in text for text in texts), (name, before)
        texts = [text.replace(before, after) for text in texts]
    stem = name.replace("-", "_")
    own = texts[0].replace(f"dpbandits.algorithms.{twin}", f"vectors.algorithms._{stem}")
    return {f"{stem}.py": own, f"_{stem}.py": texts[1]}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the games of every algorithm show."""
    every = {**SOUND} | {name: (algorithm, edits) for name, (algorithm, _, edits) in BROKEN.items()}
    files = dict[str, str]()
    for name, (algorithm, edits) in every.items():
        files |= sources(algorithm, name, edits)
    return verdicts_of(every, files, "vectors", tmp_path_factory.mktemp("vectors"))


@pytest.mark.parametrize("name", BROKEN)
def test_a_leak_of_a_vector_fails(name: str, verdicts: dict[str, Any]) -> None:
    assert BROKEN[name][1] in verdicts[name].get("failed", verdicts[name])


@pytest.mark.parametrize("name", SOUND)
def test_declared_noise_on_vectors_passes(name: str, verdicts: dict[str, Any]) -> None:
    assert "noisy sums" in verdicts[name].get("passed", verdicts[name])
