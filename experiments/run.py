"""Hydra's entry: `python experiments/run.py figure=adap-ksweep [key=value ...]`."""

import os
import sys

from dpbandits.cli import guarded, status_of

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # let its errors through, they become one line each


def main() -> int:
    """All jobs; the largest of their statuses."""
    # Imported late, so that an interrupt meanwhile is told in a line.
    import hydra
    from omegaconf import DictConfig

    from dpbandits import config, factory

    statuses = [0]

    @hydra.main(version_base="1.3", config_path="../conf", config_name="config")
    def task(composed: DictConfig) -> None:
        # One job. Errors of our own end here: Hydra would add words of its own to them.
        statuses.append(status_of(lambda: factory.produce(*config.from_hydra(composed))))

    with config.one_line_errors(sys.argv[1:]):
        task()
    return max(statuses)


if __name__ == "__main__":
    guarded(main)
