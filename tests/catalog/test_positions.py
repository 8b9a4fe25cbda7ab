"""The position finder agrees with tomllib on what there is, and with the text on where it is."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.catalog.positions import line_of, positions
from dpcurator.catalog.problems import quoted, text

TABLE = [
    ("a = 1\nb = 2\n", {("a",): 1, ("b",): 2}),
    ("# a = 0\n\n  a  =  1 # a = 2\n", {("a",): 3}),
    ("[x]\na = 1\n[x.y]\nb = 1\n", {("x",): 1, ("x", "a"): 2, ("x", "y"): 3, ("x", "y", "b"): 4}),
    ('["a.b".\'c d\']\n"e\\n\\u00e9" = 1\n', {("a.b", "c d"): 1, ("a.b", "c d", "e\né"): 2}),
    ("a.b.c = 1\na.b.d = 2\n", {("a", "b", "c"): 1, ("a", "b", "d"): 2, ("a",): 1}),
    ("a = { b = 1, c = { d = 2 } }\n", {("a", "b"): 1, ("a", "c", "d"): 1}),
    ('a = """\n[b]\nc = 1\n"""\nd = 1\n', {("a",): 1, ("d",): 5}),
    ("a = '''\n[b] \"\n'''\nd = 1\n", {("a",): 1, ("d",): 4}),
    ('a = """x\\""""\nd = 1\n', {("d",): 2}),
    ('a = """x"""""\nd = 1\n', {("d",): 2}),
    ('a = "# [no]"\nb = \'"\'\nc = 1\n', {("a",): 1, ("b",): 2, ("c",): 3}),
    ("a = [\n 1, # ]\n [2,\n 3],\n '4']\nb = 1\n", {("a", 0): 2, ("a", 1): 3, ("a", 1, 1): 4, ("a", 2): 5, ("b",): 6}),
    ("[[a]]\nb = 1\n[[a]]\nb = 2\n", {("a", 0, "b"): 2, ("a", 1, "b"): 4}),
    ("a = 1979-05-27 07:32:00Z\nb = 1\n", {("b",): 2}),
    ("a = 1\r\nb = 2\r\n", {("b",): 2}),
    ("[x]\na=1\n[y]\n[x]\n", {("x",): 4}),
]


@pytest.mark.parametrize(("document", "expected"), TABLE)
def test_lines(document, expected):
    lines = positions(document)
    assert {path: line_of(lines, path) for path in expected} == expected


def test_a_repeated_key_has_all_its_lines():
    assert positions("[x]\na = 1\na = 2\n")["x", "a"] == [2, 3]


def test_an_unknown_path_is_placed_at_its_longest_known_beginning():
    assert line_of(positions("[x]\na = 1\n"), ("x", "a", "b", 3)) == 2
    assert line_of(positions("[x]\n"), ("y",)) is None


@given(st.text(alphabet="ab[]{}=\".'\\#\n, 1", max_size=40))
def test_it_never_raises(document):
    positions(document)


def paths(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


@given(st.text(alphabet="ab[]{}=\".'#\n, 1", max_size=60))
def test_every_path_of_a_valid_document_has_a_line(document):
    try:
        meaning = tomllib.loads(document)
    except tomllib.TOMLDecodeError:
        return
    assert set(paths(meaning)) <= set(positions(document))


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6, unique=True))
def test_any_name_can_be_written_and_found(names):
    document = "[t]\n" + "".join(f"{quoted(name)} = {text(name)}\n" for name in names)
    assert tomllib.loads(document) == {"t": {name: name for name in names}}
    lines = positions(document)
    assert [line_of(lines, ("t", name)) for name in names] == list(range(2, 2 + len(names)))
