"""Several jobs at once: multiruns, saved sweeps and the search for the best value."""
