"""Folders as columns: read where declared, by the grammar, and never in place of a file's own column."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.errors import Misconfigured

COLUMNS = {"x": "integer", "year": "integer", "site": {"type": "text", "na_values": ["none"]}}


def write(tmp_path, kind, folder, **columns):
    path = tmp_path / "d" / folder / f"a.{kind}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        rows = zip(*columns.values(), strict=True)
        path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_declared_folders_are_columns(refreshed, tmp_path, kind):
    write(tmp_path, kind, "year=2023/site=St%20Mary's", x=[1, 2])
    write(tmp_path, kind, "year=2024/site=none", x=[3])
    write(tmp_path, kind, "year=__HIVE_DEFAULT_PARTITION__/site=a=b", x=[4])
    write(tmp_path, kind, "year=old/site=c", x=["5"] if kind == "csv" else [5])
    rows, report = refreshed(COLUMNS, file=f"d/**/*.{kind}", folders=["site", "year"])
    assert rows == [(1, 2023, "St Mary's"), (2, 2023, "St Mary's"), (3, 2024, None), (4, None, "a=b"), (5, None, "c")]
    assert report.unreadable["year"].count == 1
    assert report.spellings["year"].most() == [('"old"', 1)]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_of_bytes_that_are_no_utf8_are_not_one_and_the_same(refreshed, tmp_path, kind):
    """As one text of replacement characters two people could have become one unit."""
    for n, site in enumerate(("a%FE", "a%FF", "%2F", "-0"), 1):
        write(tmp_path, kind, f"site={site}", x=[n])
    rows, report = refreshed({"x": "integer", "site": "text"}, file=f"d/*/*.{kind}", folders=["site"])
    assert sorted(rows, key=str) == [(1, None), (2, None), (3, "/"), (4, "-0")]
    assert report.unreadable["site"].count == 2


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_is_declared_or_no_column_and_never_in_both(refreshed, tmp_path, kind):
    write(tmp_path, kind, "year=2023", x=[1], site=["s"], year=[7])
    assert refreshed(COLUMNS, file=f"d/*/*.{kind}")[0] == [(1, 7, "s")]
    with pytest.raises(Misconfigured, match='has a column "year", and its folders have it too') as caught:
        refreshed(COLUMNS, file=f"d/*/*.{kind}", folders=["year"])
    assert 'Leave "year" out of `folders`' in caught.value.cure
    with pytest.raises(Misconfigured, match=r'has no folder "site=\.\.\."\. There is "year"'):
        refreshed(COLUMNS, file=f"d/*/*.{kind}", folders=["site"])
    write(tmp_path, kind, "year=2023", x=[1], site=["s"])
    with pytest.raises(Misconfigured, match=r'has no column "year"'):
        refreshed(COLUMNS, file=f"d/*/*.{kind}")


REFUSED = [
    ({"folders": ["sight"]}, 'which is no declared column. Did you mean "site"?'),
    ({"folders": ["x", "year", "site"]}, "a file has at least one of its own"),
    ({"folders": ["site"], "file": None}, "folders are those of files"),
]


@pytest.mark.parametrize(("fields", "told"), REFUSED)
def test_refused(declared, fields, told):
    given = {name: value for name, value in ({"file": "d/*.csv"} | fields).items() if value is not None}
    with pytest.raises(Misconfigured) as caught:
        declared(COLUMNS, **given)
    assert told in str(caught.value)
