"""Compute several figures, or a figure for several values of its keys: Hydra's program.

usage: dpbandits multirun figure=<name> [key=value,value ...]
       python experiments/run.py [-m] figure=<name> [key=value ...]

  dpbandits multirun figure=adap-c1,adap-c2       several figures
  dpbandits multirun figure=adap-c2 seed=1,2      a figure for each value
  dpbandits multirun sweep=alpha                  a saved multirun, from conf/sweep/
  dpbandits multirun figure=adap-c2 --cfg job     print only the configuration

Without -m, experiments/run.py makes one figure, as `dpbandits run` does. `+key=value` adds a key
that the figure's file lacks, `~key` deletes one, `+algorithm@figure.curves.mine=ucb` adds a curve.
--hydra-help prints Hydra's own options.
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from dpbandits.cli.process import load_factory, status_of
from dpbandits.kernel.errors import UserError, in_one_line

if TYPE_CHECKING:
    from omegaconf import DictConfig

MULTIRUN = "dpbandits.sweeps.multirun"  # imported when the jobs are known


def main() -> int:
    """Run the figure, or all jobs of a multirun; return the exit status.

    Hydra only collects the jobs: if it ran them, it would stop at a failure or report only the
    first.
    """
    arguments = sys.argv[1:]
    if {"-h", "--help"} & {*arguments}:
        print(__doc__, end="")
        return 0
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises its errors; each then becomes one line
    # Imported late, so that an error during the imports is reported in one line.
    import hydra

    from dpbandits.config import compose
    from dpbandits.files import project
    from dpbandits.run.progress import duration, reported
    from dpbandits.sweeps.jobs import Job

    check = _interrupts()
    jobs: list[Job] = []
    home, conf = os.getpid(), str(project.layers()[-1] / "conf")

    @hydra.main(version_base="1.3", config_path=conf, config_name="config")
    def task(composed: "DictConfig") -> None:
        check()
        job = Job(*compose.from_hydra(composed))
        if os.getpid() == home:
            jobs.append(job)
        # A launcher runs the job in another process, with a copy of the list; only an error gets
        # back.
        elif status := status_of(lambda: load_factory(MULTIRUN).produce([job], arguments, check)):
            raise UserError(
                f"a job of the multirun ended with status {status}; its output is below the folder"
                " .submitit of the multirun"
            )

    elsewhere = any(arg.startswith("hydra/launcher=") for arg in arguments)

    def line(seconds: float) -> str:
        return f"multirun: composing; {len(jobs)} jobs are read after {duration(seconds)}"

    try:
        with (
            warnings.catch_warnings(),
            compose.one_line_errors(arguments),
            reported(line, shown=not elsewhere),
        ):
            warnings.filterwarnings("error", r"Callback \S+ raised ", UserWarning)
            task()
    except UserWarning as error:  # Hydra would go on
        raise UserError(f"the multirun is not complete: {error}") from error
    except OSError as error:  # from Hydra, which makes the folder of a multirun
        raise UserError(f"cannot use {error.filename}: {error.strerror} (paths.out)") from error
    except Exception as error:
        if elsewhere and "srun" in str(error):
            raise UserError(
                "the launcher finds no SLURM on this machine: start on one that has srun, or try"
                " hydra/launcher=submitit_local"
            ) from error
        # submitit, which is optional: a job was refused, killed, or reached its time limit.
        if type(error).__module__.partition(".")[0] != "submitit":
            raise
        raise UserError(
            f"submitit did not complete a job of the multirun: {in_one_line(error)}; the same"
            " command continues from there (hydra.launcher.timeout_min=... allows more time)"
        ) from error
    if not jobs and elsewhere:
        return 0  # all jobs ran in other processes
    return int(load_factory(MULTIRUN).produce(jobs, arguments, check))


def _interrupts() -> Callable[[], None]:
    # The function raises the interrupt that a destructor, which ran just then, has swallowed.
    seen = list[int]()

    def interrupt(number: int, _: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if seen:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as it is in the background
        signal.signal(signal.SIGINT, interrupt)
    return check
