"""Replay on a neighbour: does a function do the same on D', when all it was ever told of D comes from the mechanisms?

Definition  f runs on D with frozen randomness; each call of a mechanism is kept. Then f runs on D', and each call gives
            what it gave on D. Since all that f learns through mechanisms is now the same, whatever is otherwise is from
            the data without noise: another call or order, another parameter (so another cost), another shape,
            another exception, other bytes printed or returned. And each call's two inputs are compared with what its
            mechanism was declared for (arguments.py).
Promise     A `Mismatch` is a certain fact about f and this pair: no chance is in it. Two kinds. "returned" and such:
            f's outputs depend on the data beside mechanisms, so their losses do not bound what f reveals. "input":
            a declared sensitivity does not hold for this pair, so the stated loss does not cover it; by how much it
            passes epsilon is not said. Finding nothing proves nothing: it is one pair.
Proof       f is deterministic but for mechanisms (checked: f on D must replay as itself, else a Refusal). Let o be the
            outputs of all calls. The run on D is a function of (D, o), that on D' of (D', o), with the same o.
            f on D once more, after anything is found, must replay as itself again.
Limits      Noise taken by `sample` is added by f itself, unseen; then a difference of what f returns is a note, no
            mismatch. A state that f keeps between runs, clocks, threads and files are not frozen; a verb that f bound
            before the replay (`draw = mechanism.release`) is not heard, so it is refused as randomness from elsewhere.
Source      Haeberlen, Pierce, Narayan, USENIX Security 2011 (what can tell); Cebere et al. 2026 (record and replay).
Checked     tests/audit/test_replay.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpcurator.auditing.equality import differences, shape
from dpcurator.auditing.replay.arguments import MOVED, PRIVATE, Move
from dpcurator.auditing.replay.mismatch import Mismatch
from dpcurator.auditing.replay.recording import Call, Recorder, Replayer, Stopped, copied, heard
from dpcurator.errors import Refusal
from dpcurator.mechanisms import ROWS
from dpcurator.numbers import whole
from dpcurator.numbers.readable import readable

FOUND: Final = "violation found (certain)"
NOTHING: Final = "no violation found"
RUNS: Final = 4
_READ: Final = 10_000  # items of an iterator that a function returns
SENSITIVITY: Final = "where a declared sensitivity does not hold, its loss does not; by how much is not said here"


@dataclass
class Replay:
    """What a replay found.

    calls: how many were compared, and of how many the input moved; largest: the greatest share of a declared distance
    that was used. asked: questions, of two curators.
    """

    mismatches: list[Mismatch] = field(default_factory=list)
    calls: int = 0
    asked: int = 0
    moved: int = 0
    largest: Fraction = Fraction(0)
    notes: list[str] = field(default_factory=list)

    __repr__ = readable

    @property
    def found(self) -> bool:
        return bool(self.mismatches)

    @property
    def verdict(self) -> str:
        """Certain, since no chance is in a replay; and never "private", since it is one pair."""
        return FOUND if self.mismatches else NOTHING

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "mismatches": [one.as_json() for one in self.mismatches],
            "calls": self.calls,
            "questions": self.asked,
            "inputs_moved": self.moved,
            "largest_share": str(self.largest),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"{self.verdict}, by replay on a neighbour"]
        lines += [f"  {one}" for one in self.mismatches]
        if any(one.kind == "input" for one in self.mismatches):
            lines.append(f"  {SENSITIVITY}")
        if self.asked:
            return "\n".join([*lines, f"  {self.asked} questions asked of both"])
        lines.append(f"  {self.calls} calls of mechanisms compared; the input of {self.moved} moved")
        if self.moved and not self.mismatches:
            lines[-1] += f", by {float(self.largest):.3g} of what was declared at most"
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def add(self, kind: str, where: str, words: str, move: Move | None = None) -> None:
        self.mismatches.append(Mismatch(kind, where, words, move))


def replay(
    function: Callable[[Any], Any],
    *,
    pair: Sequence[Any],
    questions: Sequence[Any] | None = None,
    runs: int = RUNS,
    names: tuple[str, str] = ("D", "D'"),
    **price: Any,
) -> Replay:
    """Replays a function on a neighbouring data set with every mechanism's output frozen, and compares what it does.

    What may differ between neighbours is the input of mechanisms, by at most the sensitivity that each declares. All
    else (which mechanisms are called, with which parameters, what is returned) must follow from their outputs.

    Promise: what it finds is certain, of the code and not of a probability; finding nothing is no proof.

    Parameters:
        function: called with the data alone; it may call any mechanisms of dpcurator.
        pair: (D, D'), two neighbouring inputs; each run gets a copy.
        questions: then the function opens a curator over the data, and these are asked of both.
        runs: int >= 1, with how many different outputs; the first run that finds something is the last.
        names: two texts, what the inputs are called in the report.
        price: epsilon, rho or spend of each of the questions.

    Returns a report, with `found` and `mismatches`. Raises Refusal if on the same D the function does not do the same
    twice, or a parameter is out of its range.

    >>> import dpcurator as dp
    >>> def total(rows):
    ...     return dp.Laplace(sensitivity=1, epsilon=1).release(sum(rows))
    >>> print(dp.replay(total, pair=([0, 1, 5], [0, 1])).mismatches[0])
    call 1, Laplace.release: its input moved by 5 in l1, and 1 was declared
    """
    if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise Refusal("pair is two neighbouring data sets.", cure="Write pair=([1, 2, 3], [1, 2]).")
    if questions is not None:
        from dpcurator.auditing.replay.curators import replay_curators

        one, other = (function(copied(data)) for data in pair)
        found = Replay(asked=len(questions))
        for question in questions:
            found.mismatches += replay_curators(one, other, question, names=names, **price)
        return found
    if price:
        raise Refusal(
            f"replay has no parameter {', '.join(price)} without questions.", cure="Give questions=[...] too."
        )
    refuse_coroutine(function)
    function = _heard_too(function)
    total = Replay()
    for run in range(whole(runs, name="runs", least=1)):
        found = _once(function, pair, str(run), names)
        total.mismatches, total.notes = found.mismatches, found.notes
        total.calls, total.moved = total.calls + found.calls, total.moved + found.moved
        total.largest = max(total.largest, found.largest)
        if found.found:
            break
    return total


def refuse_coroutine(function: Any) -> None:
    """What it would do happens only where it is awaited, and nobody does."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise Refusal("The function is asynchronous.", cure="Give lambda data: asyncio.run(function(data)).")


def _heard_too(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A mechanism's verb is looked up again when it is called: bound before, it would not be heard."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is not None and name in MOVED.get(type(owner).__name__, {}):
        return lambda data: getattr(owner, name)(data)
    return function


def _once(function: Callable[[Any], Any], pair: Sequence[Any], label: str, names: tuple[str, str]) -> Replay:
    recorder = Recorder(label)
    with heard(recorder):
        first = _run(function, copied(pair[0]))
    again = _against(function, pair[0], recorder, first, names)
    if again.found:
        raise Refusal(
            "On the same data, with the same outputs of mechanisms, the function did something else: "
            f"{again.mismatches[0]}.",
            cure="Take randomness from dpcurator's mechanisms alone, and no clock; and keep nothing between two runs.",
        )
    found = _against(function, pair[1], recorder, first, names)
    if found.found and _against(function, pair[0], recorder, first, names).found:
        raise Refusal("The function keeps something from run to run.", cure="Keep nothing between two runs.")
    return found


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a run ended: what it returned or raised, unless it was stopped."""

    returned: Any = None
    raised: BaseException | None = None
    stopped: bool = False


def _run(function: Callable[[Any], Any], data: Any) -> _Ended:
    try:
        returned = function(data)
        if isinstance(returned, Iterator):
            returned = list(islice(returned, _READ))  # what it does happens while it is read
        return _Ended(copied(returned))
    except Stopped:
        return _Ended(stopped=True)
    except (Exception, SystemExit) as raised:
        return _Ended(raised=raised)


def _against(
    function: Callable[[Any], Any], data: Any, recorder: Recorder, first: _Ended, names: tuple[str, str]
) -> Replay:
    found = Replay()

    def same(number: int, one: Call, other: Call) -> bool:
        return _compare(found, number, one, other, names)

    replayer = Replayer(recorder.label, recorder.calls, same)
    with heard(replayer):
        second = _run(function, copied(data))
    found.calls = len(replayer.calls)
    if not replayer.stopped and _failure(first.raised) != _failure(second.raised):
        found.add("error", "the function", _raised(first.raised, second.raised, names))
    elif replayer.more is not None:
        where = f"call {len(recorder.calls) + 1}"
        found.add("calls", where, f"{replayer.more} on {names[1]}, and no such call on {names[0]}")
    elif not replayer.stopped:
        if left := recorder.calls[len(replayer.calls) :]:
            where = f"call {len(replayer.calls) + 1}"
            found.add("calls", where, f"{left[0]} on {names[0]}, and no such call on {names[1]}")
        _returned(found, recorder, first, second, names)
    _printed(found, recorder, replayer, names)
    return found


def _compare(found: Replay, number: int, one: Call, other: Call, names: tuple[str, str]) -> bool:
    """Two calls at the same place; False if what follows cannot be compared."""
    where = f"call {number + 1}, {one}"
    if (one.name, one.verb) != (other.name, other.verb):
        found.add("calls", f"call {number + 1}", f"{one} on {names[0]}, {other} on {names[1]}")
        return False
    for what, left, right in differences(_declared(one.mechanism), _declared(other.mechanism)):
        found.add("parameter", where, f"its {what} is {left} on {names[0]} and {right} on {names[1]}")
    for name in one.arguments:
        mine, theirs = one.arguments.get(name), other.arguments.get(name)
        if name in PRIVATE:
            if one.name not in _RECORDS and shape(mine) != shape(theirs):
                words = f"its {name} has shape {shape(mine)} on {names[0]} and {shape(theirs)} on {names[1]}"
                found.add("shape", where, f"{words}, which its output shows")
                return False
        else:
            for what, a, b in differences(mine, theirs, name):
                found.add("argument", where, f"its {what} is {a} on {names[0]} and {b} on {names[1]}")
    if _failure(one.failed) != _failure(other.failed):
        found.add("error", where, _raised(one.failed, other.failed, names))
        return one.failed is None
    if one.failed is not None:
        return True
    move = MOVED[one.name][one.verb](one.mechanism, one.arguments, other.arguments)
    if move is None:
        return True
    if move.broken:
        found.add("input", where, move.broken, move)
    found.moved += move.distance > 0
    if move.share is not None:
        found.largest = max(found.largest, move.share)
    return True


_RECORDS: Final = {row.name for row in ROWS if {"values", "records"} & set(row.takes.values())}  # no such shape shows


def _declared(mechanism: Any) -> Any:
    return getattr(mechanism, "mechanism", mechanism)  # of a sparse vector's run


def _failure(failed: BaseException | None) -> tuple[str, str] | None:
    return None if failed is None else (type(failed).__name__, str(failed))


def _raised(one: BaseException | None, other: BaseException | None, names: tuple[str, str]) -> str:
    told = ["no exception" if x is None else f"{type(x).__name__}: {x}" for x in (one, other)]
    return f"{told[0]} on {names[0]}, {told[1]} on {names[1]}"


def _returned(found: Replay, recorder: Recorder, first: _Ended, second: _Ended, names: tuple[str, str]) -> None:
    unseen = [call for call in recorder.calls if call.verb == "sample"]
    for what, left, right in differences(first.returned, second.returned):
        part = f"the returned {what}" if what else "what it returns"
        words = f"{left} on {names[0]} and {right} on {names[1]}, with all outputs of mechanisms the same"
        if unseen:
            found.notes.append(f"{part} is {words}; noise of {unseen[0]} was added where replay cannot see to what")
        else:
            found.add("returned", part, words)
    if unseen and not found.notes:
        found.notes.append(f"{unseen[0]} gives noise alone: to what it is added was not seen")


def _printed(found: Replay, recorder: Recorder, replayer: Replayer, names: tuple[str, str]) -> None:
    left, right = "".join(recorder.printed), "".join(replayer.printed)
    if replayer.stopped:
        left = left[: len(right)]  # the run was cut short
    for _, one, other in differences(left, right):
        found.add("printed", "what it prints", f"{one} on {names[0]} and {other} on {names[1]}")
