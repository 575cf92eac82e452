"""Plan the runs that are missing and play them, on threads or on a cluster."""
