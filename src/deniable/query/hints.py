"""What to write instead, for people who come from data frames."""

from __future__ import annotations

_PRIVATE = "rows are private; see .schema for names and types, or release a count"
_HINTS = {
    "filter": "write .where('age >= 18')",
    "query": "write .where('age >= 18')",
    "with_columns": "write .derive(hue='lower(colour)')",
    "with_column": "write .derive(hue='lower(colour)')",
    "assign": "write .derive(hue='lower(colour)')",
    "mutate": "write .derive(hue='lower(colour)')",
    "merge": "write .join(public_table, on='country')",
    "join_asof": "write .join(public_table, on='country')",
    "agg": "write .aggregate(people=dn.units())",
    "summarise": "write .aggregate(people=dn.units())",
    "summarize": "write .aggregate(people=dn.units())",
    "groupby": "write .group_by('colour')",
    "value_counts": "write .group_by('colour').aggregate(people=dn.units())",
    "select": "name columns in .group_by and .aggregate; no others are read",
    "columns": "write .schema",
    "dtypes": "write .schema",
    "shape": _PRIVATE,
    "head": _PRIVATE,
    "tail": _PRIVATE,
    "show": _PRIVATE,
    "collect": _PRIVATE,
    "describe": _PRIVATE,
    "sample": _PRIVATE,
    "to_pandas": _PRIVATE,
    "to_arrow": _PRIVATE,
    "execute": "write .plan(epsilon=1), look at it, then .release()",
}


def hint(owner: str, name: str) -> str:
    """Return the text of the AttributeError for `owner.name`."""
    said = f"{owner} has no attribute {name!r}"
    return f"{said}: {_HINTS[name]}" if name in _HINTS else said
