"""What can go wrong, told apart by whose it is to mend.

Refusal       your question cannot be answered; decided from public facts alone, nothing charged (exit 2)
OverBudget    a Refusal that says requested, remaining and short by (exit 3)
Misconfigured the setup (catalog, snapshot, ledger, key) must be mended by the steward (exit 4)
Fault         something failed after data was touched; its words never vary, so they tell nothing (exit 5)

A message says what is wrong, then where, then what to do; it never contains data from a private table.
Checked in tests/test_errors.py and tests/attacks/test_rows_system.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Mend:
    """A cure as a program can apply it; the sentence of the cure says the same to a person.

    to: where `put` goes. "words": into the question, in the place of the words `over`, at or after the error's place;
    "all words": wherever they stand. "group by": among what is grouped by; with an empty `put`, `over` is taken out of
    there. "question": it is the whole question. "catalog": a line under the header `over`.

    Checked in tests/plans/test_cures.py: applied, each leads to a question that is accepted.
    """

    put: str
    over: str = ""
    to: Literal["words", "all words", "group by", "question", "catalog"] = "words"


def closest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Of the names there are, those that were probably meant, nearest first; upper and lower case are alike."""
    from difflib import get_close_matches

    folded = {other.casefold(): other for other in known}
    return [folded[near] for near in get_close_matches(name.casefold(), folded, n=most)]


def either(names: Iterable[str]) -> str:
    """As in "a, b or c"."""
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


class DpcuratorError(Exception):
    """The parent of every error that dpcurator raises on purpose: Refusal, OverBudget, Misconfigured, Fault.

    A message says what is wrong, where, and how to mend it, and never contains data of a private table.

    Parameters:
        what: text, what is wrong: the rule that was broken.
        where: text, the place in a file or question, or "".
        cure: text, what to do instead, or "".

    `exit_code` is that of the shell; `as_json()` gives the same words in fields.

    >>> import dpcurator as dp
    >>> try:
    ...     dp.Laplace(sensitivity=1, epsilon=0)
    ... except dp.DpcuratorError as error:
    ...     print(error.what, error.cure, error.exit_code)
    epsilon must be above 0, not 0. Write epsilon as in 0.1. 2
    """

    exit_code: ClassVar[int] = 1
    title: ClassVar[str] = "error"

    def __init__(self, what: str, *, where: str = "", cure: str = "", mends: tuple[Mend, ...] = ()) -> None:
        self.what, self.where, self.cure, self.mends = what, where, cure, mends
        super().__init__(what, where, cure)

    def __str__(self) -> str:
        located = f"{self.where}: {self.what}" if self.where else self.what
        return f"{located} {self.cure}".strip()

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback: IPython asks an error for its own lines by this name."""
        located = f"{self.where}: {self.what}" if self.where else self.what
        return [f"{self.title}: {located}", *([self.cure] if self.cure else [])]

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (type(self), self.what, self.where, self.cure, self.mends))

    def as_json(self) -> dict[str, object]:
        """What `--json` prints: the same words, in fields."""
        told: dict[str, object] = {"error": self.title, "what": self.what, "where": self.where, "cure": self.cure}
        return told | ({"mends": [asdict(mend) for mend in self.mends]} if self.mends else {})


def _again(kind: type[DpcuratorError], what: str, where: str, cure: str, mends: tuple[Mend, ...]) -> DpcuratorError:
    """An error from its pickle, as when it crosses processes."""
    return kind(what, where=where, cure=cure, mends=mends)


class Refusal(DpcuratorError):
    """A question or a parameter that cannot be answered, refused before anything was charged.

    Decided from public facts alone, so that a refusal tells nothing about the data. Exit code 2.

    >>> import dpcurator as dp
    >>> try:
    ...     dp.compose("noise")
    ... except dp.Refusal as error:
    ...     print(error.what)
    str has no loss by itself.
    """

    exit_code = 2
    title = "refused"

    def placed(self, where: str) -> Refusal:
        """The same refusal of another place."""
        return Refusal(self.what, where=where, cure=self.cure, mends=self.mends)


class OverBudget(Refusal):
    """A Refusal because the price passes the remaining budget; nothing was charged. Exit code 3.

    Parameters:
        requested, remaining: Fractions, exact amounts; `short_by` is their difference.
        currency: "epsilon", "rho" or "delta".
        of: "all", the budget of all analysts together, or "own", the analyst's own limit.

    >>> import dpcurator as dp
    >>> budget = dp.ApproximateFilter(epsilon="0.5")
    >>> try:
    ...     budget.spend(epsilon=1)
    ... except dp.OverBudget as error:
    ...     print(error.currency, error.requested, error.remaining, error.short_by)
    epsilon 1 1/2 1/2
    """

    exit_code = 3
    title = "over budget"

    def __init__(
        self, *, requested: Fraction, remaining: Fraction, currency: str = "epsilon", of: Literal["all", "own"] = "all"
    ) -> None:
        from dpcurator.numbers.decimals import decimal_text

        self.requested, self.remaining, self.short_by = requested, remaining, requested - remaining
        self.currency, self.of = currency, of
        cure = "Ask for a lower price, or fewer aggregates in one question."
        if currency == "delta":
            cure = "Ask with a smaller delta, or a question that needs none: one whose keys are listed."
        short = "Not enough budget" if of == "all" else "Not enough is left of your own limit"
        super().__init__(
            f"{short}: requested {currency} {decimal_text(requested)}, remaining "
            f"{decimal_text(remaining)}, short by {decimal_text(self.short_by)}.",
            cure=f"Nothing was charged. {cure}",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_over_budget, (self.requested, self.remaining, self.currency, self.of))

    def as_json(self) -> dict[str, object]:
        amounts = {"requested": self.requested, "remaining": self.remaining, "short_by": self.short_by}
        told = {"currency": self.currency} | ({"of": self.of} if self.of != "all" else {})
        return super().as_json() | told | {name: str(amount) for name, amount in amounts.items()}


def _over_budget(requested: Fraction, remaining: Fraction, currency: str, of: Literal["all", "own"]) -> OverBudget:
    return OverBudget(requested=requested, remaining=remaining, currency=currency, of=of)


class Misconfigured(DpcuratorError):
    """A fault of the set-up (catalog, snapshot, key or ledger), which the steward mends; nothing was charged.

    Exit code 4.

    >>> import dpcurator as dp
    >>> try:
    ...     dp.open("no-such-curator.toml")
    ... except dp.Misconfigured as error:
    ...     print(error.what)
    There is no such catalog file.
    """

    exit_code = 4
    title = "set-up"


class Fault(DpcuratorError):
    """A failure after data was touched, told in constant words, since which failure it was may depend on data.

    The charge stands, and the curator is closed until the steward runs `dpcurator reopen`. Exit code 5.

    >>> import dpcurator as dp
    >>> print(dp.Fault().what)
    The question could not be completed.
    """

    exit_code = 5
    title = "fault"

    def __init__(self) -> None:
        super().__init__(
            "The question could not be completed.",
            cure="Its charge stands and the curator is closed until the steward runs `dpcurator reopen`.",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (Fault, ())
