"""Entry point for Hydra: `python experiments/run.py [-m] figure=adap-ksweep [key=value ...]`."""

from dpbandits.cli.multirun import main
from dpbandits.cli.process import guarded

if __name__ == "__main__":
    guarded(main)
