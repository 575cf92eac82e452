"""Drawing of figures; the only package that imports matplotlib."""
