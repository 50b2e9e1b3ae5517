"""From a question about a table to a release: what may be asked, how it is bounded, what is counted."""
