"""An audit by exact laws: every pair's two laws, laid against each other both ways.

Promise     "Certain" is said of laws that came out the same twice: what surely differs from itself has no law, and the
            audit goes by draws instead (`Unsteady`). What a law does not list is said, and nothing is said of it.
Proof       auditing/exact/divergences.py: divergences of laws, in enclosures.
Checked     tests/audit/test_laws.py, tests/audit/test_divergences.py, tests/audit/test_copies.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpcurator.auditing.claims import Claim, Pure
from dpcurator.auditing.exact.divergences import Law, compare, rest
from dpcurator.auditing.exact.laws import LawOf, guarded, unsteady
from dpcurator.auditing.limits import Limits
from dpcurator.auditing.outcomes import Raised, nothing_else
from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.picture import bars_of_laws
from dpcurator.auditing.report import CERTAIN, NOTHING, Finding, Report
from dpcurator.auditing.shrink import shrink as smaller_witness


def by_laws(
    law_of: LawOf, name: str, pairs: Sequence[Pair], claim: Claim | None, limits: Limits, shrinking: bool
) -> Report | None:
    """Every pair by its laws; None where the laws of dpcurator's own mechanism are not for such inputs."""
    looked_for = Pure(0) if claim is None else claim
    findings: list[Finding] = []
    unexplored, tried, picture = Fraction(0), 0, None
    first_seen: dict[int, tuple[Law, Law]] = {}
    answered = False

    def look(pair: Pair, number: int = 0) -> tuple[list[Finding], tuple[Law, Law]]:
        seconds = limits.left / 4
        laws = (
            guarded(law_of, pair.first, pair.second, seconds),
            guarded(law_of, pair.second, pair.first, seconds),
        )
        return compare(pair, laws, looked_for), laws

    for place, pair in enumerate(pairs):
        if tried and limits.left <= 0:
            break
        found, laws = look(pair)
        first_seen[id(pair)] = laws
        answered = answered or any(not isinstance(outcome, Raised) for law in laws for outcome in law)
        tried, unexplored = tried + 1, max(unexplored, *map(rest, laws))
        findings += found
        limits.tell("comparing distributions", place + 1, len(pairs))
        if claim is not None and any(one.at_least > claim.parameter for one in found):
            break
    findings.sort(key=lambda one: (-one.at_least, -one.p))
    verdict = CERTAIN if claim is not None and findings and findings[0].at_least > claim.parameter else NOTHING
    found_on = None
    if not answered and verdict == NOTHING and tried and not unexplored:
        raise nothing_else(next(repr(outcome) for outcome in laws[0]))
    if verdict == CERTAIN:
        _steady(first_seen[id(findings[0].pair)], look(findings[0].pair)[1])
    if verdict == CERTAIN and shrinking and findings[0].pair.neighbours is not None:
        assert claim is not None
        limit = claim.parameter

        def test(pair: Pair, number: int) -> Finding | None:
            found, laws = look(pair)
            best = max(found, key=lambda one: one.at_least)
            if best.at_least <= limit:
                return None
            _steady(laws, look(pair)[1])
            return best

        smaller, _ = smaller_witness(findings[0].pair, test, until=limits.until)
        if smaller is not None:
            found_on, findings = findings[0].pair, [smaller, *findings]
    notes = []
    if unexplored > Fraction(1, 10**6):
        notes.append(f"outcomes of probability {float(unexplored):.3g} in all were not listed; nothing is said of them")
    if findings:
        picture = bars_of_laws(look(findings[0].pair)[1], findings[0])
    return Report(
        verdict, name, claim, tuple(findings[:8]), "exact", Fraction(0), 0, 0, 0.0, tried,
        getattr(claim, "delta", Fraction(0)), looked_for.measure, found_on, tuple(notes),
        picture,
    )


class Unsteady(Exception):
    """A function gave two laws on one input."""


def _steady(before: tuple[Law, Law], after: tuple[Law, Law]) -> None:
    """Nothing is certain of laws that come out otherwise the next time."""
    if any(map(unsteady, before, after)):
        raise Unsteady
