"""Questions over several tables: both verifiers derive the sensitivity again from the relation in the receipt."""

from __future__ import annotations

import copy

import pytest
from clinic import CLINIC, DECLARED, curator

from dpcurator.plan.canonical import plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from receipts import KEY, signed

ASKED = [
    "SELECT city, AVG(cost) FROM visits WHERE pid IN (SELECT patient FROM diagnoses WHERE code = 'X') GROUP BY city",
    "SELECT AVG(CLIP(n, 0, 9)) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid HAVING COUNT(*) > 0)",
    "SELECT SUM(cost) FROM visits LEFT JOIN (SELECT patient, COUNT(*) AS n FROM diagnoses GROUP BY patient) AS d "
    "ON pid = patient WHERE n > 0",
    "SELECT region, COUNT(*) FROM visits LEFT JOIN cities USING (city) GROUP BY region",
    "SELECT COUNT(*) FROM visits JOIN tags USING (city)",
    "SELECT COUNT(*) FROM visits JOIN cities ON UPPER(visits.city) = UPPER(cities.city)",
    "SELECT COUNT(*) FROM (SELECT pid, day FROM visits UNION ALL SELECT patient, day FROM diagnoses)",
    "SELECT city, SUM(cost) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day DESC) AS n FROM visits) "
    "WHERE n = 1 GROUP BY city",
    "SELECT COUNT(*) FROM (SELECT pid FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY pid, city ORDER BY 1 + age) "
    "= 1)",
    "SELECT COUNT(*) FROM visits WHERE city IN (SELECT city FROM cities WHERE region = 'North')",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM tags AS t WHERE t.city = visits.city AND t.weight = cost)",
]


@pytest.fixture(scope="module")
def answers():
    made = curator()
    return [made.ask(text, epsilon=1) for text in ASKED]


def test_both_verifiers_take_the_receipt(answers):
    for answer in answers:
        assert all(step.holds for step in verify(answer.receipt, catalog=CLINIC).steps)
        assert all(holds for _, holds, _ in alone.steps(answer.receipt, KEY.public))


def test_both_refuse_a_relation_that_is_changed(answers):
    """Re-signed by the same key: the words, the units and the nodes are derived again."""
    for answer in answers:
        for change in CHANGES:
            receipt = copy.deepcopy(answer.receipt)
            change(receipt["plan"]["source"]["source"])
            receipt = signed(receipt)
            assert not all(step.holds for step in verify(receipt, catalog=CLINIC).steps), change.__doc__
            assert not all(holds for _, holds, _ in alone.steps(receipt, KEY.public)), change.__doc__


def _other_node(grouped):
    grouped["source"] = {"node": "Windowed", "source": grouped["source"]}


def _each_row(grouped):
    rows = grouped["source"]
    while rows["node"] != "Rows":
        rows = rows.get("among") or rows["source"]
    rows |= {"unit": None, "unit_index": None}


CHANGES = [_other_node, _each_row]


FOLDED = [
    {"function": "median"}, {"function": "rows"}, {"by": {"node": "Field", "index": 0, "kind": "integer"}},
    {"lower": {"exact": "0/1"}, "upper": {"exact": "1/1"}}, {"function": "arg_least"},
]
WAYS = [({"on": [], "other_on": []}, "JoinPublic"), ({"on": [-1], "other_on": [0]}, "JoinPublic"),
        ({"single": 1}, "JoinPublic"), ({"made": []}, "JoinPublic"),
        ({"left": None}, "JoinOnUnit"), ({"on": [1]}, "JoinOnUnit"), ({"other_columns": []}, "UnionAll"),
        ({"here": []}, "InPublic"), ({"unknown": 0}, "InPublic"), ({"here": [], "there": []}, "InPublic"),
        ({"unknown": True}, "InPublic"), ({"along": []}, "Numbered"), ({"at": -1}, "Numbered")]


def test_the_one_file_verifier_knows_no_other_folds_and_joins(answers):
    """Each change alone is found, and by the rule of that node."""
    nodes = {one["node"]: one for answer in answers for one in alone.parts_of(answer.receipt["plan"])
             if isinstance(one, dict) and "node" in one}
    fold = next(one for answer in answers for one in alone.parts_of(answer.receipt["plan"])
                if isinstance(one, dict) and one.get("node") == "Fold")
    assert alone.folds(fold)
    one = fold | {"function": "present", "part": {"node": "Field", "index": 0, "kind": "integer"}}
    assert alone.folds(one)
    assert not any(alone.folds(one | change) for change in FOLDED)
    for change, node in WAYS:
        assert alone.sound(nodes[node])
        assert not alone.sound(nodes[node] | change), change


def test_no_relation_hides_where_columns_stand(answers):
    """A table in the place of a key, a fold or a name is read by no rule of relations, so no plan holds one."""
    hidden = 0
    for answer in answers:
        for place, part in enumerate(alone.parts_of(answer.receipt["plan"])):
            for field in (part if isinstance(part, dict) and "node" in part else ()):
                if field == "node" or field in alone.RELATIONS.get(part["node"], ()) or alone.KIND[part["node"]]:
                    continue
                plan = copy.deepcopy(answer.receipt["plan"])
                twin = next(one for n, one in enumerate(alone.parts_of(plan)) if n == place)
                table = {"node": "Rows", "table": "other", "unit": "u", "unit_index": 0, "units": None,
                         "neighbours": "add-remove"}
                twin[field] = [table] if isinstance(twin[field], list) else table
                if (part["node"], field) in (("Plan", "source"), ("Bounded", "source"), ("Grouped", "source")):
                    continue  # where `reach_of` says what stands
                assert not alone.step("form", alone.form, answer.receipt | {"plan": plan})[1], (part["node"], field)
                hidden += 1
    assert hidden > 100


@pytest.mark.parametrize("node", ["JoinPublic", "InPublic"])
def test_a_private_table_is_never_read_as_public(answers, node):
    """Both verifiers ask the catalog whether the table is public."""
    receipt = copy.deepcopy(next(one.receipt for one in answers if node in str(one.receipt["plan"])))
    source = receipt["plan"]["source"]["source"]["source"]
    while source["node"] != node:
        source = source["source"]
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": "1000"}, "tables": DECLARED}
    reach = alone.reach_of(receipt["plan"])
    assert disagreement(plan_of(receipt["plan"]), CLINIC) is None
    assert alone.declared(receipt, reach, told)
    source["table"] = "diagnoses"
    assert disagreement(plan_of(receipt["plan"]), CLINIC) is not None
    with pytest.raises(alone.No, match="read as public"):
        alone.declared(receipt, reach, told)
