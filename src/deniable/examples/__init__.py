"""Data to try things on, installed with the package; none of it is about real people.

survey = dn.protect(dn.examples.colours(), unit="person")
"""

from __future__ import annotations

from pathlib import Path


def colours() -> Path:
    """Return the path of `colours.csv`: an open survey, 20,000 made-up people, free text answers."""
    return Path(__file__).with_name("colours.csv")
