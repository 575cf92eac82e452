"""dpbandits: the paper-figure factory for differentially private bandits."""

from dpbandits.core import importer

importer.install()
