"""What runs SQL: an engine filters, bounds and counts in integers; it never makes noise."""
