"""What the ledger keeps of a paid answer: the answer, its receipt, and the noisy readings that its charge paid.

The readings are what is paid (semantics 6.2): whole numbers with their noise, each under the name of what it is of
(plan/identity.py), with its place among the receipt's readings; and where keys were selected, those. Nothing here was
not released by that charge. They are found again by name, and read back as the receipt beside them says: its noise,
grid and sensitivity, which must be those that the plan has at that grid. Text that was changed is found by the chain
before it comes here (ledger/reading.py). Checked in tests/curator/test_readings.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from dpcurator.errors import DpcuratorError
from dpcurator.ledger import Ledger, Stored
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import WeightedQuantile
from dpcurator.mechanisms.key_selection import selection_of
from dpcurator.plan.identity import places_in_order, reading_name, reading_names, reordered, selection_name
from dpcurator.plan.stability import Steps, derivation, reading
from dpcurator.pricing.held import (
    BETA,
    HeldKeys,
    HeldReading,
    Place,
    cost,
    cutless,
    due,
    keys_serve,
    lacks_cut_alone,
    serves,
    sizes,
)
from dpcurator.pricing.priced import Priced, mechanism_json
from dpcurator.pricing.quote import Quote
from dpcurator.pricing.selecting import Selecting
from dpcurator.receipts.form import amount_of
from dpcurator.receipts.loss import law_of
from dpcurator.release.release import Noisy
from dpcurator.values import Charge, Json, read_json

_Found = TypeVar("_Found", HeldKeys, HeldReading)


def parts_of(text: str) -> list[Json]:
    """The answers, each with its receipt and readings, that a stored text holds: one, or those of a batch."""
    told = read_json(text)
    found: list[Json] = told.get("batch", [told])
    return found


@lru_cache(maxsize=4)  # each question of a batch looks through the same few; they are read, never changed
def _read_parts(text: str) -> list[Json]:
    return parts_of(text)


def selected_by(request: str, part: int) -> str:
    """The selection of keys that a charge made for one of its questions, as it stands in the names of readings."""
    return f"{request} {part}"


def kept_part(quote: Quote, noisy: Noisy, analyst: str, place: tuple[str, int], answer: Json, receipt: Json) -> Json:
    """What is stored of one answer. place: the request, and which of its questions this is."""
    held, selection = quote.held, ""
    told: Json = {"readings": []}
    order = places_in_order(quote.plan)  # of the keys as they are asked for, which the numbers of groups are in
    places: Json = {} if order == sorted(order) else {"places": order}
    if quote.selecting is not None:
        selection = selected_by(*place) if held is None or held.keys is None else _selection(held.keys)
        if held is None or held.keys is None:
            name = selection_name(quote.plan, quote.catalog, analyst)
            told["keys"] = {"name": name, "values": [list(key) for key in noisy.keys]}
    for number, (one, values) in enumerate(zip(quote.priced, noisy.readings, strict=True)):
        if held is None or held.readings[number] is None:
            name = reading_name(quote.plan, one.ask, quote.catalog, analyst, selection=selection)
            own: Json = {"name": name, "number": number, "values": list(values)}
            told["readings"].append(own | ({} if one.ask.overall else places))
    return {"answer": answer, "receipt": receipt, "noisy": told}


def worth_noting(
    quote: Quote, ledger: Ledger, analyst: str, request: str, part: int, *, every: bool = False
) -> list[str]:
    """The names of what a quote pays and no stored answer holds as well: noted, so that it is found from now on. every:
    also of what one holds as well, so that their mean can be made.

    Nothing where the ledger cannot be read now: the answer is stored all the same, and its readings are paid again."""
    held, selection, keys = quote.held, "", ""
    if quote.selecting is not None and (held is None or held.keys is None):
        selection, keys = selected_by(request, part), selection_name(quote.plan, quote.catalog, analyst)
    elif held is not None and held.keys is not None:
        selection = _selection(held.keys)
    own = {
        reading_name(quote.plan, one.ask, quote.catalog, analyst, selection=selection): one
        for number, one in enumerate(quote.priced) if held is None or held.readings[number] is None
    }
    try:
        stored = ledger.holding([*own, keys] if keys else own)
    except DpcuratorError:
        return []
    found = [name for name, one in own.items() if every or not _serving(quote, one, stored[name], (name,))]
    return found + ([keys] if keys and not _serving_keys(quote, stored[keys], keys) else [])


def releases_of(
    whole: Quote, ledger: Ledger, analyst: str, *, known: Sequence[str] = ()
) -> list[tuple[Json, list[tuple[Priced, tuple[int, ...]]]]]:
    """The stored releases of this very question, at its confidence, of which one charge each paid all readings, but the
    cut's, at whatever price: their receipts, and their readings with their integers, in the order they were paid. Of
    listed keys alone. known: requests whose answers are looked at as well, under whatever names their readings are
    noted."""
    own = [one for one in whole.priced if not one.ask.overall]
    names = [reading_names(whole.plan, one.ask, whole.catalog, analyst) for one in own]
    stored = ledger.holding([name for some in names for name in some])
    found: dict[tuple[str, int], dict[int, tuple[Priced, tuple[int, ...]]]] = {}
    receipts: dict[tuple[str, int], tuple[int, Json]] = {}
    more = tuple(one for one in map(ledger.stored_under, dict.fromkeys(known)) if one is not None)
    for at, (wanted, some) in enumerate(zip(own, names, strict=True)):
        for name in some:
            for each, number, part in _each((*stored[name], *more)):
                place, receipt = (each.charge.request_id, number), part["receipt"]
                asked = receipt["plan_sha256"], receipt["confidence"]
                if asked != (whole.plan_digest, str(whole.confidence)):
                    continue  # of the same readings in another question, whose receipt is not of this one
                for held in _readings(whole, wanted, [each], some):
                    if held.place.part == number and len(held.values) == len(whole.lowered.keys):
                        found.setdefault(place, {})[at] = held.priced, held.values
                        receipts[place] = (each.charge.position, receipt)
    whole_ones = sorted((receipts[place][0], place) for place, values in found.items() if len(values) == len(own))
    return [(receipts[place][1], [found[place][at] for at in range(len(own))]) for _, place in whole_ones]


def with_stored(whole: Quote, ledger: Ledger, analyst: str, *, cut: bool = False) -> Quote:
    """The quote with the ledger's stored readings used where they serve: see `pricing.held`. Of several that do, the
    one with the least noise is used; of these, the earliest. Of several selections of keys that do, the one with which
    the rest costs least, and of these the earliest.

    Where nothing but the cut is missing it is left out, so that what is asked again in other words stays free; cut: it
    is paid."""
    found = _with_stored(whole, ledger, analyst)
    if cut or not lacks_cut_alone(found):
        return found
    rest = _with_stored(cutless(whole), ledger, analyst)
    return rest if rest.held is None else replace(rest, held=replace(rest.held, cutless=whole))


def _with_stored(whole: Quote, ledger: Ledger, analyst: str) -> Quote:
    if whole.selecting is None:
        return due(whole, _best(whole, ledger, analyst, None))
    found: list[tuple[tuple[Fraction, ...], tuple[int, int, int], HeldKeys, list[HeldReading | None]]] = []
    name = selection_name(whole.plan, whole.catalog, analyst)
    for keys in _serving_keys(whole, ledger.holding([name])[name], name):
        readings = _best(whole, ledger, analyst, keys)
        if whole.with_keys is not None and readings[whole.with_keys] is None:
            continue  # what is drawn with its keys is not drawn again beside them
        missing = [own for own, one in zip(whole.priced, readings, strict=True) if one is None]
        found.append((cost(whole, missing), _place(keys), keys, readings))
    if not found:
        return whole
    _, _, keys, readings = min(found, key=lambda one: one[:2])
    return due(whole, readings, keys)


def _best(whole: Quote, ledger: Ledger, analyst: str, keys: HeldKeys | None) -> list[HeldReading | None]:
    selection = "" if keys is None else _selection(keys)
    names = [reading_names(whole.plan, one.ask, whole.catalog, analyst, selection=selection) for one in whole.priced]
    stored = ledger.holding([name for some in names for name in some])
    wanted = sizes(whole, len(whole.lowered.keys) if keys is None else len(keys.keys))
    return [
        min((held for name in some for held in _serving(whole, one, stored[name], some) if len(held.values) == size),
            key=_noise_and_place, default=None)
        for one, some, size in zip(whole.priced, names, wanted, strict=True)
    ]


def _selection(keys: HeldKeys) -> str:
    return selected_by(keys.place.request, keys.place.part)


def as_shared(whole: Quote, ledger: Ledger, analyst: str, shared: Json) -> Quote:
    """The quote that shares exactly the readings at these places. Raises LookupError where they are not there."""
    if len(shared["readings"]) < len(whole.priced):  # all but the cut were stored, and it was left out
        whole = cutless(whole)
    keys: HeldKeys | None = None
    if shared["keys"] is not None:
        name = selection_name(whole.plan, whole.catalog, analyst)
        keys = _at(shared["keys"], _keys(_under(ledger, shared["keys"]), name))
    selection = "" if keys is None else _selection(keys)
    readings: list[HeldReading | None] = []
    for one, place in zip(whole.priced, shared["readings"], strict=True):
        names = reading_names(whole.plan, one.ask, whole.catalog, analyst, selection=selection)
        readings.append(None if place is None else _at(place, _readings(whole, one, _under(ledger, place), names)))
    return due(whole, readings, keys)


def _at(place: Json, found: Iterable[_Found]) -> _Found:
    for one in found:
        if one.place.as_json() == place:
            return one
    raise LookupError("the ledger holds no such reading there")


def _under(ledger: Ledger, place: Json) -> tuple[Stored, ...]:
    stored = ledger.stored_under(place["request"])
    return () if stored is None else (stored,)


def _serving(whole: Quote, wanted: Priced, stored: Iterable[Stored], names: Sequence[str]) -> list[HeldReading]:
    return [one for one in _readings(whole, wanted, stored, names) if serves(one.priced, wanted)]


def _serving_keys(quote: Quote, stored: Iterable[Stored], name: str) -> list[HeldKeys]:
    wanted = quote.selecting
    return [one for one in _keys(stored, name) if wanted is not None and keys_serve(one.selecting, wanted)]


def _place(one: _Found) -> tuple[int, int, int]:
    return one.place.position, one.place.part, one.place.number or 0


def _noise_and_place(one: HeldReading) -> tuple[Fraction, tuple[int, int, int]]:
    return one.priced.error(BETA), _place(one)


def _keys(stored: Iterable[Stored], name: str) -> Iterator[HeldKeys]:
    """The selections of this name in these answers."""
    for one, number, part in _each(stored):
        told = part["noisy"].get("keys")
        if told is not None and told["name"] == name:
            said = part["receipt"]["selection"]
            amounts = (amount_of(said[amount]) for amount in ("epsilon", "rho", "delta"))
            selecting = Selecting(selection_of(said["rule"]), *amounts)
            keys = tuple(tuple(key) for key in told["values"])
            yield HeldKeys(_place_of(one.charge, number, None), selecting, keys)


def _readings(
    whole: Quote, wanted: Priced, stored: Iterable[Stored], names: Sequence[str]
) -> Iterator[HeldReading]:
    """The readings of these names (`reading_names`) in these answers, in the order of this question's keys. One that
    is not what its receipt says is passed over."""
    for one, number, part in _each(stored):
        for told in part["noisy"]["readings"]:
            if told["name"] in names and (values := _in_order(whole, wanted, told, names)) is not None:
                priced = _priced(whole, wanted, part["receipt"]["readings"][told["number"]])
                if priced is not None:
                    yield HeldReading(_place_of(one.charge, number, told["number"]), priced, values)


def _in_order(whole: Quote, wanted: Priced, told: Json, names: Sequence[str]) -> tuple[int, ...] | None:
    """A stored reading's numbers in the order of this question's keys. None where they are not of its keys."""
    values = tuple(told["values"])
    if wanted.ask.overall or whole.selecting is not None or told["name"] in names[1:]:
        return values
    return reordered(values, whole.plan, told.get("places", range(len(whole.plan.source.source.columns))))


def _each(stored: Iterable[Stored]) -> Iterator[tuple[Stored, int, Json]]:
    for one in stored:
        for number, part in enumerate(_read_parts(one.answer)):
            if part is not None and "noisy" in part:  # one that cost nothing, and answers of earlier versions
                yield one, number, part


def _place_of(charge: Charge, part: int, number: int | None) -> Place:
    return Place(charge.position, charge.head, charge.request_id, part, number)


def _priced(whole: Quote, wanted: Priced, claim: Json) -> Priced | None:
    """The reading as its receipt says it, at its own grid, in the terms of this question."""
    steps = Steps(**claim["grid"])
    moved = reading(wanted.ask, whole.reach, steps)
    found = Priced(
        wanted.ask, steps, moved, derivation(wanted.ask, whole.reach, moved), law_of(claim),
        amount_of(claim["epsilon"]), amount_of(claim["rho"]),
    )
    said = {name: part for name, part in claim.items() if name not in ("ask", "derivation")}
    if isinstance(wanted.mechanism, WeightedQuantile | TopCounts) and (claim["grid"], claim.get("candidates")) != (
        mechanism_json(wanted)["grid"], wanted.mechanism.candidates
    ):
        return None  # chosen among other candidates, as by another version
    return found if {name: part for name, part in mechanism_json(found).items() if name != "ask"} == said else None
