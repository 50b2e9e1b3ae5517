"""The data of the study: real files in their own formats, and stand-ins of the same shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.errors import SourceError
from deniable.studies.dct import adult, learning, measures, samples, tables
from deniable.studies.dct.parts import QUICK, Data

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_adult = pytest.mark.skipif(
    not (DATA / "adult.data").exists(), reason="the UCI Adult extract is not in ../shared/data"
)
LINES = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, "
    "40, United-States, <=50K\n"
    "17, ?, 83311, 11th, 7, Never-married, ?, Own-child, Black, Female, 0, 0, 99, ?, >50K.\n"
    "\n|1x3 Cross validator\n"
)


@needs_adult
def test_adult_ages_have_their_published_mean_and_variance() -> None:
    sample = samples.ages(adult.read(DATA / "adult.data"))
    assert len(sample.values) == 32_561
    assert float(sample.values.mean()) == pytest.approx(-0.4087, abs=5e-5)
    assert float(sample.values.var()) == pytest.approx(0.1397, abs=5e-5)
    assert not sample.synthetic
    assert "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d" in sample.source


@needs_adult
def test_adult_has_ninety_eight_coordinates_and_its_labels_end_without_a_dot() -> None:
    rows = adult.read(DATA / "adult.test")
    assert len(rows) == 16_281
    assert set(rows.columns["income"]) == {"<=50K", ">50K"}
    table = tables.hours(rows)
    assert (table.features.shape[1] + 1, len(table.target)) == (98, 16_281)
    assert float(np.abs(table.features).max()) <= 1
    assert float(np.abs(table.target).max()) <= 1


def test_rows_of_adult(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text(LINES, "latin-1")
    rows = adult.read(path)
    assert rows.columns["age"] == [39, 17]
    assert samples.ages(rows).values == pytest.approx([2 * 22 / 73 - 1, -1])
    table = tables.hours(rows)
    assert table.target == pytest.approx([2 * 39 / 98 - 1, 1])
    unknown = table.features[1, 1:8]
    assert unknown == pytest.approx([1 / 8] * 7)


@pytest.mark.parametrize("words", ["", "a,b\n1,2\n", LINES.replace("39,", "x,").replace("17,", "y,")])
def test_another_file_than_adult_is_refused(words: str, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text(words, "utf-8")
    with pytest.raises(SourceError, match="is not the UCI Adult extract"):
        adult.read(path)
    with pytest.raises(SourceError, match="cannot be read"):
        adult.read(tmp_path / "nothing")


@pytest.mark.parametrize(("name", "coordinates"), [("BR", 90), ("MX", 94), ("WISDM", 43)])
def test_stand_ins_have_the_shape_of_the_data_they_stand_for(name: str, coordinates: int) -> None:
    table = tables.stand_in(name, 2000, 7)
    assert table.features.shape == (2000, coordinates - 1)
    assert table.synthetic
    assert "stand-in" in table.name
    assert float(np.abs(table.features).max()) <= 1
    assert float(np.abs(table.target).max()) <= 1
    again = tables.stand_in(name, 2000, 7)
    assert (again.target == table.target).all()
    rows = np.column_stack([table.features, np.ones(2000)])
    best = np.linalg.lstsq(rows, table.target, rcond=None)[0]
    assert float(np.mean((rows @ best - table.target) ** 2)) < 0.5 * float(table.target.var())


def test_made_up_samples_have_the_moments_of_their_laws() -> None:
    found = {one.name: one.values for one in samples.made_up(100_000, 3)}
    assert float(found["GAUSS"].mean()) == pytest.approx(0, abs=7 * 0.25 / 316)
    assert float(found["GAUSS"].std()) == pytest.approx(0.25, abs=7 * 0.25 / 447)
    assert float(found["UNIFORM"].var()) == pytest.approx(1 / 3, abs=0.01)
    assert (float(found["EXP"].min()), float(found["EXP"].max())) == (-1, 1)
    scale = (1 + float(found["EXP"].mean())) / (1 + float(np.median(found["EXP"])))
    assert scale == pytest.approx(1 / np.log(2), rel=0.02)


def test_the_raw_accelerometer_file_is_read_and_torn_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "WISDM_ar_v1.1_raw.txt"
    path.write_text(
        "33,Jogging,49105962326000,-0.6946377,12.680544,0.50395286;\n"
        "33,Walking,49106062271000,5.012288,11.264028,0.95342433;33,Walking,4910,4.9,10.8,-0.08;\n"
        "17,Jogging,49106112167000,4.903325,,;\n17,Jogging,0,-0.61,18.4,3.0,;\n\n",
        "latin-1",
    )
    table = tables.accelerometer(path)
    assert len(table.target) == 4
    assert table.target == pytest.approx(
        2 * (np.array([0.50395286, 0.95342433, -0.08, 3.0]) + 0.08) / 3.08 - 1
    )
    assert not table.synthetic
    path.write_text("nothing here\n")
    with pytest.raises(SourceError, match="is not the raw WISDM file"):
        tables.accelerometer(path)


def test_a_census_extract_is_read_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "br.csv"
    lines = [f"{i},{i % 3},{'m' if i % 2 else 'f'},{100 * i},same" for i in range(100)]
    path.write_text("Age,Kids,Sex,TotalIncome,Country\n" + "\n".join(lines) + "\n1,2\n", "utf-8")
    table = tables.census("BR", path)
    assert table.features.shape == (100, 1 + 2 + 1)
    assert table.features[:, 0] == pytest.approx(np.linspace(-1, 1, 100))
    assert table.target == pytest.approx(np.linspace(-1, 1, 100))
    for words in ("age\n1\n", "totalincome\nmuch\n", ""):
        path.write_text(words)
        with pytest.raises(SourceError, match="totalincome"):
            tables.census("BR", path)


def test_a_large_table_is_thinned_by_the_seed() -> None:
    table = tables.stand_in("WISDM", 500, 1)
    some = table.some(100, 4)
    assert len(some.target) == len(some.features) == 100
    assert set(some.target) <= set(table.target)
    assert (some.target == table.some(100, 4).target).all()
    assert (some.target != table.some(100, 5).target).any()
    assert table.some(500, 4) is table


def test_a_file_that_is_given_takes_the_place_of_the_stand_in(tmp_path: Path) -> None:
    path = tmp_path / "mx.csv"
    lines = [f"{i},{i % 3},{100 * i}" for i in range(100)]
    path.write_text("age,kids,totalincome\n" + "\n".join(lines) + "\n", "utf-8")
    given = Data(mx=path)
    real = measures.regression("MX", 80, 1, *given.file("MX"))
    made_up = measures.regression("MX", 80, 1, *Data().file("MX"))
    assert (real.name, real.synthetic, len(real.target)) == ("MX", False, 80)
    assert (made_up.name, made_up.synthetic, len(made_up.target)) == ("MX stand-in", True, 80)
    cells = learning.cells(QUICK, given)["figure4"]
    paths = {cell.arguments["data"][0]: cell.arguments["data"][3] for cell in cells}
    assert paths == {"BR": None, "MX": str(path), "WISDM": None}
    before = cells[-1].key(1)
    path.write_text(path.read_text("utf-8") + "5,1,300\n", "utf-8")
    assert learning.cells(QUICK, given)["figure4"][-1].key(1) == before
    changed = [cell.key(1) for cell in learning.cells(QUICK, given)["figure4"]]
    assert set(changed) != {cell.key(1) for cell in cells}
    with pytest.raises(SourceError, match="cannot be read"):
        Data(br=tmp_path / "nothing").file("BR")
