"""Small wrong versions of the sources, to see which tests notice them: `make mutants`."""
