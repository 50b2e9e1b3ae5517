"""The models: what they learn, what it costs each person, and the conventions of scikit-learn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.learn import descent, losses, models, statistics
from deniable.learn.models import LinearRegression, LinearSVM, LogisticRegression
from deniable.local.vector import Vector

KINDS = (LinearRegression, LogisticRegression, LinearSVM)


def people(n: int, d: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Features in [-1, 1], a target that is linear in them, and unlike for all people."""
    words = dn.SeededBits(seed, insecure=True).uint32(n * (d + 1)).reshape(n, d + 1)
    numbers = words.astype(np.float64) / 2**31 - 1
    truth = np.linspace(0.4, -0.4, d)
    return numbers[:, :d], numbers[:, :d] @ truth + 0.1 + 0.02 * numbers[:, d]


def labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = people(n)
    return x, np.where(y > 0.1, "yes", "no")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """Who was asked (by their targets, unlike for all) and how many reports were made."""
    seen: dict[str, list[Any]] = {"targets": [], "reports": [], "lengths": []}
    plain, randomize = losses.gradients, Vector.randomize

    def gradients(loss: Any, weights: Any, features: Any, targets: Any) -> Any:
        seen["targets"] += list(targets)
        return plain(loss, weights, features, targets)

    def counting(self: Vector, values: Any, *, bits: Any = None) -> Any:
        seen["reports"].append(len(values))
        seen["lengths"] += list(np.sqrt((np.asarray(values) ** 2).sum(axis=1)))
        return randomize(self, values, bits=bits)

    monkeypatch.setattr(descent, "gradients", gradients)
    monkeypatch.setattr(Vector, "randomize", counting)
    return seen


def test_each_person_sends_one_report_at_most(counted: dict[str, list[Any]]) -> None:
    x, y = people(1003)
    model = LinearRegression(epsilon=1, batch=100).fit(x, y)
    assert counted["reports"] == [100] * 10
    assert len(set(counted["targets"])) == len(counted["targets"]) == 1000
    assert set(counted["targets"]) <= set(y)
    assert (model.reports_, model.n_iter_) == (1000, 10)
    assert model.event_ == dn.events.PureDP(epsilon=1)
    assert max(counted["lengths"]) <= 1 + 1e-12
    assert max(counted["lengths"]) > 0.99


def test_groups_are_drawn_anew_each_time(counted: dict[str, list[Any]]) -> None:
    x, y = people(200)
    LinearRegression(epsilon=1, batch=100).fit(x, y)
    first = counted["targets"][:100]
    counted["targets"].clear()
    LinearRegression(epsilon=1, batch=100).fit(x, y)
    assert counted["targets"][:100] != first


def test_a_group_is_a_uniform_sample_of_the_people() -> None:
    """The first of 8 people is in each place equally often; a shuffle that never moves it is not."""
    bits = dn.SeededBits(4, insecure=True)
    places = [int(np.flatnonzero(descent.shuffled(8, bits) == 0)[0]) for _ in range(8000)]
    counts = np.bincount(places, minlength=8)
    assert ((counts - 1000) ** 2 / 1000).sum() < 60


def test_statistics_take_one_report_of_each(counted: dict[str, list[Any]]) -> None:
    x, y = people(500)
    model = LinearRegression(epsilon=1, solver="statistics").fit(x, y)
    assert sum(counted["reports"]) == model.reports_ == 500
    assert max(counted["lengths"]) <= 1 + 1e-12


def test_five_folds_ask_each_person_four_times_and_say_so(
    counted: dict[str, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = people(500)
    model = LinearRegression(epsilon="0.5", batch=20)
    scores = dn.learn.cross_val_score(model, x, y, cv=5)
    assert scores.shape == (5,)
    assert capsys.readouterr().out == "5 folds: each person sends 4 reports, which cost 4 epsilon = 2.\n"
    times = np.unique(counted["targets"], return_counts=True)[1]
    assert len(times) == 500
    assert (times == 4).all()


def test_two_folds_cost_one_report(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = people(60)
    dn.learn.cross_val_score(LinearRegression(epsilon="1/3"), x, y, cv=2, seed=1)
    assert capsys.readouterr().out == "2 folds: each person sends 1 report, which costs epsilon = 1/3.\n"


def test_models_learn_from_reports() -> None:
    x, y = people(20_000)
    model = LinearRegression(epsilon=4, seed=1).fit(x[:15_000], y[:15_000])
    assert model.score(x[15_000:], y[15_000:]) > 0.8
    assert float(np.abs(model.coef_ - np.linspace(0.4, -0.4, 4)).max()) < 0.2
    x, sides = labels(20_000)
    for kind in (LogisticRegression, LinearSVM):
        learnt = kind(epsilon=4, seed=1).fit(x[:15_000], sides[:15_000])
        assert learnt.score(x[15_000:], sides[15_000:]) > 0.9
        assert list(learnt.classes_) == ["no", "yes"]


def test_statistics_learn_from_one_report_of_each() -> None:
    x, y = people(20_000)
    model = LinearRegression(epsilon=4, solver="statistics", seed=1).fit(x, y)
    assert model.score(x, y) > 0.98


def test_normal_equations_without_noise_are_least_squares() -> None:
    x, y = people(300)
    whole = np.column_stack([x, np.ones(300), y])
    mean = statistics.products(whole / 4).mean(axis=0)
    found = statistics.normal_equations(mean, 6, least=0.0, penalty=0.0)
    oracle = np.linalg.lstsq(whole[:, :5], y, rcond=None)[0]
    assert found == pytest.approx(oracle, rel=1e-9)


def test_products_are_those_of_the_matrix() -> None:
    row = np.array([[0.3, -0.2, 0.5]])
    found = statistics.products(row)[0]
    root = 2**0.5
    assert found == pytest.approx([0.09, -0.06 * root, 0.15 * root, 0.04, -0.1 * root, 0.25])
    assert float((found**2).sum()) == pytest.approx(0.38**2)
    assert float((statistics.products(row * 100) ** 2).sum()) == pytest.approx(1)


def test_a_noisy_matrix_is_lifted_until_it_can_be_solved() -> None:
    noise = dn.SeededBits(1, insecure=True).uint32(21).astype(np.float64) / 2**31 - 1
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6)] = noise / np.where(np.eye(6)[np.triu_indices(6)] == 1, 1, 2**0.5)
    matrix = matrix + np.triu(matrix, 1).T
    low = float(np.linalg.eigvalsh(matrix[:5, :5])[0])
    assert low < 0
    lifted = matrix[:5, :5] + (0.1 - low) * np.eye(5)
    found = statistics.normal_equations(noise, 6, least=0.1, penalty=0.0)
    assert found == pytest.approx(np.linalg.solve(lifted, matrix[:5, 5]))
    tight = statistics.normal_equations(noise, 6, least=0.0, penalty=100.0)
    assert float(np.abs(tight).max()) < 0.01


def test_partial_fit_goes_round_by_round_and_refuses_people_it_has_asked() -> None:
    x, y = people(300)
    model = LinearRegression(epsilon=1, batch=100, people=300, seed=1)
    model.partial_fit(x[:100], y[:100], users=range(100))
    kept = model.coef_.copy()
    for users, rows, words in (
        ([*range(200, 299), 99], slice(100, 200), "hold people who have sent their report"),
        ([100] * 100, slice(100, 200), "must name each row once"),
        (range(100, 199), slice(100, 200), "must name each row once"),
        (range(100, 201), slice(100, 201), "too many for one round"),
    ):
        with pytest.raises(ParameterError, match=words):
            model.partial_fit(x[rows], y[rows], users=users)
    assert (model.reports_, model.n_iter_) == (100, 1)
    assert (model.coef_ == kept).all()
    model.partial_fit(x[100:200], y[100:200], users=range(100, 200))
    with pytest.raises(ParameterError, match="hold people who have sent their report"):
        model.partial_fit(x[200:], y[200:], users=[*range(200, 299), 50])
    model.partial_fit(x[200:], y[200:], users=range(200, 300))
    assert (model.reports_, model.n_iter_) == (300, 3)
    with pytest.raises(ParameterError, match="after the last round"):
        model.partial_fit(x[:1], y[:1], users=["new"])


@pytest.mark.parametrize(
    "name", [None, math.nan, np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT, ("first", math.nan)]
)
def test_people_without_a_name_are_not_asked_since_they_could_be_asked_again(name: Any) -> None:
    x, y = people(20)
    model = LinearRegression(epsilon=1, batch=10, people=20, seed=1)
    model.partial_fit(x[:10], y[:10], users=[("a", np.str_("b")), np.int64(7), *range(10, 18)])
    for _ in range(2):
        with pytest.raises(ParameterError, match="hold a missing name"):
            model.partial_fit(x[10:11], y[10:11], users=[name])
    assert model.reports_ == 10


def test_rounds_of_one_class_need_the_two_labels_beforehand() -> None:
    x, _ = people(20)
    model = LogisticRegression(epsilon=1, batch=10, people=20, classes=["no", "yes"], seed=1)
    model.partial_fit(x[:10], ["yes"] * 10, users=range(10))
    model.partial_fit(x[10:], ["no"] * 10, users=range(10, 20))
    assert list(model.classes_) == ["no", "yes"]
    assert model.reports_ == 20
    for labels, words in ((["yes"] * 10, "1 class, not two"), (["yes", "other"] * 5, "a label that is none")):
        classes = None if "two" in words else ["no", "yes"]
        with pytest.raises(ValueError, match=words):
            LinearSVM(epsilon=1, batch=10, people=20, classes=classes).fit(x[:10], labels)


def test_a_later_round_may_not_bring_a_label_that_was_not_there() -> None:
    x, _ = people(30)
    model = LogisticRegression(epsilon=1, batch=10, people=30, seed=1)
    model.partial_fit(x[:10], ["no", "yes"] * 5, users=range(10))
    with pytest.raises(ValueError, match="a label that is none"):
        model.partial_fit(x[10:20], ["no", "new"] * 5, users=range(10, 20))
    assert model.reports_ == 10
    model.partial_fit(x[10:20], ["yes"] * 10, users=range(10, 20))


@pytest.mark.parametrize(
    ("y", "users", "words"),
    [
        (["a", "b"] * 5, [1] * 10, "must name each row once"),
        (["a", "b"] * 5, None, "must be a list of names"),
        (["a", "b"] * 5, 7, "must be a list of names"),
        (["a", "b"] * 5, [[place] for place in range(10)], "must be a list of names"),
        (["a", "b"] * 5, [{}, *range(9)], "must be a list of names"),
        (["a", "b", "c", "a", "b"] * 2, range(10), "3 classes"),
    ],
)
def test_a_refused_first_round_leaves_the_model_as_it_was(y: Any, users: Any, words: str) -> None:
    x, _ = people(10)
    model = LogisticRegression(epsilon=1, batch=10, people=20, seed=1)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        model.partial_fit(x, y, users=users)
    assert vars(model) == before
    model.partial_fit(x[:, :2], [0, 1] * 5, users=range(10))
    assert list(model.classes_) == [0, 1]


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300])
@pytest.mark.parametrize("solver", ["descent", "statistics"])
def test_numbers_near_the_end_of_floats_are_learnt_from_without_a_warning(size: float, solver: Any) -> None:
    x, y = people(40)
    for features, target in ((x * size, y), (x, y * size), (x * size, y * size)):
        model = LinearRegression(epsilon=1, seed=1, solver=solver).fit(features, target)
        assert np.isfinite(model.coef_).all()
        assert model.score(features, target) <= 1
    for kind in (LogisticRegression, LinearSVM):
        fitted = kind(epsilon=1, seed=1).fit(x * size, y > 0.1)
        assert 0 <= fitted.score(x * size, y > 0.1) <= 1


def test_the_score_of_huge_targets_is_that_of_small_ones() -> None:
    x, y = people(50)
    model = LinearRegression(epsilon=1, seed=1).fit(x, y)
    left, spread = ((y - model.predict(x)) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    assert model.score(x, y) == pytest.approx(1 - left / spread)
    model.coef_, model.intercept_ = model.coef_ * 2.0**1000, model.intercept_ * 2.0**1000
    assert model.score(x, y * 2.0**1000) == pytest.approx(1 - left / spread)
    model.coef_ = np.full(4, 1e308)
    assert model.score(np.ones((3, 4)), [1, 2, 3]) == -math.inf


def test_numbers_beyond_floats_are_refused_in_words() -> None:
    x, y = people(10)
    for huge in (10**400, np.longdouble("1e4000")):
        with pytest.raises(ValueError, match="Input y contains"):
            LinearRegression(epsilon=1).fit(x, np.array([huge, *y[1:]], dtype=object))


@pytest.mark.parametrize("clip", ["1e-100", 1e-100, "1e100"])
def test_the_least_and_the_largest_clip_are_allowed(clip: Any) -> None:
    assert LinearRegression(epsilon=1, clip=clip).plan(100, 2).clip == float(clip)


def test_seeded_rounds_draw_different_bits() -> None:
    model = LinearRegression(epsilon=1, seed=3)
    assert model._bits(0).integer(64) == dn.SeededBits(3, insecure=True).integer(64)
    assert model._bits(1).integer(64) != model._bits(0).integer(64)


def test_people_whose_round_failed_count_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = people(10)
    model = LinearRegression(epsilon=1, batch=10, people=20)

    def broken(self: Vector, reports: object) -> object:
        raise MemoryError

    monkeypatch.setattr(Vector, "decode", broken)
    with pytest.raises(MemoryError):
        model.partial_fit(x, y, users=range(10))
    with pytest.raises(ParameterError, match="hold people who have sent their report"):
        model.partial_fit(x, y, users=range(10))


def test_a_short_round_is_divided_by_the_size_that_was_planned() -> None:
    """No private count divides: five people of ten move the weights by a tenth of their sum."""
    plan = LinearRegression(epsilon=1, batch=10).plan(20, 1)
    for there in (10, 5):
        rows = np.zeros((there, 2))
        payload = plan.vector.randomize(rows, bits=dn.SeededBits(1, insecure=True))
        total = plan.vector.decode(payload).sum(axis=0)
        mean = descent.reported(plan, dn.SeededBits(1, insecure=True))(rows)
        assert mean == pytest.approx(total / 10)


def test_statistics_have_no_rounds() -> None:
    x, y = people(10)
    model = LinearRegression(epsilon=1, solver="statistics", people=10)
    with pytest.raises(ParameterError, match="asks everybody in one round"):
        model.partial_fit(x, y, users=range(10))
    with pytest.raises(ParameterError, match="solver is unknown"):
        LinearRegression(epsilon=1, solver="magic").fit(x, y)  # type: ignore[arg-type]


def test_epsilon_is_needed_and_exact() -> None:
    with pytest.raises(TypeError, match="epsilon"):
        LinearRegression()  # type: ignore[call-arg]
    x, y = people(20)
    for bad in (0, -1, float("nan"), "abc", None, True):
        with pytest.raises(ParameterError, match="epsilon"):
            LinearRegression(epsilon=bad).fit(x, y)  # type: ignore[arg-type]
    assert LinearRegression(epsilon=0.1).fit(x, y).event_.epsilon == Fraction(1, 10)


def test_errors_show_no_label() -> None:
    x, _ = people(30)
    with pytest.raises(ValueError, match="3 classes") as caught:
        LogisticRegression(epsilon=1).fit(x, np.array(["secret", "b", "c"] * 10))
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="1 class, not two"):
        LinearSVM(epsilon=1).fit(x, np.zeros(30))


def test_parameters_are_kept_and_copied_as_given() -> None:
    model = LinearRegression(epsilon="ln 3", clip=2)
    assert model.get_params()["epsilon"] == "ln 3"
    assert model.set_params(clip=3, epsilon=1).get_params()["clip"] == 3
    assert repr(LinearSVM(epsilon=1)).startswith("LinearSVM(epsilon=1, norm='l2'")
    with pytest.raises(ParameterError, match="is no parameter"):
        model.set_params(alpha=1)


EXPECTED = {
    "check_fit_score_takes_y": "partial_fit needs to know who is asked: users=",
    "check_n_features_in_after_fitting": "partial_fit needs to know who is asked: users=",
    "check_estimators_partial_fit_n_features": "partial_fit needs to know who is asked: users=",
    "check_supervised_y_2d": "a column is read as one number a row, without a warning",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_finds_its_conventions_kept(kind: type[models._Linear]) -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")
    found = checks.check_estimator(
        kind(epsilon=1, seed=1), on_fail=None, on_skip=None, expected_failed_checks=EXPECTED
    )
    assert {row["check_name"] for row in found if row["status"] == "xfail"} == set(EXPECTED)
    assert [row["check_name"] for row in found if row["status"] == "failed"] == []
    assert sum(row["status"] == "passed" for row in found) > 40


def test_scikit_learn_copies_models() -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    copy = base.clone(LogisticRegression(epsilon=2, norm="l2"))
    assert copy.get_params()["epsilon"] == 2
    assert not hasattr(copy, "coef_")


def test_models_need_no_scikit_learn() -> None:
    import subprocess
    import sys

    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np, deniable as dn\n"
        "model = dn.learn.LinearRegression(epsilon=1)\n"
        "try:\n    model.predict(np.ones((2, 2)))\nexcept AttributeError as error:\n    print(error)\n"
        "print(model.fit(np.ones((20, 2)), np.ones(20)).predict(np.ones((2, 2))).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "not fitted yet" in done.stdout
    assert "(2,)" in done.stdout


def test_without_need_for_noise_a_fit_is_the_clipped_one() -> None:
    """At epsilon 1e6 every entry is reported, off by about 6e-5: the weights are those without privacy."""
    x, y = people(400)
    model = LinearRegression(epsilon=10**6, norm="linf", mechanism="sampling", clip="0.3", batch=20, seed=5)
    model.fit(x, y)
    plan = model.plan_
    order = descent.shuffled(400, dn.SeededBits(5, insecure=True))
    free = descent.descend(plan, x, y, order, lambda rows: rows.mean(axis=0))
    assert model.coef_ == pytest.approx(free.weights[:4], abs=1e-3)
    assert model.intercept_ == pytest.approx(free.weights[4], abs=1e-3)
    unclipped = descent.descend(
        LinearRegression(epsilon=1, norm="linf", clip=100, batch=20).plan(400, 4),
        x,
        y,
        order,
        lambda rows: rows.mean(axis=0),
    )
    assert float(np.abs(model.coef_ - unclipped.weights[:4]).max()) > 1e-3
