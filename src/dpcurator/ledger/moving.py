"""Moving a ledger to another store: its chain is copied whole, and the old one, sealed, takes no charge any more.

Order     The old ledger is sealed first, by an event that names the new place, and its chain is copied afterwards, but
          for that event. So at no moment do two ledgers of one budget take charges: a crash in between leaves one that
          takes none, and moving it again, to the same place and no other, goes on.
Same      The copy has the hashes of the old one, up to the seal: receipts and their heads hold as before.
Checked   tests/ledger/test_moving.py.
"""

from __future__ import annotations

from collections.abc import Callable

from dpcurator.errors import Misconfigured
from dpcurator.ledger.events import GENESIS, Answered, Charged, Moved, Row
from dpcurator.ledger.ledger import Ledger
from dpcurator.ledger.reading import Head, Reader
from dpcurator.ledger.store import Page, Store
from dpcurator.ledger.stores import MemoryStore
from dpcurator.ledger.verify import verified

_PAGE = 1000


def move(
    ledger: Ledger, old: Store, new: Store, *, seen: Callable[[int, int], None] | None = None
) -> Head:
    """The last event of the ledger at its new place. seen: called with how many events of how many are copied.

    Raises Misconfigured when the old ledger does not verify or went elsewhere, or the new place holds something else.
    """
    if old is new or (old.place == new.place and not isinstance(old, MemoryStore)):
        raise Misconfigured("The ledger is there already.", where=new.place, cure="Name another place.")
    _is_free(old, new)
    with new.writing():
        pass  # whatever keeps the new place from being written is told before anything is sealed
    ledger.seal(new.place)
    with old.reading() as source:
        seal = source.head()
        assert seal is not None
        last, found = seal.position - 1, verified(source)
        if found.problem is not None:
            raise Misconfigured(f"The ledger does not verify, so it is not copied: {found.problem}.", where=old.place,
                                cure="Restore it from its latest copy, and move that.")
        with new.writing() as page:
            there = page.head()
            if there is not None:
                return there.position, there.hash  # copied by another call, while this one waited
            head = _copied(source, Reader(source, old.place), page, last, seen)
            known = verified(page, [(last, head)])
            if known.problem is not None:
                raise Misconfigured(f"The copy does not verify: {known.problem}.", where=new.place,
                                    cure="Move the ledger again: nothing was written there.")
    return last, head


def _is_free(old: Store, new: Store) -> None:
    """Raises Misconfigured where the new place holds a ledger that is no copy of the old one."""
    with old.reading() as source, new.reading() as page:
        there = page.head()
        if there is None:
            return
        first = source.row(1)
        if first is None or page.row(1) != first:
            raise Misconfigured("The new place holds another ledger.", where=new.place,
                                cure="Name a schema that is not there yet, or move the file that is in the way aside.")
        seal = source.head()
        if seal is None or seal.name != Moved.NAME:
            raise Misconfigured(
                "The new place holds a copy of this ledger, and this one takes charges.", where=new.place,
                cure="If no question was ever asked of the copy, or the ledger was moved from there, move it aside, "
                "with the files beside it, and run this again.",
            )


def _copied(source: Page, reader: Reader, page: Page, last: int, seen: Callable[[int, int], None] | None) -> str:
    """The hash of event `last`, after copying all up to it, with what is filed under them."""
    after, hash_ = 0, GENESIS
    while after < last:
        for row in source.rows(after, min(_PAGE, last - after)):
            _file(source, reader, page, row)
            after, hash_ = row.position, row.hash
        if seen is not None:
            seen(after, last)
    for reading, request in source.noted():
        page.index(reading, request)
    return hash_


def _file(source: Page, reader: Reader, page: Page, row: Row) -> None:
    event = reader.parsed(row)[0]
    page.append(row)
    if isinstance(event, Charged):
        page.enter(event.request, row.position)
    elif isinstance(event, Answered):
        kept = reader.kept(event.request)
        assert kept is not None  # verified before
        page.keep(kept)
