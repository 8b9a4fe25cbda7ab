"""CSV: what is wrong with a line stays with that line, and files that cannot be used are refused in words."""

import csv as csv_module
import gzip
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.catalog.declaration import CsvOptions
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import csv_source
from dpcurator.snapshot.arrow import TEXT
from dpcurator.snapshot.csv_source import read_csv
from dpcurator.snapshot.report import TableReport

AB = {"a": "integer", "b": "text"}


@pytest.fixture
def csv(tmp_path, refreshed):
    def run(content, columns=AB, **table):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "x.csv").write_bytes(data)
        return refreshed(columns, file="x.csv", **table)

    return run


ASIDE = [
    ("ragged, short", "a,b\n1,x\n2\n3,z\n", [(1, "x"), (3, "z")], {"x.csv:3"}),
    ("ragged, long", "a,b\n1,x\n2,y,w\n3,z\n", [(1, "x"), (3, "z")], {"x.csv:3"}),
    ("stray quote after a quoted field", 'a,b\n1,x\n2,"y"w\n3,z\n', [(1, "x"), (3, "z")], {"x.csv:3"}),
    ("quote never closed", 'a,b\n1,x\n2,"y\n3,z\n4,w\n', [(1, "x"), (3, "z"), (4, "w")], {"x.csv:3"}),
    ("quote closed by another's", 'a,b\n1,"x\n2,"y"\n3,z\n', [(2, "y"), (3, "z")], {"x.csv:2"}),
    ("quote never closed, at the end", 'a,b\n1,x\n2,"y', [(1, "x")], {"x.csv:3"}),
    ("two of them", 'a,b\n1,"x\n2,"y\n3,z\n', [(3, "z")], {"x.csv:2", "x.csv:3"}),
    ("bytes that are not UTF-8", b"a,b\n1,x\n2,\xff\xfe\n3,z\n", [(1, "x"), (3, "z")], {"x.csv:3"}),
    ("after a line break in a field", 'a,b\n1,"x\ny"\n2\n3,z\n', [(1, "x\ny"), (3, "z")], {"x.csv:4"}),
    ("over-long field", "a,b\n1,x\n2," + "y" * 200_000 + "\n3,z\n", [(1, "x"), (3, "z")], {"x.csv:3"}),
]


@pytest.mark.parametrize(("content", "rows", "places"), [case[1:] for case in ASIDE], ids=[case[0] for case in ASIDE])
def test_only_the_broken_line_is_set_aside(csv, content, rows, places):
    found, report = csv(content)
    assert found == rows
    assert {place for place, _ in report.set_aside.first} == places
    assert report.set_aside.count == len(places)


def test_lines_past_the_limit(csv, monkeypatch):
    monkeypatch.setattr(csv_source, "LONGEST_LINE", 20)
    found, report = csv("a,b\n1,x\n2," + "y" * 50 + "\n3,z\n4," + "w" * 18 + "\n5," + "v" * 17 + "\n6,u")
    assert found == [(1, "x"), (3, "z"), (5, "v" * 17), (6, "u")]
    assert report.set_aside.first == [(place, "a line or record that is too long") for place in ("x.csv:3", "x.csv:5")]


def test_t1_a_line_past_the_limit_after_an_open_quote_takes_no_other_line_with_it(csv, monkeypatch):
    monkeypatch.setattr(csv_source, "LONGEST_LINE", 20)
    found, report = csv('a,b\n1,x\n2,"y\n3,' + "z" * 50 + "\n4,good\n5,good\n")
    assert found == [(1, "x"), (4, "good"), (5, "good")]
    assert {place for place, _ in report.set_aside.first} == {"x.csv:3", "x.csv:4"}


HALF = "a,b\n1,x\n2,\ud800\n3,z\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le"])
def test_t1_half_a_letter_in_any_encoding_sets_its_row_aside_alone(csv, encoding):
    found, report = csv(HALF.encode(encoding, "surrogatepass"), encoding=encoding)
    assert found == [(1, "x"), (3, "z")]
    assert report.set_aside.count == 1


@pytest.mark.parametrize("encoding", ["hz", "utf-7", "iso2022_jp", "iso-2022-kr", "unicode_escape", "punycode"])
def test_t1_an_encoding_in_which_lines_depend_on_one_another_is_refused(csv, encoding):
    with pytest.raises(Misconfigured, match="lets one line decide how the next is read"):
        csv("a,b\n1,x\n", encoding=encoding)


def test_t1_an_integer_may_have_any_number_of_zeros_before_it(csv):
    found, report = csv("a,b\n1,x\n" + "0" * 5000 + "2,y\n-" + "0" * 5000 + "3,z\n")
    assert found == [(1, "x"), (2, "y"), (-3, "z")]
    assert not report.set_aside.count


def test_records_past_the_limit(csv, monkeypatch):
    monkeypatch.setattr(csv_source, "LONGEST_RECORD", 3)
    found, report = csv('a,b\n1,"x\n2,y\n3,z\n4,w\n5,v\n"\n')
    assert found == [(2, "y"), (3, "z"), (4, "w"), (5, "v")]
    assert report.set_aside.count == 2


GOOD = [
    ("a,b\n", []),
    ("a,b", []),
    ("a,b\n1,x", [(1, "x")]),
    ("a,b\r\n1,x\r\n2,y\r\n", [(1, "x"), (2, "y")]),
    ("a,b\r1,x\r", [(1, "x")]),
    ("\ufeffa,b\n1,x\n", [(1, "x")]),
    ("b,c,a\nx,?,1\n", [(1, "x")]),
    ("a,b\n\n1,x\n\n\n2,y\n", [(1, "x"), (2, "y")]),
    ('a,b\n1,"x, ""y"""\n', [(1, 'x, "y"')]),
    ('"a","b"\n"1","x\r\ny"\n', [(1, "x\r\ny")]),
    ("a,b\n,x\n1,\n,\n", [(None, "x"), (1, None), (None, None)]),
    ('a,b\n1,5" pipe\n', [(1, '5" pipe')]),
    ("a,b\n1.5,x\n99999999999999999999,y\n", [(None, "x"), (None, "y")]),
    ("a,b\n1,x\n1,x\n", [(1, "x"), (1, "x")]),
    ("a,b\n1,'x'\n", [(1, "'x'")]),
    ("a,b\n1, x \n", [(1, " x ")]),
]


@pytest.mark.parametrize(("content", "rows"), GOOD)
def test_rows(csv, content, rows):
    found, report = csv(content)
    assert found == rows
    assert report.set_aside.count == 0


def test_dialects(csv):
    table = {"delimiter": ";", "quote": "'", "decimal": ",", "missing": ["", "NA", "-"]}
    found, _ = csv("a;b;c\n1;'x;y';1,5\nNA;-;-\n", AB | {"c": "float"}, **table)
    assert found == [(1, "x;y", 1.5), (None, None, None)]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
def test_encodings(csv, encoding):
    found, _ = csv("a,größe\n1,é\n".encode(encoding), {"a": "integer", "größe": "text"}, encoding=encoding)
    assert found == [(1, "é")]


def test_an_unreadable_value_is_missing_or_sets_its_row_aside_as_declared(csv):
    content = "a,b\n1,x\nsecret,y\n3,z\n"
    found, report = csv(content)
    assert found == [(1, "x"), (None, "y"), (3, "z")]
    assert report.unreadable["a"].first == [("x.csv:3", "not an integer")]
    found, report = csv(content, {"a": {"type": "integer", "unreadable": "set-aside"}, "b": "text"})
    assert found == [(1, "x"), (3, "z")]
    assert report.set_aside.first == [("x.csv:3", "'a' is not an integer")]
    assert 'most often "secret" (1)' in "\n".join(report.lines())


REFUSED = [
    ("empty", "", '"x.csv" is empty'),
    (
        "duplicate header",
        "a,b,a\n1,x,2\n",
        'Columns 1 and 3 of "x.csv" have the same name ("a"). Give one a name of its',
    ),
    ("duplicate header not declared", "a,b,c,c\n1,x,2,3\n", 'Columns 3 and 4 of "x.csv" have the same name. Give one'),
    ("two blank headers", "a,b,,\n", 'Columns 3 and 4 of "x.csv" have the same name'),
    ("column of another case", "A,b\n1,x\n", '"x.csv" has no column "a". Did you mean "A"?'),
    ("no header", "1,jones\n2,smith\n", '"x.csv" has no column "a". It has 2 columns, and none has a name like it.'),
    ("broken header", '"a"b,c\n', 'x.csv:1: The header of "x.csv" cannot be read'),
]


@pytest.mark.parametrize(("content", "told"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused(csv, content, told):
    with pytest.raises(Misconfigured) as caught:
        csv(content)
    assert told in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.cure
    assert "jones" not in str(caught.value)


def test_rename_makes_repeated_headers_distinct(csv):
    found, _ = csv("a,b,b\n1,x,y\n", {"a": "integer", "second b": "text"}, rename={"3": "second b"})
    assert found == [(1, "y")]
    with pytest.raises(Misconfigured, match="rename names column 9"):
        csv("a,b\n", rename={"9": "c"})


def test_files_that_are_not_there(refreshed, tmp_path):
    for place, told in (("none.csv", "There is no file"), (".", "is a directory"), ("*.csv", "No file matches")):
        with pytest.raises(Misconfigured, match=told):
            refreshed(AB, file=place)
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfea\x00\x00\xd8")
    with pytest.raises(Misconfigured, match="not in the encoding"):
        refreshed(AB, file="bad.csv", encoding="utf-16")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(refreshed, tmp_path):
    path = tmp_path / "closed.csv"
    path.write_text("a,b\n")
    path.chmod(0)
    with pytest.raises(Misconfigured, match="permissions"):
        refreshed(AB, file="closed.csv")


def test_globs_are_read_in_order_and_each_needs_the_columns(refreshed, tmp_path):
    (tmp_path / "p2.csv").write_text("b,a\ny,2\n")
    (tmp_path / "p1.csv").write_text("a,b\n1,x\n")
    found, _ = refreshed(AB, file="p*.csv")
    assert found == [(1, "x"), (2, "y")]
    (tmp_path / "p3.csv").write_text("a,b,c\n1,x,2\n")
    with pytest.raises(Misconfigured, match=r'"p3.csv" has other columns than the files before it'):
        refreshed(AB, file="p*.csv")
    (tmp_path / "p3.csv").write_text("a,c\n1,x\n")
    with pytest.raises(Misconfigured, match=r'"p3.csv" has no column "b"'):
        refreshed(AB, file="p*.csv")


@pytest.mark.parametrize(
    "name", ["it's.csv", "a b.csv", "a[1].csv", "$x`y.csv", "ü.csv", "a\nb.csv", "-.csv", "a;b.csv"]
)
def test_paths_of_every_kind(refreshed, tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,x\n")
    found, _ = refreshed(AB, file=name)
    assert found == [(1, "x")]


def cells(path, monkeypatch, chunk=2**24, carefully=False, **options):
    """The rows with their lines, and what the report says. chunk: characters that are looked at together."""
    monkeypatch.setattr(csv_source, "CHUNK", chunk)
    with monkeypatch.context() as patched:
        if carefully:
            patched.setattr(csv_source, "plain_records", lambda *_, **__: None)
        report = TableReport("t")
        found = list(read_csv(path, CsvOptions(**options), ["a", "b"], report, where=""))
    rows = [row for one in found for row in zip(*map(listed, [one.lines, *one.columns]), strict=True)]
    return rows, report.set_aside.first, report.set_aside.count, dict(report.set_aside.reasons), report.blank_lines


def listed(vector):
    if vector.format != TEXT:
        return vector.buffers[0].tolist()
    ends, data = vector.buffers
    return [bytes(data[ends[n] : ends[n + 1]]).decode() for n in range(len(ends) - 1)]


LINES = st.lists(
    st.sampled_from([
        "1,x", "2,", ",", '1,"x"', '"1","x,y"', '1,"x ""y"""', '1,""', '"","a"', '1,""""', "1,é€𝄞", "1, x ",
        "", "1", "1,2,3", '1,"x', 'x"', '1,"x"y', '1,5" pipe', '"', '1,"a\nb"', '1,"a\r\nb"', "1,\0", "1,a\rb",
        "1,\u2028", "1,\x85", "\ufeff1,x", '"1""",x', '""1,x', "'1',x", "1,\udcff",
    ]), max_size=9,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(LINES, ENDS, st.lists(ENDS, min_size=9, max_size=9), st.booleans(), st.booleans(), st.integers(1, 40))
@tried
def test_t17_chunks_show_in_nothing(tmp_path, monkeypatch, lines, end, ends, mixed, last, chunk):
    path = tmp_path / "x.csv"
    body = "".join(line + (one if mixed else end) for line, one in zip(["a,b", *lines], [end, *ends], strict=False))
    path.write_bytes((body if last else body.rstrip("\r\n")).encode(errors="surrogateescape"))
    careful = cells(path, monkeypatch, carefully=True)
    assert cells(path, monkeypatch) == careful == cells(path, monkeypatch, chunk)
    assert cells(path, monkeypatch, chunk, carefully=True) == careful


@given(content=st.text(alphabet='12x",\n\r é\0', max_size=60), chunk=st.integers(1, 20))
@tried
def test_t17_any_text_is_read_alike_in_any_chunks(tmp_path, monkeypatch, content, chunk):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + content.encode())
    careful = cells(path, monkeypatch, carefully=True)
    assert cells(path, monkeypatch) == careful == cells(path, monkeypatch, chunk)


def test_t17_plain_chunks_are_taken_apart_at_once(tmp_path, monkeypatch):
    """The two before would hold, were nothing ever plain."""
    path, read = tmp_path / "x.csv", []
    monkeypatch.setattr(csv_source, "_carefully", lambda *given: read.append(given) or iter(()))
    for text in ('1,x\n2,"y, ""z"""\n', '"1","x"\r\n2,\r\n', "1,é", '1,""\n'):
        path.write_bytes(f"a,b\n{text}".encode())
        rows, *_ = cells(path, monkeypatch)
        assert len(rows) == text.count("\n") or text == "1,é"
    assert not read


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
def test_t17_a_chunk_may_end_within_a_letter_of_many_bytes(tmp_path, monkeypatch, encoding, chunk):
    path = tmp_path / "x.csv"
    path.write_bytes('a,b\r\n1,é\r\n2,"ü\nß"\r\n3,æ\r\n'.encode(encoding))
    rows, *told = cells(path, monkeypatch, chunk, encoding=encoding)
    assert rows == [(2, "1", "é"), (3, "2", "ü\nß"), (5, "3", "æ")]
    assert told == [[], 0, {}, 0]


def test_t17_limits_are_those_of_the_careful_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_source, "LONGEST_LINE", 30)
    path = tmp_path / "x.csv"
    for size in range(20, 36):
        for field in ("y" * size, '"' + "y" * (size - 2) + '"'):
            path.write_text(f"a,b\n1,x\n2,{field}\n3,z\n")
            assert cells(path, monkeypatch) == cells(path, monkeypatch, carefully=True)
    path.write_text(f"a,b\n1,{'y' * 9}\n2,{'y' * 10}\n")
    monkeypatch.setattr(csv_source, "LONGEST_FIELD", 9)
    assert cells(path, monkeypatch)[0] == [(2, "1", "y" * 9)]


@given(rows=st.lists(st.tuples(st.text(alphabet="ab,\"\n\r'", max_size=5), st.text(max_size=5)), max_size=8))
def test_what_the_csv_module_writes_is_read_back(tmp_path, monkeypatch, rows):
    import csv as standard

    path = tmp_path / "x.csv"
    rows = [row for row in rows if all(cell.isprintable() or cell.isascii() for cell in row)]
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        standard.writer(file, quoting=standard.QUOTE_ALL).writerows([("a", "b"), *rows])
    found, _, count, *_ = cells(path, monkeypatch)
    assert [row[1:] for row in found] == rows
    assert count == 0


MARKED = [("utf-8", "utf-8-sig"), ("utf-16", "utf-16"), ("utf-16-le", None), ("latin-1", "utf-8-sig")]


@pytest.mark.parametrize(("declared_as", "written_as"), MARKED)
def test_c9_a_byte_order_mark_is_no_part_of_the_first_name_or_cell(refreshed, tmp_path, declared_as, written_as):
    text = "x,y\n1,2\n"
    data = text.encode(written_as) if written_as else b"\xff\xfe" + text.encode("utf-16-le")
    for name, content in (("d.csv", data), ("d.csv.gz", gzip.compress(data, mtime=0))):
        (tmp_path / name).write_bytes(content)
        assert refreshed({"x": "integer", "y": "integer"}, file=name, encoding=declared_as)[0] == [(1, 2)]
        rows, _ = refreshed({"a": "text"}, file=name, encoding=declared_as, header=False, names=["a", "b"])
        assert rows == [("x",), ("1",)]


def test_a6_a_file_without_a_header_has_names_by_position_and_a_declared_width(refreshed, tmp_path):
    (tmp_path / "d.csv").write_text("39,State-gov,a@b.c,9\n1,2,3\n50,Private,,\n1,2,3,4,5\n")
    table = {"file": "d.csv", "header": False, "names": ["c1", "c2", "c3", "c4"]}
    rows, report = refreshed({"c2": "text", "c1": "integer"}, **table)
    assert rows == [("State-gov", 39), ("Private", 50)]
    assert [place for place, _ in report.set_aside.first] == ["d.csv:2", "d.csv:4"]
    with pytest.raises(Misconfigured, match='has no column "c5"'):
        refreshed({"c5": "text"}, **table)


NO_HEADER = [
    ({"header": False}, "needs names"),
    ({"header": False, "names": []}, "names is empty"),
    ({"header": False, "names": ["a", "b", "a"]}, 'names gives "a" twice'),
    ({"names": ["a"]}, "for a file without a header"),
    ({"header": False, "names": ["a"], "rename": {"1": "b"}}, "rename changes a header"),
]


@pytest.mark.parametrize(("fields", "told"), NO_HEADER)
def test_a6_what_does_not_go_with_names_is_told(declared, fields, told):
    with pytest.raises(Misconfigured, match=told):
        declared({"a": "text"}, file="d.csv", **fields)


BROKEN = [b"x", gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-9], gzip.compress(b"x\n" * 9, mtime=0)[:12]]


@pytest.mark.parametrize("content", BROKEN, ids=["no gzip", "without its end", "a head alone"])
def test_c4_a_broken_gzip_file_is_refused(refreshed, tmp_path, content):
    (tmp_path / "d.csv.gz").write_bytes(content)
    with pytest.raises(Misconfigured, match="cannot be read to its end"):
        refreshed({"x": "integer"}, file="d.csv.gz")


@pytest.mark.parametrize("name", ["d.xlsx", "d.zip", "d.jsonl", "d.json", "d.gz", "D.XLS", "d.feather"])
def test_c4_files_of_other_kinds_are_refused_when_declared(declared, name):
    with pytest.raises(Misconfigured) as caught:
        declared({"x": "integer"}, file=name)
    assert "file is not read" in str(caught.value)
    assert caught.value.cure


def test_a3_a_limit_that_the_program_set_for_its_own_files_decides_nothing(refreshed, tmp_path):
    (tmp_path / "d.csv").write_text(f"a,b\n{'x' * 131_072},1\n{'x' * 131_073},2\n")
    before = csv_module.field_size_limit(10)
    try:
        rows, _ = refreshed({"b": "integer"}, file="d.csv")
        assert csv_module.field_size_limit() == 10
    finally:
        csv_module.field_size_limit(before)
    assert rows == [(1,)]


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff", "\u00ef\u00bb\u00bf"])
@pytest.mark.parametrize("more", [{}, {"comment": "#"}, {"escape": "\\"}])
def test_t10_without_a_header_a_mark_before_a_row_is_read_alike_wherever_the_row_stands(
    refreshed, tmp_path, mark, more
):
    """Else the row before it would decide: taken out, the next one begins the file."""
    table = {"file": "d.csv", "header": False, "names": ["a", "b"], "encoding": "utf-8"} | more
    lines = [f"{mark}p,1", f"{mark}#q,2", f'{mark}"r\n{mark}s",3', "t,4", f"t{mark},5"]
    kept = [("p", 1), *([] if "comment" in more else [("#q", 2)]), (f"r\n{mark}s", 3), ("t", 4), (f"t{mark}", 5)]
    for gone in (*lines, "") if not more else (lines[0], ""):
        (tmp_path / "d.csv").write_text("\n".join(one for one in lines if one != gone) + "\n", encoding="utf-8")
        rows, report = refreshed({"a": "text", "b": "integer"}, **table)
        assert rows == [row for row in kept if row[1] != lines.index(gone) + 1] if gone else rows == kept
        assert not report.set_aside.count


def test_t1_a_line_past_the_limit_is_one_line_however_its_nulls_are_written(refreshed, tmp_path, monkeypatch):
    monkeypatch.setattr("dpcurator.snapshot.csv_source.LONGEST_LINE", 20)
    (tmp_path / "d.csv").write_text("a,b\n1,2\n\\N,xxxxxxxxxxxxxxxxx3,4\n5,6\n")
    rows, report = refreshed({"a": "text", "b": "text"}, file="d.csv", escape="\\")
    assert rows == [("1", "2"), ("5", "6")]
    assert [place for place, _ in report.set_aside.first] == ["d.csv:3"]


def test_a_file_that_a_pattern_meets_twice_is_read_once(refreshed, tmp_path):
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "x.csv").write_text("a\n1\n")
    assert refreshed({"a": "integer"}, file="**/**/*.csv")[0] == [(1,)]


def test_a_file_whose_name_is_not_in_utf8_is_refused(refreshed, tmp_path):
    import os

    try:
        with open(os.fsencode(tmp_path) + b"/\xff.csv", "w") as file:
            file.write("a\n1\n")
    except OSError:
        pytest.skip("no file may have such a name here")
    with pytest.raises(Misconfigured, match="has a name that is not in UTF-8") as caught:
        refreshed({"a": "integer"}, file="*.csv")
    assert "Rename it" in caught.value.cure


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("chunk", [7, 25, 2**24])
def test_t17_a_line_past_the_limit_is_never_cut_between_cr_and_lf(tmp_path, monkeypatch, end, chunk):
    monkeypatch.setattr(csv_source, "LONGEST_LINE", 20)
    for length in range(12, 66):
        lines = ["a,b", "1,2", "3," + "y" * length, "4,5", "6," + "z" * length, "7,8"]
        (tmp_path / "x.csv").write_bytes((end.join(lines) + end).encode())
        short = length + 3 <= 20  # with the line's end counted as one
        for carefully in (False, True):
            rows, *_ = cells(tmp_path / "x.csv", monkeypatch, chunk, carefully)
            told = [(1 + n, *line.split(",")) for n, line in enumerate(lines) if n and (short or len(line) < 12)]
            assert rows == told, (length, rows)
