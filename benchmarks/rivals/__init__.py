"""Programs that answer the common questions with other packages, each run in an environment of its own.

A program is started as a script with the data, the file to write and its options; it writes what it publishes
as Parquet and prints one line of JSON: `version`, `rows` published, `expresses`, and `note`: what its answer
has that ours has not, or the other way round. It uses the package's documented interface only.
"""
