"""Noise mechanisms, specified by sensitivity and privacy budget."""
