"""Kinds of cells: a policy on a bandit, a stopping rule on a stream, an audit of a policy.

The store and the planning code treat all kinds alike.
"""

from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment

Experiment = RegretExperiment | StoppingExperiment | AuditExperiment
