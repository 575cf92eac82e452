"""Words of the kinds of experiment: each file is one kind, named after the file of its numbers."""
