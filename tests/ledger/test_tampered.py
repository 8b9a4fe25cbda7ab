"""Whatever is changed in the file, `verify` says where; and nothing is decided or shown from a changed row.

The chain alone cannot betray someone who rewrites all of it: a head held outside does.
"""

from __future__ import annotations

import json
import random
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from currencies import in_both

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, SqliteStore
from dpcurator.ledger.canonical import canonical_text
from dpcurator.ledger.events import GENESIS, chained

WHOLE = "10"
OTHER = {"epsilon": "rho", "rho": "epsilon"}
currency = in_both()


@pytest.fixture
def path(tmp_path, opening, ask) -> Path:
    """A closed ledger of 12 events: opened, then charges and answers by turns, the last charge unanswered."""
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening(WHOLE))
    for n in range(5):
        ledger.answer(ledger.charge(ask(n)), f"answer {n}")
    ledger.charge(ask("last"))
    ledger.close()
    return place


def edit(path: Path, *statements: str) -> None:
    """As someone with a database shell would, past the triggers that keep honest hands off."""
    with sqlite3.connect(path) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


def reopened(path: Path, opening, whole: str = WHOLE) -> Ledger:
    return Ledger(SqliteStore(path), opening(whole))


def problem(path: Path, opening, heads=()) -> str:
    ledger = reopened(path, opening)
    try:
        return str(ledger.verify(heads).problem)
    finally:
        ledger.close()


def told(path: Path, opening) -> bool:
    """Whether something is found wrong: by `verify`, or as Misconfigured when the file cannot be used at all."""
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    try:
        return problem(path, opening) != "None"
    except Misconfigured as error:
        return error.where == str(path) and error.cure != ""


def test_an_untouched_ledger_is_sound(path, opening):
    assert problem(path, opening) == "None"


def test_honest_hands_cannot_change_the_past(path):
    connection = sqlite3.connect(path)
    for statement in ("UPDATE events SET body = ''", "DELETE FROM answers", "DELETE FROM requests"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


EDITS = [
    (
        ["UPDATE events SET body = replace(body, '1/10', '1/90') WHERE position = 4"],
        "event 4 (charged): its hash does not",
    ),
    (["UPDATE events SET body = body || ' ' WHERE position = 3"], "event 3 (answered): its hash does not match"),
    (["UPDATE events SET body = NULL WHERE position = 3"], "NOT NULL"),
    (["UPDATE events SET body = x'ff' WHERE position = 3"], "event 3 (answered): its hash does not match"),
    (
        ["UPDATE events SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE position = 1"],
        "event 1 (opened): its hash",
    ),
    (["UPDATE events SET hash = '' WHERE position = 12"], "event 12 (charged): its hash does not match"),
    (["UPDATE events SET name = 'closed' WHERE position = 6"], "event 6 (closed): it is filed under another"),
    (["DELETE FROM events WHERE position = 5"], "event 5 is missing"),
    (["DELETE FROM events WHERE position = 1"], "event 1 is missing"),
    (["UPDATE events SET position = 0 WHERE position = 1"], "event 1 is missing"),
    (["DELETE FROM events WHERE position = 12"], "hold more than the events do"),
    (["UPDATE answers SET text = x'41' WHERE position = 5"], "event 5 (answered): its stored answer does not match"),
    (["UPDATE answers SET text = x'ff' WHERE position = 5"], "event 5 (answered): its stored answer does not match"),
    (["UPDATE answers SET text = 7 WHERE position = 5"], "event 5 (answered): its stored answer does not match"),
    (["UPDATE answers SET hash = 'x' WHERE position = 5"], "event 5 (answered): its stored answer does not match"),
    (["UPDATE answers SET question = 'x' WHERE position = 5"], "event 5 (answered): its stored answer is filed under"),
    (["DELETE FROM answers WHERE position = 5"], "event 5 (answered): its stored answer is missing"),
    (["UPDATE answers SET position = 99 WHERE position = 5"], "event 5 (answered): its stored answer is missing"),
    (
        ["UPDATE requests SET position = 2 WHERE position = 6"],
        "event 6 (charged): the index of requests does not point",
    ),
    (["DELETE FROM requests WHERE position = 6"], "event 6 (charged): the index of requests does not point"),
    (["INSERT INTO requests VALUES ('planted', 2)"], "hold more than the events do"),
    (["INSERT INTO answers VALUES (99, 'planted', 'q', 'h', x'41')"], "hold more than the events do"),
]


@pytest.mark.parametrize(("statements", "says"), EDITS, ids=[statements[0][:70] for statements, _ in EDITS])
def test_each_edit_is_named_where_it_is(statements, says, path, opening):
    if says == "NOT NULL":
        with pytest.raises(sqlite3.IntegrityError, match=says):
            edit(path, *statements)
        return
    edit(path, *statements)
    assert says in problem(path, opening)


def test_no_wrong_row_is_built_upon(path, opening, ask):
    """The cheap checks of a charge: the head, the totals, the first event, the request's own rows, its answer."""
    copies = path.read_bytes()
    for statement in (
        "UPDATE events SET body = replace(body, '1/10', '1/90') WHERE position = 12",
        "UPDATE events SET hash = 'ab' WHERE position = 12",
        "UPDATE events SET body = replace(body, 'patients', 'visitors') WHERE position = 1",
        "UPDATE events SET name = 'charged' WHERE position = 1",
        "UPDATE requests SET position = 4 WHERE position = 2",
        "UPDATE requests SET position = 3 WHERE position = 2",
        "UPDATE requests SET position = 77 WHERE position = 2",
        "UPDATE answers SET text = x'41' WHERE position = 3",
        "UPDATE answers SET position = 98 WHERE position = 3",
    ):
        path.write_bytes(copies)
        edit(path, statement)
        ledger = reopened(path, opening)
        with pytest.raises(Misconfigured, match="damaged"):
            ledger.charge(ask(0))
        ledger.close()


def test_a_planted_answer_is_not_shown(path, opening, ask):
    """An answer slipped under the unanswered charge, without its event."""
    request_id = json.loads(_bodies(path)[11])["request"]
    edit(path, f"INSERT INTO answers VALUES (13, '{request_id}', 'q', 'h', x'41')")
    ledger = reopened(path, opening)
    with pytest.raises(Misconfigured, match="damaged"):
        ledger.charge(ask("last"))
    ledger.close()


def _bodies(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    bodies = [body for (body,) in connection.execute("SELECT body FROM events ORDER BY position")]
    connection.close()
    return bodies


def _rewrite(path: Path, change, currency: str) -> None:
    """Forge: change bodies and compute the whole chain again, as only the ledger's owner could."""
    bodies = [json.loads(body) for body in _bodies(path)]
    change(bodies)
    for body in bodies:
        for name in [name for name in body if name.endswith(("X", "Y"))]:  # the ledger's currency, and the other
            body[name.replace("X", currency).replace("Y", OTHER[currency])] = body.pop(name)
        if "currency" in body:
            body["currency"] = body["currency"].replace("Y", OTHER[currency])
    head, statements = GENESIS, []
    for position, body in enumerate(map(canonical_text, bodies), start=1):
        head = chained(head, body)
        statements.append(f"UPDATE events SET body = '{body}', hash = '{head}' WHERE position = {position}")
    edit(path, *statements)


FORGERIES = [
    (lambda bodies: bodies[11].update(spent_X="1/10"), "event 12 (charged): its totals are not the sum"),
    (lambda bodies: bodies[11].update(spent_Y="1/10"), "event 12 (charged): its totals are not the sum"),
    (lambda bodies: bodies[11].update(Y="1/10", spent_Y="1/10"), "event 12 (charged): its totals pass the budget"),
    (lambda bodies: bodies[11].update(delta="1/10"), "event 12 (charged): its totals are not the sum"),
    (lambda bodies: bodies[11].update(delta="1/9", spent_delta="1/9"), "event 12 (charged): its totals pass the"),
    (lambda bodies: bodies[3].update(X="-1/10"), "event 4 (charged): its price is negative"),
    (lambda bodies: bodies[3].update(Y="-1/10"), "event 4 (charged): its price is negative"),
    (lambda bodies: bodies[0].update(X="1/20"), "event 2 (charged): its totals pass the budget"),
    (lambda bodies: bodies[0].update(X="0/1", Y="10/1"), "event 1 (opened): its total is not in its currency"),
    (lambda bodies: bodies[0].update(Y="1/1"), "event 1 (opened): its total is not in its currency"),
    (lambda bodies: bodies[0].update(currency="Y,delta"), "event 1 (opened): its total is not in its currency"),
    (lambda bodies: bodies[0].update(currency="coins"), "event 1 (opened): its total is not in its currency"),
    (lambda bodies: bodies[3].update(X="2/20"), "event 4 (charged): it is not spelled as"),
    (lambda bodies: bodies[3].update(X=[]), "event 4 (charged): it cannot be read"),
    (lambda bodies: bodies[3].update(extra=1), "event 4 (charged): it cannot be read"),
    (lambda bodies: bodies[3].update(position=9), "event 4 (charged): it is filed under another position"),
    (
        lambda bodies: bodies[3].update(request=bodies[1]["request"]),
        "event 4 (charged): 'charged' cannot happen when answered",
    ),
    (lambda bodies: bodies[2].update(answer="0" * 64), "event 3 (answered): its stored answer does not match"),
    (lambda bodies: bodies[4].update(request=bodies[1]["request"]), "event 5 (answered): 'answered' cannot happen"),
    (lambda bodies: bodies[3].update(plan="cheaper"), "event 5 (answered): its stored answer is filed under another"),
]


@pytest.mark.parametrize(("change", "says"), FORGERIES, ids=[says for _, says in FORGERIES])
def test_a_forged_chain_must_still_add_up(change, says, path, opening, currency):
    _rewrite(path, change, currency)
    assert says in problem(path, opening)


def test_a_perfect_forgery_is_betrayed_by_a_known_head(path, opening, currency):
    ledger = reopened(path, opening)
    head = ledger.head()
    ledger.close()
    _rewrite(path, lambda bodies: bodies[11].update(analyst="someone else"), currency)
    assert problem(path, opening) == "None"
    assert "another event was seen in this place before" in problem(path, opening, [head])


def test_an_older_copy_is_betrayed_by_a_known_head_and_by_this_process(path, opening, ask):
    older = path.read_bytes()
    ledger = reopened(path, opening)
    charge = ledger.charge(ask("later"))
    ledger.close()
    path.write_bytes(older)  # yesterday's backup, in place
    with pytest.raises(Misconfigured, match="older copy"):
        ledger.charge(ask("once more"))
    ledger.close()
    assert "13 was seen before" in problem(path, opening, [(charge.position, charge.head)])


def test_any_flipped_byte_is_either_harmless_or_told(path, opening, ask):
    """Harmless: in a page's unused space, so that the same history and answers are read. Never another exception."""
    whole, luck = path.read_bytes(), random.Random(7)
    ledger = reopened(path, opening)
    truth = (list(ledger.events()), [ledger.stored(ask(n)).answer for n in range(5)])
    ledger.close()
    found = 0
    for _ in range(150):
        at = luck.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << luck.randrange(8))]) + whole[at + 1 :])
        if told(path, opening):
            found += 1
        else:
            ledger = reopened(path, opening)
            assert (list(ledger.events()), [ledger.stored(ask(n)).answer for n in range(5)]) == truth
            ledger.close()
    assert found > 15


def test_a_truncated_file_is_told_whatever_its_length(path, opening, ask):
    whole = path.read_bytes()
    for length in (0, 1, 50, 100, 512, *range(4096, len(whole), 4096), len(whole) - 1):
        path.write_bytes(whole[:length])
        assert told(path, opening), length


def test_the_budget_cannot_be_read_from_a_wrong_total(path, opening):
    edit(path, "UPDATE events SET body = replace(body, '3/5', '1/5') WHERE position = 12")
    ledger = reopened(path, opening)
    with pytest.raises(Misconfigured, match="event 12: its hash"):
        ledger.budget()
    ledger.close()


def test_an_honest_reopening_goes_on(path, opening, ask):
    ledger = reopened(path, opening)
    assert ledger.budget().spent == Fraction(6, 10)
    assert ledger.charge(ask("next")).position == 13
    ledger.close()
