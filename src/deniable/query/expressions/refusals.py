"""Why a piece of SQL is not offered, in words, and what to write instead."""

from __future__ import annotations

from sqlglot import exp

from deniable.errors import ExpressionError
from deniable.query.expressions.scan import Text

_ROWS = "An expression speaks of one row; ask about many with aggregate(...)."
_NOT_THERE = "Write the value itself."
_MOMENT = "An expression must give the same value each time; write the date itself, as '2024-12-31'."
_WHOLE = "Columns are read whole."

_REASONS = {
    "Select": ("a query asks about other rows", _ROWS),
    "Subquery": ("a subquery asks about other rows", _ROWS),
    "Exists": ("EXISTS asks about other rows", _ROWS),
    "Any": ("ANY asks about other rows", _ROWS),
    "All": ("ALL asks about other rows", _ROWS),
    "Window": ("OVER looks at other rows", _ROWS),
    "Filter": ("FILTER belongs to an aggregate", _ROWS),
    "IgnoreNulls": ("this belongs to an aggregate", _ROWS),
    "WithinGroup": ("this belongs to an aggregate", _ROWS),
    "Distinct": ("DISTINCT looks at other rows", _ROWS),
    "Order": ("ORDER BY looks at other rows", _ROWS),
    "Star": ("* names no column", "Write the name of one column."),
    "Columns": ("COLUMNS names no column", "Write the name of one column."),
    "Placeholder": ("a parameter has no value here", _NOT_THERE),
    "Parameter": ("a parameter has no value here", _NOT_THERE),
    "SessionParameter": ("a setting has no value here", _NOT_THERE),
    "Lambda": ("functions cannot be written in an expression", _ROWS),
    "Kwarg": ("named arguments are not offered", "Write the arguments in order."),
    "PropertyEQ": ("named arguments are not offered", "Write the arguments in order."),
    "Alias": ("AS names nothing here", "Give the name as derive(name=...)."),
    "Tuple": ("a list is not one value", "Write one expression."),
    "Bracket": ("[...] is not offered", _WHOLE),
    "Dot": (". is not offered", _WHOLE),
    "Struct": ("{...} is not offered", _WHOLE),
    "Array": ("[...] is not offered", _WHOLE),
    "Interval": ("INTERVAL is not offered", "Compare dates, or use date_trunc, year, month and day."),
    "CurrentDate": ("the current date changes from call to call", _MOMENT),
    "CurrentTime": ("the current time changes from call to call", _MOMENT),
    "CurrentTimestamp": ("the current time changes from call to call", _MOMENT),
    "Localtime": ("the current time changes from call to call", _MOMENT),
    "Localtimestamp": ("the current time changes from call to call", _MOMENT),
    "Pow": ("^ and ** are not offered", "Write power(a, b)."),
    "Abs": ("@ is not offered", "Write abs(a)."),
    "BitwiseAnd": ("& is not offered", "Write AND between conditions; arithmetic has + - * / // %."),
    "BitwiseOr": ("| is not offered", "Write OR between conditions; arithmetic has + - * / // %."),
    "BitwiseNot": ("~ is not offered", "Write NOT before a condition."),
    "BitwiseLeftShift": ("<< is not offered", "Arithmetic has + - * / // %."),
    "BitwiseRightShift": (">> is not offered", "Arithmetic has + - * / // %."),
    "Collate": ("COLLATE is not offered", "Write lower(...) on both sides."),
    "AtTimeZone": ("AT TIME ZONE is not offered", "Timestamps have no zone here."),
    "RegexpLike": ("~ is not offered", "Write regexp_matches(text, 'pattern')."),
    "RegexpFullMatch": ("~ is not offered", "Write regexp_matches(text, 'pattern')."),
    "Escape": ("ESCAPE is not offered", "Write contains(text, '%'), or regexp_matches."),
    "NullSafeEQ": ("IS NOT DISTINCT FROM is not offered", "Write = and IS NULL."),
    "NullSafeNEQ": ("IS DISTINCT FROM is not offered", "Write <> and IS NULL."),
    "Concat": ("two texts stand side by side", "Join them with ||."),
    "ByteString": ("only plain '...' text is offered", "Write it in single quotes, without a letter before."),
    "National": ("only plain '...' text is offered", "Write it in single quotes, without a letter before."),
    "RawString": ("only plain '...' text is offered", "Write it in single quotes."),
}

_MARKS = {
    "Select": r"\bselect\b",
    "Subquery": r"\bselect\b",
    "Exists": r"\bexists\b",
    "Any": r"\bany\b",
    "All": r"\ball\b",
    "Window": r"\bover\b",
    "In": r"\bin\b",
    "Array": r"\[",
    "Bracket": r"\[",
    "Struct": r"\{",
    "Pow": r"\^|\*\*|\bpow",
    "RegexpLike": r"~",
    "RegexpFullMatch": r"~",
    "BitwiseAnd": r"&",
    "BitwiseOr": r"\|",
    "BitwiseNot": r"~",
    "BitwiseLeftShift": r"<<",
    "BitwiseRightShift": r">>",
    "Collate": r"\bcollate\b",
    "AtTimeZone": r"\bat\b",
    "Escape": r"\bescape\b",
    "Interval": r"\binterval\b",
    "Placeholder": r"[:?$]",
}
"""The words that are looked for, to point at."""


def refused(
    written: Text, node: exp.Expression, place: int, *, argument: str | None = None
) -> ExpressionError:
    """Return the error for a node that is not offered, or for one of its arguments."""
    if isinstance(node, exp.Column):
        fix = "There is one table here: write the column's name alone, in double quotes if it has a dot."
        return written.wrong(place, "a column has no table name before it", fix)
    if isinstance(node, exp.In):
        return written.wrong(
            written.nearest(_MARKS["In"], place),
            "IN takes literal values",
            "Write the values out: IN ('red', 'blue').",
        )
    kind = type(node).__name__
    if kind in _MARKS:
        place = written.nearest(_MARKS[kind], place)
    known = _REASONS.get(kind)
    if known is not None and argument is None:
        return written.wrong(place, *known)
    what = kind.upper() if argument is None else f"{argument.upper()} in {kind.upper()}"
    fix = "Use the operators and functions that row-wise expressions offer; the documentation lists them."
    return written.wrong(place, f"{what} is not offered", fix)
