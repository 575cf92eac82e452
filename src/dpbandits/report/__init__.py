"""Reproducibility reports: a page per paper and one over all, from the committed evidence."""
