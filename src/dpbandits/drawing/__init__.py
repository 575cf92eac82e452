"""Drawing of figures: shapes, styles, and the formats of pictures."""
