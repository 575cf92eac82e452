"""Curves as tidy tables: series, statistics over runs, committed references."""
