"""One table of statistics per figure: curves, committed references, published points."""
