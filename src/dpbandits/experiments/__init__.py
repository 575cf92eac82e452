"""Experiments: what is played, and what each kind of experiment says of it."""
