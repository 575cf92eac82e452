"""Kernels of the privacy audit: they play games and count their outcomes."""
