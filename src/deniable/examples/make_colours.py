"""How `colours.csv` was made: an open survey in which no real person took part.

    python -m deniable.examples.make_colours [PATH]

20,000 people were asked: "What is your favourite colour? And what did you spend on paint last month?"
They answered in free text: in capitals, with spaces, in their own language, with an emoji, a joke, two
answers, or none. Most colours are common, hundreds were given by a few people, and some by one alone.

| column | what it holds                                                                         |
|--------|---------------------------------------------------------------------------------------|
| person | a number; a person with several answers has several rows                              |
| colour | free text, possibly empty                                                             |
| age    | years, sometimes empty, sometimes words                                               |
| spend  | money, sometimes empty, sometimes words, sometimes far above what one spends on paint |

Every choice is drawn from SHA-256 of a counter: the same file on every machine, byte for byte.
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

PEOPLE = 20_000

COMMON = {
    "blue": 5200, "green": 2700, "red": 2350, "purple": 1750, "black": 1240, "pink": 960, "orange": 600,
    "turquoise": 470, "grey": 380, "white": 290, "teal": 250, "brown": 200, "navy": 165, "lilac": 130,
    "gold": 110, "maroon": 95, "silver": 80, "beige": 70, "violet": 62, "burgundy": 55, "sky blue": 48,
    "lavender": 42, "mint": 38, "coral": 34, "olive": 30, "cyan": 26, "magenta": 24,
}  # fmt: skip
"""Answers that are common after `lower(trim(colour))`, with their weights."""

ELSEWHERE = {
    "bleu": 40, "azul": 60, "blau": 45, "rot": 22, "grün": 26, "verde": 48, "vert": 20, "rouge": 18,
    "rojo": 30, "morado": 10, "синий": 16, "зелёный": 7, "красный": 9, "青": 18, "蓝色": 25, "红色": 22,
    "緑": 6, "파랑": 7, "보라색": 3, "أزرق": 9, "أحمر": 5, "כחול": 4, "सफ़ेद": 3, "नीला": 8, "niebieski": 14,
    "modrá": 6, "blå": 12, "yeşil": 6, "μπλε": 5, "สีฟ้า": 3, "xanh lá": 3,
}  # fmt: skip
"""The same in other languages."""

ODD = {
    "💙": 35, "💚": 14, "❤️": 22, "🌈": 26, "rainbow": 40, "transparent": 12, "clear": 6, "none": 60,
    "n/a": 25, "-": 40, "?": 18, "no idea": 21, "i don't know": 33, "all of them": 30, "any": 12, "null": 3,
    "42": 14, "plaid": 5, "octarine": 6, "hooloovoo": 2, "#00ff00": 3, "#663399": 4, "rgb(0,0,255)": 1,
    "red, white and blue": 7, "blue or green": 9, "blue. no, green!": 2, "depends": 11,
    "the one on my bike": 1, "ask my husband": 2, "my cat's": 1, "yes": 8, "asdf": 3,
    "whatever is on sale": 2, "=1+1": 1, "blurple": 3, "greige": 6, "mauve": 12,
    "puce": 2, "taupe": 8, "chartreuse": 9, "periwinkle": 11, "cerulean": 8, "vermilion": 3, "aubergine": 7,
    "sea foam": 4, "british racing green": 9, "royal blue": 15, "navy blue": 24, "dark blue": 20,
    "forest green": 13, "hot pink": 14, "blu": 5, "bleue": 2, "gren": 4, "purpel": 3, "ornage": 2,
    "gray": 120,
}  # fmt: skip
"""Emoji, jokes, refusals, slips and shades."""

SHADES = (
    "pale deep dusty bright dark light soft warm cold muted electric smoky pastel neon royal midnight icy "
    "burnt faded milky rusty stormy sandy mossy"
).split()
THINGS = (
    "blue green red purple rose teal peach plum slate amber copper indigo ivory khaki lemon lime ochre "
    "salmon sand rust wine mustard apricot jade"
).split()
"""Of one and of the other: hundreds of colours that a few people, or one alone, would name."""

RARE = {
    "ultramarine": 1, "yellow": 2, 'burnt "orange"': 1, "<b>bold</b> red": 1, "'; drop table colours; --": 1,
}  # fmt: skip
"""Given by exactly so many people: what a threshold must hide."""


class Dice:
    """Whole numbers from SHA-256 of a counter, the same for ever."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, limit: int) -> int:
        """Return a number from 0 to limit - 1 (biased by less than 2**-200, which no survey notices)."""
        digest = hashlib.sha256(f"{self._seed} {self._drawn}".encode()).digest()
        self._drawn += 1
        return int.from_bytes(digest, "big") % limit

    def one(self, of: Sequence[str]) -> str:
        """Return one of the texts."""
        return of[self.below(len(of))]

    def weighted(self, of: dict[str, int]) -> str:
        """Return one of the texts, by weight."""
        place = self.below(sum(of.values()))
        return next(text for text, end in zip(of, accumulate(of.values()), strict=True) if place < end)


def text() -> str:
    """Return the whole file."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["person", "colour", "age", "spend"])
    lines.writerows(_rows(Dice("favourite colours")))
    return out.getvalue()


def _rows(dice: Dice) -> Iterator[list[str]]:
    """Yield the answers, person by person, in the order in which they were given."""
    rare = [colour for colour, people in RARE.items() for _ in range(people)]
    chosen = dict(zip(range(1_234, PEOPLE, PEOPLE // len(rare)), rare, strict=True))
    for number in range(PEOPLE):
        person, age = str(10_000 + number), _age(dice)
        for answer in range(_answers(dice, number in chosen)):
            if number in chosen:
                colour = chosen[number]
            elif answer and dice.below(4) == 0:
                colour = ""
            else:
                colour = _written(dice, _colour(dice))
            yield [person, colour, age, _spend(dice)]


def _answers(dice: Dice, single: bool) -> int:
    """Return how many rows a person has: mostly one, sometimes a few, and a few people 150."""
    roll = dice.below(10_000)
    if single or roll < 9_600:
        return 1
    if roll < 9_998:
        return 2 + (roll % 10 == 0) + (roll % 30 == 0)
    return 150


def _colour(dice: Dice) -> str:
    roll = dice.below(1_000)
    if roll < 20:
        return ""
    if roll < 850:
        return dice.weighted(COMMON)
    if roll < 885:
        return dice.weighted(ELSEWHERE)
    if roll < 935:
        return dice.weighted(ODD)
    return f"{dice.one(SHADES)} {dice.one(THINGS)}"


def _written(dice: Dice, colour: str) -> str:
    """Return the colour as somebody types it: `lower(trim(...))` mostly leads back."""
    roll = dice.below(1_000)
    if not colour or roll < 540:
        return colour
    if roll < 880:
        return colour[0].upper() + colour[1:]
    if roll < 930:
        return colour.upper() if colour.isascii() else colour
    if roll < 960:
        return f"{colour} "
    if roll < 975:
        return f" {colour}"
    if roll < 985:
        return f"  {colour.title()}  "
    return colour + dice.one(["!", ".", "!!", " :)", "?", " of course", ", always"])


def _age(dice: Dice) -> str:
    roll = dice.below(1_000)
    if roll < 25:
        return ""
    if roll < 28:
        return dice.one(["thirty", "old enough", "n/a", "29 1/2", "-", "199"])
    return str(16 + (dice.below(40) + dice.below(40)))


def _spend(dice: Dice) -> str:
    roll = dice.below(1_000)
    if roll < 300:
        return ""
    if roll < 700:
        return "0"
    if roll < 703:
        return dice.one(["nothing", "a lot", "£12", "12,50", "1000000", "-5", "NaN", "1e3"])
    pence = dice.below(2_000) + dice.below(40) ** 2 * dice.below(10)
    return f"{pence // 100}.{pence % 100:02d}"


def main() -> None:
    """Write the file to the path given, or where the package has it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("colours.csv")
    path.write_text(text(), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
