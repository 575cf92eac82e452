"""Pictures: the only package that knows matplotlib."""
