"""A question before it is bound: syntax only, the same whichever front it came from.

Names are as the analyst spelled them, with whether they were quoted; nothing has been looked up yet. `bind` turns a
Question and a Catalog into a Plan, or refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

Operator = Literal["+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "AND", "OR"]


@dataclass(frozen=True, slots=True)
class Name:
    """A column as written: `visits."net gain"` has table `visits`. `at` says where, for messages."""

    column: str
    quoted: bool = False
    table: str | None = None
    table_quoted: bool = False
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Literally:
    """A literal: an exact number, a text, a boolean, or NULL. `type` is set by DATE '...' and TIMESTAMP '...'."""

    value: Fraction | str | bool | None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    op: Literal["-", "NOT", "IS NULL"]
    part: Syntax


@dataclass(frozen=True, slots=True)
class Binary:
    op: Operator
    left: Syntax
    right: Syntax


@dataclass(frozen=True, slots=True)
class Within:
    """part IN (options)"""

    part: Syntax
    options: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function: COUNT(*) has `star`, COUNT(DISTINCT x) has `distinct`."""

    function: str
    arguments: tuple[Syntax, ...] = ()
    distinct: bool = False
    star: bool = False
    at: str = field(default="", compare=False)


Syntax = Name | Literally | Unary | Binary | Within | Call


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the select list; `label` is its column's title when it has no alias."""

    part: Syntax
    alias: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Ordering:
    part: Syntax
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Question:
    items: tuple[Item, ...]
    table: str
    table_quoted: bool
    table_alias: str | None
    where: Syntax | None = None
    group_by: tuple[Syntax, ...] = ()
    having: Syntax | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    table_at: str = field(default="", compare=False)
