"""Stopping rules: they read samples until they can tell the mean. One per file, the registry."""
