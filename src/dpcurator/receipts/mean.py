"""Whether a sharpened answer is the mean of the releases that it names: of one question, each paid by itself.

Checked     Its receipts are of one plan, with noise that adds up, each of a charge of its own; what it says of its cost
            and of the budget, is what one of them says; beside catalog and ledger the mean is made anew from the
            integers that the ledger holds of these charges, and compared with what is printed.
Left        Each receipt by itself: `verify` says that of each.
Tests       tests/curator/test_sharpen.py.
"""

from __future__ import annotations

from dpcurator.catalog.model import Catalog
from dpcurator.ledger import Ledger
from dpcurator.ledger.keys import canonical
from dpcurator.pricing.quote import price
from dpcurator.receipts.answers import CORE, check_beside
from dpcurator.receipts.form import Parsed, Wrong, amount_of, require
from dpcurator.receipts.stored import releases_of
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.release.sharpened import check_sharpening, sharpened
from dpcurator.values import Json


def check_mean(answer: Json, catalog: Catalog | None, ledger: Ledger | None) -> str:
    """answer: as `--sharpen --json` prints it. Raises Wrong."""
    receipts = answer["sharpened"]
    first = receipts[0]
    require(len({one["request"] for one in receipts}) == len(receipts), "it counts one release twice")
    for one in receipts:
        asks = [[claim["ask"] for claim in told["readings"] if claim["ask"]["what"] not in _CUT]
                for told in (one, first)]
        require(canonical(asks[0]) == canonical(asks[1]), "its releases have other readings")
        for name in ("plan_sha256", "confidence", "analyst", "data_version"):
            require(one[name] == first[name], "its releases are of other questions")
        require("shared" not in one, "a release has noise that another charge paid")
        noises = {claim["mechanism"] for claim in one["readings"]}
        require(one["selection"] is None and noises <= ADDED, "what is chosen has no mean")
    require(answer["confidence"] == first["confidence"], "its confidence is not that of its releases")
    _check_beside(answer, catalog)
    if catalog is None or ledger is None:
        return f"{len(receipts)} releases of one question, with noise that adds up"
    told = Parsed(first)
    quote = price(told.plan, told.price, catalog, confidence=amount_of(first["confidence"]))
    check_sharpening(quote)
    known = [one["request"] for one in receipts]
    held = {receipt["request"]: parts for receipt, parts in releases_of(quote, ledger, first["analyst"], known=known)}
    require(all(one["request"] in held for one in receipts), "the ledger holds other releases of it")
    made, noisy = sharpened(quote, [held[one["request"]] for one in receipts])
    rows = [[cell.as_json() for cell in row] for row in finish(made, noisy)]
    own: Json = {
        "columns": [output.title for output in quote.plan.outputs],
        "shown": [output.shown for output in quote.plan.outputs], "rows": rows, "confidence": first["confidence"],
        "notes": list(notes(quote.plan, quote.reach, quote.confidence, catalog.protects)),
    }
    for name in CORE:
        require(canonical(answer[name]) == canonical(own[name]), f"its {name} are not those of the mean")
    return f"the mean of {len(receipts)} releases, made anew from the ledger's integers"


def _check_beside(answer: Json, catalog: Catalog | None) -> None:
    """What is printed beside it is what the receipt of the release says that was paid for it: the last, or, where
    others were paid at that time, one before. Raises Wrong."""
    wrong: Wrong | None = None
    own = {name: value for name, value in answer.items() if name != "sharpened"}
    for one in reversed(answer["sharpened"]):
        try:
            check_beside(Parsed(one), own | {"receipt": one}, catalog)
        except Wrong as found:
            wrong = wrong or found
        else:
            return
    if wrong is not None:
        raise wrong


ADDED = {"discrete_laplace", "discrete_gaussian"}
_CUT = ("everyone", "cut", "cut_groups")
