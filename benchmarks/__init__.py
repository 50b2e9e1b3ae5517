"""Programs that print one table each; `python -m benchmarks.run` runs them all."""
