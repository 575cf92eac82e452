"""Stopping rules, which read samples until they can estimate the mean: one rule per file."""
