"""What many people say, in their own words, found without a list and without trust. See `protocol`."""
