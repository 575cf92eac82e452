"""Python interface: the functions and classes that `import dpbandits` offers."""
