"""The laws of the rewards, one per file: the folder is the registry."""
