"""Whether a request may be charged: pure, from the standing of the ledger and the request alone.

Promise   The totals after every admitted charge are at most the ledger's, and those of its analyst at most that
          analyst's own limit where there is one, exactly (rationals, no tolerance); a refusal changes nothing; the same
          request is never charged twice.
Cost      O(1): the last charge, and each analyst's own last, carry the totals, so no history is summed.
Sums      Totals are exact until a denominator passes 2^1024, which takes ten prices over unrelated primes of 30 digits;
          then the total is rounded *up* to a multiple of 10^-150, so that odd prices cannot slow everyone's.
Checked   tests/ledger/test_decide.py (tables and laws).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpcurator.errors import Misconfigured, OverBudget, Refusal
from dpcurator.ledger.accounts import Account
from dpcurator.ledger.canonical import canonical, digest, ratio
from dpcurator.ledger.events import Charged, Row
from dpcurator.ledger.states import CURATOR, Impossible, step
from dpcurator.numbers.rational import added, at_least_0
from dpcurator.values import Currency, Request, read_json

Whose = Literal["all", "own"]  # the budget of all analysts, or one's own limit

_AMOUNTS = ("epsilon", "delta", "rho")
_LARGEST_PRICE = 2**512  # of numerator and denominator
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_DERIVED = re.compile(r"[0-9a-f]{64}")
MOST_EVENTS = 2 * 10**6  # a million questions, each charged and answered: some gigabytes
_LONGEST_ASKED = 10_000  # letters of a question that the log keeps
_LONGEST = 1_000_000  # characters of what a request is bound to


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the ledger is: the curator's state ("new", "open", "closed", "moved"), the last row, the budget, the spent.

    total and spent are in the currency: epsilon, or rho.
    """

    life: str
    head: Row | None
    total: Fraction
    delta: Fraction
    spent: Fraction
    spent_delta: Fraction
    currency: Currency = "epsilon"
    owners: tuple[tuple[str, str], ...] = ()  # whose rows the tables hold that were read so far


def decide(
    standing: Standing, request: Request, request_id: str, *, mine: Charged | None = None,
    known: Charged | None = None, account: Account | None = None,
) -> Charged:
    """The charge to write; or `known`, when the ledger already holds it and there is nothing to pay.

    mine: the charge under this very id. known: `mine`, or an answered charge of the same question and analyst.
    account: the analyst's, if there is one.
    Raises Misconfigured when closed or when the price is in the other currency, Refusal when the id is bound to another
    question, OverBudget.
    """
    require_open(standing.life)
    price, foreign = _in(standing.currency, request)
    if foreign:
        raise Misconfigured(
            f"The ledger counts in {standing.currency}, and this price is not in {standing.currency} alone.",
            cure="Nothing was charged. Quote the question again under the catalog that this ledger was opened with.",
        )
    if mine is not None and question(mine) != question(request):
        raise Refusal(
            f"Request id {request_id} already belongs to another question (or another price or data version).",
            cure="Nothing was charged. Choose a new request id, or leave it out.",
        )
    if known is not None:
        return known
    require_room(standing)
    if account is not None:
        own_spent = _affordable(standing.currency, price, account.spent, account.limit, of="own")
        own_delta = _affordable("delta", request.delta, account.spent_delta, account.delta, of="own")
    spent = _affordable(standing.currency, price, standing.spent, standing.total)
    spent_delta = _affordable("delta", request.delta, standing.spent_delta, standing.delta)
    in_rho, nothing = standing.currency == "rho", Fraction(0)
    charged = Charged(
        request=request_id,
        analyst=request.analyst,
        plan=request.plan,
        catalog=request.catalog,
        data_version=request.data_version,
        parameters=request.parameters,
        epsilon=request.epsilon,
        delta=request.delta,
        spent_epsilon=nothing if in_rho else spent,
        spent_delta=spent_delta,
        rho=request.rho,
        spent_rho=spent if in_rho else nothing,
        asked=request.asked[:_LONGEST_ASKED],
        shared=request.shared,
    )
    if account is None:
        return charged
    return replace(charged, granted=account.position, own_spent=own_spent, own_delta=own_delta)


def require_open(life: str) -> None:
    """Raises Misconfigured where a fault closed the curator, or the ledger goes on in another store."""
    try:
        step(CURATOR, "open" if life == "new" else life, Charged.NAME)
    except Impossible:
        if life == "moved":
            raise Misconfigured(
                "This ledger was moved to another store, and takes no charge here.",
                cure="Nothing was charged. `dpcurator log` ends with its place; name that as store under [ledger].",
            ) from None
        raise Misconfigured(
            "The curator is closed: an earlier question could not be completed.",
            cure="Nothing was charged. The steward looks into it, then runs `dpcurator reopen`.",
        ) from None


def require_room(standing: Standing) -> None:
    """Raises Refusal where the ledger has all the events that one may have: each is kept for ever, however small its
    price, so without a limit a budget would fill any disk."""
    if standing.head is not None and standing.head.position >= MOST_EVENTS:
        raise Refusal(
            f"this ledger holds {standing.head.position:,} events, and takes no more questions.",
            cure="Nothing was charged, and answers that it holds stay free. The steward opens a ledger for other data.",
        )


def _in(currency: Currency, request: Request) -> tuple[Fraction, Fraction]:
    """(the price in this currency, the price in the other one)."""
    return (request.rho, request.epsilon) if currency == "rho" else (request.epsilon, request.rho)


def _affordable(currency: str, price: Fraction, spent: Fraction, whole: Fraction, *, of: Whose = "all") -> Fraction:
    after = added(spent, price)
    if after > whole:
        raise OverBudget(requested=price, remaining=max(Fraction(0), whole - spent), currency=currency, of=of)
    return after


def question(asked: Request | Charged) -> str:
    """sha256 of everything a request id is bound to; the request id itself when none was given.

    Where earlier charges paid some of its readings, it is bound to the price of all: which of them were there already
    is no part of what is asked, so the same question again is the same request."""
    epsilon, delta, rho = _whole(asked)
    return digest(
        canonical(
            [
                "dpcurator request 2",
                asked.analyst,
                asked.plan,
                asked.catalog,
                asked.data_version,
                asked.parameters,
                ratio(epsilon),
                ratio(delta),
                ratio(rho),
            ]
        )
    )


def _whole(asked: Request | Charged) -> tuple[Fraction, Fraction, Fraction]:
    """(epsilon, delta, rho) of all readings. Raises ValueError where some are shared and the parameters do not say."""
    if not asked.shared:
        return asked.epsilon, asked.delta, asked.rho
    try:
        said = read_json(asked.parameters)
        each = said.get("batch", [said])
        epsilon, delta, rho = (sum((Fraction(one[name]) for one in each), Fraction(0)) for name in _AMOUNTS)
    except (KeyError, TypeError, ArithmeticError, AttributeError):
        raise ValueError("the parameters do not say the whole price") from None
    return epsilon, delta, rho


def checked(request: Request) -> Request:
    """`request` with exact amounts. Raises Refusal for a price of nothing, a negative one, or malformed text."""
    texts = (request.analyst, request.plan, request.catalog, request.parameters)
    if not all(isinstance(text, str) for text in texts) or not request.analyst or not request.plan:
        raise Refusal("A request needs an analyst, a plan, a catalog and parameters, as text.")
    if sum(map(len, (*texts, request.shared))) > _LONGEST:
        raise Refusal(f"The request is too long: more than {_LONGEST} characters.", cure="Ask a shorter question.")
    if not isinstance(request.data_version, int) or isinstance(request.data_version, bool):
        raise Refusal("A request's data version must be a whole number.")
    epsilon, delta, rho = (_price(getattr(request, name), name) for name in ("epsilon", "delta", "rho"))
    if epsilon == delta == rho == 0:
        raise Refusal("A question must have a price.", cure="Write epsilon as in 0.1.")
    if request.request_id is not None and not (
        isinstance(request.request_id, str) and _ID.fullmatch(request.request_id)
    ):
        raise Refusal(
            "A request id must be 1 to 128 letters, digits, dots, colons, dashes or underscores.",
            cure="Choose such an id, or leave it out.",
        )
    exact = replace(request, epsilon=epsilon, delta=delta, rho=rho)
    if exact.request_id is not None and _DERIVED.fullmatch(exact.request_id) and exact.request_id != question(exact):
        # Otherwise one analyst could occupy the id that another's question will have.
        raise Refusal(
            "Request ids of 64 hexadecimal digits are kept for ids derived from a question; this one is not.",
            cure="Choose a shorter id, or leave it out.",
        )
    return exact


def _price(amount: object, name: str) -> Fraction:
    exact = at_least_0(amount, name=name, like="0.1")
    if max(exact.numerator, exact.denominator) > _LARGEST_PRICE:
        raise Refusal(f"{name} has too many digits to be recorded exactly.", cure=f"Write {name} with fewer digits.")
    return exact
