"""Exact schemes: `fast/<name>.py` plays runs of `algorithms/<name>.py`, distributed alike, sooner.

A scheme plays unless the game is played per round or its `covers(params)` is False. Without this
folder the definitions play everything.
"""
