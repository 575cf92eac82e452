"""Exact schemes: `fast/<name>.py` plays `algorithms/<name>.py` faster, with runs distributed alike.

A scheme plays unless the game is played per round or its `covers(params)` is False. Without this
folder the definitions play everything.
"""
