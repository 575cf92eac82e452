"""Curves as tidy tables: series, statistics over runs and committed references."""
