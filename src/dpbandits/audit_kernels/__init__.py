"""Compiled games of the privacy audit."""
