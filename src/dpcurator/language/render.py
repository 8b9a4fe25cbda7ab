"""A Question as SQL text: what `.sql()` of a frame shows, and the words of the analyst in a message.

Promise: the text parses back to a question with the same plan. Names keep their spelling and quotes, titles become
aliases, and brackets stand wherever SQL would group otherwise; a chain of ANDs or ORs is written flat when `parse`
balances it the same way. Right because text and depth are both made from one table of levels.
Checked in tests/language/test_render.py.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from typing import Final, Literal

from dpcurator.errors import Refusal
from dpcurator.language import question as syntax

LONGEST: Final = 100  # characters of an expression in a message
_LEVEL: Final = {"OR": 1, "AND": 2, "NOT": 3, "||": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7}
_SIGNED, _ATOM, _CONDITION, _COMPARED, _TERM = 8, 9, 3, 4, 5  # comparisons, IN, LIKE and IS are _COMPARED


def render(question: syntax.Question) -> str:
    """The text, on one line but for line breaks inside names and texts."""
    clauses = [f"SELECT{_options(question.caps)} {', '.join(map(_item, question.items))}", f"FROM {_table(question)}"]
    if question.where is not None:
        clauses.append(f"WHERE {expression(question.where)}")
    if question.group_by:
        keys = ", ".join(map(expression, question.group_by))
        if question.sets:
            sets = (", ".join(expression(question.group_by[index]) for index in one) for one in question.sets)
            keys = f"GROUPING SETS ({', '.join(f'({one})' for one in sets)})"
        clauses.append(f"GROUP BY WITH_OTHER({keys})" if question.other else f"GROUP BY {keys}")
    if question.having is not None:
        clauses.append(f"HAVING {expression(question.having)}")
    if question.order_by:
        clauses.append(f"ORDER BY {', '.join(map(_ordering, question.order_by))}")
    if question.limit is not None:
        clauses.append(f"LIMIT {question.limit}")
    if question.offset:
        clauses.append(f"OFFSET {question.offset}")
    return " ".join(clauses)


def _options(caps: syntax.Caps) -> str:
    """The clause that says these caps, with a blank before it; nothing where none is said."""
    said = [f"{name} = {value}" for name in ("max_total", "max_rows", "max_groups", "min_units")
            if (value := getattr(caps, name)) is not None]
    return f" WITH DIFFERENTIAL_PRIVACY OPTIONS ({', '.join(said)})" if said else ""


def _item(item: syntax.Item) -> str:
    if item.alias is None and isinstance(item.part, syntax.Name):
        return expression(item.part)
    return f"{expression(item.part)} AS {quoted(item.label if item.alias is None else item.alias)}"


def _table(question: syntax.Question) -> str:
    if question.source is not None:
        return from_text(question.source)
    name = _named(question.table, question.table_quoted)
    return name if question.table_alias is None else f"{name} AS {quoted(question.table_alias)}"


def query_text(query: syntax.Query) -> str:
    """The text of a subquery."""
    if isinstance(query, syntax.Stacked):
        return " UNION ALL ".join(map(query_text, query.parts))
    clauses = [f"SELECT {'DISTINCT ' if query.distinct else ''}{', '.join(map(_inner_item, query.items))}"]
    clauses.append(f"FROM {from_text(query.source)}")
    for word, part in (("WHERE", query.where), ("GROUP BY", query.group_by), ("HAVING", query.having),
                       ("QUALIFY", query.qualify)):
        if part is not None and part != ():
            parts = part if isinstance(part, tuple) else (part,)
            clauses.append(f"{word} {', '.join(map(expression, parts))}")
    return " ".join(clauses)


def _inner_item(item: syntax.Item | syntax.Everything) -> str:
    if isinstance(item, syntax.Item):
        return _item(item)
    return "*" if item.table is None else f"{_named(item.table, item.table_quoted)}.*"


def from_text(source: syntax.From) -> str:
    """The text of what stands in FROM."""
    if isinstance(source, syntax.Join):
        how = f"ON {expression(source.on)}" if source.on is not None else (
            f"USING ({', '.join(map(expression, source.using))})")
        one, other = (source.right, source.left) if source.turned else (source.left, source.right)
        right = f"({from_text(other)})" if isinstance(other, syntax.Join) else from_text(other)
        word = "" if source.kind == "INNER" else "RIGHT " if source.turned else "LEFT "
        return f"{from_text(one)} {word}JOIN {right} {how}"
    if isinstance(source, syntax.Named):
        text = _named(source.name, source.quoted)
    else:
        text = f"({query_text(source.query)})"
    return text if source.alias is None else f"{text} AS {quoted(source.alias)}"


def _last(one: syntax.Ordering) -> str:
    """What rows are numbered by: a missing value is the last one unless said."""
    return f"{expression(one.part)}{' DESC' * one.descending}{' NULLS FIRST' * one.nulls_first}"


def _ordering(one: syntax.Ordering) -> str:
    text = expression(one.part) + (" DESC" if one.descending else "")
    if one.nulls_first == one.descending:  # a missing value sorts as the smallest unless said
        text += " NULLS FIRST" if one.nulls_first else " NULLS LAST"
    return text


def quoted(name: str) -> str:
    """A name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def _named(name: str, is_quoted: bool) -> str:
    return quoted(name) if is_quoted else name


def words(part: syntax.Syntax) -> str | None:
    """The text of an expression for a message and its cure; None where that is too long for one."""
    if sum(1 for _ in islice(syntax.walk(part), LONGEST)) == LONGEST:
        return None
    try:
        text = expression(part)
    except Refusal:  # a number without a decimal form
        return None
    return text if len(text) <= LONGEST and text.isprintable() else None


def expression(part: syntax.Syntax, least: int = 0) -> str:
    """The text of one expression, in brackets when it binds less than `least`."""
    text = _text(part)
    return f"({text})" if _level(part) < least else text


def _text(part: syntax.Syntax) -> str:
    match part:
        case syntax.Name(column, is_quoted, table, table_quoted):
            before = "" if table is None else _named(table, table_quoted) + "."
            return before + _named(column, is_quoted)
        case syntax.Literally(value, wanted):
            return _literal(value, wanted)
        case syntax.Call(function, _, distinct, star):
            inside = "*" if star else ", ".join(expression(*one) for one in _parts(part))
            return f"{function}({'DISTINCT ' if distinct else ''}{inside})"
        case syntax.Cohort(inner_, query):
            within = f"({query_text(query)})"
            return f"EXISTS {within}" if inner_ is None else f"{expression(inner_, _ATOM)} IN {within}"
        case syntax.Place(partition, order):
            among, along = ", ".join(map(expression, partition)), ", ".join(map(_last, order))
            return f"ROW_NUMBER() OVER (PARTITION BY {among} ORDER BY {along})"
        case syntax.Within():
            inner, *options = (expression(*one) for one in _parts(part))
            return f"{inner} IN ({', '.join(options)})"
        case syntax.Fits(_, _, escape, fold):
            inner, pattern, *rest = (expression(*one) for one in _parts(part))
            after = "" if escape is None else f" ESCAPE {rest[0]}"
            return f"{inner} {'ILIKE' if fold else 'LIKE'} {pattern}{after}"
        case syntax.Case(_, otherwise):
            said = [expression(*one) for one in _parts(part)]
            branches = [f"WHEN {said[i]} THEN {said[i + 1]}" for i in range(0, 2 * len(part.branches), 2)]
            return f"CASE {' '.join(branches)}{'' if otherwise is None else f' ELSE {said[-1]}'} END"
        case syntax.Cast(_, type):
            return f"CAST({expression(*_parts(part)[0])} AS {type})"
        case syntax.Unary(op, _):
            inner = expression(*_parts(part)[0])
            return f"NOT {inner}" if op == "NOT" else f"-{inner}" if op == "-" else f"{inner} {op}"
        case syntax.Binary(op, _, _):
            return f" {op} ".join(expression(*one) for one in _parts(part))


def _literal(value: Fraction | str | bool | None, wanted: str | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        text = "'" + value.replace("'", "''") + "'"
        return text if wanted is None else f"{wanted.upper()} {text}"
    return _decimal(value)


def _decimal(value: Fraction) -> str:
    """All figures of a number."""
    places = decimals(value)
    if places is None:
        raise Refusal(f"{value} has no decimal form, so SQL has no number for it.", cure="Write it as a division.")
    figures = str(abs(value.numerator) * (10**places // value.denominator)).rjust(places + 1, "0")
    text = f"{figures[:-places]}.{figures[-places:]}" if places else figures
    return f"-{text}" if value < 0 else text


def decimals(value: Fraction) -> int | None:
    """How many decimal places a number has; None when they never end."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _level(part: syntax.Syntax) -> int:
    match part:
        case syntax.Binary(op, _, _):
            return _LEVEL.get(op, _COMPARED)
        case syntax.Unary(op, _):
            return _SIGNED if op == "-" else _LEVEL.get(op, _COMPARED)
        case syntax.Within() | syntax.Fits():
            return _COMPARED
        case syntax.Cohort(inner) if inner is not None:
            return _COMPARED
        case syntax.Literally(Fraction() as value) if value < 0:
            return _SIGNED
    return _ATOM


def _parts(part: syntax.Syntax) -> list[tuple[syntax.Syntax, int]]:
    """The parts as the text has them, each with the least level it needs to stand there without brackets."""
    match part:
        case syntax.Binary("AND" | "OR" as op, left, right):
            flat = leaves(part, op)
            return [(one, _CONDITION) for one in (flat if syntax.chain(op, flat) == part else [left, right])]
        case syntax.Binary("IS DISTINCT FROM", left, right):
            return [(left, _ATOM), (right, _ATOM)]
        case syntax.Binary("||" | "+" | "-" | "*" | "/" | "%" as op, left, right):
            return [(left, _LEVEL[op]), (right, _LEVEL[op] + 1)]
        case syntax.Binary(_, left, right):
            return [(left, _TERM), (right, _TERM)]
        case syntax.Unary(_, inner):
            return [(inner, _ATOM)]
        case syntax.Within(inner, options):
            return [(inner, _ATOM), *((option, 0) for option in options)]
        case syntax.Cohort(inner) if inner is not None:
            return [(inner, _ATOM)]
        case syntax.Fits(inner, pattern, escape):
            return [(one, _ATOM) for one in (inner, pattern, escape) if one is not None]
        case syntax.Case() | syntax.Cast() | syntax.Call() | syntax.Place():
            return [(one, 0) for one in syntax.inside(part)]
    return []


def leaves(part: syntax.Syntax, op: Literal["AND", "OR"]) -> list[syntax.Syntax]:
    """What a tree of ANDs, or of ORs, joins, from left to right."""
    found: list[syntax.Syntax] = []
    left: list[syntax.Syntax] = [part]
    while left:
        one = left.pop()
        if isinstance(one, syntax.Binary) and one.op == op:
            left += [one.right, one.left]
        else:
            found.append(one)
    return found


def depth(part: syntax.Syntax, most: int) -> int:
    """How deep `parse` finds the text of this expression, brackets counted; `most` + 1 for anything deeper.

    Without recursion, so that an expression of any depth can be measured before it is rendered or bound.
    """
    found, left = 0, [(part, 0)]
    while left and found <= most:
        one, level = left.pop()
        signed = isinstance(one, syntax.Literally) and _level(one) == _SIGNED
        found = max(found, level + signed)
        if level <= most:
            left += [(inner, level + 1 + (_level(inner) < least)) for inner, least in _measured(one)]
    return min(found, most + 1)


def _measured(part: syntax.Syntax) -> list[tuple[syntax.Syntax, int]]:
    """As `_parts`; a chain is taken as flat, since comparing trees of any depth would recurse."""
    if isinstance(part, syntax.Binary) and (part.op == "AND" or part.op == "OR"):
        return [(one, _CONDITION) for one in leaves(part, part.op)]
    return _parts(part)
