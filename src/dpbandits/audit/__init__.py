"""Black-box audit: lower bounds on an algorithm's privacy loss, measured by playing it."""
