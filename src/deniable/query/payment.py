"""Pay before reading: the ledger is charged first, and the charge stands whatever happens then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from deniable.errors import LedgerError
from deniable.publish.facts import LedgerFacts
from deniable.query import wording

if TYPE_CHECKING:
    from deniable.query.plan import Plan


@dataclass(slots=True)
class Payment:
    """What the ledger said when it was charged, None without one; and the SHA-256 of what then came out."""

    facts: LedgerFacts | None = None
    published: str | None = None


@contextmanager
def paid(plan: Plan, purpose: str | None) -> Iterator[Payment]:
    """Reserve what the plan costs, then let the release happen, which says what it published.

    Without a purpose the ledger says what was asked.
    The reservation is durable before the block starts. If the block ends well it is committed, otherwise
    abandoned; either way, and also if the process is killed in between, it stays spent.
    Raises:  BudgetError: there is less left; nothing was spent. LedgerError: the ledger cannot be written, or
             belongs to other data by now.
    """
    ledger = plan.query.survey.ledger
    if ledger is None:
        yield Payment()
        return
    reservation = ledger.reserve(
        plan.events,
        epsilon=plan.guarantee.epsilon,
        delta=plan.guarantee.delta,
        purpose=wording.asked(plan) if purpose is None else purpose,
        source=plan.query.survey.label,
        data=plan.query.survey.label,
    )
    try:
        name = PurePath(
            reservation.label.partition("?")[0]
        ).name  # no folders, hosts or users in published words
        facts = LedgerFacts(label=name, remaining=str(reservation.remaining), head=reservation.head)
        payment = Payment(facts)
        yield payment
    except BaseException:
        with suppress(LedgerError):
            ledger.abandon(reservation)
        raise
    ledger.commit(reservation, published=payment.published)
