"""Specification of a figure: frozen values that say what to play, draw and claim."""
