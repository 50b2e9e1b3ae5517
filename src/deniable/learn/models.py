"""`LinearRegression`, `LogisticRegression`, `LinearSVM`: scikit-learn's conventions, one report a person.

Each row of X is one person. `fit` draws the order of people, asks them in groups (`plan`), and never asks one
twice. So the whole fit keeps epsilon for each person:
1. A person's data enters one report, which keeps epsilon whatever the weights that were asked about.
2. The order does not look at X or y; weights and later reports depend on a person through that report only.
Fitting again, or on other folds of the same people, asks them again and costs epsilon again.

The simulation holds all data in one place; `rounds` is the same computation with a device for each person.
Public: the number of rows, the attributes, the two labels, and every argument. Private: X and y.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SeededBits, SystemBits
from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.guarantees import PureDP
from deniable.learn import arrays, statistics
from deniable.learn.conventions import Conventions, not_fitted
from deniable.learn.descent import Collect, Descent, descend, reported, shuffled
from deniable.learn.losses import Loss, clipped, gradients
from deniable.learn.plan import Averaging, Plan, planned
from deniable.local.vector.reading import Norm
from deniable.local.vector.vector import Mechanism

Floats = NDArray[np.float64]


class _Linear(Conventions):
    """What the three models share."""

    loss: ClassVar[Loss]

    def __init__(
        self,
        *,
        epsilon: Number,
        norm: Norm = "l2",
        mechanism: Mechanism = "auto",
        mean: str = "optimal",
        clip: Number = 1,
        penalty: Number = "1e-4",
        batch: int | None = None,
        step: Number | None = None,
        averaging: Averaging = "half",
        fit_intercept: bool = True,
        people: int | None = None,
        seed: int | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.norm = norm
        self.mechanism = mechanism
        self.mean = mean
        self.clip = clip
        self.penalty = penalty
        self.batch = batch
        self.step = step
        self.averaging = averaging
        self.fit_intercept = fit_intercept
        self.people = people
        self.seed = seed
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from people who send one report each; rows beyond the last whole group are not asked.

        Raises:  ParameterError, ValueError: an argument, X or y cannot be used.
        """
        rows = arrays.features(X)
        given = arrays.targets(y, len(rows))
        plan = self.plan(len(rows), rows.shape[1])
        wanted = self._targets(given, known=False)
        bits = self._bits(0)
        self._start(plan)
        self._learn(plan, rows, wanted, shuffled(len(rows), bits), reported(plan, bits))
        return self

    def partial_fit(self, X: Any, y: Any, *, users: Iterable[Hashable]) -> Self:  # noqa: N803
        """Run one round with the people in these rows; the first call plans for `people` in all.

        Args:    users: who they are, one a row: names that are unlike for different people.
        Raises:  ParameterError: somebody has been asked before, comes twice or has no name, there are more
                 than a round has, or all rounds are done. Nobody is asked then. ValueError: X or y cannot be
                 used.
        """
        self._descends()
        rows = arrays.features(X, known=getattr(self, "n_features_in_", None), model=type(self).__name__)
        given, first = arrays.targets(y, len(rows)), not hasattr(self, "plan_")
        plan = self.plan(self.people or 0, rows.shape[1]) if first else self.plan_
        asked = _hashable(users)
        self._admit(asked, len(rows), plan)
        wanted = self._targets(given, known=not first)
        if first:  # nothing is kept of a call that was refused
            self._start(plan)
        self._asked.update(asked)
        state = self._state
        found = gradients(plan.loss, state.current, plan.completed(rows), wanted)
        collect = reported(plan, self._bits(state.round))
        mean = collect(clipped(found, norm=plan.vector.norm, clip=plan.clip))
        state.advance(mean)
        self.reports_ += len(rows)
        self._keep(state.weights, state.round)
        return self

    def plan(self, people: int, attributes: int) -> Plan:
        """Return how so many people would be asked, from public numbers alone.

        Raises:  ParameterError: an argument is out of range.
        """
        return planned(
            people=people,
            attributes=attributes,
            epsilon=self.epsilon,
            loss=self.loss,
            norm=self.norm,
            mechanism=self.mechanism,
            mean=self.mean,
            clip=self.clip,
            penalty=self.penalty,
            batch=self.batch,
            step=self.step,
            averaging=self.averaging,
            intercept=self.fit_intercept,
        )

    def _descends(self) -> None:
        """Refuse to go round by round where the solver does not."""

    def _start(self, plan: Plan) -> None:
        self.plan_ = plan
        self.n_features_in_ = plan.attributes
        self.event_: PureDP = plan.event
        self.reports_ = 0
        self._state = Descent(plan)
        self._asked: set[Hashable] = set()

    def _learn(
        self, plan: Plan, rows: Floats, wanted: Floats, order: NDArray[np.int64], collect: Collect
    ) -> None:
        self._state = descend(plan, rows, wanted, order, collect)
        self.reports_ = plan.people
        self._keep(self._state.weights, plan.rounds)

    def _admit(self, asked: list[Hashable], n: int, plan: Plan) -> None:
        """Refuse a group before anybody in it is asked. Names of people stay out of the message.

        A name that is missing, or is not equal to itself (NaN), tells nobody apart: its person could be asked
        in each round.
        """
        if any(_missing(name) for name in asked):
            raise ParameterError("users", None, "hold a missing name", "Leave these rows out, or name them.")
        if len(asked) != n or len(set(asked)) != n:
            raise ParameterError("users", None, "must name each row once", "Give one different name a row.")
        if not getattr(self, "_asked", frozenset[Hashable]()).isdisjoint(asked):
            raise ParameterError("users", None, "hold people who have sent their report", "Ask others.")
        if n > plan.batch:
            fix = f"A round asks {plan.batch:,} people at most."
            raise ParameterError("users", n, "are too many for one round", fix)
        if hasattr(self, "_state") and self._state.finished:
            raise ParameterError("users", None, "come after the last round", "Fit a new model with others.")

    def _keep(self, weights: Floats, rounds: int) -> None:
        self.coef_: Floats = weights[: self.n_features_in_].copy()
        self.intercept_ = float(weights[self.n_features_in_]) if self.fit_intercept else 0.0
        self.n_iter_ = rounds

    def _scores(self, X: Any) -> Floats:  # noqa: N803
        if not hasattr(self, "coef_"):
            raise not_fitted(self)
        rows = arrays.features(X, known=self.n_features_in_, model=type(self).__name__)
        with np.errstate(all="ignore"):
            scores: Floats = rows @ self.coef_ + self.intercept_
        return scores

    def _targets(self, given: NDArray[Any], *, known: bool) -> Floats:
        """Return y as the loss needs it. known: training goes on, so labels are those of before."""
        raise NotImplementedError

    def _bits(self, number: int) -> Bits:
        """Return fresh bits; with a seed those of this round."""
        if self.seed is None:
            return SystemBits()
        return SeededBits((self.seed + (number << 64)) % (1 << 128), insecure=True)


def _hashable(users: object) -> list[Hashable]:
    """Return the names of people as a list.

    Raises:  ParameterError: they are no list, or one of them cannot be told from others.
    """
    fix = "Give one text or number a row, unlike for different people."
    try:
        asked: list[Hashable] = list(users)  # type: ignore[call-overload]
        set(asked)
    except TypeError:
        raise ParameterError("users", None, "must be a list of names", fix) from None
    return asked


def _missing(name: object) -> bool:
    """Whether this, or a part of it, is None or is not equal to itself."""
    if isinstance(name, tuple | frozenset):
        return any(_missing(part) for part in name)
    same: Any = name == name
    return name is None or not (isinstance(same, bool | np.bool_) and bool(same))


class LinearRegression(_Linear):
    """Least squares, with a report of each person about the gradient of (x.w - y)**2.

    Args:    epsilon: of the one report. norm: how gradients are clipped, "l2" or "linf". mechanism, mean: as
             in `dn.local.Vector`. clip: the most that a gradient may be, in that norm. penalty: lambda of
             (lambda/2) |w|**2. batch, step, averaging: by the rule in `plan` when omitted.
             people: how many there will be, for `partial_fit`. seed: repeatable and insecure, for tests.
             solver: "descent", or "statistics": one report about products of pairs (`statistics`), which
             takes no norm, clip, batch, step or averaging.
    After fit: coef_, intercept_, plan_, reports_ (how many were sent), event_ (what each cost).
    """

    kind = "regressor"
    loss = "squared"

    def __init__(
        self,
        *,
        epsilon: Number,
        norm: Norm = "l2",
        mechanism: Mechanism = "auto",
        mean: str = "optimal",
        clip: Number = 1,
        penalty: Number = "1e-4",
        batch: int | None = None,
        step: Number | None = None,
        averaging: Averaging = "half",
        fit_intercept: bool = True,
        people: int | None = None,
        seed: int | None = None,
        solver: Literal["descent", "statistics"] = "descent",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            norm=norm,
            mechanism=mechanism,
            mean=mean,
            clip=clip,
            penalty=penalty,
            batch=batch,
            step=step,
            averaging=averaging,
            fit_intercept=fit_intercept,
            people=people,
            seed=seed,
        )
        self.solver = solver

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from people who send one report each.

        Raises:  ParameterError, ValueError: an argument, X or y cannot be used.
        """
        if self.solver not in ("descent", "statistics"):
            raise ParameterError("solver", self.solver, "is unknown", "Write 'descent' or 'statistics'.")
        if self.solver == "descent":
            return super().fit(X, y)
        rows = arrays.features(X)
        wanted = self._targets(arrays.targets(y, len(rows)), known=False)
        self._start(self.plan(len(rows), rows.shape[1]))
        whole = np.column_stack([rows, *([np.ones(len(rows))] if self.fit_intercept else []), wanted])
        vector = statistics.protocol(epsilon=self.epsilon, numbers=whole.shape[1], mechanism=self.mechanism)
        weights = statistics.solved(whole, vector=vector, penalty=self.plan_.penalty, bits=self._bits(0))
        self.reports_ = len(rows)
        self._keep(weights, 1)
        return self

    def _descends(self) -> None:
        if self.solver != "descent":
            fix = "Write solver='descent', or fit once."
            raise ParameterError("solver", self.solver, "asks everybody in one round", fix)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """Return what the model expects for each row, `(n,)`."""
        return self._scores(X)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of the variance of y that the model explains (R squared)."""
        wanted = arrays.numbers(arrays.targets(y, len(arrays.features(X))))
        expected = self.predict(X)
        largest = max(float(np.abs(wanted).max()), float(np.abs(expected).max()))
        if not largest < math.inf:
            return -math.inf
        down = -math.frexp(largest)[1]  # by a power of two, so that no square is too large for a float
        wanted, expected = np.ldexp(wanted, down), np.ldexp(expected, down)
        left = float(((wanted - expected) ** 2).sum())
        spread = float(((wanted - wanted.mean()) ** 2).sum())
        if spread == 0:
            return 1.0 if left == 0 else 0.0
        return 1 - left / spread

    def _targets(self, given: NDArray[Any], *, known: bool) -> Floats:
        del known
        return arrays.numbers(given)


class _Classifier(_Linear):
    """Two classes. Their labels are public: `classes`, or what y holds where that is left out."""

    kind = "classifier"
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return x.w for each row, `(n,)`: above 0 for the second class."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the label of each row, `(n,)`."""
        second = self._scores(X) > 0
        return self.classes_[second.astype(np.int64)]

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the share of rows whose label is right."""
        return float(np.mean(self.predict(X) == arrays.targets(y, len(arrays.features(X)))))

    def _targets(self, given: NDArray[Any], *, known: bool) -> Floats:
        if given.dtype.kind == "f":
            arrays.numbers(given)
            if (given != np.floor(given)).any():
                raise ValueError("Unknown label type: continuous. Labels are two classes.")
        labels = self.classes_ if known else np.unique(given if self.classes is None else self.classes)
        if len(labels) != 2:
            found = "1 class" if len(labels) == 1 else f"{len(labels)} classes"
            raise ValueError(f"Only binary classification is supported: there are {found}, not two.")
        if not np.isin(given, labels).all():
            raise ValueError("y holds a label that is none of the two classes.")
        self.classes_ = labels
        return np.where(given == labels[1], 1.0, -1.0)


class LogisticRegression(_Classifier):
    """Two classes, by reports about the gradient of ln(1 + exp(-y x.w)). Arguments: as LinearRegression.

    classes: the two labels.
    """

    loss = "logistic"

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of each class for each row, `(n, 2)`."""
        second = 1 / (1 + np.exp(-np.clip(self._scores(X), -700, 700)))
        return np.column_stack([1 - second, second])


class LinearSVM(_Classifier):
    """Two classes, by reports about the gradient of max(0, 1 - y x.w). Arguments: as LinearRegression.

    classes: the two labels.
    """

    loss = "hinge"
