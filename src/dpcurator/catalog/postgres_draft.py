"""A first catalog for a table of a PostgreSQL server: what its schema declares, and never a value of a row.

Names and types are those of the columns. What else the schema says is public with it: the labels of an enumeration and
the values of a CHECK (x IN ...) are keys, the ends of a CHECK (x BETWEEN ...) are bounds, n of varchar(n) is
max_length; keys, references and remarks stand as comments. Checked in tests/snapshot/test_postgres_draft.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.columns import LARGEST_LENGTH
from dpcurator.catalog.guesses import Guess
from dpcurator.catalog.init import Drafted
from dpcurator.catalog.postgres import connected, stopped
from dpcurator.catalog.postgres_schema import READ_AS, TEXTS, ServerColumn, columns_of, identifier, relation, relations
from dpcurator.catalog.problems import text, toml
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from psycopg import Connection

_SHOWN: Final = 12  # tables of a database in a message
_LONGEST: Final = 200  # letters of a remark
_CONSTRAINTS: Final = """
    SELECT contype::text, pg_catalog.pg_get_constraintdef(oid),
           ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = conrelid AND a.attnum = ANY (conkey))
    FROM pg_catalog.pg_constraint WHERE conrelid = %s AND contype IN ('p', 'u', 'f', 'c')
    ORDER BY position(contype::text in 'pufc'), conname"""
_CAST = re.compile(r"::[a-z ]+(\(\d+(,\d+)?\))?(\[\])?")
_LITERAL = r"'(?:[^']|'')*'"


def drafted_table(dsn: str, named: str | None) -> Drafted:
    """What `init` writes for a table or view. dsn: "env:NAME"; named: as stored, "public.visits" names a schema. Raises
    Misconfigured."""
    import contextlib

    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(connected(dsn, ""))
        import psycopg

        try:
            return _drafted(connection, dsn, named)
        except (psycopg.Error, UnicodeError) as error:
            raise stopped(error, connection, "The server's own catalogs", "") from None


def _drafted(connection: Connection[Any], dsn: str, named: str | None) -> Drafted:
    if named is None:
        names = [f"{found.schema}.{found.name}" for found in relations(connection)]
        if len(names) != 1:
            more = f", and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
            listed = ": " + ", ".join(map(text, names[:_SHOWN])) + more if names else ""
            raise Misconfigured(f"The database has {len(names):,} tables and views{listed}.",
                                cure=f"Name one: dpcurator init --postgres {dsn} --table NAME.")
        named = names[0]
    found = relation(connection, named, "")
    columns = columns_of(connection, found.oid)
    rules = connection.execute(_CONSTRAINTS, [found.oid]).fetchall()
    place = f"{found.schema}.{found.name}"
    source = [f"postgres = {{ dsn = {text(dsn)}, table = {text(place)} }}"]
    source += [f"# {line}" for line in [one_line(found.remark)] if line]
    source += [f"# the server declares: {one_line(rule)}" for kind, rule, _ in rules if kind != "c"]
    checks = [(rule, names[0]) for kind, rule, names in rules if kind == "c" and len(names) == 1]
    kept = [column for column in columns if column.kind in READ_AS or column.kind == "time"]
    guesses = [_guess(column, [rule for rule, name in checks if name == column.name]) for column in kept]
    remarks = {column.name: one_line(column.remark) for column in kept if column.remark}
    left = [
        f"# {one_line(column.name)} is left out: it is of type {one_line(column.shown)}, which is not read. A view may "
        "write it otherwise." for column in columns if column not in kept
    ]
    return Drafted(found.name, source, [column.name for column in kept], guesses, remarks=remarks, left=left)


def _guess(column: ServerColumn, checks: list[str]) -> Guess:
    if column.kind == "time":
        return Guess("integer", (("format", '"HH:mm:ss"'),))
    type = "integer" if column.kind == "numeric" and column.scale == 0 else READ_AS[column.kind][0]
    fields: list[tuple[str, str]] = []
    keys = list(column.labels) or next((found for rule in checks if (found := listed(rule, column.name))), [])
    if keys and column.kind in TEXTS:
        fields.append(("keys", toml(keys)))
    elif column.letters is not None and column.letters <= LARGEST_LENGTH:
        fields.append(("max_length", str(column.letters)))
    if type in ("integer", "float", "date"):
        fields += [("bounds", both) for rule in checks if (both := ends(rule, column.name, type))][:1]
    if type == "timestamp" and column.kind == "timestamp":
        fields.append(("zone", '"?"'))
    return Guess(type, tuple(fields))


def listed(rule: str, name: str) -> list[str]:
    """The texts of CHECK (name IN ('a', 'b')), as the server writes it; none where it is another rule."""
    found = re.fullmatch(
        rf"CHECK \(\(+{re.escape(identifier(name))}\)?(?:::text)? = ANY \(+ARRAY\[((?:{_LITERAL}|[^'\]])*)\]\)*"
        r"(?:::text\[\])?\)+(?: NOT VALID)?", rule)
    if found is None or re.sub(rf"{_LITERAL}|::[a-z ]+(?:\(\d+\))?|[ ,()]", "", found[1]):
        return []
    return [literal[1:-1].replace("''", "'") for literal in re.findall(_LITERAL, found[1])]


def ends(rule: str, name: str, type: str) -> str:
    """Both ends of CHECK (name BETWEEN a AND b), as TOML; "" where it is another rule."""
    plain = re.sub(r"[()]", "", _CAST.sub("", rule)).removesuffix(" NOT VALID")
    value = r"'?\d{4}-\d\d-\d\d'?" if type == "date" else r"'?-?\d+(?:\.\d+)?'?"
    own = re.escape(re.sub(r"[()]", "", identifier(name)))
    found = re.fullmatch(rf"CHECK {own} *>= *({value}) *AND {own} *<= *({value})", plain)
    if found is None:
        return ""
    both = [end.strip("'") for end in found.groups()]
    return f"[{', '.join(text(end) if type == 'date' else end for end in both)}]"


def one_line(remark: str) -> str:
    """A text of the schema as a comment holds it."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in remark).split())
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " ..."
