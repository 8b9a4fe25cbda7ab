"""What a file is, by the end of its name and by its first bytes, and what to do with one that is not read.

Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Final

PARQUET: Final = ("parquet", "pq")
DUCKDB: Final = ("duckdb", "db")
PACKED: Final = ("gz", "zst")
CSV: Final = ("csv", "tsv", "txt", *(f"{kind}.{packed}" for kind in ("csv", "tsv", "txt") for packed in PACKED))
_CONVERT: Final = "Save it as CSV or Parquet, in Python with pandas: pandas.{0}(...).to_parquet(...)."
_NOT_READ: Final = {
    "zip": "Unpack it, and name the file inside.",
    "bz2": "Unpack it, or pack it as .gz.", "xz": "Unpack it, or pack it as .gz.",
    "zst": "Name it for what is inside, as in visits.csv.zst.",
    "7z": "Unpack it, and name the file inside.", "tar": "Unpack it, and name the file inside.",
    "tgz": "Unpack it, and name the file inside.", "gz": "Name it for what is inside, as in visits.csv.gz.",
    "xlsx": "Save the sheet as CSV.", "xls": "Save the sheet as CSV.", "ods": "Save the sheet as CSV.",
    "json": _CONVERT.format("read_json"), "jsonl": _CONVERT.format("read_json"), "ndjson": _CONVERT.format("read_json"),
    "feather": _CONVERT.format("read_feather"), "arrow": _CONVERT.format("read_feather"),
    "orc": _CONVERT.format("read_orc"), "sav": _CONVERT.format("read_spss"), "dta": _CONVERT.format("read_stata"),
    "sas7bdat": _CONVERT.format("read_sas"), "xml": _CONVERT.format("read_xml"),
    "pkl": "Give the frame itself to dpcurator.open.", "sqlite": "Save the table as CSV or Parquet.",
}
_FIRST_BYTES: Final = {
    b"PAR1": "parquet", b"PK\x03\x04": "zip", b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zst",
    b"SQLite format 3": "sqlite", b"ARROW1": "arrow", b"\xd0\xcf\x11\xe0": "xls", b"ORC": "orc", b"7z\xbc\xaf": "7z",
}


def suffix_of(place: str) -> str:
    """The end of a file's name in lower case: "csv", "csv.gz"; empty without any."""
    parts = place.lower().replace("\\", "/").rsplit("/", 1)[-1].split(".")
    if len(parts) > 2 and ".".join(parts[-2:]) in CSV:
        return ".".join(parts[-2:])
    return parts[-1] if len(parts) > 1 else ""


def not_read(kind: str) -> str:
    """What to do with a file of a kind that is not read; empty where it may be."""
    return _NOT_READ.get(kind, "")


def kind_within(beginning: bytes) -> str:
    """What a file is by its first bytes; empty when they are of no known kind, as those of text."""
    if beginning[8:12] == b"DUCK":
        return "duckdb"
    if beginning.lstrip(b"\xef\xbb\xbf \t\r\n")[:2] in (b'{"', b"[{", b"[["):
        return "json"
    return next((kind for mark, kind in _FIRST_BYTES.items() if beginning.startswith(mark)), "")


def inside(directory: Path, place: str) -> str:
    """The pattern of the files in a directory, by the kind that is there."""
    for kind in (*PARQUET, *CSV):
        for pattern in (f"*.{kind}", f"**/*.{kind}"):
            if next(directory.glob(pattern), None) is not None:
                return f"{glob.escape(place.rstrip('/'))}/{pattern}"
    return f"{glob.escape(place.rstrip('/'))}/*.csv"
