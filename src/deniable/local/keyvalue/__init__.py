"""Keys with a number each, from people who trust nobody. See `protocol`."""
