"""Hydra's entry: `python experiments/run.py figure=adap-ksweep [key=value ...]`."""

import os

os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # let its errors through, they become one line each

import sys

import hydra
from omegaconf import DictConfig

from dpbandits import config, factory
from dpbandits.cli import guarded

statuses = [0]


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def task(composed: DictConfig) -> None:
    spec, settings = config.from_hydra(composed)
    statuses.append(factory.produce(spec, settings))


def main() -> int:
    with config.one_line_errors(sys.argv[1:]):
        task()
    return max(statuses)


if __name__ == "__main__":
    guarded(main)
