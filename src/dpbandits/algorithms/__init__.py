"""Algorithms: each file is one algorithm, named after the file."""
