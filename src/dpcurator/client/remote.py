"""A curator at a distance: the same questions, answers and errors as one that is here, through its server.

Retries   A request that got no reply is sent again, some times (connection.py). That is safe: the same question at the
          same price is the same request, and one with fresh=True is sent under a key of its own.
Checks    With `key`, whatever is returned was signed by that key as the reply to this very request: its address, its
          text and price, and a number used once (receipts/reply.py). So whoever stands between can neither change a
          reply nor send another in its place. And every answer that was paid has a receipt signed by that key, which
          holds by itself and is of the values sent and of this account. A new key is followed where the one before
          it signed for it (ledger/key_chain.py), and never back.
Replies   Whatever comes back is an answer in its form, or an error of dpcurator's own: a reply is not believed to be
          from a curator before it has that form. No text of it brings control characters to a terminal.
Checked   tests/server/test_client.py, against a server.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, Unpack
from urllib.parse import urlsplit

from dpcurator.catalog.model import Table
from dpcurator.client.connection import shown
from dpcurator.client.forms import each_sql, escaped, key_of, names_of, plain, sql_of
from dpcurator.client.replies import Told, described, table_of
from dpcurator.client.steward import Stewarding
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.numbers.text_table import printable
from dpcurator.release.answer import Answer
from dpcurator.values import Json

if TYPE_CHECKING:
    from dpcurator.fronts.frame import Frame
    from dpcurator.numbers.rational import Spelled
    from dpcurator.pricing.offers import Asking, BatchAsking, PricedAsking, SeveralAsking
    from dpcurator.release.column_bounds import FoundBounds
    from dpcurator.release.description import Description

    Question = str | Frame[Any, Any, Any]

TOKEN: Final = "DPCURATOR_TOKEN"
_KEY: Final = re.compile("[0-9a-f]{64}")


def connect(url: str, *, token: str | None = None, key: str | None = None, timeout: float = 600.0) -> Remote:
    """Connects to a curator's server: what it returns is asked as one that `dp.open` returns.

    url: as "https://dp.clinic.example". token: of the account; by default the variable DPCURATOR_TOKEN. key: the
    curator's public key, got from elsewhere: then each paid answer is checked against it as it arrives. timeout:
    seconds to wait for a reply; a question that takes longer is answered all the same, and asking again shows it.

    Promise: with `key`, nothing is returned that this key has not signed as the reply to this very request, and no paid
    answer whose receipt it has not signed, or that is not of the values that came; and the token goes to another
    machine over TLS alone.

    `ask`, `quote`, `menu`, `rehearse`, `batch`, `quote_batch`, `menu_batch`, `table`, `tables`, `budget`, `answers`,
    `recall` and `receipt` are as those of a curator. Raises Misconfigured where the server cannot be reached or the
    account does not sign in, and Refusal, OverBudget and Fault as a curator does.

    >>> import dpcurator as dp
    >>> try:
    ...     dp.connect("http://dp.clinic.example", token="ana.secret")
    ... except dp.Misconfigured as error:
    ...     print(error.what)
    the token would cross the network in the clear.
    """
    found = token if token is not None else os.environ.get(TOKEN, "")
    if not found:
        raise Misconfigured("there is no token.", cure=f"Give token=, or set the variable {TOKEN}.")
    if not isinstance(found, str) or not found.isascii() or not found.isprintable() or " " in found:
        raise Misconfigured("this is no token.", cure="Give it as `dpcurator user add` showed it, as in ana.Qm9...")
    if key is not None and not (isinstance(key, str) and _KEY.fullmatch(key)):
        raise Refusal("key is no public key.", cure="It is 64 digits and small letters a to f, as `dpcurator key` "
                      "prints it.")
    host, secure = _address(url)
    if not secure and not _is_here(host):
        raise Misconfigured("the token would cross the network in the clear.", where=url,
                            cure="Use the server's https address.")
    try:
        import httpx
    except ModuleNotFoundError:
        raise Refusal("httpx is not installed.", cure='Run: pip install "dpcurator[client]"') from None
    client = httpx.Client(
        base_url=url.rstrip("/"), headers={"Authorization": f"Bearer {found}"}, follow_redirects=False,
        timeout=httpx.Timeout(timeout, connect=10), trust_env=not _is_here(host),
    )
    return Remote(client, url.rstrip("/"), key)


def _address(url: object) -> tuple[str, bool]:
    """Its host, and whether it has TLS. Raises Refusal for what is no server's address."""
    try:
        if isinstance(url, str) and url.isascii() and url.isprintable() and not set(url) & set(" \\@"):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.query:
                return parts.hostname, parts.scheme == "https"
    except ValueError:
        pass
    raise Refusal(f"{url!r} is not a server's address.", cure='Write it as in "https://dp.clinic.example".')


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Remote(Stewarding):
    """A curator's server, as `connect` made it. See there."""

    @property
    def tables(self) -> Told:
        """What can be asked of."""
        return self._told("GET", "/v1/tables")

    def table(self, name: str) -> Frame[Told, Told, Answer]:
        """A table by its exact name, to ask in steps: `.where(...).group_by(...).agg(...)`. Raises Refusal."""
        from dpcurator.fronts.frame import start

        try:
            found = [table_of(one) for one in self.tables["tables"]]
        except (LookupError, TypeError):
            raise self._line.nonsense() from None
        return start(self, name, found)

    def plan(self, question: Question) -> NoReturn:
        """A plan needs the catalog, which is the server's. Raises Refusal."""
        raise Refusal("a plan is made where the catalog is.", cure='Ask for quote(...)["plan"].')

    def quote(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What a question would cost and how wrong its answer might be. Free."""
        return self._told("POST", "/v1/quote", {"sql": sql_of(question)} | plain(asked))

    def menu(self, question: Question, **how: Any) -> Told:
        """What each share of the budget would buy. Free."""
        return self._told("POST", "/v1/menu", {"sql": sql_of(question)} | plain(how))

    def rehearse(self, question: Question, **asked: Unpack[Asking]) -> Answer:
        """The answer over made-up rows. Free."""
        sent = self._line.sent("POST", "/v1/rehearse", {"sql": sql_of(question)} | plain(asked))
        return self._answer(sent, rehearsed=True)

    def ask(
        self, question: Question, *, fresh: bool = False, request_id: str | None = None, sharpen: bool = False,
        **asked: Unpack[Asking],
    ) -> Answer:
        """The answer, paid for. The same question at the same price again is free and gives the same numbers.

        fresh, request_id and sharpen are as for `Curator.ask`."""
        flags = {name: True for name, said in (("fresh", fresh), ("sharpen", sharpen)) if said}
        body = {"sql": sql_of(question), **flags} | plain(asked)
        key = key_of(request_id, fresh or sharpen)
        answer = self._answer(self._line.sent("POST", "/v1/ask", body, key), sharpened=sharpen)
        return replace(answer, elsewhere=_Totals(self, body, key, answer))

    def _totalled(
        self, body: Json, key: str | None, answer: Answer, columns: Sequence[str], by: Sequence[str]
    ) -> Answer:
        """The same question again, which is free, with its totals."""
        wanted = {"columns": names_of(columns, "columns"), "by": names_of(by, "by")}
        free = {} if body.get("sharpen") else {"stored": True}  # a mean is asked for by its request, which was paid
        sent = self._line.sent("POST", "/v1/ask", body | free | {"totals": [wanted]}, key)
        again, totals = self._answer(sent, sharpened="sharpen" in body), sent.get("totals")
        if again.cells != answer.cells:
            raise Refusal("this answer has become finer since: noisy numbers of it were paid for again.",
                          cure="Ask the same question at the same price again, which is free, and total that.")
        if not isinstance(totals, list) or len(totals) != 1:
            raise self._line.nonsense()
        return self._shaped(totals[0])

    def explain(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What a question does, step by step, and its quote; without a price, at 1 % of the budget. Free."""
        return self._told("POST", "/v1/explain", {"sql": sql_of(question)} | plain(asked))

    def caps(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What other contribution bounds would do to the error bars at the same price. Free."""
        return self._told("POST", "/v1/caps", {"sql": sql_of(question)} | plain(asked))

    def rows_per_unit(self, table: str, *, request_id: str | None = None, **asked: Unpack[Asking]) -> Told:
        """How many units have how many rows in a table, noisy, and the caps that suggests: paid as any question is.
        Its "answer" is checked as any; without a price it is the menu of prices, and free."""
        body = {"table": table} | plain(asked)
        if not any(asked.get(name) is not None for name in ("epsilon", "rho", "spend")):
            return self._told("POST", "/v1/rows-per-unit/menu", body)
        found = self._told("POST", "/v1/rows-per-unit", body, key_of(request_id, False))
        try:
            self._answer(found["answer"])
        except LookupError:
            raise self._line.nonsense() from None
        return found

    def quote_batch(self, questions: Sequence[Question], **asked: Any) -> Told:
        """What several questions cost together. Free."""
        return self._told("POST", "/v1/quote/batch", {"questions": each_sql(questions)} | plain(asked))

    def menu_batch(self, questions: Sequence[Question], **how: Any) -> Told:
        """What each share of the budget would buy for several questions together. Free."""
        return self._told("POST", "/v1/menu/batch", {"questions": each_sql(questions)} | plain(how))

    def batch(
        self, questions: Sequence[Question], *, as_one: bool = False, fresh: bool = False,
        request_id: str | None = None, **asked: Unpack[SeveralAsking],
    ) -> tuple[Answer, ...]:
        """The answers to several questions: one charge, all or nothing."""
        flags = {name: True for name, said in (("as_one", as_one), ("fresh", fresh)) if said}
        every = each_sql(questions)
        body = {"questions": every, **flags} | plain(asked)
        sent = self._several("POST", "/v1/batch", body, key_of(request_id, fresh))
        if len(sent) != len(every):
            raise self._line.nonsense()
        return tuple(map(self._answer, sent))

    def describe(
        self, table: str, *, fresh: bool = False, request_id: str | None = None, **asked: Unpack[BatchAsking]
    ) -> Description:
        """Every declared column of a table, summarised by its type: one charge, as `Curator.describe` has it."""
        from dpcurator.release.description import Description, questions_of

        protects, found = self._declared()
        if table not in found:
            names = ", ".join(map(printable, found))
            raise Refusal(f"there is no table {printable(str(table))!r}.", cure=f"There are {names}.")
        questions = questions_of(found[table])
        own: SeveralAsking = {**asked, "shares": None if asked.get("within") else questions.shares}
        answers = self.batch(questions.texts, fresh=fresh, request_id=request_id, **own)
        return Description(table, protects, questions, answers)

    def bounds(
        self, column: str, *, share: Spelled | None = None, fresh: bool = False, **asked: Unpack[PricedAsking]
    ) -> FoundBounds:
        """Bounds for a column of numbers, where nobody knows any, as `Curator.bounds` has it."""
        from dpcurator.release.column_bounds import FoundBounds, asked_of, at_one_row

        found = asked_of(self._declared()[1], column, share)
        return FoundBounds(found, self.ask(found.sql, fresh=fresh, **at_one_row(found, asked)))

    def bounds_question(self, column: str, *, share: Spelled | None = None) -> str:
        """The question that `bounds` asks, as SQL. Free. Raises Refusal."""
        from dpcurator.release.column_bounds import asked_of

        return asked_of(self._declared()[1], column, share).sql

    def _declared(self) -> tuple[str, dict[str, Table]]:
        """What is protected, and the tables, as far as a description needs to know them."""
        told = self.tables
        try:
            return shown(told["protects"]), {one["name"]: described(one) for one in told["tables"]}
        except (LookupError, TypeError):
            raise self._line.nonsense() from None

    def budget(self) -> Told:
        """What is spent and left: of my own limit ("mine"), and of the whole ("all")."""
        return self._told("GET", "/v1/budget")

    def answers(self) -> list[Json]:
        """My last charges, the latest first."""
        return self._several("GET", "/v1/answers")

    def recall(self, name: str) -> tuple[Answer, ...]:
        """My stored answers of this name, for nothing; of a batch all that it paid."""
        return tuple(map(self._answer, self._several("GET", f"/v1/answers/{escaped(name)}")))

    def receipt(self, name: str) -> Any:
        """The signed receipt of an answer; of a batch, the list of them."""
        return self._line.sent("GET", f"/v1/receipts/{escaped(name)}")

    def verify(self, receipt: Json) -> Any:
        """Checks a receipt here, against the key that `connect` was given; the server is asked only how its keys
        followed one another, where another one signed it."""
        from dpcurator.receipts.verification import verify

        if self._line.key is not None and isinstance(receipt, dict) and receipt.get("public_key") != self._line.key:
            self._line.follow()
        return verify(receipt, public_key=self._line.key, keys=self._line.chain)

    def close(self) -> None:
        """Closes the connection; also at the end of a `with` block."""
        self._line.client.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Totals:
    """Asks for totals of an answer. It stays with its connection: a copy or a pickle of the answer is without it."""

    remote: Remote
    body: Json
    key: str | None
    answer: Answer

    def __call__(self, columns: Sequence[str], by: Sequence[str]) -> Answer:
        return self.remote._totalled(self.body, self.key, self.answer, columns, by)

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


def _nothing() -> None:
    return None
