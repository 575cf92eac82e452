"""Laws of the rewards: each file is one law, named after the file."""
