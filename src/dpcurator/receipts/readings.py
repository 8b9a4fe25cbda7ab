"""Whether an answer is what its noisy readings make it: worked out again from those that the ledger holds.

Beside ledger and catalog a receipt's readings are at hand, those its own charge paid and those it shares with earlier
ones: each is looked up at its place, must be the reading of this very name (plan/identity.py: the same analyst, facts,
data version, rows, keys and caps) with the noise that the receipt tells of, and the answer made of them must be the one
whose hash was signed. So nothing of a shared answer was drawn anew, or by another law. Checked in
tests/curator/test_readings.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import Catalog
from dpcurator.ledger import Ledger
from dpcurator.ledger.keys import canonical
from dpcurator.plan.facts import facts_of
from dpcurator.pricing.held import sizes
from dpcurator.pricing.priced import mechanism_json
from dpcurator.pricing.quote import Quote, price
from dpcurator.receipts.earlier_notes import earlier_notes
from dpcurator.receipts.form import Parsed, amount_of, require
from dpcurator.receipts.receipt import sha
from dpcurator.receipts.stored import as_shared, parts_of
from dpcurator.release.cut import cut_of
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.release.release import Noisy, released_before, stored_values
from dpcurator.values import Json


def of_these_facts(told: Parsed, catalog: Catalog) -> bool:
    """Whether the catalog is of the facts and the data that the receipt is of: else its readings have other names."""
    try:
        used = facts_of(told.plan, catalog)
    except LookupError:
        return False
    receipt = told.receipt
    return receipt["catalog_sha256"] in (used, catalog.digest) and receipt["data_version"] == catalog.data_version


def check_readings(told: Parsed, ledger: Ledger, catalog: Catalog) -> str:
    receipt = told.receipt
    part: Json = {}
    if told.charged:
        stored = ledger.stored_under(receipt["request"])
        part = parts_of("{}" if stored is None else stored.answer)[(receipt["batch"] or {"index": 0})["index"]]
        if "noisy" not in part:
            return "the answer was stored by an earlier version, without its readings"
    whole = price(told.plan, told.price, catalog, confidence=amount_of(receipt["confidence"]),
                  resolved=told.resolved)
    shared = receipt.get("shared")
    quote = whole if shared is None else as_shared(whole, ledger, receipt["analyst"], shared)
    claimed = [{name: part for name, part in one.items() if name != "ask"} for one in told.mechanisms]
    found = [{name: part for name, part in mechanism_json(one).items() if name != "ask"} for one in quote.priced]
    require(canonical(found) == canonical(claimed), "the ledger's readings have another noise than it says")
    keys = None if quote.selecting is None else quote.selecting.as_json()
    require(canonical(keys) == canonical(receipt["selection"]), "the ledger's keys were selected otherwise")
    noisy = noisy_of(quote, part["noisy"]) if told.charged else released_before(quote)
    rows = [[cell.as_json() for cell in row] for row in finish(quote, noisy)]
    outputs, level = quote.plan.outputs, quote.confidence
    core: Json = {
        "columns": [output.title for output in outputs], "shown": [output.shown for output in outputs], "rows": rows,
        "confidence": str(level),
    }
    said = (notes(quote.plan, quote.reach, level, receipt["protects"]), *earlier_notes(quote.plan, quote.reach, level))
    cut = cut_of(quote, noisy)
    if cut is not None:
        core["cut"] = cut.as_json()
    signed = [sha(core | {"notes": list(one)}) for one in said]
    require(receipt["answer_sha256"] in signed, "the answer is not what its readings make it")
    return "the answer is what the ledger's noisy readings make it"


def noisy_of(quote: Quote, stored: Json) -> Noisy:
    """What was released: the readings that the charge paid, and those that it shares."""
    own = {one["number"]: tuple(one["values"]) for one in stored["readings"]}
    before = stored_values(quote)
    require(sorted(own) == [place for place, one in enumerate(before) if one is None], "other readings are stored")
    held = None if quote.held is None else quote.held.keys
    keys = quote.lowered.keys if held is None else held.keys
    if held is None and quote.selecting is not None:
        keys = tuple(tuple(key) for key in stored["keys"]["values"])
    readings = tuple(own[place] if one is None else one for place, one in enumerate(before))
    wanted = sizes(quote, len(keys))
    require([len(one) for one in readings] == wanted, "a reading is of other keys")
    return Noisy(keys, readings, quote.reach.other)
