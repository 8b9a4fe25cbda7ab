"""Questions within a schema, drawn to reach every part of it: what a steward's own catalog can be asked.

Definition  `question(luck, table)` draws aggregates of every kind and arithmetic over them, listed and unknown keys and
            their expressions, grouping sets, conditions of every type, HAVING, ORDER BY, LIMIT; with the tables of its
            schema, also what is made of them in FROM, and conditions that look there (`relations`). It knows the public
            declaration alone. `smaller` gives the questions with one part less, for a witness that can be read. All
            tests of questions draw from here, so a new aggregate, expression or relation is entered once.
Promise     A function of the luck it is given. A question may be refused (bounds that an expression does not have, too
            many keys): then it is refused on every data set alike, and counts as asked.
Checked     tests/break_me/test_break_me.py, tests/laws/test_questions.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcurator.break_me.expressions import NAMING, call, condition, key, literal, shown
from dpcurator.break_me.relations import Around, beyond, relation
from dpcurator.break_me.tables import Column, Source, Table, quoted, source_of

__all__ = ["Column", "Question", "Table", "literal", "question", "quoted"]
_SETS = ("ROLLUP({0})", "CUBE({0})", "GROUPING SETS (({0}), ())", "GROUPING SETS (())")
_TAILS = ("", "", "", " HAVING COUNT(*) > 10", " ORDER BY 1 DESC", " LIMIT 2", " ORDER BY COUNT(*) LIMIT 3 OFFSET 1")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in its parts. other: also for all keys that are not shown. sets: how totals over the keys are asked
    for, as "ROLLUP". spend: its price, a share of the budget.
    source: what stands in FROM where it is more than the table."""

    table: str
    items: tuple[str, ...]
    keys: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    other: bool = False
    tail: str = ""
    spend: str = "5%"
    source: str = ""
    sets: str = ""

    @property
    def text(self) -> str:
        """As SQL."""
        listed = ", ".join(self.keys)
        grouped = f"WITH_OTHER({listed})" if self.other else self.sets.format(listed) if self.sets else listed
        group = f" GROUP BY {grouped}" if self.keys else ""
        where = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        named, source = self._given()
        told = [key for key in self.keys if "(SELECT" not in key]  # such a condition can be grouped by, not shown
        marks = [f"GROUPING({told[0]}) AS total"] if self.sets and told else []
        return f"{named}SELECT {', '.join((*told, *marks, *self.items))} FROM {source}{where}{group}{self.tail}"

    @property
    def by_noise(self) -> bool:
        """Does noise choose which rows are shown, or sort them?"""
        return bool(self.tail) or any(f"{name}(" in item for name in (*NAMING, "MODE") for item in self.items)

    def _given(self) -> tuple[str, str]:
        """What stands before SELECT and in FROM: every third subquery that stands there alone is named by WITH."""
        source = self.source or quoted(self.table)
        inner, _, alias = source.rpartition(" AS ")
        alone = source.startswith("(") and alias.isalnum() and _closes_last(inner) and len(source) % 3 == 0
        return (f"WITH {alias} AS {inner} ", alias) if alone else ("", source)

    def __str__(self) -> str:
        return self.text

    def smaller(self) -> Iterator[Question]:
        """With one part less each."""
        if self.tail:
            yield replace(self, tail="")
        if self.sets:
            yield replace(self, sets="")
        for name in ("where", "keys", "items"):
            parts: tuple[str, ...] = getattr(self, name)
            if name != "items" or len(parts) > 1 or self.keys:
                for place in range(len(parts)):
                    less: Any = {name: parts[:place] + parts[place + 1 :]}
                    if less.get("items") != () or self.keys:
                        yield replace(self, **less, other=self.other and less.get("keys") != ())
        if self.other:
            yield replace(self, other=False)


def _closes_last(text: str) -> bool:
    """Is it one pair of brackets with all the rest within?"""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place < len(text) - 1:
            return False
    return depth == 0


def question(luck: random.Random, table: Table, tables: Sequence[Table] = ()) -> Question:
    """One question of the table. tables: all of its schema; then some questions are of more than the table's rows."""
    around = Around(luck, tables)
    source = relation(around, table) if tables else source_of(table)
    alone = source.text == source_of(table).text
    keys, other, all_rows = _keys(luck, source)
    items = _items(luck, source)
    where = [*source.where]
    if not all_rows and source.fields:
        where += [condition(luck, source) for _ in range(luck.choice((0, 0, 0, 1, 1, 2)))]
    if source.unit is not None and not all_rows:
        if luck.random() < 0.1:
            where.append(f"{source.unit.sql} IS NOT NULL")
        if tables and luck.random() < 0.3:
            where.append(beyond(around, source))
            if luck.random() < 0.2:
                keys, other = [where.pop()], False
    plain = keys and not any("(SELECT" in key for key in keys)
    if plain and not other and luck.random() < 0.12:
        return _naming(luck, Question(table.name, (), tuple(keys), tuple(where), source="" if alone else source.text))
    sets = luck.choice(_SETS) if keys and not other and luck.random() < 0.3 else ""
    return Question(
        table.name, items, tuple(keys), tuple(where), sets=sets,
        other=other and luck.random() < 0.4 and not any(
            word in item for item in items for word in ("DISTINCT", "MEDIAN", "QUANTILE")
        ),
        tail=luck.choice(_TAILS), spend=luck.choice(("5%", "1%", "30%", "0.001%", "100%")),
        source="" if alone else source.text,
    )


def _naming(luck: random.Random, asked: Question) -> Question:
    """The names of the most frequent of its groups, or of the last column's in each group of the others."""
    many, spend = luck.choice((1, 1, 2, 5)), luck.choice(("5%", "30%", "100%"))
    if luck.random() < 0.4:
        count = luck.choice(("COUNT(*)", "COUNT(*)", f"COUNT({asked.keys[0]})"))
        tail = f" ORDER BY {count} DESC LIMIT {many}" + luck.choice(("", "", " OFFSET 1"))
        return replace(asked, tail=tail, spend=spend)
    *keys, last = asked.keys
    item = f"MODE({last})" if many == 1 else f"{luck.choice(NAMING)}({last}, {many})"
    return replace(asked, keys=tuple(keys), items=(item,), tail=luck.choice(("", " LIMIT 2")), spend=spend)


def _keys(luck: random.Random, source: Source) -> tuple[list[str], bool, bool]:
    """Keys, whether some are unknown, and whether the question is to be of all rows."""
    if source.unit is None and luck.random() < 0.4:  # each row is a unit: all rows, whose number may be public
        return [], False, True
    keyed = [field for field in source.fields if field.keys or field.unknown_keys]
    chosen = luck.sample(keyed, min(len(keyed), luck.choice((0, 1, 1, 2, 2, 3))))
    unknown = any(field.unknown_keys for field in chosen)
    if unknown:  # made of whole numbers and texts alone
        chosen = [field for field in chosen if field.type != "float"]
    return list(dict.fromkeys(key(luck, field) for field in chosen)), unknown, False


def _items(luck: random.Random, source: Source) -> tuple[str, ...]:
    """Aggregates, and now and then arithmetic over them."""
    items = [call(luck, source) for _ in range(luck.choice((1, 1, 2, 3)))]
    if luck.random() < 0.2:
        items.append(shown(luck, lambda: luck.choice((items[0], call(luck, source))), luck.choice((1, 2))) + " AS made")
    return tuple(dict.fromkeys(items))
