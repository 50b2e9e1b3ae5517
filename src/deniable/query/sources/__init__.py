"""One module for each kind of thing that can hold the table; `deniable.query.source` chooses."""
