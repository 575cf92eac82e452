"""Specification of a figure: frozen values for what to play, what to draw and what is claimed."""
