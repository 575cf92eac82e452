"""Results on disk: blocks of runs, the fingerprint of their sources, and why one is missing."""
