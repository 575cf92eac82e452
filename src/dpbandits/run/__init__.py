"""Planning and playing of missing runs, on threads or on a cluster."""
