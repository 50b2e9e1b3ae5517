"""`deniable account`, `account calibrate`, `account split`: answers, notation, drawings, mistakes."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from deniable import accounting, events
from deniable.cli import plots
from deniable.cli.account import app
from deniable.cli.notation import kind, parsed, written
from deniable.errors import ExpressionError, ParameterError
from deniable.publish import svg

SVG = "{http://www.w3.org/2000/svg}"
GAUSSIAN = events.Gaussian(sigma=100)
TWICE = events.Repeated(GAUSSIAN, 2)


def run(*words: str | Path) -> str:
    """Run a command; return what it printed, or raise what it raised."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_thousand_gaussians_cost_what_the_case_file_says() -> None:
    lines = run("1000 x gaussian(sigma=100)", "--delta", "1e-9").splitlines()
    assert lines[:2] == [
        "1000 x gaussian(sigma=100, sensitivity=1)",
        "cost epsilon 1.78803, delta 1e-9, for one unit added or removed.",
    ]
    table = dict(line.rsplit(maxsplit=1) for line in lines[4:])
    assert table["gaussian"] == "1.78803"
    assert 1.78802 < float(table["loss distribution"]) < 1.78981
    assert float(table["zero-concentrated"]) == pytest.approx(1.8817, abs=1e-4)
    assert "basic" in table


def test_options_may_come_first_and_delta_is_0_when_omitted() -> None:
    assert run("--delta", "1e-9", "1000 x gaussian(sigma=100)") == run(
        "1000 x gaussian(sigma=100)", "--delta", "1e-9"
    )
    assert "cost epsilon 0.5, delta 0," in run("laplace(scale=2)")
    with pytest.raises(ParameterError, match="delta must be more than 0, or epsilon is infinite"):
        run("gaussian(sigma=1)")


def test_the_other_question_asks_for_delta() -> None:
    words = run("gaussian(sigma=1)", "--epsilon", "1")
    assert "cost epsilon 1, delta 0.126937, for one unit added or removed." in words
    assert "theorem" not in words
    with pytest.raises(ParameterError, match="--epsilon does not go with --delta"):
        run("gaussian(sigma=1)", "--epsilon", "1", "--delta", "1e-5")


def test_units_may_be_replaced_instead() -> None:
    assert "epsilon 1, delta 0, for one unit replaced" in run(
        "laplace(scale=2)", "--neighbours", "replace one"
    )
    with pytest.raises(ParameterError, match="neighbours"):
        run("laplace(scale=2)", "--neighbours", "both")


def test_an_answer_as_json_can_be_read_back() -> None:
    record = json.loads(run("2 x laplace(scale=3), gaussian(sigma=5)", "--delta", "1e-6", "--json"))
    asked = [events.from_json(event) for event in record["events"]]
    assert asked == [events.Repeated(events.Laplace(scale=3), 2), events.Gaussian(sigma=5)]
    true = accounting.account(asked).epsilon("1e-6")
    assert true <= Fraction(record["epsilon"]) < true * Fraction(1 + 10**-10)
    assert (record["delta"], record["neighbours"]) == ("1e-6", "add or remove")
    assert record["theorems"]["gaussian"] is None
    assert float(record["theorems"]["basic"]) > float(record["epsilon"])


@pytest.mark.parametrize(
    "words",
    [
        ("1000 x gaussian(sigma=100)", "--delta", "1e-9"),
        ("laplace(scale=3)", "--epsilon", "0.1"),
        ("approx-dp(epsilon=1, delta=0.1)", "--delta", "0.1"),
        ("calibrate", "laplace", "--epsilon", "1"),
    ],
)
def test_a_drawing_stands_alone(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    run(*words, "--plot", path)
    drawing = ElementTree.parse(path).getroot()
    assert drawing.tag == f"{SVG}svg"
    assert "svg .curve" in str(drawing[0].text)
    labels = [element.text for element in drawing.iter(f"{SVG}text")]
    assert {"epsilon", "delta"} <= set(labels)
    assert str(labels[0]).startswith("delta against epsilon: ")
    assert int(drawing.attrib["width"]) > int(drawing.attrib["height"]) > 300
    assert not any("http" in str(value) for element in drawing.iter() for value in element.attrib.values())


def test_the_point_that_was_asked_for_is_marked(tmp_path: Path) -> None:
    run("1000 x gaussian(sigma=100)", "--delta", "1e-9", "--plot", tmp_path / "curve.svg")
    labels = {element.text for element in ElementTree.parse(tmp_path / "curve.svg").iter(f"{SVG}text")}
    assert {"epsilon 1.789", "delta 1e-9", "0.5", "1.5"} <= labels


def test_what_cannot_be_drawn_or_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--plot has no curve to draw"):
        run("0 x laplace(scale=3)", "--plot", tmp_path / "a.svg")
    with pytest.raises(ParameterError, match="--plot has no folder around it"):
        run("laplace(scale=3)", "--plot", tmp_path / "nowhere" / "a.svg")
    with pytest.raises(ParameterError, match=r"--plot has another ending.*\n?.*ending in \.svg"):
        run("laplace(scale=3)", "--plot", tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_the_picture_that_was_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plots.save(svg.bars([], name="a", title="t", description="d"), tmp_path / "a.svg")
    assert capsys.readouterr().err == f"Wrote {tmp_path / 'a.svg'}.\n"


def test_calibrate_finds_the_least_noise() -> None:
    words = run("calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--times", "100")
    assert words.startswith("100 x gaussian(sigma=42.246788")
    assert "it costs epsilon 1, delta 1e-6" in words
    record = json.loads(
        run(
            "calibrate",
            "Laplace",
            "--epsilon",
            "0.5",
            "--sensitivity",
            "3",
            "--neighbours",
            "replace one",
            "--json",
        )
    )
    assert events.from_json(record["events"][0]) == events.Laplace(scale=12, sensitivity=3)
    with pytest.raises(ParameterError, match=r"KIND is no event, got 'gausian'.*Did you mean gaussian"):
        run("calibrate", "gausian", "--epsilon", "1")
    with pytest.raises(ParameterError, match="delta must be above 0"):
        run("calibrate", "gaussian", "--epsilon", "1")


def test_split_says_what_a_tenth_each_really_costs() -> None:
    words = run("split", "--epsilon", "1", "--delta", "1e-6", "--queries", "100")
    assert max(map(len, words.splitlines())) <= 80
    joined = " ".join(words.split())
    assert "basic epsilon 0.01 each" in joined
    assert "gaussian sigma 42.247 for a sensitivity of 1" in joined
    assert (
        "100 Laplace queries of 0.1 cost 4.7 by loss distribution, 4.78 by optimal, 6.31 by advanced"
        in joined
    )
    record = json.loads(run("split", "--epsilon", "1", "--delta", "1e-6", "--queries", "100", "--json"))
    assert float(Fraction(record["shares"]["optimal"]["epsilon"])) == pytest.approx(0.0240, abs=5e-5)
    assert record["rule_of_thumb"] == "0.1"
    assert float(record["rule_of_thumb_costs"]["loss distribution"]) == pytest.approx(4.6925, abs=3e-3)
    pure = json.loads(run("split", "--epsilon", "1", "--queries", "4", "--json"))
    assert (pure["shares"]["gaussian"], pure["rule_of_thumb_costs"]) == (None, None)


@pytest.mark.parametrize(
    "words", [("--help",), ("events", "--help"), ("calibrate", "--help"), ("split", "--help")]
)
def test_the_help_is_one_screen(words: tuple[str, ...]) -> None:
    lines = run(*words).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Usage: deniable account EVENTS")


@pytest.mark.parametrize(
    ("words", "event"),
    [
        ("gaussian(sigma=100)", GAUSSIAN),
        (" 7 x gaussian ( sigma = 100 , sensitivity=1 ) ", events.Repeated(GAUSSIAN, 7)),
        ("7*gaussian(sigma=1e2)", events.Repeated(GAUSSIAN, 7)),
        ("1_000x Gaussian(sigma=200/2)", events.Repeated(GAUSSIAN, 1000)),
        ("0 x gaussian(sigma=1e+2)", events.Repeated(GAUSSIAN, 0)),
        ("2 x 3 x gaussian(sigma=100)", events.Repeated(events.Repeated(GAUSSIAN, 3), 2)),
        ("pure_dp(epsilon=ln 3)", events.PureDP(epsilon="ln 3")),
        ("PureDP(epsilon=2 ln(3))", events.PureDP(epsilon="2 ln 3")),
        ("discrete-gaussian(sigma=1, coordinates=4)", events.DiscreteGaussian(sigma=1, coordinates=4)),
        ("DiscreteLaplace(scale=0.5)", events.DiscreteLaplace(scale="0.5")),
        ("randomized-response(epsilon=1, options=3)", events.RandomizedResponse(epsilon=1, options=3)),
        ("selection(delta=1e-8, rule='sips')", events.Selection(delta="1e-8", rule="sips")),
        ("subsampled(2 x gaussian(sigma=100), rate=0.01)", events.Subsampled(TWICE, "0.01")),
        ("repeated(gaussian(sigma=100), times=5)", events.Repeated(GAUSSIAN, 5)),
        ("composed(gaussian(sigma=100), 2 x gaussian(sigma=100))", events.Composed([GAUSSIAN, TWICE])),
        ("composed()", events.Composed([])),
    ],
)  # fmt: skip
def test_events_are_read_as_people_write_them(words: str, event: events.Event) -> None:
    assert parsed(words) == [event]


def test_events_may_be_listed_with_commas_and_pluses() -> None:
    assert parsed("gaussian(sigma=100), 2 x gaussian(sigma=100)+laplace(scale=1)") == [
        GAUSSIAN,
        events.Repeated(GAUSSIAN, 2),
        events.Laplace(scale=1),
    ]


LEAVES: st.SearchStrategy[events.Event] = st.sampled_from(
    [
        GAUSSIAN,
        events.Laplace(scale="1/3", sensitivity=2),
        events.DiscreteGaussian(sigma="0.7", sensitivity=3, coordinates=9),
        events.Selection(delta="1e-8", epsilon=1, rule="truncated-geometric"),
        events.RandomizedResponse(epsilon=1, options=7),
        events.ApproxDP(epsilon=1, delta="1e-7"),
        events.ZeroConcentratedDP(rho="0.1"),
        events.Exponential(epsilon=2),
    ]
)
EVENTS: st.SearchStrategy[events.Event] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(events.Repeated, inner, st.integers(0, 10**12)),
        st.builds(lambda event: events.Subsampled(event, "0.01"), inner),
        st.builds(events.Composed, st.lists(inner, max_size=3)),
    ),
    max_leaves=5,
)


@settings(max_examples=60)
@given(st.lists(EVENTS, min_size=1, max_size=3))
def test_what_is_written_is_read_back(listed: list[events.Event]) -> None:
    assert parsed(" + ".join(map(written, listed))) == listed


@pytest.mark.parametrize(
    ("words", "problem", "place"),
    [
        ("", "expected an event", 0),
        ("1,000 x gaussian(sigma=1)", "expected an event", 0),
        ("laplace(scale=1) , ", "expected an event", 19),
        ("gausian(sigma=1)", "gausian is no event", 0),
        ("gaussian", "expected ( after gaussian", 8),
        ("gaussian(sigma=0)", "sigma must be greater than 0, got '0'", 9),
        ("gaussian(sgma=1)", "there is no sgma here", 9),
        ("gaussian(sigma=1, sigma=2)", "sigma is given twice", 18),
        ("gaussian(1)", "expected FIELD=VALUE", 9),
        ("3 x gaussian()", "sigma is missing", 4),
        ("gaussian(sigma=1", "expected a comma or )", 16),
        ("gaussian(sigma=1))", "expected a comma or a plus before the next event", 17),
        ("laplace(scale=1) laplace(scale=2)", "expected a comma or a plus before the next event", 17),
        ("99999999999999 x laplace(scale=1)", "times is out of range, got 99999999999999", 0),
        ("subsampled(rate=1)", "one event inside is missing", 0),
        ("subsampled(laplace(scale=1), rate=2)", "rate must be between 0 and 1, got '2'", 29),
        ("laplace(scale=)", "scale must be a finite number, got ''", 8),
        ("laplace(scale=True)", "scale must be a finite number, got 'True'", 8),
        ("selection(delta=1e-8, rule=foo)", "rule must name a selection rule, got 'foo'", 22),
        ("discrete-gaussian(sigma=1, coordinates=1.5)", "coordinates must be a whole number, got '1.5'", 27),
        ("composed(" * 40, "events are nested too deeply", 297),
        ("2 x " * 40 + "laplace(scale=1)", "events are nested too deeply", 132),
    ],
)  # fmt: skip
def test_a_mistake_is_pointed_at(words: str, problem: str, place: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parsed(words)
    assert str(caught.value).startswith(f"EVENTS: {problem}.")
    assert caught.value.column == place


@settings(max_examples=300)
@given(st.text(alphabet="gausin(sm=1, x*+)0.e-_lp/", max_size=40))
def test_no_words_are_read_with_another_error(words: str) -> None:
    with suppress(ExpressionError):
        parsed(words)


def test_a_kind_is_named_in_any_spelling() -> None:
    for name in ("DiscreteGaussian", "discrete-gaussian", "discrete_gaussian", "DISCRETEGAUSSIAN"):
        assert kind(name, "KIND") is events.DiscreteGaussian
