"""Noise mechanisms, asked for by sensitivity and privacy budget."""
