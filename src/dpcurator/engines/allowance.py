"""The memory and steps that a core plan takes for rows in flight, from public facts alone, and how much is allowed.

One function, `needed`, is what the quote, the charge, a rehearsal and a batch all go by (`limits.check_core` calls it),
so no row of anybody's decides whether an accepted question fits. An engine computes a plan's expressions for VECTOR
rows at a time in each of its threads, and holds the result of every part until they have gone through: a thread holds

    VECTOR * (4 * letters of every text part + 24 * every part)  bytes, and the automata of its patterns,

a code point being at most four bytes of UTF-8, and a text's letters being counted from the declared `max_length` of its
columns *before* it is made. What a thread holds is at most ALLOWANCE whatever the machine; how many threads there are,
and how much memory there is for groups, sorts and joins (which go to disk beyond it), are settings of the engine
(`settings.py`). Measured on DuckDB 2.0.1 with four-byte letters: 0.6 to 1.1 times the formula. Checked in
tests/engines/test_allowance.py, and under a limit of the operating system in tests/attacks/test_memory.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language import patterns, rows
from dpcurator.language.functions import BY_NAME
from dpcurator.language.functions.function import LONGEST
from dpcurator.plan.core import Chosen, CorePlan, Filter, Owner, Project, Scan, Source
from dpcurator.plan.core_relations import CoreRelation, below, columns_of, walk
from dpcurator.plan.core_relations import expressions_of as of_relation

VECTOR: Final = 2048  # rows that an engine computes at a time
WIDTH: Final = 24  # bytes of a part that is no text, with what its guards make; measured
ALLOWANCE: Final = 160 * 2**20  # bytes of rows in flight, a thread
STEPS: Final = 1_000_000  # letters times tokens of patterns, a row: about a tenth of a second at most
AUTOMATON: Final = 8 * 2**20  # bytes that RE2 gives one pattern
STATE: Final = 2600  # bytes of one state of it
TAGGED: Final = 32  # letters at most of a number, and of what `key_bytes` writes before a value
LISTED: Final = 200  # bytes of a constant in a list, its letters apart


@dataclass(slots=True)
class Need:
    """Of one thread: bytes of rows in flight; steps of patterns for one row; the longest text, in letters."""

    bytes: int = 0
    steps: int = 0
    longest: int = 0
    _seen: dict[rows.Expression, int] = field(default_factory=dict)

    def scanned(self, columns: Sequence[Source]) -> Need:
        """The stored columns."""
        for source in columns:
            letters = max(source.letters, len(source.fill)) if isinstance(source.fill, str) else source.letters
            self._text(letters if source.kind == "text" else 0)
        return self

    def add(self, part: rows.Expression, columns: Sequence[Source]) -> int:
        """An expression over these columns; its letters. Equal parts are computed once."""
        if part not in self._seen:
            self._seen[part] = self._part(part, columns)
        return self._seen[part]

    def _part(self, part: rows.Expression, columns: Sequence[Source]) -> int:
        match part:
            case rows.Field(index, kind):
                return columns[index].letters if kind == "text" else 0
            case rows.Constant(value):
                return len(value) if isinstance(value, str) else 0
            case rows.Among(operand, values):
                self.add(operand, columns)
                self.bytes += sum(LISTED + 4 * len(str(one.value)) for one in values)
                return self._text(0)
        inner = [self.add(one, columns) for one in rows.parts_of(part)]
        match part:
            case rows.Compute(name, _, kind, literals):
                made = BY_NAME[name].letters(tuple(inner), literals) if kind == "text" else 0
                return self._text(made, len(inner) if name in ("least", "greatest") else BY_NAME[name].weight)
            case rows.Choose(branches, _, kind):
                chosen = (*inner[1 : 2 * len(branches) : 2], inner[-1])
                return self._text(max(chosen) if kind == "text" else 0)
            case rows.Like(_, pattern, escape):
                tokens = patterns.tokens(pattern, escape)
                self.steps += (inner[0] + 1) * (1 + (len(tokens) // 32 if patterns.quick(tokens) else len(tokens)))
                self.bytes += automaton(tokens)
        return self._text(0)

    def _text(self, letters: int, times: int = 1) -> int:
        self.bytes += VECTOR * (4 * letters + WIDTH) * times
        self.longest = max(self.longest, letters)
        return letters


def automaton(tokens: tuple[patterns.Token, ...]) -> int:
    """Bytes of a pattern's automaton, at most: without ONE its states are a place in it and the letters read before."""
    if patterns.quick(tokens):
        return 0
    states = 2 ** min(len(tokens), 20) if patterns.ONE in tokens else (len(tokens) + 1) ** 2
    return min(AUTOMATON, STATE * states)


def needed(columns: Sequence[Source], expressions: Iterable[rows.Expression]) -> Need:
    """Of one thread that reads these columns and computes these expressions of them."""
    need = Need().scanned(columns)
    for one in expressions:
        need.add(one, columns)
    return need


def expressions_of(core: CorePlan) -> list[rows.Expression]:
    """A plan's condition and computed columns."""
    found: list[rows.Expression] = []
    for step in core:
        if isinstance(step, Filter):
            found.append(step.predicate)
        elif isinstance(step, Project):
            found += step.parts
    return found


def need_of(cores: Sequence[CorePlan]) -> Need:
    """Of plans that are computed at the same time, each from a reading of its own."""
    total = Need()
    for core in cores:
        scan = core[0]
        assert isinstance(scan, Scan)
        one = _put_in_order(needed(scan.columns, expressions_of(core)), core)
        for node in () if isinstance(scan.table, str) else walk(scan.table):
            _of_node(one, node)
        total.bytes, total.steps = total.bytes + one.bytes, total.steps + one.steps
        total.longest = max(total.longest, one.longest)
    return total


def _of_node(need: Need, node: CoreRelation) -> None:
    """One node of a relation: the columns that it gives, and what it computes of those below it."""
    own = needed(columns_of(node), ())
    for one in below(node):
        for expression in of_relation(node):
            own.add(expression, columns_of(one))
    need.bytes, need.steps = need.bytes + own.bytes, need.steps + own.steps
    need.longest = max(need.longest, own.longest)


def _put_in_order(need: Need, core: CorePlan) -> Need:
    """Where keys are chosen, with what they are put in order by: `plan/core.py::key_bytes`, joined value by value."""
    columns: tuple[Source, ...] = ()
    computed: tuple[rows.Operand, ...] = ()
    owner: int | None = None
    for step in core:
        if isinstance(step, Scan):
            columns = step.columns
        elif isinstance(step, Project):
            computed = step.parts
        elif isinstance(step, Owner):
            owner = step.column
        elif isinstance(step, Chosen) and owner is not None:
            joined = len(step.salt)
            for place in (owner, *step.columns):
                if place < len(columns):
                    letters = columns[place].letters if columns[place].kind == "text" else 0
                else:
                    letters = need.add(computed[place - len(columns)], columns)
                for made in (letters + TAGGED, joined := joined + letters + TAGGED):
                    need.bytes += VECTOR * (4 * made + WIDTH)
    return need


def fits(need: Need) -> bool:
    return need.bytes <= ALLOWANCE and need.steps <= STEPS and need.longest <= LONGEST


def check(need: Need) -> None:
    """Raises Refusal where it is more than is allowed."""
    shorter = "Shorten it first, as in LEFT(x, 100), or declare a smaller max_length for its columns in curator.toml"
    if need.longest > LONGEST:
        raise Refusal(f"a text of this question may have {need.longest:,} letters; the limit is {LONGEST:,}.",
                      cure=f"{shorter}.")
    if need.steps > STEPS:
        raise Refusal(
            f"the patterns of this question may take {need.steps:,} steps a row (letters times length of pattern), "
            f"and the limit is {STEPS:,}.", cure="Shorten the text, as in LEFT(x, 100) LIKE ..., or the patterns.",
        )
    if need.bytes > ALLOWANCE:
        raise Refusal(
            f"the expressions of this question may need {-(-need.bytes // 2**20):,} MiB for each thread, counted from "
            f"the max_length of texts; the limit is {ALLOWANCE // 2**20} MiB.",
            cure=f"{shorter}; or compute fewer texts and patterns.",
        )
