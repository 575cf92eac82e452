"""Command line: every verb parses its arguments, calls the package and returns the exit status."""
