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
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NoReturn, Unpack
from urllib.parse import urlsplit

from dpcurator.catalog.model import Column, Table
from dpcurator.client.connection import Connection, amount, error_of, shown
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.accounts import checked_name
from dpcurator.ledger.key_chain import given_up
from dpcurator.numbers.rational import rational
from dpcurator.numbers.text_table import printable
from dpcurator.release.answer import Answer, answer_of
from dpcurator.values import Json

if TYPE_CHECKING:
    from dpcurator.fronts.frame import Frame
    from dpcurator.numbers.rational import Spelled
    from dpcurator.pricing.offers import Asking, BatchAsking, SeveralAsking
    from dpcurator.release.column_bounds import FoundBounds
    from dpcurator.release.description import Description

    Question = str | Frame[Any, Any, Any]

TOKEN: Final = "DPCURATOR_TOKEN"
_NAME: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")
_KEY: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Told:
    """A quote, a menu or a list of tables as the server told it. Printed as it reads; `as_json()` has all of it."""

    text: str
    content: Json

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def as_json(self) -> Json:
        """Everything, for machines."""
        return self.content

    def __getitem__(self, name: str) -> Any:
        """A field of it, as in quote["epsilon"]."""
        return self.content[name]


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


class Remote:
    """A curator's server, as `connect` made it. See there."""

    def __init__(self, client: Any, place: str, key: str | None, pause: Callable[[float], None] = time.sleep) -> None:
        self._line = Connection(client, place, key, pause)

    def __repr__(self) -> str:
        return f"<Remote: {self._line.place}>"

    @property
    def tables(self) -> Told:
        """What can be asked of."""
        return self._told("GET", "/v1/tables")

    def table(self, name: str) -> Frame[Told, Told, Answer]:
        """A table by its exact name, to ask in steps: `.where(...).group_by(...).agg(...)`. Raises Refusal."""
        from dpcurator.fronts.frame import start

        try:
            found = [_table(one) for one in self.tables["tables"]]
        except (LookupError, TypeError):
            raise self._line.nonsense() from None
        return start(self, name, found)

    def plan(self, question: Question) -> NoReturn:
        """A plan needs the catalog, which is the server's. Raises Refusal."""
        raise Refusal("a plan is made where the catalog is.", cure='Ask for quote(...)["plan"].')

    def quote(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What a question would cost and how wrong its answer might be. Free."""
        return self._told("POST", "/v1/quote", {"sql": _sql(question)} | _plain(asked))

    def menu(self, question: Question, **how: Any) -> Told:
        """What each share of the budget would buy. Free."""
        return self._told("POST", "/v1/menu", {"sql": _sql(question)} | _plain(how))

    def rehearse(self, question: Question, **asked: Unpack[Asking]) -> Answer:
        """The answer over made-up rows. Free."""
        sent = self._line.sent("POST", "/v1/rehearse", {"sql": _sql(question)} | _plain(asked))
        return self._answer(sent, rehearsed=True)

    def ask(
        self, question: Question, *, fresh: bool = False, request_id: str | None = None, **asked: Unpack[Asking]
    ) -> Answer:
        """The answer, paid for. The same question at the same price again is free and gives the same numbers."""
        body = {"sql": _sql(question), **({"fresh": True} if fresh else {})} | _plain(asked)
        key = _key(request_id, fresh)
        answer = self._answer(self._line.sent("POST", "/v1/ask", body, key))

        return replace(answer, elsewhere=_Totals(self, body, key, answer))

    def _totalled(
        self, body: Json, key: str | None, answer: Answer, columns: Sequence[str], by: Sequence[str]
    ) -> Answer:
        """The same question again, which is free, with its totals."""
        wanted = {"columns": _names(columns, "columns"), "by": _names(by, "by")}
        sent = self._line.sent("POST", "/v1/ask", body | {"stored": True, "totals": [wanted]}, key)
        again, totals = self._answer(sent), sent.get("totals")
        if again.cells != answer.cells:
            raise Refusal("this answer has become finer since: noisy numbers of it were paid for again.",
                          cure="Ask the same question at the same price again, which is free, and total that.")
        if not isinstance(totals, list) or len(totals) != 1:
            raise self._line.nonsense()
        return self._shaped(totals[0])

    def explain(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What a question does, step by step, and its quote; without a price, at 1 % of the budget. Free."""
        return self._told("POST", "/v1/explain", {"sql": _sql(question)} | _plain(asked))

    def caps(self, question: Question, **asked: Unpack[Asking]) -> Told:
        """What other contribution bounds would do to the error bars at the same price. Free."""
        return self._told("POST", "/v1/caps", {"sql": _sql(question)} | _plain(asked))

    def rows_per_unit(self, table: str, *, request_id: str | None = None, **asked: Unpack[Asking]) -> Told:
        """How many units have how many rows in a table, noisy, and the caps that suggests: paid as any question is.
        Its "answer" is checked as any; without a price it is the menu of prices, and free."""
        body = {"table": table} | _plain(asked)
        if not any(asked.get(name) is not None for name in ("epsilon", "rho", "spend")):
            return self._told("POST", "/v1/rows-per-unit/menu", body)
        found = self._told("POST", "/v1/rows-per-unit", body, _key(request_id, False))
        try:
            self._answer(found["answer"])
        except LookupError:
            raise self._line.nonsense() from None
        return found

    def quote_batch(self, questions: Sequence[Question], **asked: Any) -> Told:
        """What several questions cost together. Free."""
        return self._told("POST", "/v1/quote/batch", {"questions": _each(questions)} | _plain(asked))

    def menu_batch(self, questions: Sequence[Question], **how: Any) -> Told:
        """What each share of the budget would buy for several questions together. Free."""
        return self._told("POST", "/v1/menu/batch", {"questions": _each(questions)} | _plain(how))

    def batch(
        self, questions: Sequence[Question], *, as_one: bool = False, fresh: bool = False,
        request_id: str | None = None, **asked: Unpack[SeveralAsking],
    ) -> tuple[Answer, ...]:
        """The answers to several questions: one charge, all or nothing."""
        flags = {name: True for name, said in (("as_one", as_one), ("fresh", fresh)) if said}
        every = _each(questions)
        body = {"questions": every, **flags} | _plain(asked)
        sent = self._several("POST", "/v1/batch", body, _key(request_id, fresh))
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
        self, column: str, *, share: Spelled | None = None, fresh: bool = False, **asked: Unpack[Asking]
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
            return shown(told["protects"]), {one["name"]: _described(one) for one in told["tables"]}
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
        return tuple(map(self._answer, self._several("GET", f"/v1/answers/{_escaped(name)}")))

    def receipt(self, name: str) -> Any:
        """The signed receipt of an answer; of a batch, the list of them."""
        return self._line.sent("GET", f"/v1/receipts/{_escaped(name)}")

    def check(self) -> Told:
        """The steward's: what is undeclared, with the line to paste."""
        return self._told("GET", "/v1/check")

    def refresh(self, *, version: str | None = None, progress: Callable[[str, int, float], None] | None = None) -> Told:
        """The steward's: reads the declared sources into a new snapshot; its report. progress: called with a table, how
        many rows were read, and what part of all that is; not where `key` was given, as what is signed is whole.
        """
        last: Json = {}
        for line in self._line.lines("/v1/refresh", {} if version is None else {"version": version}):
            if {"table", "rows", "part"} <= set(line) and progress is not None:
                progress(shown(line["table"]), line["rows"], line["part"])
            last = line
        if "error" in last:
            raise error_of(last, self._line.place)
        return Told(json.dumps(last, indent=2), last)

    def reopen(self) -> bool:
        """The steward's, after looking into a fault: questions are taken again."""
        return bool(self._told("POST", "/v1/reopen", {})["reopened"])

    def log(self, after: int = 0) -> list[Json]:
        """The ledger's events behind one, at most 1,000: for the steward; for an auditor, without the questions."""
        return self._several("GET", f"/v1/log?after={int(after)}")

    def ledger(self) -> Told:
        """Whether the whole ledger verifies: for the steward and auditors."""
        return self._told("GET", "/v1/ledger")

    def users(self) -> list[Json]:
        """The steward's: all accounts, with what each has spent and has left."""
        return self._several("GET", "/v1/users")

    def grant(self, name: str, **changes: Any) -> Told:
        """The steward's: makes an account, or changes of it what is given: role, limit, delta, and token, where True
        makes a new one, which is in the reply this once, and False lets none sign in."""
        return self._told("POST", f"/v1/users/{checked_name(name)}", _plain(changes))

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

    def _told(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> Told:
        content = self._line.sent(method, path, body, key)
        if not isinstance(content, dict):
            raise self._line.nonsense()
        return Told(shown(content.pop("text", json.dumps(content, indent=2))), content)

    def _several(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> list[Json]:
        content = self._line.sent(method, path, body, key)
        if not isinstance(content, list):
            raise self._line.nonsense()
        return content

    def _answer(self, sent: Json, *, rehearsed: bool = False) -> Answer:
        found = self._shaped(sent)
        if found.made_up != rehearsed:
            raise self._line.nonsense()
        if self._line.key is not None and not rehearsed:
            self._check(sent)
        return found

    def _shaped(self, sent: Json) -> Answer:
        try:
            cost, spent, total = (amount(sent[name] or "0") for name in ("cost", "spent", "budget"))
            _check_form(sent)
            shaped = answer_of(sent, total=total, currency=sent["currency"])
            shaped = replace(shaped, notes=tuple(map(shown, shaped.notes)))
            made_up, receipt, repeated = bool(sent["made_up"]), sent["receipt"], bool(sent["repeated"])
            paid = shaped.paid(cost=cost, spent=spent, receipt=receipt, repeated=repeated)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, Refusal):
            raise self._line.nonsense() from None
        return replace(paid, made_up=made_up)

    def _check(self, sent: Json) -> None:
        from dpcurator.receipts.verification import verify

        signer = sent["receipt"].get("public_key") if isinstance(sent["receipt"], dict) else None
        if signer not in {self._line.key, *given_up(self._line.chain)}:
            self._line.follow()
        found = verify(sent["receipt"], public_key=self._line.key, answer=sent, keys=self._line.chain)
        if not found.holds or self._line.mine not in ("", sent["receipt"].get("analyst", self._line.mine)):
            raise Misconfigured(
                "the answer does not hold against the key that was given.", where=self._line.place,
                cure="Do not use it: ask the steward which key is right, and who stands between.",
            )

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


def _check_form(sent: Json) -> None:
    """Raises ValueError where a number of an answer is none: it would be found when the answer is printed, or never."""
    numbers = [cell[name] for row in sent["rows"] for cell in row for name in ("error", "low", "high", "rank")
               if cell.get(name) is not None]
    values = [cell["value"] for row in sent["rows"] for cell in row]
    cut = sent.get("cut", {})
    whole = [cut[name] for name in ("over", "over_error", "units", "units_error") if cut]
    texts = [*sent["columns"], *sent["shown"], *sent["notes"], sent["currency"]]
    finite = all(math.isfinite(one) for one in [*numbers, *values] if isinstance(one, float))
    if not (finite and all(type(one) in (int, float) for one in numbers) and all(type(one) is int for one in whole)
            and all(one is None or type(one) in (int, float, str, bool) for one in values)
            and all(isinstance(one, str) for one in texts) and sent["currency"] in ("epsilon", "rho")
            and all(isinstance(cut[name], str) and cut[name].isprintable() for name in ("protects", "reason") if cut)):
        raise ValueError("a number is none")
    rational(sent["confidence"], name="confidence")


def _sql(question: Any) -> str:
    from dpcurator.fronts.frame import Frame
    from dpcurator.language.render import render

    if not isinstance(question, str | Frame):
        raise Refusal(f"a question is an SQL text or a frame, not a {type(question).__name__}.",
                      cure='Write it as in ask("SELECT COUNT(*) FROM visits").')
    return question if isinstance(question, str) else render(question.question())


def _each(questions: Any) -> list[str]:
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        raise Refusal("a batch is a list of questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
    return [_sql(one) for one in questions]


def _names(given: Any, what: str) -> list[str]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise Refusal(f"{what} is a list of names.", cure=f'Write it as in {what}=["city"].')
    return list(given)


def _escaped(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refusal("an answer's name is that which is printed below it.", cure='Give it as in "3f9a01bc".')
    return name


def _plain(asked: Any) -> Json:
    """Keywords as JSON: exact numbers as text; what was left out is left out."""
    return {name: _exact(value) for name, value in asked.items() if value is not None}


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _exact(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(one) for one in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


def _key(request_id: str | None, fresh: bool) -> str | None:
    """A retry of a question that is paid again must be the same request."""
    if request_id is not None and not (isinstance(request_id, str) and _NAME.fullmatch(request_id)):
        raise Refusal("A request id must be 1 to 200 letters, digits, dots, colons, dashes or underscores.",
                      cure="Choose such an id, or leave it out.")
    return request_id if request_id is not None or not fresh else os.urandom(16).hex()


def _table(told: Json) -> Table:
    """What a frame needs of a table: its names. What they mean is the server's."""
    named = [told["name"], *(one["name"] for one in told["columns"])]
    if not all(isinstance(name, str) for name in named):
        raise TypeError("a name is none")
    return Table(named[0], tuple(Column(one["name"], one["type"]) for one in told["columns"]), told["unit"])


def _described(told: Json) -> Table:
    """What a description needs of a table: names, types, and which columns have bounds and lists of keys."""
    plain = _table(told)
    ends = [None if one["bounds"] is None else Fraction(0) for one in told["columns"]]
    keys: list[Any] = [() if isinstance(one["keys"], list) else None for one in told["columns"]]
    columns = (replace(column, lower=end, upper=end, keys=listed)
               for column, end, listed in zip(plain.columns, ends, keys, strict=True))
    return replace(plain, columns=tuple(columns))
