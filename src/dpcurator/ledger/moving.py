"""Moving a ledger to another store: its chain is copied whole, and the old one, sealed, takes no charge any more.

Order     The old ledger is sealed first, by an event that names the new place, and its chain is copied afterwards, but
          for that event. So at no moment do two ledgers of one budget take charges: a crash in between leaves one that
          takes none, and moving it again, to the same place and no other, goes on. Before the copy the old one notes
          which server the place's name means, and once the copy is made, that it is: a name that means another server
          by then is refused, for a copy may be at the first. (Of files: a disk put under the path between a crash in
          the very instant after the copy and the next call is not noticed.)
Same      The copy has the hashes of the old one, up to the seal: receipts and their heads hold as before.
Checked   tests/ledger/test_moving.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from dpcurator.errors import Misconfigured
from dpcurator.ledger.events import GENESIS, Answered, Charged, Moved, Row
from dpcurator.ledger.ledger import Ledger
from dpcurator.ledger.reading import Head, Reader
from dpcurator.ledger.store import Page, Store
from dpcurator.ledger.stores import MemoryStore
from dpcurator.ledger.verify import verified

_PAGE = 1000
_BEGUN, _DONE = "moving", "moved"  # the readings under which a sealed ledger notes to where, and that it was copied


class _Undone(Exception):
    """Takes back a transaction."""


def move(
    ledger: Ledger, old: Store, new: Store, *, seen: Callable[[int, int], None] | None = None
) -> Head:
    """The last event of the ledger at its new place. seen: called with how many events of how many are copied.

    Raises Misconfigured when the old ledger does not verify or went elsewhere, or the new place holds something else.
    """
    if old is new or (old.place == new.place and not isinstance(old, MemoryStore)):
        raise Misconfigured("The ledger is there already.", where=new.place, cure="Name another place.")
    ledger.may_go_to(new.place)
    _is_free(old, new)
    with suppress(_Undone), new.writing():
        raise _Undone  # whatever keeps the new place from being written is told before anything is sealed
    ledger.seal(new.place)
    same = _begun(old, new.server())
    with old.writing() as source:  # one move at a time
        seal = source.head()
        assert seal is not None
        last, found = seal.position - 1, verified(source)
        if found.problem is not None:
            raise Misconfigured(f"The ledger does not verify, so it is not copied: {found.problem}.", where=old.place,
                                cure="Restore it from its latest copy, and move that.")
        with new.writing() as page:
            there, done = page.head(), source.holding(_DONE, 1)
            if there is not None:  # copied by an earlier call, or by another while this one waited
                if page.row(last) != source.row(last):
                    raise Misconfigured("The new place holds another ledger, or an older copy of this one.",
                                        where=new.place, cure="Move it aside, and move this one again.")
                end = there.position, there.hash
            elif done:
                raise Misconfigured(
                    "This ledger was moved, and is not at the new place any more: what was spent there since would be "
                    "forgotten.", where=new.place,
                    cure="See that this name still means the server or the file it meant then, or restore the ledger "
                    "there from its latest copy.",
                )
            elif not same:
                raise Misconfigured(
                    "This ledger began to be moved while this name meant another server or database, and may be there.",
                    where=new.place, cure="Let the name mean that one again, and move the ledger again.",
                )
            else:
                end = last, _copied(source, Reader(source, old.place), page, last, seen)
                known = verified(page, [end])
                if known.problem is not None:
                    raise Misconfigured(f"The copy does not verify: {known.problem}.", where=new.place,
                                        cure="Move the ledger again: nothing was written there.")
        if not done:
            source.index(_DONE, new.place)
    return end


def _begun(old: Store, server: str) -> bool:
    """Notes the server that the new place means. Whether an earlier call did so, if any, of the same one."""
    with old.writing() as source:
        before = source.holding(_BEGUN, 1)
        if not before:
            source.index(_BEGUN, server)
    return before in ([], [server])


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
        if reading not in (_BEGUN, _DONE):
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
