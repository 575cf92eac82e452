"""Comparisons with references and with the claims of the papers."""
