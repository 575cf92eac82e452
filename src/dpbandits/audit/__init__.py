"""The black-box audit: how much privacy an algorithm loses at least, measured by playing it."""
