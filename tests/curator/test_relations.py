"""Each feature of a curator by each node of relations: the menu, caps, explain, rehearsal, batches, receipts, free
repeats. What questions are drawn of them, and that their promise holds, is in tests/laws/test_questions.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from clinic import CLINIC, DECLARED, clinic, curator

from dpcurator.cli.explain import explain_text
from dpcurator.curator.rehearsal import made_up
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from receipts import KEY

ONE_ROW = {**DECLARED, "diagnoses": DECLARED["diagnoses"] | {"one_row_per": ["patient"]}}
NODES = {  # the question, and what is told of the node in explain
    "cohort": ("SELECT city, COUNT(*) FROM visits WHERE pid IN (SELECT patient FROM diagnoses) GROUP BY city",
               "marked: whether the unit has a row in"),
    "no cohort": ("SELECT COUNT(*) FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM diagnoses WHERE patient = v.pid)",
                  "marked: whether the unit has a row in"),
    "public list": ("SELECT AVG(cost) FROM visits WHERE city IN (SELECT city FROM cities WHERE people > 3)",
                    "is in city of cities, which is public"),
    "one row a person": ("SELECT AVG(CLIP(n, 0, 9)) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)",
                         "one row for the unit, from its own rows"),
    "one row a person and key": ("SELECT city, SUM(CLIP(n, 0, 9)) FROM (SELECT pid, city, SUM(cost) AS n FROM visits "
                                 "GROUP BY pid, city) GROUP BY city", "one row for the unit, city"),
    "join on the unit": ("SELECT city, COUNT(*) FROM visits JOIN (SELECT patient, MIN(code) AS code FROM diagnoses "
                         "GROUP BY patient) AS d ON pid = patient WHERE code = 'X' GROUP BY city",
                         "joined on the unit"),
    "a table of one row a person": ("SELECT COUNT(*) FROM visits LEFT JOIN diagnoses ON pid = patient",
                                    "joined on the unit"),
    "public join": ("SELECT region, SUM(cost) FROM visits JOIN cities USING (city) GROUP BY region",
                    "joined to the rows of cities"),
    "a subquery of a public table": ("SELECT COUNT(*) FROM visits JOIN (SELECT city FROM cities WHERE people = 2) AS c "
                                     "USING (city)", "joined to the rows of cities"),
    "rows of two tables": ("SELECT COUNT(*) FROM (SELECT pid, day FROM visits UNION ALL SELECT patient, day FROM "
                           "diagnoses)", "together with the rows of"),
    "the first row": ("SELECT city, AVG(cost) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY pid "
                      "ORDER BY day) = 1) GROUP BY city", "numbered among the rows of the unit"),
    "one upon another": ("WITH first AS (SELECT pid, MIN(day) AS day, ARG_MIN(city, day) AS city FROM visits GROUP BY "
                         "pid) SELECT region, COUNT(*) FROM first JOIN cities USING (city) WHERE pid IN (SELECT "
                         "patient FROM diagnoses WHERE code = 'X') GROUP BY region",
                         "marked: whether the unit has a row in"),
}


@pytest.mark.parametrize("name", NODES)
def test_every_feature_has_every_relation(name: str) -> None:
    text, told = NODES[name]
    catalog = clinic(ONE_ROW) if "one row a person" in name and "table" in name else CLINIC
    made: Any = curator(catalog)
    quote = made.quote(text, epsilon=1)
    explained = explain_text(quote, str(quote))
    assert told in explained.split("\n\n")[0], explained
    assert "the engine would run:" in explained
    assert made.menu(text)
    if quote.plan.source.max_rows > 1:
        assert made.caps(text, epsilon=1)
    rehearsed = made.rehearse(text, epsilon=1)
    assert rehearsed.made_up
    assert made.ledger.budget().spent == 0
    other = text if text.startswith("WITH") else text.replace("SELECT", "SELECT COUNT(DISTINCT pid) AS people,", 1)
    asked = [text, other, "SELECT COUNT(*) FROM visits"]
    assert made.rehearse_batch(asked, epsilon=3)[0].columns == rehearsed.columns
    answers = made.batch(asked, epsilon=3)
    assert answers[0].columns == rehearsed.columns
    for answer in answers:
        assert verify(answer.receipt, catalog=catalog, public_key=KEY.public).holds
        assert all(holds for _, holds, _ in alone.steps(answer.receipt, KEY.public))
    spent = made.ledger.budget().spent
    again = made.ask(text, epsilon=1)
    assert made.ledger.budget().spent == spent
    assert again.cells == answers[0].cells


def test_made_up_rows_of_a_public_table_repeat_its_values_no_more_than_it_does() -> None:
    cities, tags = (next(one for one in CLINIC.tables if one.name == name) for name in ("cities", "tags"))
    found = made_up(CLINIC, cities)
    assert sorted(found["c0"]) == ["Bath", "Leeds", "York"]
    assert sorted(value for value in found["c2"] if value is not None) == [1, 2, 5]
    repeated = Counter(value for value in made_up(CLINIC, tags)["c0"] if value is not None)
    assert set(repeated) == {"Leeds", "York"}
    assert max(repeated.values()) <= 2
