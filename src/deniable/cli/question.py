"""From options to a query and its plan: nothing here reads a row of the protected file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from deniable.cli.failures import speaking_of
from deniable.cli.options import Options
from deniable.errors import ParameterError

if TYPE_CHECKING:
    from deniable.query.aggregates import Aggregate
    from deniable.query.plan import Plan
    from deniable.query.question import Groups, Query
    from deniable.query.schema import Schema
    from deniable.query.survey import Survey

_DELIMITERS = {"tab": "\t", "\\t": "\t"}
_SHARE = ":share="


def planned(options: Options, ledger: str | None = None) -> Plan:
    """Return the plan of what was asked.

    Raises:  ParameterError, SourceError, LedgerError: with the option that is wrong, and what to write.
    """
    if options.epsilon is None:
        fix = "Give what this may cost, for example --epsilon 1."
        raise ParameterError("--epsilon", None, "is missing", fix)
    noise: Any = options.noise
    return _query(options, ledger).plan(
        epsilon=options.epsilon,
        delta=options.delta,
        confidence=options.confidence,
        noise=noise,
        coverage=not options.no_coverage,
        allow_large_delta=options.allow_large_delta,
    )


def _query(options: Options, ledger: str | None) -> Query:
    survey = _survey(options, ledger)
    groups = _groups(options, survey)
    asked = _outputs(options, survey.schema)
    return (survey if groups is None else groups).aggregate(**asked)


def _survey(options: Options, ledger: str | None) -> Survey:
    from deniable.ledger import Ledger
    from deniable.query.survey import ROW, protect

    if options.unit is None and not options.per_row:
        fix = (
            "Write --unit COLUMN, the column that says whose a row is, or --per-row if each row stands alone."
        )
        raise ParameterError("--unit", None, "is missing", fix)
    if options.unit is not None and options.per_row:
        raise ParameterError("--unit", options.unit, "contradicts --per-row", "Leave one of them out.")
    delimiter = options.delimiter
    types = _pairs("--types", options.types, "age=integer", last=True)
    survey = protect(
        types if options.data is None else options.data,
        unit=ROW if options.unit is None else options.unit,
        population=options.population,
        types=None if options.data is None else types,
        delimiter=None if delimiter is None else _DELIMITERS.get(delimiter, delimiter),
        ledger=None if ledger is None else Ledger.open(ledger),
        name=options.name,
    )
    survey = _joined(options, survey)
    for name, text in _pairs("--derive", options.derive, "hue=lower(colour)").items():
        with speaking_of(f"--derive {name}"):
            survey = survey.derive(**{name: text})
    for condition in options.where or ():
        survey = survey.where(condition)
    return survey


def _joined(options: Options, survey: Survey) -> Survey:
    """Return the survey with every public file beside it; in text files keys get the type they have here."""
    files, keys = options.join or [], options.on or []
    if len(files) != len(keys):
        fix = "Write --join FILE --on COLUMN, or --on COLUMN=OTHER where the file calls it otherwise."
        raise ParameterError("--join and --on", f"{len(files)} and {len(keys)}", "must come in pairs", fix)
    for file, words in zip(files, keys, strict=True):
        on = {own: other or own for own, _, other in (one.partition("=") for one in words.split(","))}
        with speaking_of(f"--join {file}"):
            survey = survey.join(file, on=on, types=_types_of_keys(file, on, survey))
    return survey


def _types_of_keys(file: str, on: dict[str, str], survey: Survey) -> dict[str, str] | None:
    """Return the types to declare of the keys of a CSV file, which are text otherwise."""
    if file.casefold().removesuffix(".gz").endswith((".parquet", ".jsonl", ".ndjson", ".json")):
        return None
    return {other: survey.schema.find(own, "on").type.value for own, other in on.items()}


def _pairs(option: str, given: list[str] | None, example: str, *, last: bool = False) -> dict[str, str]:
    """Return NAME=TEXT options as a mapping. Types have no = in them, names of derived columns have none."""
    pairs: dict[str, str] = {}
    for words in given or ():
        name, sign, text = words.rpartition("=") if last else words.partition("=")
        if not sign or not name or not text:
            raise ParameterError(
                option, words, "needs a name and =", f"Write for example {option} '{example}'."
            )
        if name in pairs:
            raise ParameterError(option, words, "gives a name twice", "Use each name once.")
        pairs[name] = text
    return pairs


def _groups(options: Options, survey: Survey) -> Groups | None:
    """Return the survey in groups; None if totals were asked for."""
    if not options.group_by:
        for option, value in (("max_groups", options.max_groups), ("max_keys", options.max_keys)):
            _only_with_groups(option, value)
        for option, words in (("over", options.over), ("selection", options.selection)):
            _only_with_groups(option, words)
        _only_with_groups("share", options.share)
        _only_with_groups("keys", options.keys)
        _only_with_groups("other", options.other or None)
        return None
    from deniable.cli.keys import read_keys

    columns = [survey.schema.find(name, "group_by") for name in options.group_by]
    over: Any = options.over
    named = {"max_keys": options.max_keys, "selection": options.selection, "share": options.share}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return survey.group_by(
        *options.group_by,
        max_groups=_most("--max-groups", options.max_groups),
        over=over,
        keys=None if options.keys is None else read_keys(options.keys, columns),
        other=options.other,
        **given,
    )


def _only_with_groups(name: str, value: object) -> None:
    if value is not None:
        option = "--" + name.replace("_", "-")
        raise ParameterError(option, value, "means nothing for totals", "Add --group-by COLUMN.")


def _outputs(options: Options, schema: Schema) -> dict[str, Aggregate]:
    """Return the aggregates by the names of their columns."""
    outputs: dict[str, Aggregate] = {}
    for option, name, aggregate in _asked(options, schema):
        if name in outputs:
            raise ParameterError(option, name, "would be published twice", "Write NAME= before the column.")
        outputs[name] = aggregate
    if not outputs:
        fix = "Add --units, --count, --sum COLUMN:LOW:HIGH or --mean COLUMN:LOW:HIGH."
        raise ParameterError("the question", None, "is missing", fix)
    return outputs


def _asked(options: Options, schema: Schema) -> Iterator[tuple[str, str, Aggregate]]:
    from deniable.query import aggregates

    rows = _most("--max-rows", options.max_rows)
    if options.units is not None:
        with speaking_of(f"--units {options.units}".rstrip()):
            yield "--units", "units", aggregates.units(share=_of_units(options.units))
    for given in options.count or ():
        words, share = _parted("--count", given, schema)
        name, column = _named(words, schema)
        with speaking_of(f"--count {given}".rstrip()):
            counted = aggregates.count(column or None, max_rows=rows, share=share)
        yield "--count", name or (f"{column}_count" if column else "count"), counted
    for given in options.distinct or ():
        words, share = _parted("--distinct", given, schema)
        name, column = _named(words, schema)
        with speaking_of(f"--distinct {given}"):
            different = aggregates.distinct(column, max_values=options.max_values, share=share)
        yield "--distinct", name or f"{column}_distinct", different
    for kind in ("sum", "mean", "variance", "std", "median", "minimum", "maximum"):
        make = getattr(aggregates, kind)
        for given in getattr(options, kind) or ():
            words, share = _parted(f"--{kind}", given, schema)
            name, column, bounds = _bounded(f"--{kind}", words, schema)
            with speaking_of(f"--{kind} {given}"):
                asked = make(column, bounds=bounds, max_rows=rows, share=share)
            yield f"--{kind}", name or f"{column}_{kind}", asked
    for given in options.quantile or ():
        words, share = _parted("--quantile", given, schema)
        name, column, bounds, shares = _shared(words, schema)
        with speaking_of(f"--quantile {given}"):
            found = aggregates.quantile(column, shares, bounds=bounds, max_rows=rows, share=share)
        yield "--quantile", name or f"{column}_quantile", found
    for given in options.histogram or ():
        words, share = _parted("--histogram", given, schema)
        name, column, edges = _edged(words, schema)
        with speaking_of(f"--histogram {given}"):
            binned = aggregates.histogram(column, edges=edges, max_rows=rows, share=share)
        yield "--histogram", name or f"{column}_histogram", binned


def _of_units(words: str) -> str | None:
    """Return the share in `--units share=0.5`; None where nothing follows."""
    mark, sign, share = words.removeprefix(":").partition("=")
    if words and (mark != "share" or not sign):
        fix = "Write --units, or --units share=0.5 for half of the budget of all columns."
        raise ParameterError("--units", words, "takes a share alone", fix)
    return share if sign else None


def _parted(option: str, words: str, schema: Schema) -> tuple[str, str | None]:
    """Split the share off the end: spend:0:100:share=0.5. A column of that very name is found first."""
    if _SHARE not in words or _is_column(_named(words, schema)[1], schema):
        return words, None
    asked, _, share = words.rpartition(_SHARE)
    if ":" in share:
        fix = f"Write the share last, for example {option} spend:0:100:share=0.5."
        raise ParameterError(option, words, "has something after its share", fix)
    return asked, share


def _is_column(words: str, schema: Schema) -> bool:
    return any(column.name.casefold() == words.casefold() for column in schema.columns)


def _most(option: str, words: str | None) -> Any:
    """Return a whole number, or "auto"."""
    if words is None or words == "auto":
        return words
    if not words.strip().lstrip("+-").isdecimal():
        raise ParameterError(option, words, "must be a whole number", f"Write {option} 3, or {option} auto.")
    return int(words)


def _bounded(option: str, words: str, schema: Schema) -> tuple[str | None, str, tuple[str, str] | str]:
    """Split [NAME=]COLUMN:LOW:HIGH from the right, or COLUMN:auto: a column's name may hold colons."""
    automatic, sign, auto = words.rpartition(":")
    if automatic and sign and auto == "auto":
        return *_named(automatic, schema), auto
    parts = words.rsplit(":", 2)
    if len(parts) < 3 or not parts[0]:
        fix = f"Write {option} [NAME=]COLUMN:LOW:HIGH, for example {option} spend:0:100."
        raise ParameterError(option, words, "needs a column and two bounds", fix)
    name, column = _named(parts[0], schema)
    return name, column, (parts[1], parts[2])


def _shared(words: str, schema: Schema) -> tuple[str | None, str, tuple[str, str] | str, list[str]]:
    """Split [NAME=]COLUMN:LOW:HIGH:Q,Q from the right."""
    bounded, _, shares = words.rpartition(":")
    if bounded.count(":") < 2 and not bounded.endswith(":auto"):
        fix = "Write --quantile [NAME=]COLUMN:LOW:HIGH:Q,Q, for example --quantile spend:0:100:0.25,0.5."
        raise ParameterError("--quantile", words, "needs a column, two bounds and shares", fix)
    return *_bounded("--quantile", bounded, schema), shares.split(",")


def _edged(words: str, schema: Schema) -> tuple[str | None, str, list[str]]:
    """Split [NAME=]COLUMN:EDGE,EDGE,... from the right."""
    head, sign, edges = words.rpartition(":")
    if not sign or not head:
        fix = "Write --histogram [NAME=]COLUMN:EDGE,EDGE,..., for example --histogram age:0,18,65,120."
        raise ParameterError("--histogram", words, "needs a column and the edges of its bins", fix)
    return *_named(head, schema), edges.split(",")


def _named(words: str, schema: Schema) -> tuple[str | None, str]:
    """Split [NAME=]COLUMN; a column whose own name holds = is found first."""
    if _is_column(words, schema):
        return None, words
    name, sign, column = words.partition("=")
    return (name, column) if sign and name else (None, words)
