"""The algorithms, one per file: the folder is the registry."""
