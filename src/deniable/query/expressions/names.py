"""Names of functions that are not offered: why not, and what to write instead."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from deniable.errors import ExpressionError
from deniable.query.expressions.scan import Text

_SYNONYMS = {
    "len": "length",
    "char_length": "length",
    "left": "substring",
    "right": "substring",
    "pow": "power",
    "ceiling": "ceil",
    "trunc": "floor",
    "log": "ln",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "prefix": "starts_with",
    "startswith": "starts_with",
    "regexp_full_match": "regexp_matches",
    "regexp_like": "regexp_matches",
    "weekday": "dayofweek",
    "date_part": "year",
    "extract": "year",
    "datetrunc": "date_trunc",
    "to_timestamp": "strptime",
    "strip": "trim",
    "str_replace": "replace",
}
_AGGREGATES = frozenset(
    """sum avg mean count min max median mode quantile stddev variance var_samp string_agg list array_agg
    first last any_value arg_max arg_min approx_count_distinct row_number rank dense_rank percent_rank lag
    lead ntile cume_dist count_star""".split()
)
_VOLATILE = frozenset(
    """random rand setseed now today current_date current_time current_timestamp localtimestamp uuid uuidv4
    uuidv7 gen_random_uuid nextval currval get_current_timestamp transaction_timestamp txid_current
    getvariable getenv current_setting age""".split()
)


def unknown(written: Text, name: str, offered: Collection[str], place: int) -> ExpressionError:
    """Return the error for a function that is not among those `offered`."""
    low = name.lower()
    if low in _AGGREGATES:
        fix = "Ask for it in aggregate(...), as dn.sum or dn.count; an expression speaks of one row."
        return written.wrong(place, f"{name} mixes rows", fix)
    if low in _VOLATILE:
        fix = "An expression must give the same value each time; write the value itself."
        return written.wrong(place, f"{name} changes from call to call", fix)
    if low in ("if", "iif"):
        return written.wrong(place, f"{name} is not offered", "Write CASE WHEN ... THEN ... ELSE ... END.")
    if low in ("strftime", "to_char", "date_format", "format"):
        fix = "Write year(day), month(day) or day(day) for a number, or date_trunc('month', day) for a date."
        return written.wrong(place, f"{name} is not offered", fix)
    near = [_SYNONYMS[low]] if low in _SYNONYMS else get_close_matches(low, sorted(offered), 1)
    fix = f"Did you mean {near[0]}?" if near else f"Offered are {', '.join(sorted(offered))}."
    return written.wrong(place, f"there is no function {name}", fix)
