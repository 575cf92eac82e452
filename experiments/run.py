"""Hydra's entry: `python experiments/run.py figure=adap-ksweep [key=value ...]`."""

import os
import sys

from dpbandits.cli import guarded, load_factory, status_of

os.environ["HYDRA_FULL_ERROR"] = "1"  # let its errors through, they become one line each


def main() -> int:
    """All jobs; the largest of their statuses."""
    # Imported late: an interrupt meanwhile, or what goes wrong at an import, is told in one line.
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from dpbandits import config
    from dpbandits.errors import UserError

    statuses, home = [0], os.getpid()

    @hydra.main(version_base="1.3", config_path="../conf", config_name="config")
    def task(composed: DictConfig) -> None:
        # One job. Errors of our own end here: Hydra would add words of its own to them.
        status = status_of(lambda: load_factory().produce(*config.from_hydra(composed)))
        statuses.append(status)
        if status and os.getpid() != home:
            # A launcher played it elsewhere, with a copy of the list: errors find the way home.
            job = HydraConfig.get()
            raise UserError(
                f"job {job.job.num} of the multirun ended with status {status}; what it said is"
                f" below {job.sweep.dir}/.submitit"
            )

    with config.one_line_errors(sys.argv[1:]):
        task()
    return max(statuses)


if __name__ == "__main__":
    guarded(main)
