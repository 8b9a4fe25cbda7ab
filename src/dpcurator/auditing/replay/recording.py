"""Recording every call a function makes to a mechanism (verb, parameters, input), and replaying it.

Definition  While a listener is on, each verb that a mechanism's row lists is heard. A `Recorder` runs the call with
            frozen randomness and keeps what it gave. A `Replayer` runs it too, to see whether it fails, and then gives
            what the record has in its place: so whatever the function does otherwise, it does because of its data.
Safety      The verbs are replaced on their classes only while some listener is on, and put back by the last one to go,
            also after an error. Who listens is a context variable: another thread's calls pass straight through, and a
            mechanism's calls of another inside itself are its own and not heard. What is printed is heard likewise.
            Otherwise nothing is replaced, so a question costs what it did.
Limits      Threads that the function starts are not heard. `os.write`, logging handlers and files are not read.
Checked     tests/audit/test_replay.py.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from dpcurator.mechanisms import ROWS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Frozen:
    """Bits that follow from a label: the same every time, and no randomness, so nothing drawn may be released."""

    releasable = False

    def __init__(self, label: str) -> None:
        self._label, self._used = label, 0

    def _bytes(self, length: int) -> bytes:
        self._used += 1
        return hashlib.shake_256(f"{self._label} {self._used}".encode()).digest(length)

    def words(self, n: int) -> NDArray[np.uint64]:
        import numpy as np

        return np.frombuffer(self._bytes(8 * n), dtype=np.uint64).copy()

    def bits(self, k: int) -> int:
        length = (k + 7) // 8
        return int.from_bytes(self._bytes(length), "big") >> (8 * length - k)


@dataclass(frozen=True)
class Call:
    """One call of a mechanism's verb. mechanism: with its parameters. left: of a sparse vector's run, after it."""

    name: str
    verb: str
    mechanism: Any
    arguments: Mapping[str, Any]
    gave: Any = None
    failed: BaseException | None = None
    left: int | None = None

    def __str__(self) -> str:
        return f"{self.name}.{self.verb}"


class Stopped(BaseException):
    """The record has nothing more to give: the function is stopped here. No `except Exception` catches it."""


class Listener(Protocol):
    """What hears the calls."""

    label: str
    calls: list[Call]
    printed: list[str]

    def call(self, call: Call, run: Callable[[], Any]) -> Any: ...


@dataclass
class Recorder:
    """Runs every call with frozen randomness, and keeps it."""

    label: str = ""
    calls: list[Call] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def call(self, call: Call, run: Callable[[], Any]) -> Any:
        done = ran(call, run)
        self.calls.append(done)
        if done.failed is not None:
            raise done.failed
        return done.gave if call.verb == "start" else copied(done.gave)


@dataclass
class Replayer:
    """Gives what the record gave, call by call. `same` looks at each pair of calls, and says whether to go on."""

    label: str
    record: list[Call]
    same: Callable[[int, Call, Call], bool]
    calls: list[Call] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    more: Call | None = None  # one that the record has not
    stopped: bool = False

    def call(self, call: Call, run: Callable[[], Any]) -> Any:
        number = len(self.calls)
        if self.stopped or number == len(self.record):
            self.more = self.more or (None if self.stopped else call)
            self._stop()
        then = self.record[number]
        known = (call.name, call.verb) == (then.name, then.verb)
        done = ran(call, run) if known else call
        self.calls.append(done)
        if not self.same(number, then, done) or not known:
            self._stop()
        if then.failed is not None:
            raise then.failed
        if call.verb == "start":
            return done.gave  # a run of its own: what it answers comes from the record too
        if then.left is not None:
            call.mechanism._left = then.left
        return copied(then.gave)

    def _stop(self) -> NoReturn:
        self.stopped = True
        raise Stopped


def ran(call: Call, run: Callable[[], Any]) -> Call:
    """The call with what it gave."""
    found: dict[str, Any] = {}
    try:
        found["gave"] = run()
    except Exception as failed:
        found["failed"] = failed
    left = getattr(call.mechanism, "left", None) if call.name in _RUNS else None
    return Call(call.name, call.verb, call.mechanism, call.arguments, left=left, **found)


def copied(value: Any) -> Any:
    """A copy that nobody else changes, where one can be made."""
    with suppress(Exception):
        return copy.deepcopy(value)
    return value


# --- the hooks ------------------------------------------------------------------------------------------------------

_RUNS = {row.run[0] for row in ROWS if row.run}
_LISTENER: ContextVar[Listener | None] = ContextVar("dpcurator_listener", default=None)
_LOCK = threading.Lock()
_KEPT: list[tuple[Any, str, Any]] = []  # what was replaced, while someone listens
_INHERITED = object()  # of a verb that stands on a class's base: put back by taking away
_listening = 0


@contextmanager
def heard(listener: Listener) -> Iterator[None]:
    """The listener hears this thread's calls; on the way out everything is as it was."""
    global _listening
    with _LOCK:
        if not _listening:
            _replace()
        _listening += 1
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
        with _LOCK:
            _listening -= 1
            if not _listening:
                _put_back()


def classes() -> Iterator[tuple[type[Any], tuple[str, ...]]]:
    """Each class that has verbs to hear, with them."""
    for row in ROWS:
        yield row.cls, tuple(row.takes)
        if row.run:
            name, takes = row.run
            yield row.named(name), tuple(takes)


def _replace() -> None:
    for found, verbs in classes():
        for verb in verbs:
            _KEPT.append((found, verb, vars(found).get(verb, _INHERITED)))
            setattr(found, verb, _heard(found.__name__, verb, getattr(found, verb)))
    for stream in ("stdout", "stderr"):
        original = getattr(sys, stream)
        _KEPT.append((sys, stream, original))
        setattr(sys, stream, _Printed(original))


def _put_back() -> None:
    while _KEPT:
        place, name, original = _KEPT.pop()
        if original is _INHERITED:
            delattr(place, name)
        elif place is not sys or isinstance(getattr(sys, name), _Printed):  # else someone put another there meanwhile
            setattr(place, name, original)


def _heard(name: str, verb: str, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def hear(made: Any, *given: Any, **named: Any) -> Any:
        listener = _LISTENER.get()
        if listener is None:
            return original(made, *given, **named)
        token = _LISTENER.set(None)  # what it calls inside is its own
        try:
            bound = signature.bind(made, *given, **named)
            bound.arguments.pop("entropy", None)
            arguments = {key: copied(value) for key, value in list(bound.arguments.items())[1:]}
            label = f"{listener.label} {name} {verb} {len(listener.calls)}"
            entropy = {"entropy": Frozen(label)} if "entropy" in signature.parameters else {}
            call = Call(name, verb, made, arguments)
            return listener.call(call, lambda: original(*bound.args, **bound.kwargs, **entropy))
        finally:
            _LISTENER.reset(token)

    return hear


class _Printed:
    """A stream whose writes by a listened-to thread are kept, and go nowhere; all else passes through."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        listener = _LISTENER.get()
        if listener is None:
            return int(self._stream.write(text) or 0)
        listener.printed.append(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
