"""Site of the documentation, and reports on papers."""
