"""The command line: verbs parse, call and give the exit status."""
