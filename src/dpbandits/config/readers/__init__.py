"""Readers for the parts of a figure: each checks its keys and builds a frozen value."""
