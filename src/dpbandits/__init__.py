"""dpbandits: the paper-figure factory for differentially private bandits."""
