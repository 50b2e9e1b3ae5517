"""Published mechanisms, run again and checked. Nothing here protects anybody: import it to study it."""
