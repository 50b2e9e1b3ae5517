"""How groups are found in the data: which ways there are, and which one "auto" takes. Public facts decide.

| way                   | what happens                                     | "auto" takes it              |
|-----------------------|--------------------------------------------------|------------------------------|
| "threshold"           | units are counted, with noise; published with it | for max_groups 1 and 2       |
| "truncated-geometric" | chance decides by the number of units; over="drop"| never                       |
| "sips"                | rounds of weighted counts, Gaussian noise; then  | above 2, unless noise must be|
|                       | only what they showed is measured                | Laplace's                    |

With "sips" a unit spends nothing on groups that are not published, which is worth more the more groups a unit
is in. If no noise of 64 bits serves for "sips", "auto" takes the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, assert_never, get_args

from deniable.errors import ParameterError
from deniable.events.choices import Rule
from deniable.exact import positive
from deniable.query.measures import Contributions, Measure
from deniable.query.pricing import Noise, Price, price
from deniable.query.stages import by_chance, in_rounds

if TYPE_CHECKING:
    from deniable.query.question import Groups, Query

Selection = Literal["auto", "threshold", "truncated-geometric", "sips"]
Over = Literal["weight", "drop"]
Way = tuple[Rule | None, Noise]
"""How groups are found (None: they are not), and the kind of noise."""

_FEW = 2


def checked(selection: object, over: object, share: object, *, keyed: bool, per_row: bool) -> Fraction | None:
    """Refuse what cannot be meant; return the share of the budget for finding groups, None if not given."""
    if selection not in get_args(Selection):
        fix = "Write 'auto', 'threshold', 'truncated-geometric' or 'sips'."
        raise ParameterError("selection", selection, "is not known", fix)
    if over not in (None, *get_args(Over)):
        raise ParameterError("over", over, "must say what happens", "Write 'weight' or 'drop'.")
    if keyed and selection != "auto":
        fix = "Leave one of them out."
        raise ParameterError("selection", selection, "means nothing: declared keys are all published", fix)
    if selection == "truncated-geometric" and over == "weight":
        fix = "Write over='drop', or select by 'threshold' or 'sips'."
        raise ParameterError("selection", selection, "counts whole units: none can count less", fix)
    if selection == "sips" and per_row:
        fix = "Write selection='threshold': a row is in one group."
        raise ParameterError("selection", selection, "has no use with unit=dn.ROW", fix)
    return None if share is None else _share(share, selection, keyed=keyed)


def ways(query: Query, noise: Noise | Literal["auto"], *, delta: Fraction) -> list[list[Way]]:
    """Return what to try: of the first list that has a way that can be priced, the best one is taken."""
    kinds: list[Noise] = ["laplace", "gaussian"] if noise == "auto" else [noise]
    if not delta:
        kinds = ["laplace"]
    groups = query.groups
    if groups is None or groups.keys is not None:
        return [[(None, kind) for kind in kinds]]
    by_threshold: list[Way] = [("threshold", kind) for kind in kinds]
    match groups.selection:
        case "threshold":
            return [by_threshold]
        case "truncated-geometric":
            return [[("truncated-geometric", kind) for kind in kinds]]
        case "sips":
            if noise == "laplace":
                fix = "Leave noise='laplace' out, or write selection='threshold'."
                raise ParameterError("noise", noise, "cannot serve for 'sips', which is Gaussian", fix)
            return [[("sips", "gaussian")]]
        case "auto":
            if groups.max_groups > _FEW and noise != "laplace":
                return [[("sips", "gaussian")], *([] if groups.share else [by_threshold])]
            if groups.share is not None:
                fix = "Leave it out, or write selection='sips' too."
                raise ParameterError("share", groups.share, "has no use: units are the selection", fix)
            return [by_threshold]
        case other:
            assert_never(other)


def priced(
    rule: Rule | None,
    measures: Sequence[Measure],
    contributions: Contributions,
    *,
    epsilon: Fraction,
    delta: Fraction,
    coverage: bool,
    share: Fraction | None,
    rest: bool = False,
    weights: tuple[Fraction, ...] = (),
    choices: tuple[int, ...] = (),
) -> Price:
    """Return the least noise with which everything costs (epsilon, delta), groups being found by this rule.

    Raises:  ParameterError: there is no noise of 64 bits that serves.
    """
    match rule:
        case None | "threshold":
            return price(
                measures,
                contributions,
                epsilon=epsilon,
                delta=delta,
                unknown=rule is not None,
                coverage=coverage,
                rest=rest,
                weights=weights,
                choices=choices,
            )
        case "truncated-geometric":
            found = by_chance
        case "sips":
            found = in_rounds
        case other:
            assert_never(other)
    return found(
        measures,
        contributions,
        epsilon=epsilon,
        delta=delta,
        coverage=coverage,
        share=share,
        rest=rest,
        weights=weights,
        choices=choices,
    )


def others(groups: Groups, rule: Rule) -> list[Groups]:
    """Return the same groups found in every other way that may serve."""
    found = []
    for other in get_args(Rule):
        if other == rule or (other == "sips" and groups.survey.unit is None):
            continue
        over: Over = "drop" if other == "truncated-geometric" else groups.over
        found.append(replace(groups, selection=other, over=over, share=None))
    return found


def _share(share: object, selection: object, *, keyed: bool) -> Fraction:
    number = positive(share, "share")
    if not number < 1:
        fix = "Give the part of the budget that finds groups, for example 0.5."
        raise ParameterError("share", share, "must be between 0 and 1", fix)
    if selection == "threshold" or keyed:
        found = "declared keys cost nothing" if keyed else "the threshold is on the published units"
        fix = "Leave it out, or write selection='sips'."
        raise ParameterError("share", share, f"has no use: {found}", fix)
    return number
