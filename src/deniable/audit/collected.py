"""What collects from people who trust nobody, as subjects of the audit: one function for each area."""

from __future__ import annotations

from collections.abc import Iterator

from deniable.audit.subjects import Subject


def collected() -> list[Subject]:
    """Return the protocols of `deniable.local` as subjects; each area has a function of its own."""
    parts: tuple[Iterator[Subject], ...] = ()
    return [subject for part in parts for subject in part]
