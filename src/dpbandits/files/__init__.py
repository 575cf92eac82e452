"""Paths, atomic writes and provenance."""
