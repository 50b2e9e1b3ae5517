"""Exact integer noise at array speed: samplers only. What a draw costs is told by `events`."""
