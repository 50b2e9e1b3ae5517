"""Pay before reading: the ledger is charged first, and the charge stands whatever happens then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import TYPE_CHECKING

from deniable.errors import LedgerError
from deniable.publish.facts import LedgerFacts

if TYPE_CHECKING:
    from deniable.query.plan import Plan


@contextmanager
def paid(plan: Plan, purpose: str | None) -> Iterator[LedgerFacts | None]:
    """Reserve what the plan costs, then let the release happen; None without a ledger.

    The reservation is durable before the block starts. If the block ends well it is committed, otherwise
    abandoned; either way, and also if the process is killed in between, it stays spent.
    Raises:  BudgetError: there is less left; nothing was spent. LedgerError: the ledger cannot be written, or
             belongs to other data by now.
    """
    ledger = plan.query.survey.ledger
    if ledger is None:
        yield None
        return
    reservation = ledger.reserve(
        plan.events,
        epsilon=plan.guarantee.epsilon,
        delta=plan.guarantee.delta,
        purpose=purpose,
        source=plan.query.survey.label,
        data=plan.query.survey.label,
    )
    try:
        name = PurePath(
            reservation.label.partition("?")[0]
        ).name  # no folders, hosts or users in published words
        yield LedgerFacts(label=name, remaining=str(reservation.remaining), head=reservation.head)
    except BaseException:
        with suppress(LedgerError):
            ledger.abandon(reservation)
        raise
    ledger.commit(reservation)
