"""What a question says of its own price and caps, in SQL as BigQuery writes it.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1, max_total = 20) city, COUNT(*) FROM visits GROUP BY city

The clause stands after the SELECT that asks: the first one outside all brackets, so after the subqueries of WITH. It is
read before the rest is parsed and blanked out, so that places in messages stay right. Options are names and numbers,
nothing else; each may stand once. Checked in tests/fronts/test_options.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.text import tokens_of
from dpcurator.language.names import nearest
from dpcurator.language.question import NO_CAPS, Caps
from dpcurator.numbers import whole

CAPS: Final = {"max_total": "max_total", "max_rows": "max_rows", "max_groups": "max_groups",
               "max_groups_contributed": "max_groups", "min_units": "min_units",
               "min_privacy_units_per_group": "min_units"}
PRICE: Final = ("epsilon", "delta")
_MARK: Final = "DIFFERENTIAL_PRIVACY"
_WORDS: Final = {"SELECT", "WITH", "VAR", "L_PAREN", "R_PAREN"}
_OPTION: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^\s=]+)\s*")
_EXAMPLE: Final = (
    "Write it as in SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1, max_total = 20) COUNT(*) FROM visits."
)


@dataclass(frozen=True, slots=True)
class Options:
    """caps: of this question. price: epsilon and delta as they are written, those that are."""

    caps: Caps = NO_CAPS
    price: tuple[tuple[str, str], ...] = ()


def without_options(text: str) -> tuple[str, Options]:
    """A text with its clause of options blanked out, and what the clause says. Raises Refusal."""
    if _MARK not in text.upper():  # nearly all questions: they are not looked at twice
        return text, Options()
    head, found = _clauses(text)
    if not found:
        return text, Options()
    inner = next((one for one in found if one.after != head), None)
    if inner is not None:
        raise _misplaced(text, inner, head, other=any(one.after == head for one in found))
    clause = found[0]
    if clause.said is None:
        raise Refusal("the options of the question cannot be read.", where=_place(text, clause.end), cure=_EXAMPLE)
    said: dict[str, str] = {}
    for part in filter(str.strip, clause.said.split(",")):
        option = _OPTION.fullmatch(part)
        if option is None:
            raise Refusal("an option is a name and a number.", where=_place(text, clause.begin), cure=_EXAMPLE)
        name = option[1].lower()
        if name not in CAPS and name not in PRICE:
            cure = "The catalog says whose the rows are: leave it out." if name == "privacy_unit_column" else nearest(
                name, [*CAPS, *PRICE], "option")
            raise Refusal(f"there is no option {name}.", where=_place(text, clause.begin), cure=cure)
        known = CAPS.get(name, name)
        if known in said:
            where = _place(text, clause.begin)
            raise Refusal(f"the option {known} is given twice.", where=where, cure="Say it once.")
        said[known] = option[2]
    caps = {name: whole(value, name=name, least=1) for name, value in said.items() if name not in PRICE}
    price = tuple((name, said[name]) for name in PRICE if name in said)
    return _blanked(text, clause), Options(Caps(**caps), price)


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause of options: text[after:end], after a SELECT; `said` is what stands in its brackets, from `begin`; None
    where that cannot be read."""

    after: int
    begin: int
    end: int
    said: str | None


def _clauses(text: str) -> tuple[int, list[_Clause]]:
    """Where the SELECT that asks ends, and the clauses of options, by the words of a text. Raises Refusal."""
    tokens = tokens_of(text)
    words = [token.text.upper() if token.token_type.name in _WORDS else "" for token in tokens]
    head, depth, found = -1, 0, list[_Clause]()
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word != "SELECT":
            continue
        after = tokens[at].end + 1
        head = after if head < 0 and depth == 0 else head
        if words[at + 1 : at + 3] == ["WITH", _MARK]:
            found.append(_clause(text, tokens, words, at))
    return head, found


def _clause(text: str, tokens: list[Any], words: list[str], at: int) -> _Clause:
    """The clause after the SELECT that is word `at`: WITH DIFFERENTIAL_PRIVACY, and OPTIONS (...) where it is said."""
    after, end = tokens[at].end + 1, tokens[at + 2].end + 1
    if words[at + 3 : at + 4] != ["OPTIONS"]:
        return _Clause(after, end, end, "")
    close = next((n for n in range(at + 5, len(words)) if words[n] in ("(", ")")), len(words) - 1)
    if words[at + 4 : at + 5] != ["("] or words[close] != ")":
        return _Clause(after, end, end, None)
    begin = tokens[at + 4].end + 1
    return _Clause(after, begin, tokens[close].end + 1, text[begin : tokens[close].start])


def _misplaced(text: str, inner: _Clause, head: int, *, other: bool) -> Refusal:
    """The refusal of options after another SELECT than the one that asks. other: that one has some, too."""
    here, clause = (inner.after, inner.end), text[inner.after : inner.end].strip()
    put = text[: here[0]] + text[here[1] :]
    if not other:
        at = head if head <= here[0] else head - (here[1] - here[0])
        put = f"{put[:at]} {clause}{put[at:]}"
    return Refusal(
        "a subquery has no price and no caps of its own: they are those of the whole question.",
        where=_place(text, here[0] + 1),
        cure="Leave them out of the subquery." if other else "Say them after the SELECT that asks, the outermost one.",
        mends=(Mend(put, to="question"),) if head >= 0 else (),
    )


def _blanked(text: str, clause: _Clause) -> str:
    """The text with a clause as spaces."""
    blank = "".join(letter if letter == "\n" else " " for letter in text[clause.after : clause.end])
    return text[: clause.after] + blank + text[clause.end :]


def _place(text: str, at: int) -> str:
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - (before.rfind(chr(10)) + 1) + 1}"
