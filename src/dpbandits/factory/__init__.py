"""Production of figures: from a specification to the files of a figure."""
