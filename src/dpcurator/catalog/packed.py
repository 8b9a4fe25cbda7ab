"""The bytes of a file that may be packed: .gz by the standard library, .zst by the standard library (3.14) or pyarrow.

Checked in tests/snapshot/test_csv.py and tests/catalog/test_init.py.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import IO, Any, Final, cast

from dpcurator.errors import Misconfigured

BROKEN: Final = (OSError, EOFError, zlib.error)  # what reading a file that cannot be read to its end raises


class _Bad(OSError):
    """A .zst file that is broken."""


def is_broken(error: Exception) -> bool:
    """Is it the packing that is broken, and not the file that may not be read?"""
    return isinstance(error, gzip.BadGzipFile | EOFError | zlib.error | _Bad)


def unpacked(path: Path) -> IO[bytes]:
    """The unpacked bytes, to be read forwards. Raises one of `BROKEN`, here or where it is read."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(path))
    return _zst(path) if suffix == ".zst" else path.open("rb")


def _zst(path: Path) -> IO[bytes]:
    path.open("rb").close()  # a file that is not there is told as such
    try:
        from pyarrow import input_stream
    except ImportError:
        raise Misconfigured("A .zst file is unpacked by pyarrow, which is not installed.", where=path.name,
                            cure="Install it: pip install pyarrow. Or pack the file as .gz.") from None
    return cast(IO[bytes], _Zst(input_stream(str(path), compression="zstd")))


class _Zst:
    """pyarrow's stream, whose plain OSError says that the packing is broken."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> _Zst:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def read(self, size: int = -1) -> bytes:
        try:
            return bytes(self.stream.read(size))
        except OSError as error:
            raise _Bad(str(error)) from None

    read1 = read
