"""What is done about bounds that were chosen privately, where 64-bit integers have no room for all of them.

Room is a public matter: it depends on the population, on what counts in full and on what was chosen, never on
rows. So what is used instead follows from public facts and from what was published (`automatic`, step 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, assert_never

from deniable import events
from deniable.query.automatic import Choice
from deniable.query.measures import Units
from deniable.query.pricing import Price, group_weights
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds
from deniable.selection.thresholds import Threshold

if TYPE_CHECKING:
    from deniable.query.plan import Plan


def most(choices: Sequence[Choice], carried: Callable[[Sequence[Choice]], Plan | None]) -> Plan | None:
    """Return what is carried out: everything that was chosen, if it has room; else as much as has.

    carried: the plan for what is given to it, or None if that has no room. Choices are tried in their order,
    numbers of rows last: of each the largest class, from the one that was chosen down, that has room beside
    what was kept before it and public numbers for the others. None: not even public numbers have room.
    """
    if (found := carried(choices)) is not None:
        return found
    kept = [choice.missed() for choice in choices]
    found = carried(kept)
    for place in sorted(range(len(kept)), key=lambda place: choices[place].argument == "max_rows"):
        for less in choices[place].lower():
            tried = [*kept[:place], less, *kept[place + 1 :]]
            if (fitting := carried(tried)) is not None:
                kept, found = tried, fitting
                break
    return found


def selection_holds(planned: Price, found: Price) -> bool:
    """Return whether what finds groups is as safe for the price that follows from choices as it was planned.

    A threshold is for the noise of units and for the weights that a unit can have in t groups (`thresholds`);
    chance is for the number of groups that a unit counts in (`geometric`); rounds are for max_keys, and are
    measured before any column (`sips`).
    """
    before, after = planned.contributions, found.contributions
    if planned.found != found.found or before.max_keys != after.max_keys:
        return False
    match planned.found:
        case None | Rounds():
            return True
        case Threshold():
            return _units(planned) == _units(found) and group_weights(before) == group_weights(after)
        case TruncatedGeometric():
            return (before.over, before.groups) == (after.over, after.groups)
        case other:
            assert_never(other)


def _units(price: Price) -> list[events.DiscreteLaplace | events.DiscreteGaussian]:
    return [noisy.event for noisy in price.measured if isinstance(noisy.measure, Units)]
