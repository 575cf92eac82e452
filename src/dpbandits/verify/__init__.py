"""Contract of one algorithm: checks, each with its remedy."""
