"""From text to sqlglot's tree: characters, tokens and depth are bounded before the parser sees anything."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError

from deniable.errors import ExpressionError

LONGEST = 4_000
MOST_TOKENS = 1_000
DEEPEST = 20
DEEPEST_TREE = 100
MOST_PREFIXES = 4

_EXAMPLE = "Write one SQL expression about a row, for example age >= 18 AND city = 'Rome'."
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES = frozenset({"NOT", "-", "+", "~", "INTERVAL", "!"})
_QUOTES = "‘’‚‛“”„‟«»‹›`´′″"
_WORDS = {
    "==": ("== compares in Python", "SQL compares with =."),
    "&&": ("&& is not SQL", "Write AND."),
    "!": ("! is not SQL", "Write NOT."),
    ";": ("one expression is expected, and ; ends it", _EXAMPLE),
    "?": ("? stands for a value that is not there", "Write the value itself."),
    "$": ("$ stands for a value that is not there", "Write the value itself."),
    "->": ("-> is not offered", "Expressions read whole columns, not parts of them."),
}


@dataclass(frozen=True, slots=True)
class Text:
    """What was written, and the argument that it was written for."""

    argument: str
    text: str

    def wrong(self, place: int, problem: str, fix: str) -> ExpressionError:
        """Return the error that points at `place`."""
        return ExpressionError(self.argument, self.text, place, problem, fix)

    def nearest(self, pattern: str, place: int) -> int:
        """Return where the pattern is found nearest to `place`; `place` itself if nowhere."""
        found = [match.start() for match in re.finditer(pattern, self.text, re.IGNORECASE)]
        return min(found, key=lambda start: abs(start - place), default=place)


class _Parser(DuckDB.Parser):  # type: ignore[valid-type, misc]
    """DuckDB's grammar with all functions left alike: a name and its arguments.

    % binds like * here, as it does in DuckDB; sqlglot before 30.20 let it bind like +.
    """

    TERM: ClassVar = {sign: kind for sign, kind in DuckDB.Parser.TERM.items() if sign is not TokenType.MOD}
    FACTOR: ClassVar = {**DuckDB.Parser.FACTOR, TokenType.MOD: exp.Mod}
    FUNCTIONS: ClassVar[dict[str, object]] = {}
    FUNCTION_PARSERS: ClassVar = {name: DuckDB.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": DuckDB.Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


def scan(argument: str, text: str) -> tuple[Text, exp.Expression]:
    """Return the text, ready to point into, and its syntax tree (nothing in it is trusted yet).

    Raises:  ExpressionError: empty, too long or deep, several statements, a comment, or not SQL at all.
    """
    if len(text) > LONGEST:
        fix = f"Write at most {LONGEST:,} characters; a derived column can hold a part of it."
        raise Text(argument, text[:72]).wrong(0, f"has {len(text):,} characters", fix)
    written = Text(argument, text)
    if not text.strip():
        raise written.wrong(0, "is empty", _EXAMPLE)
    _check_characters(written)
    tokens = _tokens(written)
    _check_tokens(written, tokens)
    _check_depth(written, tokens)
    return written, _parse(written, tokens)


def _check_characters(written: Text) -> None:
    for place, character in enumerate(written.text):
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} and character not in "\t\n\r":
            shown = Text(written.argument, written.text.encode("ascii", "replace").decode("ascii"))
            problem = f"has the invisible character U+{ord(character):04X}"
            raise shown.wrong(place, problem, "Remove it.")


def _tokens(written: Text) -> Sequence[Token]:
    try:
        tokens: Sequence[Token] = DuckDB().tokenize(written.text)
    except SqlglotError:
        place = _unclosed(written.text)
        if place is None:
            raise written.wrong(0, "cannot be read as SQL", _EXAMPLE) from None
        fix = "Close it; a quote inside text is written twice: 'it''s'."
        raise written.wrong(place, "this quote is not closed", fix) from None
    if not tokens:
        raise written.wrong(0, "is empty", _EXAMPLE)
    if len(tokens) > MOST_TOKENS:
        fix = f"Write at most {MOST_TOKENS:,} words and signs; a derived column can hold a part of it."
        raise written.wrong(tokens[MOST_TOKENS].start, f"has {len(tokens):,} words and signs", fix)
    return tokens


def _unclosed(text: str) -> int | None:
    """Return where the quote is that nothing closes."""
    opened: int | None = None
    for place, character in enumerate(text):
        if opened is None and character in "'\"":
            opened = place
        elif opened is not None and character == text[opened]:
            opened = None
    return opened


def _check_tokens(written: Text, tokens: Sequence[Token]) -> None:
    end = 0
    for token in tokens:
        if token.comments:
            between = re.search(r"--|/\*", written.text[end:])
            place = end + between.start() if between else token.start
            raise written.wrong(place, "comments are not allowed in it", "Remove the comment.")
        end = token.end + 1
        source = written.text[token.start : token.end + 1]
        if source.startswith(("'", '"')):
            if "\n" in source or "\r" in source:
                raise written.wrong(
                    token.start, "a line ends inside the quotes", "Close the quote before it."
                )
            continue
        if (word := _WORDS.get(source)) is not None:
            raise written.wrong(token.start, *word)
        for offset, character in enumerate(source):
            if character in _QUOTES:
                fix = "Text takes single quotes: 'blue'. A column name takes double quotes if it needs any."
                raise written.wrong(token.start + offset, f"{character} is not a quote in SQL", fix)
            if unicodedata.category(character) == "Cf":
                problem = f"has the invisible character U+{ord(character):04X}"
                raise written.wrong(token.start + offset, problem, "Remove it.")


def _check_depth(written: Text, tokens: Sequence[Token]) -> None:
    depth = prefixes = 0
    for token in tokens:
        prefixes = prefixes + 1 if token.text.upper() in _PREFIXES else 0
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth = max(depth - 1, 0)
        if depth > DEEPEST or prefixes > MOST_PREFIXES:
            raise too_deep(written, token.start)


def too_deep(written: Text, place: int) -> ExpressionError:
    fix = f"Nest at most {DEEPEST} deep, in shorter chains; a derived column can hold a part of it."
    return written.wrong(place, "is nested too deeply", fix)


def _parse(written: Text, tokens: Sequence[Token]) -> exp.Expression:
    try:
        trees = _Parser(dialect=DuckDB()).parse_into(exp.Condition, list(tokens), written.text)
    except ParseError as error:
        raise _unreadable(written, tokens, error) from None
    except RecursionError:
        raise too_deep(written, 0) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Expression):
        raise written.wrong(0, "is not one expression", _EXAMPLE)
    return trees[0]


def levels(tree: exp.Expression, looped: Callable[[exp.Expression, exp.Expression], bool]) -> int:
    """Return how deep the tree is for recursive code that walks parent and child in a loop where `looped`."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(part, level if looped(node, part) else level + 1) for part in node.iter_expressions()]
    return deepest


def _unreadable(written: Text, tokens: Sequence[Token], error: ParseError) -> ExpressionError:
    """Return the error at the token that sqlglot stopped at."""
    facts = error.errors[0] if error.errors else {}
    at = (facts.get("line"), facts.get("col"))
    token = next((token for token in tokens if (token.line, token.col) == at), tokens[-1])
    if "Expecting )" in str(facts.get("description")):
        return written.wrong(token.start, "a parenthesis is not closed", "Close it with ).")
    word = written.text[token.start : token.end + 1]
    if token is tokens[-1] and token.token_type not in (TokenType.R_PAREN, TokenType.VAR, TokenType.STRING):
        return written.wrong(token.start, f"something is missing after {word!r}", _EXAMPLE)
    if word.upper() in {"SELECT", "UNION", "FROM", "WITH", "EXCEPT", "INTERSECT"}:
        return written.wrong(token.start, f"{word} asks about other rows", _EXAMPLE)
    if tokens[0].text == "lambda":
        return written.wrong(0, "Python functions are not offered", _EXAMPLE)
    if is_word_of_sql(word):
        fix = f'If it is a column, write it in double quotes: "{word}".'
        return written.wrong(token.start, f"is not SQL from {word!r} on", fix)
    return written.wrong(token.start, f"is not SQL from {word!r} on", _EXAMPLE)


def is_word_of_sql(word: str) -> bool:
    """Return whether a name means something in SQL, so that a column of that name needs double quotes."""
    return word.upper() in DuckDB.Tokenizer.KEYWORDS
