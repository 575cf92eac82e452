"""Several jobs at once: multiruns and saved sweeps."""
