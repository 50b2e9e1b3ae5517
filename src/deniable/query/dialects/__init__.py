"""How the package's one kind of SQL tree, DuckDB's, is said in other engines' dialects."""
