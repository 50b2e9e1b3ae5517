"""`review`: is a saved release what it says it is? For whoever must answer for it.

A release folder is read back as the value that it was (`saved`), and then

| check     | asks                                                                                      |
|-----------|-------------------------------------------------------------------------------------------|
| files     | are all five there?                                                                       |
| versions  | were they written by this version of the package, in formats that it knows?              |
| record    | is release.json what this release writes, field by field?                                 |
| promise   | is (epsilon, delta) proved to cover the events, threshold and all?                        |
| events    | do they follow from the plan: bounds, shares, threshold, one noise for each column?        |
| statement | is statement.txt what the facts say, to the letter?                                       |
| table     | does table.parquet fit the plan: columns, rows, intervals as wide as the noise, threshold?|
| csv, page | do table.csv and page.html say the same as the table?                                     |
| noise     | did it come from the operating system, and not from a seed?                               |
| ledger    | is the release in the ledger, for these events and numbers, and is the ledger sound?      |

What this cannot see: whether the data were what they should have been; and, without a ledger, numbers that
were made up together with all that follows from them. A ledger keeps the hash of the numbers that a release
published (`fingerprint`). Whoever can write the ledger can change that too, but not unseen by the head of any
later release: publish heads.
"""

from __future__ import annotations

from deniable.query.review.checks import review
from deniable.query.review.findings import Finding, Review
from deniable.query.review.loading import load

__all__ = ["Finding", "Review", "load", "review"]
