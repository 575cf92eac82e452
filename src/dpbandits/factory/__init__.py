"""One figure from its specification to its files."""
