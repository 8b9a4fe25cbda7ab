"""Check dpcurator receipts without dpcurator: this one file, and the standard library of Python 3.11 or later.

    python verify.py receipt.json --key HEX [--catalog curator.toml] [--receipt other.json ...] [--keys keys.json]

A file holds a receipt, an answer printed with its receipt, or a list of them. A receipt says: this was asked; one
person could have moved the numbers so far; so much noise was added; so much of the budget was charged. Each of these is
worked out again here from the question that the receipt holds, and told in words, a line a step: "ok" or "NO", and why.
Exit code 0: all steps hold; 1: one does not; 2: the command is not understood. A *unit* is one of those who are
protected, say a person. A *key* is one group of a GROUP BY. Nothing is rounded where it matters: numbers are exact
fractions, and of e^x two fractions are used that have the true number between them.
Read from the top: the form, the signature, how far one unit moves a number, the noise, the cost, what is known from
elsewhere; `steps`, near the end, is the list of all that is checked. The ledger itself is read by `dpcurator verify`.

[RFC] RFC 8032, Ed25519 signatures, sections 5.1 and 6.    [DMNS] Dwork, McSherry, Nissim, Smith 2006: Laplace noise.
[BS] Bun, Steinke 2016, arXiv 1605.02065: zCDP.    [CKS] Canonne, Kamath, Steinke 2020, arXiv 2004.00010: the discrete
Gaussian.    [MT] McSherry, Talwar 2007: the exponential mechanism; [CR] Cesar, Rogers 2021: its zCDP.    [MS] McKenna,
Sheldon 2020, arXiv 2010.12603: permute-and-flip.    [K] Korolova and others 2009: thresholds.    [D] Desfontaines and
others 2022, arXiv 2006.03684: keys.
"""

# ruff: noqa: SIM905
import argparse
import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Context
from fractions import Fraction
from hashlib import sha256, sha512
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FORMAT, SHARING = "dpcurator receipt 2", "dpcurator receipt 3"  # the second: earlier charges paid some of its numbers
SHARED, PUBLIC = "dpcurator shared receipt 1", "dpcurator public receipt 1"  # they paid all; no private data was read
LARGEST = 16 * 2**20  # bytes of a file with receipts
NOT_CHECKED = """\
not checked: the data, the program that read them, how the noise was drawn and what was made of it; whether dpcurator
picks this grid, split and noise at this price; the bounds that the catalog declares (values are clamped to the
receipt's bounds; where units with clamped values are counted, whether such values can be), and its keys, but for
texts, whole numbers and dates that it lists, and which of them WHERE rules out; of an answer, its error bars and its
notes, whether it is `repeated`, and then `spent` and `left`; of a public one its values, `budget`, `spent` and `left`;
where earlier charges paid, price, confidence and parameters; whether a list is whole and in order; the ledger, and with
it the time and the data version (`dpcurator verify` reads it); without --catalog that unit, neighbours, number of units
and keys are those declared, and which tables are public; without --key whose key it is"""
NAMES = ("epsilon", "rho", "delta")
Step = tuple[str, bool, str]  # what was checked, whether it holds, why

class No(Exception):
    """Carries the words of a step that does not hold."""

def need(holds: object, words: str) -> None:
    if not holds:
        raise No(words)

def step(name: str, check: Callable[..., str], *given: Any) -> Step:
    """One step. Whatever a malformed receipt breaks in it is a NO, never a crash; and its words fit on one line."""
    try:
        holds, words = True, check(*given)
    except No as why:
        holds, words = False, str(why)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        holds, words = False, "it is malformed, or beyond what can be worked out here"
    return name, holds, "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in words[:5000])

# --- The form of a receipt --------------------------------------------------------------------------------------------
# All that a plan may hold: things with a name (in a field "node") and their fields. The second part is what is made of
# noisy numbers, the third what WHERE and expressions are made of, and neither holds another's. Those of the third read
# one row: there is no way to write what looks at other rows, or at other units.
FORMS = """
Plan source calls outputs having order limit offset;  Bounded source max_rows max_groups;  Grouped source columns other
Where source predicate columns;  InCohort source among;  Rows table unit unit_index neighbours units
JoinPublic source table on other_on left single;  JoinOnUnit source other on other_on left
Computed source columns;  Made name part type;  InPublic source table here there predicate unknown
Numbered source at keys along;  Sorted part descending missing_first;  UnionAll source other columns other_columns
PerUnit source keys folds;  Fold name function type part by lower upper
KeyColumn name part type count digest
AggregateCall function column;  Measured name part type kind lower upper filled;  Ask what column

Output title part shown;  Order part descending nulls_first;  Key index;  Result index;  Given value;  Apply op parts

Field index kind;  Constant value kind;  Missing kind;  Compute function parts kind literals;  When condition value
Choose branches otherwise kind;  Truth value;  Compare op left right;  Among operand values;  IsMissing operand
Like operand pattern escape;  Not part;  AllOf parts;  AnyOf parts"""
KNOWN = {name: {"node", *fields} for name, *fields in map(str.split, re.split("[;\n]+", FORMS.strip()))}
KIND = {one.split()[0]: n for n, some in enumerate(FORMS.strip().split("\n\n")) for one in re.split("[;\n]+", some)}
WITHIN = dict.fromkeys(("outputs", "having", "order"), 1) | dict.fromkeys(("part", "predicate", "by"), 2)
TRUTHS, MANY = "Truth Compare Among IsMissing Like Not AllOf AnyOf".split(), ("parts", "branches", "values")
READS = dict.fromkeys("part parts by left right operand otherwise".split(), "Field Constant Missing Compute Choose"
    .split()) | {"predicate": TRUTHS, "condition": TRUTHS, "branches": ["When"], "values": ["Constant"]}
LATER = {"Bounded": "max_total", "KeyColumn": "per_unit", "Grouped": "min_units", "Plan": "cut sets",
         "Ask": "clamped q top among", "Measured": "beside", "Rows": "one_row", "JoinPublic": "made",
         "AggregateCall": "q top among"}
CUT = ("over", "over_error", "units", "units_error")  # what an answer tells of them, beside their name and the reason
OVERALL = ("everyone", "cut", "cut_groups")  # one number whatever the keys, in which a unit counts once
ROW_FUNCTIONS = set("""add_i sub_i mul_i mod_i neg_i abs_i sign_i floordiv_i round_i add_f sub_f mul_f div_f mod_f neg_f
    abs_f sign_f sqrt exp ln power floor ceil round round_f to_f coalesce least greatest clip lower upper trim ltrim
    rtrim reverse substring length concat replace text_of_i i_of_text f_of_text text_of_date date_of_text date_part
    date_trunc date_add date_of_time time_of_date time_part time_trunc time_add local_of_time time_of_local""".split())
BOTH = set("""format protects neighbours plan plan_sha256 price confidence answer_sha256 catalog_sha256 data_version
    software public_key signature""".split())
READ = BOTH | set("analyst reach readings selection".split())
RECEIPT = READ | set("request time batch epsilon rho delta parameters_sha256 ledger".split())
FIELDS = {FORMAT: RECEIPT, SHARING: RECEIPT | {"shared"}, SHARED: READ | {"shared"}, PUBLIC: BOTH}
PLACE = set("position head request part number".split())
READING = set("ask grid coordinates linf l1 l2_squared unit mechanism epsilon rho derivation".split())
CORE = ("columns", "shown", "rows", "confidence", "notes")  # of an answer: what the receipt's hash covers, and its cut
AMOUNTS = ("cost", "spent", "budget", "left")
ANSWER = {*CORE, *AMOUNTS, "currency", "repeated", "made_up", "receipt"}

def overall(ask: Any) -> bool:
    """Whether it is one number whatever the keys: of units that are cut, or of all."""
    return ask["what"] in OVERALL

def form(receipt: Any) -> str:
    need(isinstance(receipt, dict), "there is no receipt, and nothing else vouches for an answer")
    need(set(receipt) == FIELDS.get(receipt["format"]), f"this is none of: {', '.join(FIELDS)}")
    need(set(receipt["price"]) - {"goals"} == {"currency", "amount", "delta"}, "its price has other parts")
    need(receipt["price"]["currency"] in ("epsilon", "rho"), "its price is in no currency known here")
    claims, goals = receipt.get("readings", []), receipt["price"].get("goals", [])  # how it was shared among them
    need("goals" not in receipt["price"] or (goals and len(goals) == sum(not overall(claim["ask"]) for claim in claims)
         and all(number(goal) > 0 for goal in goals)), "its price aims at the errors of other readings")
    need(all(set(claim) ^ READING in ({"scale"}, {"variance"}, {"rate", "candidates"}) for claim in claims),
         "a reading has other parts")
    others = ({"exact"}, {"double"}, {"lower", "upper", "exponent"})  # numbers of the plan, and a grid
    for part in parts_of([receipt["plan"], *(claim["grid"] for claim in claims)]):
        if isinstance(part, dict):
            names = set(part) - set(LATER.get(str(part.get("node")), "").split())  # which may be left out
            need(names in [KNOWN.get(str(part.get("node"))), *others], "a part of the plan is not known here")
            need(part.get("function") in ROW_FUNCTIONS or part.get("node") != "Compute", "a function is not known here")
            inner = [(field, one) for field in part
                     for one in (part[field] if isinstance(part[field], list) else [part[field]])
                     if isinstance(one, dict) and "node" in one]
            below = dict.fromkeys(RELATIONS.get(str(part.get("node")), ("source",)), (*RELATIONS, "Bounded", "Grouped"))
            need(all(KIND[one["node"]] == (KIND[part["node"]] or WITHIN.get(field, 0)) and
                     (KIND[one["node"]] or one["node"] in below.get(field, HELD.get(field, "").split()))
                     for field, one in inner), "a part of the plan stands where no such part may")
            need(all(stands(part, field) for field in part), "a condition or a value of the plan is none")
        need(not isinstance(part, float) and (not isinstance(part, int) or abs(part) < 10**1400), "a number is none")
    return f"a {receipt['format']}, and every part of its plan is of a kind known here"

def stands(part: Any, field: str) -> bool:
    """Whether a field that reads one row holds what it takes: conditions, or values; one, or a list of them."""
    node, held = part.get("node"), part[field]
    slot = READS.get("otherwise" if (node, field) == ("When", "value") else field)
    if slot is None or KIND.get(node) == 1 or (KIND.get(node) != 2 and WITHIN.get(field) != 2):
        return True
    slot = TRUTHS if node in ("Not", "AllOf", "AnyOf") else slot
    return (held is None and node in ("Fold", "InPublic")) or (isinstance(held, list) == (field in MANY) and all(
        isinstance(one, dict) and one.get("node") in slot for one in (held if field in MANY else [held])))

def parts_of(value: Any) -> Iterable[Any]:
    """A value of JSON and all that is in it, by a list of what is still to be looked at, so no depth is too much."""
    left = [value]
    while left:
        yield (part := left.pop())
        left += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []

def number(text: Any, of_plan: bool = False) -> Fraction:
    """An exact number in its one spelling: an amount, never below 0, "1/2" or "3"; of a plan, {"exact": "-3/1"}."""
    text = text["exact"] if of_plan else text
    need(re.fullmatch("-?" * of_plan + "[0-9]{1,1400}(/[0-9]{1,1400})?", text), "a number is malformed")
    found = Fraction(text)
    need(text == (f"{found.numerator}/{found.denominator}" if of_plan else str(found)), "a number is spelled otherwise")
    return found

def read_json(text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a name is given twice")
        return dict(pairs)
    return json.loads(text, object_pairs_hook=once)

def canonical(value: object) -> bytes:
    """The one spelling of a value, which is hashed and signed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")

def digest(value: object) -> str:
    return sha256(canonical(value)).hexdigest()

def same(facts: Iterable[tuple[str, object, object]]) -> None:
    """Of each fact, what was found is what is said."""
    for what, found, said in facts:
        need(canonical(found) == canonical(said), f"{what}: it says {said}, and it is {found}")

# --- The signature: Ed25519, written out from [RFC] -------------------------------------------------------------------
P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # of the field; the order of the base point
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)  # of the curve; a square root of -1
Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z

def add(one: Point, other: Point) -> Point:
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % P, (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def twice(x: int, y: int, z: int, _: int) -> Point:
    a, b, c = x * x % P, y * y % P, x * y
    e, f, g, h = -2 * c % P, (2 * z * z + a - b) % P, a - b, a + b
    return e * f % P, g * h % P, f * g % P, e * h % P

def times(number: int, point: Point, other: int = 0, another: Point = (0, 1, 1, 0)) -> Point:
    """number times point and other times another, by one walk over the bits of both numbers."""
    total, sums = (0, 1, 1, 0), {(1, 0): point, (0, 1): another, (1, 1): add(point, another)}
    for place in reversed(range(max(number.bit_length(), other.bit_length()))):
        total = twice(*total)
        bits = number >> place & 1, other >> place & 1
        total = add(total, sums[bits]) if bits in sums else total
    return total

def encoded(point: Point) -> bytes:
    x, y = (part * pow(point[2], -1, P) % P for part in point[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")

def decoded(data: bytes) -> Point:
    """The point. No where there is none, or where these 32 bytes are not its one encoding."""
    y, odd = int.from_bytes(data, "little") & (2**255 - 1), data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT % P
    x = P - x if x & 1 != odd else x
    need(len(data) == 32 and y < P and x * x % P == square and x < P, "the public key is no point")
    return x, y, 1, x * y % P

def signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """[RFC] 5.1.7, S B = R + k A, strictly: one encoding for each number and point, and no key of small order."""
    x, y, z, t = decoded(key)
    need(times(8, (x, y, z, t))[0] != 0, "the public key is one under which any signature could hold")
    hashed = sha512(signature[:32] + key + message).digest()
    s, k = int.from_bytes(signature[32:], "little"), int.from_bytes(hashed, "little")
    right = times(s % Q, decoded(BASE), k % Q, (P - x, y, z, P - t))
    return len(signature) == 64 and s < Q and encoded(right) == signature[:32]

BASE = bytes.fromhex("58" + "66" * 31)  # y = 4/5

def given_up(links: Any) -> dict[str, float]:
    """Keys that followed one another, each with the event of the ledger at which it was given up. The old key and the
    new one signed each link, so who trusts one key of them follows it to all."""
    found: dict[str, float] = {}
    last: Any = None
    for link in links["chain"] if isinstance(links, dict) else links:
        texts = [link[name] for name in ("old", "new", "signature", "accepted", "previous")]
        old, new, first, second, _ = hexes = [*map(bytes.fromhex, texts)]
        need([one.hex() for one in hexes] == texts and link["format"] == "dpcurator key 1" and len(link) == 8
             and type(link["position"]) is int and link["position"] > 1, "a link of the keys is none")
        need(last is None or ((last["ledger"], last["new"]) == (link["ledger"], link["old"])
                              and last["position"] < link["position"]), "a key does not follow the one before it")
        last, body = link, canonical({name: link[name] for name in link if name not in ("signature", "accepted")})
        need(signed(old, body, first) and signed(new, body, second), "a link is not signed by both its keys")
        need(link["new"] not in {link["old"], *found}, "a key comes twice")
        found |= {link["old"]: link["position"], link["new"]: math.inf}
    return found

def signature(receipt: Any, key: str | None, links: Any = ()) -> str:
    body = {name: value for name, value in receipt.items() if name != "signature"}
    held, written = bytes.fromhex(receipt["public_key"]), bytes.fromhex(receipt["signature"])
    need((held.hex(), written.hex()) == (receipt["public_key"], receipt["signature"]), "they are spelled otherwise")
    need(re.fullmatch("[0-9a-f]{64}", key or held.hex()), "the key given is none: 64 digits and small letters a to f")
    need(signed(held, canonical(body), written), "the signature does not match what was signed")
    until = given_up(links)
    need(key in (None, held.hex()) or {key, held.hex()} <= {*until}, f"it was signed with another key: {held.hex()}")
    need(not until or receipt.get("ledger", {"position": -1})["position"] < until.get(held.hex(), -math.inf),
         "it was signed with a key that was given up before, or is none of the ledger's")
    whose = "that it names itself" if not key else "you gave" if key == held.hex() else "of one chain with yours"
    return f"signed with the key {whose} ({held.hex()[:16]}...)"

# --- How far one unit can move each number ----------------------------------------------------------------------------
def alike(columns: list[Any], groups: int) -> str:
    """Which keys a unit's rows have, in words. Where some columns are the same in all of them, the others alone say in
    how many groups a unit can be; the plan allows no more, so nothing rests on whether they are the same."""
    names = [column["name"] for column in columns if column.get("per_unit") is True]
    others = [column["count"] for column in columns if column.get("per_unit") is not True]
    need(all(column.get("per_unit", True) is True for column in columns) and (not names or None in others
         or groups <= max(1, math.prod(others))), "a unit is in more groups than the columns allow")
    if names and not others:
        return "all rows of a unit have the same"
    return "a row has one" + (f", and all rows of a unit the same {', '.join(names)}" if names else "")

# What FROM and WHERE make of the tables: each of these nodes gives a unit rows that depend on its own rows below alone,
# so one unit's rows still are all that two neighbours differ in. A node that is not here is refused.
RELATIONS = {"Rows": (), "Where": ("source",), "InCohort": ("source", "among"), "Computed": ("source",),
             "PerUnit": ("source",), "JoinOnUnit": ("source", "other"), "JoinPublic": ("source",),
             "UnionAll": ("source", "other"), "Numbered": ("source",), "InPublic": ("source",)}
HELD = {"keys": "Made", "made": "Made", "here": "Made", "there": "Made", "columns": "Made KeyColumn", "folds": "Fold",
        "along": "Sorted", "calls": "AggregateCall", "column": "Measured", "beside": "Measured"}  # what stands where

def tables_of(relation: Any) -> list[Any]:
    """The tables that a relation reads, in order."""
    need(relation["node"] in RELATIONS, "rows are made in a way that is not known here")
    need(sound(relation), "rows are joined, numbered, put together or folded in a way that is not known here")
    found = [one for name in RELATIONS[relation["node"]] for one in tables_of(relation[name])]
    return [relation] if relation["node"] == "Rows" else found

FOLDS = ("rows", "present", "distinct", "sum", "avg", "least", "greatest", "arg_least", "arg_greatest")

def sound(relation: Any) -> bool:
    """Whether what a node says of columns is such as the product makes: columns in pairs, and folds that there are."""
    node, joins = relation["node"], ("JoinOnUnit", "JoinPublic", "UnionAll")
    sides = [relation[name] for name in ("on", "other_on", "columns", "other_columns")
             if name in relation and node in joins]
    places = [index for side in sides for index in side] + ([relation["at"]] if node == "Numbered" else [])
    flags = [relation[name] for name in ("left", "single", "unknown") if name in relation]
    flags += [one[name] for one in relation.get("along", []) for name in ("descending", "missing_first")]
    return (all(type(one) is int and 0 <= one < 10**6 for one in places) and all(type(flag) is bool for flag in flags)
            and len({len(side) for side in sides}) < 2 and [] not in (relation.get("along"), relation.get("made"))
            and (node != "InPublic" or 0 < len(relation["here"]) == len(relation["there"]) < 2 + 10**6 * (not flags[0]))
            and (node != "JoinPublic" or relation["on"] != []) and all(map(folds, relation.get("folds", []))))

def folds(fold: Any) -> bool:
    """Of something, by something where it is the least of something else, and within bounds where floats are added."""
    name, part, ends = fold["function"], fold["part"], [fold["lower"], fold["upper"]]
    summed = name in ("sum", "avg") and part is not None and part["kind"] == "float"
    return (name in FOLDS and (part is None) == (name == "rows") and (fold["by"] is None) != name.startswith("arg_")
            and (number(ends[0], True) <= number(ends[1], True) if summed else ends == [None, None]))

def same_units(one: Any, other: Any, alone: bool) -> bool:
    """Whether a table's rows are owned by the units that own another's; of several, each by a column."""
    place, said = one["unit_index"], (one["neighbours"], one["units"])
    kinds = (said[0], said[1] is not None) in (("add-remove", False), ("replace-one", True))
    owned = type(place) is int and place >= 0 if one["unit"] is not None else alone and place is None
    owned = owned and one.get("one_row", True) is True and not (one["unit"] is None and "one_row" in one)
    return owned and kinds and said == (other["neighbours"], other["units"])

def owned_below(relation: Any) -> bool:
    """Whether a relation groups or compares units, which are then owned by a column."""
    return relation["node"] not in ("Rows", "Where", "Computed", "InPublic") or any(
        owned_below(relation[name]) for name in RELATIONS[relation["node"]])

def one_row(relation: Any) -> bool:
    """Whether a unit has at most one row of it, so that it is over no cap."""
    node = relation["node"]
    if node in ("Rows", "PerUnit"):
        return relation["unit"] is None or "one_row" in relation if node == "Rows" else not relation["keys"]
    if node == "Where" and first_of(relation):
        return True
    return node != "UnionAll" and bool(node != "JoinPublic" or relation["single"]) and one_row(relation["source"])

def first_of(relation: Any) -> bool:
    """Whether WHERE keeps of a unit's rows that were numbered the one with number 1."""
    ones, left, below = set(), [relation["predicate"]], relation["source"]
    while left:
        part = left.pop()
        left += part["parts"] if part["node"] == "AllOf" else []
        sides = [part["left"], part["right"]] if part["node"] == "Compare" and part["op"] == "=" else []
        if any(one.get("value") == 1 for one in sides):
            ones |= {one["index"] for one in sides if one["node"] == "Field"}
    while below["node"] in ("Where", "Computed", "InCohort", "InPublic", "JoinOnUnit", "Numbered", "JoinPublic"):
        if below["node"] == "Numbered" and below["at"] in ones:
            return not below["keys"]
        if below["node"] == "JoinPublic" and not below["single"]:
            return False
        below = below["source"]
    return False

def words_of(relation: Any) -> list[str]:
    """How its rows are made, in words, from the inside outwards."""
    node, unit = relation["node"], relation.get("unit")
    found = [words for name in RELATIONS[node] for words in words_of(relation[name])]
    own = {"Where": "WHERE looks at one row at a time: a unit's rows only become fewer",
           "InCohort": "a unit is in the cohort or not by its own rows there, which are marked so",
           "InPublic": f"whether a row is listed in the public table {relation.get('table')} follows from that row",
           "JoinPublic": f"a row meets rows of the public table {relation.get('table')}, by itself",
           "JoinOnUnit": "a join adds to a unit's rows what its own rows elsewhere say, at most one to each",
           "UnionAll": "UNION ALL puts a unit's rows of both sides together",
           "Numbered": "a subquery numbers a unit's rows in an order of its own rows alone",
           "Computed": "a subquery computes columns of one row at a time",
           "PerUnit": "a subquery makes one row of a unit's rows of each key, of its own rows alone"
           if relation.get("keys") else "a subquery makes one row of all rows of a unit, of its own rows alone",
           "Rows": f"each row of {relation.get('table')} is one unit" if unit is None else
           f"a unit owns {'at most one row' if 'one_row' in relation else 'any number of rows'} of "
           f"{relation.get('table')} (by {unit})"}
    return [*found, own[node]]

def not_shown(grouped: Any) -> tuple[str, int]:
    """What becomes of keys that nobody listed and that are not shown, in words; and of how many units one has to be, to
    be shown, which is written where it is above 1."""
    least, chosen = grouped.get("min_units", 1), None in [column["count"] for column in grouped["columns"]]
    need(type(least) is int and ("min_units" not in grouped or (least > 1 and chosen)), "its least number is none")
    words = "; those not shown are added up in one more" if grouped["other"] else ""
    return words + (f"; of fewer than {least} units none is shown" if least > 1 else ""), int(least)

def reach_of(plan: Any) -> SimpleNamespace:
    """What one unit can have in the rows that are read, from the inside of the plan outwards, with the words for it."""
    bounded, grouped = plan["source"], plan["source"]["source"]
    tables, told_of_rows = tables_of(grouped["source"]), list(dict.fromkeys(words_of(grouped["source"])))
    rows, columns, source = tables[0], grouped["columns"], grouped["source"]
    kinds = [part["node"] for part in (plan, bounded, grouped, *columns)]
    need(kinds == ["Plan", "Bounded", "Grouped"] + ["KeyColumn"] * len(columns), "the plan is no plan")
    units, by_row, counts = rows["units"], rows["unit"] is None, [column["count"] for column in columns]
    alone = not owned_below(grouped["source"])
    need(all(same_units(one, rows, alone) for one in tables), "its tables are not of the same units")
    chosen, keys = None in counts, None if None in counts else math.prod(counts)
    replaced, caps = rows["neighbours"] == "replace-one", [bounded["max_rows"], bounded["max_groups"]]
    total = bounded.get("max_total", caps[0] * caps[1])  # rows in all, said only where it is less than the two imply
    need(all(type(one) is int and one >= 1 for one in [*caps, 1 if units is None else units])
         and all(one is None or (type(one) is int and one >= 0) for one in counts)
         and grouped["other"] <= chosen
         and all(re.fullmatch("[0-9a-f]{64}" if one["count"] is not None else "", one["digest"]) for one in columns)
         and type(total) is int and caps[0] <= total <= caps[0] * caps[1] - ("max_total" in bounded)
         and (not chosen or caps[1] <= total or "max_total" not in bounded), "the plan contradicts itself")
    listed = "the keys are not public, those that occur are candidates;" if chosen else f"{keys} listed keys,"
    each = alike(columns, caps[1])
    more, least = not_shown(grouped)
    most, groups = (1, 1) if by_row else (caps[0], min(caps[1], keys or caps[1]))
    total = None if by_row or total >= most * groups else total
    a, b = f"{most} row{'s' * (most > 1)} a key", f"{groups} key{'s' * (groups > 1)}"
    words = [text for told, text in (
        (replaced, f"neighbours have {units or 0:,} units, a public number, and differ in one, replaced by another"),
        *((True, words) for words in told_of_rows),
        (columns, f"GROUP BY {', '.join(column['name'] for column in columns)}: {listed} {each}{more}"),
        (not by_row, (f"{b} a unit chosen by a hash, scaled down to {a}" if chosen else f"scaled down to {a} and {b}")
         + (f", and to {total} rows in all" if total else "")),
    ) if told]
    return SimpleNamespace(rows=most, groups=groups, total=total, keys=keys, one=1 if by_row else 2**16, units=units,
                           words=words, table=rows, tables=tables, replaced=replaced, other=grouped["other"],
                           min_units=least, whole=by_row and source is rows and not columns,
                           plain=rows is source or (source["node"] == "Where" and source["source"] is rows))

def always(reach: SimpleNamespace, column: Any) -> bool:
    """Whether each unit is one row of the one key, and has the column: with WHERE or GROUP BY it may have none."""
    return bool(reach.whole and all(one["filled"] for one in each(column)))

def each(column: Any) -> list[Any]:
    """A column by itself, or the two of a pair, the first without the other."""
    if column is None or "beside" not in column:
        return [] if column is None else [column]
    return [{name: value for name, value in column.items() if name != "beside"}, column["beside"]]

def asked_of(plan: Any, reach: SimpleNamespace, apart: bool = False) -> list[Any]:
    """The numbers that must be read, each paid once. What public facts give is not read, and the rows where a column is
    present that is never missing are all rows; apart: counted by themselves, as earlier versions did."""
    found = []
    for call in plan["calls"] if reach.keys != 0 else []:
        column, function, public = call["column"], call["function"], reach.units and always(reach, call["column"])
        if function in PAIRS:
            found += asked_of_pair(function, column, reach, apart)
            continue
        if function in ("SUM", "AVG", *MOMENTS):
            constant = number(column["lower"], True) == number(column["upper"], True)
            free = constant and (function != "SUM" or public or number(column["lower"], True) == 0)
            square = ["square"] * (function in MOMENTS)
            centred = ["values", *square] if function == "SUM" or public else ["centred", *square, "present"]
            what = [] if free else centred
        elif function == "QUANTILE":
            q = number(call["q"], True)
            need(0 <= q <= 1 and q.denominator <= 10**6 and not reach.other, "which quantile it is is out of range")
            what = ["quantile"] * (number(column["lower"], True) != number(column["upper"], True))
        else:
            need(function in ("COUNT", "COUNT DISTINCT", *NAMES_SOME), f"{function} is not known")
            values = "DISTINCT" in function and column
            need(not values or function == "COUNT DISTINCT", "names are of no different values")
            need(not values or ("beside" not in column and not reach.other), "its values are counted in no such way")
            what = [] if public else ["present" if column else "units" if "DISTINCT" in function else "rows"]
            what = ["distinct"] if values else what
        rows = column and column["filled"] and not apart
        need(("q" in call) == (function == "QUANTILE"), "a quantile is of no call of another name")
        need(("top" in call) == ("among" in call) == (function in NAMES_SOME), "a call of another name names none")
        more = {name: call[name] for name in ("q", "top", "among") if name in call}
        found += [({"node": "Ask", "what": "rows", "column": None} if rows and one == "present" else
                   {"node": "Ask", "what": one, "column": column}) | more for one in what]
    return list({canonical(ask): ask for ask in found}.values())

def sets_of(plan: Any) -> list[list[int]]:
    """Which columns each set of an answer's rows keeps, by number; a row is a total over the others, made of the
    groups' own numbers. So it is of listed groups, and of what adds up: of units where one is in no two of them."""
    columns = plan["source"]["source"]["columns"]
    sets: list[list[int]] = plan.get("sets", [list(range(len(columns)))])
    over = [one.get("per_unit") is True for index, one in enumerate(columns) if any(index not in kept for kept in sets)]
    need(all(kept == sorted({*kept} & {*range(len(columns))}) and sets.count(kept) == 1 for kept in sets)
         and all("sets" not in plan or one["count"] is not None for one in columns),
         "a total is over columns that are not grouped by")
    need(not over or all(call["function"] not in ("QUANTILE", "COUNT DISTINCT", *NAMES_SOME) or (call["column"] is None
         and all(over)) for call in plan["calls"]), "a total is of what does not add up")
    return sets

def asked_of_pair(function: str, pair: Any, reach: SimpleNamespace, apart: bool) -> list[Any]:
    """Of two columns (y, x) over the rows where both are present: sums of each, of products, of squares, and a count;
    nothing where the bounds leave one value for a column that is divided by or multiplied."""
    need("beside" in pair, "a pair is of two columns")
    y, x = each(pair)
    constant = {name: number(one["lower"], True) == number(one["upper"], True) for name, one in (("y", y), ("x", x))}
    if any(constant[name] for name in PAIRS[function][1]):
        return []
    first, second = sorted((y, x), key=lambda one: (one["part"]["node"] != "Field", canonical({**one, "name": ""})))
    public = reach.units and always(reach, pair)
    total = "values" if public else "centred"
    known = {"y": (total, y), "x": (total, x), "product": ("product", {**first, "beside": second}),
             "square x": ("square", x), "square y": ("square", y), "n": ("present", first)}
    asks = [known[name] for name in (*PAIRS[function][0], *["n"] * (not public))]
    rows = first["filled"] and not apart
    return [{"node": "Ask", "what": "rows", "column": None} if rows and what == "present" else
            {"node": "Ask", "what": what, "column": column} for what, column in asks]

def cut_of(plan: Any, reach: SimpleNamespace, read: list[Any], others: list[Any]) -> list[Any]:
    """What is read last where the plan counts the units that are cut: these, for reasons of columns that it measures,
    and the units at all, where their number is not public. Which clamps can change a value is not worked out here."""
    cut = read[len(others):]
    need(plan.get("cut", True) is True and ("cut" in plan) == bool(cut), "units that are cut are counted, or are not")
    for ask in cut:
        need(ask["what"] in OVERALL and ask["column"] is None and ask.get("clamped", True), "a count of units is none")
    rows = any(ask["what"] != "units" for ask in others)
    known = [canonical(one) for ask in others if ask["what"] in SUMMED for one in each(ask["column"])]
    named = [canonical(column) for column in (cut[0].get("clamped", []) if cut else [])]
    need(named == sorted(set(named)) and set(named) <= set(known), "it counts clamped values of other columns")
    whats = ["cut" if rows else "cut_groups"] + ["everyone"] * (not (reach.units and always(reach, None)))
    need(not cut or ([ask["what"] for ask in cut] == whats and all("clamped" not in ask for ask in cut[1:])
                     and (reach.one > 1 or named)), "it counts other units, or nothing can cut one")
    return cut

NAMES_SOME = ("TOP_K", "TOP_K DISTINCT")  # which groups are greatest, by their counts
MOMENTS = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
_BOTH = ("y", "x", "product")
PAIRS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # what is read, and whose single value makes all public
    "COVAR_POP": (_BOTH, ("x", "y")), "COVAR_SAMP": (_BOTH, ("x", "y")),
    "CORR": ((*_BOTH, "square x", "square y"), ("x", "y")), "REGR_R2": ((*_BOTH, "square x", "square y"), ("x", "y")),
    "REGR_SLOPE": ((*_BOTH, "square x"), ("x", "y")), "REGR_INTERCEPT": ((*_BOTH, "square x"), ("x", "y")),
    "REGR_COUNT": ((), ()), "REGR_AVGX": (("x",), ("x",)), "REGR_AVGY": (("y",), ("y",)),
}
CENTRED = ("centred", "square", "product")  # added up from the middle of their least and greatest, doubled
SUMMED = ("values", *CENTRED)

def bounds_of(ask: Any) -> tuple[Fraction, Fraction]:
    """The least and the greatest that is added up of one row; of squares and products, from the middles of bounds."""
    (low, high), *other = ([number(one[end], True) for end in ("lower", "upper")] for one in each(ask["column"]))
    if ask["what"] == "product":
        most = (high - low) * (other[0][1] - other[0][0]) / 4
        return -most, most
    return (Fraction(0), ((high - low) / 2)**2) if ask["what"] == "square" else (low, high)

def moved(ask: Any, reach: SimpleNamespace, grid: Any) -> dict[str, Any]:
    """How far one unit moves a number: in one key (linf), in all keys added up (l1), in squares (l2_squared).

    A unit adds a part between low and high to a key, with weights of at most 1 that add up to at most `lam` over its
    keys: `groups`, or less where rows in all are limited. Add-remove: the numbers move by such a part a key.
    Replace-one: by the difference of two of them, so by high - low in a key that both have, and by the larger part in
    each of two keys that they do not share. A number of units whatever the keys moves by at most 1: its own rows alone
    decide whether a unit counts. Where all keys that are not shown are added up in one more, that one moves
    by at most all of it. Of different values a unit keeps at most m in each of so many keys, whatever others have:
    those that it alone keeps are its part.
    """
    if ask["what"] in OVERALL:
        need(grid == {"lower": 0, "upper": 0, "exponent": 0}, "a count has no grid")
        return {"coordinates": 1, "linf": 1, "l1": 1, "l2_squared": 1, "unit": "1"}
    what, m, groups, keys = ask["what"], reach.rows, reach.groups, reach.keys
    low, high = part_of(ask, reach, grid)
    one = 1 if what == "distinct" else reach.one  # different values are whole, whatever a row counts
    most, across = one * max(abs(low), abs(high)), one * (high - low)
    lam = Fraction(min(groups, Fraction(reach.total, 1 if what == "units" else m) if reach.total else groups))
    if "top" in ask:
        return apart(ask, reach, most, lam)
    linf, l1, l2, where = most, lam * most, lam * most**2, keys or groups
    if reach.replaced:
        linf, l1, l2, where = across, 2 * lam * most, lam * max(across**2, 2 * most**2), keys or 2 * groups
        l1, l2 = (min(l1, keys * across), min(l2, keys * across**2)) if keys else (l1, l2)
    if reach.other:
        linf, l2, where = lam * linf, l1**2, (1 + reach.replaced) * groups + 1
    parts = number(ask["q"], True).denominator if "q" in ask else 1
    return {"coordinates": where, "linf": math.ceil(linf), "l1": math.ceil(l1), "l2_squared": math.ceil(l2),
            "unit": str(Fraction(2)**-(0 if "q" in ask else grid["exponent"]) / one / parts)}

def apart(ask: Any, reach: SimpleNamespace, most: int, lam: Fraction) -> dict[str, Any]:
    """Of names of the greatest, how far two counts of one group of keys move apart, over all groups of `among` keys.

    With weights w of a unit's largest share in each group, which are at most 1 and add up to at most lam and to at most
    the number of groups: w most where a unit is added, for all counts then move one way; (v + w) most where another
    takes its place, and (v + w)^2 is at most 2 (v + w)."""
    top, among, sides = ask["top"], ask["among"], 2 if reach.replaced else 1
    need(type(top) is int and type(among) is int and 1 <= top <= among and reach.keys and reach.keys % among == 0,
         "names are of no such keys")
    groups = reach.keys // among
    lam = min(lam, Fraction(groups))
    return {"coordinates": groups, "linf": sides * most, "l1": sides * math.ceil(lam * most),
            "l2_squared": sides**2 * math.ceil(lam * most**2), "unit": str(Fraction(1, reach.one))}

def part_of(ask: Any, reach: SimpleNamespace, grid: Any) -> tuple[int, int]:
    """Between which two whole numbers one unit's part of a key lies, in steps of the grid, a whole row being 1."""
    what, column, m = ask["what"], ask["column"], reach.rows
    lower, upper, exponent, summed = grid["lower"], grid["upper"], grid["exponent"], what in (*SUMMED, "quantile")
    real = summed and "float" in [one["kind"] for one in each(column)]
    level = number(ask["q"], True) if "q" in ask else None
    need((what == "quantile") == (level is not None), "a quantile, and it alone, says which it is")
    need(-2100 <= exponent <= (2100 if real else 2) if what in ("square", "product") else abs(exponent) <= 1000 * real,
         "a grid is out of range")
    ends = [math.floor(end * Fraction(2)**exponent + Fraction(1, 2))  # values are clamped to these, in such steps
            for end in (bounds_of(ask) if summed else (Fraction(0), Fraction(0)))]
    need([lower, upper] == ends and lower <= upper, "a grid does not hold the bounds of the values")
    low, high = {"values": (m * min(lower, 0), m * max(upper, 0)), "units": (0, 1),
                 **dict.fromkeys(CENTRED, (-m * (upper - lower), m * (upper - lower)))}.get(what, (0, m))
    if level is not None:
        low, high = scores(m, level)
    elif always(reach, column) and what not in (*CENTRED, "distinct"):
        low, high = (lower, upper) if what == "values" else (1, 1)
    return low, high

def scores(m: int, q: Fraction) -> tuple[int, int]:
    """Of a quantile p/d, every candidate has the score -max(d below - p N, p N - d (below + at), 0), of the rows below
    it, at it, and N in all. A unit of m rows moves each of the two differences by at most max(p, d - p) m; another in
    its place, by d m. So its part is that of one between these two."""
    p, rest = q.numerator, q.denominator - q.numerator
    return -m * min(p, rest), m * max(p, rest)

WORDS = {"rows": "a count of rows", "present": "a count of the rows where {} is present",
         "units": "a count of units, each once a key", "values": "a sum of {}, each value clamped to its bounds",
         "centred": "a sum of {} measured from the middle of its bounds, doubled",
         "product": "a sum of products of {} and {}, each from the middle of its bounds, doubled",
         "square": "a sum of squares of {} from the middle of its bounds, from the middle of their own, doubled",
         "everyone": "a count of units, each once whatever its keys",
         "cut": "a count of the units that are over a cap or have a value out of bounds, each once",
         "cut_groups": "a count of the units that are over a cap, each once",
         "distinct": "a count of the different values of {}, of each unit as many as its caps allow",
         "quantile": "by how many rows a candidate misses the {q}-quantile of {}"}

def derivation(ask: Any, reach: SimpleNamespace, moves: dict[str, Any]) -> list[str]:
    """The words for it, which the receipt must have as well."""
    q = str(number(ask["q"], True)) if "q" in ask else ""
    what = WORDS[ask["what"]].format(*[one["name"] for one in each(ask["column"])], q=q)
    unit = Fraction(moves["unit"])
    known = "each unit is one row, always present, so its part of the key is never 0"
    who, one = "replacing " * reach.replaced, ", or all that are not shown," * reach.other
    if ask["what"] in OVERALL:
        return [*reach.words, f"{what}: {who}one unit moves it by at most 1"]
    if "top" in ask:
        return [*reach.words, f"which of {ask['among']} have the greatest of {what}: {who}one unit moves two of these "
                f"counts apart by at most {shown(moves['linf'] * unit)}, in all groups together by at most "
                f"{shown(moves['l1'] * unit)}"]
    whole = ask["what"] not in ("quantile", "distinct") and reach.units and always(reach, ask["column"])
    return [*reach.words, *([known] if whole else []),
            f"{what}: {who}one unit moves one key{one} by at most {shown(moves['linf'] * unit)}, "
            f"all keys together by at most {shown(moves['l1'] * unit)}"]

def shown(number: Fraction) -> str:
    """For people: exact if it ends within 12 places, else six figures and dots."""
    parts = number * 10**12
    if parts.denominator == 1 and number < 10**40:
        return f"{parts.numerator // 10**12}.{parts.numerator % 10**12:012}".rstrip("0").rstrip(".")
    if 1e-300 < number < 10**40:
        return f"{float(number):.6g}..."
    text = f"{Context(6, ROUND_HALF_UP).divide(*number.as_integer_ratio()).normalize():e}"
    return text if number > 1 and Fraction(text) == number else f"{text}..."

def filled(column: Any, reach: SimpleNamespace, catalog: Any) -> None:
    """Of a column said to be never missing. That a declared value stands for missing ones is done before the plan, and
    lowers what noise must hide where `always`: only the catalog shows it, and of a bare column alone."""
    need(column["part"]["node"] == "Field", "an expression has no declared value for missing ones")
    need(catalog or not (reach.units and reach.whole), f"only --catalog shows that {column['name']} is never missing")
    if catalog and reach.plain:
        columns, name = catalog["tables"][reach.table["table"]]["columns"], column["name"]
        value = columns[name].get("missing", "drop") if isinstance(columns[name], dict) else "drop"
        need(list(columns).index(name) == column["part"]["index"] and name != reach.table["unit"]
             and str(value) not in ("drop", "nan", "{'value': nan}"), f"the catalog fills no missing ones of {name}")

def question(receipt: Any, catalog: Any) -> str:
    plan, reach = receipt["plan"], reach_of(receipt["plan"])
    sets_of(plan)
    for column in (one for call in plan["calls"] for one in each(call["column"]) if one["filled"]):
        filled(column, reach, catalog)
    made = [one for one in parts_of([plan["outputs"], plan["having"], plan["order"]]) if isinstance(one, dict)]
    for node, there in (("Key", plan["source"]["source"]["columns"]), ("Result", plan["calls"])):
        need(all(type(at := one["index"]) is int and 0 <= at < len(there) for one in made if one.get("node") == node),
             f"a {node} is shown that is not there")
    names = "rows groups keys one units" + " total" * bool(reach.total) + " min_units" * (reach.min_units > 1)
    claimed = {name: getattr(reach, name) for name in names.split()}
    read, earlier = [claim["ask"] for claim in receipt.get("readings", [])], asked_of(plan, reach, apart=True)
    others = earlier if read[:len(earlier)] == earlier else asked_of(plan, reach)
    same([("the digest of the plan", digest(plan), receipt["plan_sha256"]),
          ("the reach", claimed, receipt.get("reach", claimed)),
          ("the neighbours", reach.table["neighbours"], receipt["neighbours"]),
          ("what is read", [*others, *cut_of(plan, reach, read, others)], read)])
    return "; ".join(reach.words)

def reading(claim: Any, reach: SimpleNamespace, currency: str, chosen: Any) -> str:
    """One number of those that were read: how far one unit moves it, and what its noise hides."""
    moves = moved(claim["ask"], reach, claim["grid"])
    words = derivation(claim["ask"], reach, moves)
    same([("its derivation", words, claim["derivation"]), *((name, moves[name], claim[name]) for name in moves)])
    if claim["mechanism"] in WITH_KEYS:
        return f"{words[-1]}; {drawn_with_keys(claim, reach, chosen)}"
    return f"{words[-1]}; {noise(claim, moves, currency)}"

# --- Numbers that are no fractions ------------------------------------------------------------------------------------
ONE = 1 << 256

def product(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """Of two numbers that are not negative, each given as two multiples of 1/ONE around it."""
    return a[0] * b[0] // ONE, -(-a[1] * b[1] // ONE)

def exp_between(x: Fraction) -> tuple[Fraction, Fraction]:
    """Two fractions around e^x: Taylor's series at x / 2^k < 1/256, then k squarings.

    Each term is rounded down, and is too small by less than 2/ONE; the terms left out add up to less than 2/ONE.
    """
    if x < 0:
        below, above = exp_between(min(-x, Fraction(10**5)))
        return 1 / above if -x <= 10**5 else Fraction(0), 1 / below
    need(x <= 10**5, "a number is beyond e^100000")
    k = math.floor(x).bit_length() + 8
    part, term, low, n = math.floor(x * ONE) >> k, ONE, 0, 0
    while term:
        low, n, term = low + term, n + 1, term * part // (ONE * (n + 1))
    found = (low, low + 2 * n + 2)
    for _ in range(k):
        found = product(found, found)
    return Fraction(found[0], ONE), Fraction(found[1], ONE)

def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """A delta with which rho-zCDP is (epsilon, delta)-DP, for any a > 0 ([CKS] proposition 12, a = alpha - 1):

    e^(a ((1+a) rho - epsilon) - (1+a) ln(1 + 1/a)) / a. The best a is guessed in floats, another is as true. ln y is at
    least g + t - t^2 for t = y e^-g - 1 >= -1/2, from any guess g. And sqrt(rho/2) is one as well (Pinsker, [BS]).
    """
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        rising = (2 * math.exp(middle) + 1) * float(rho) - math.log1p(math.exp(-middle)) > float(epsilon)
        low, high = (low, middle) if rising else (middle, high)
    a, g = Fraction(math.exp(low)), Fraction(math.log1p(math.exp(-low)))
    t = (1 + 1 / a) * exp_between(-g)[0] - 1
    need(t > -Fraction(1, 2), "a guess was far off")
    bound = exp_between(a * ((1 + a) * rho - epsilon) - (1 + a) * (g + t - t * t))[1] / a
    return min(bound, Fraction(math.isqrt(math.floor(rho / 2 * 4**200)) + 1, 2**200), Fraction(1))

def gaussian_sum(variance: Fraction, m: int) -> tuple[Fraction, Fraction]:
    """Two fractions around f(m) + f(m+1) + ..., for f(k) = e^(-k^2 / (2 variance)) and m >= -20 sigma.

    Every h-th term is added, at least 4,096 a sigma if h > 1; in the end the ratio of terms falls below 1, and the rest
    is below a geometric series. Euler and Maclaurin: h times the sum of every h-th term is the integral from m on and
    h f(m)/2 - h^2 f'(m)/12 + h^4 f'''(m)/720, off by at most h^6/15360 times the integral of the sixth derivative's
    size (3/64 is the most of |B6(t) - B6|, and 720 is 6!); the same with h = 1 is the whole sum. That integral is the
    fifth derivative's size at m if m >= 3.33 sigma, and never above 68 / sigma^5 (Cauchy and Schwarz).
    """
    root = math.isqrt(math.floor(variance))
    h, f = max(1, root >> 12), exp_between(-m * m / (2 * variance))
    ratio, fall = exp_between(-h * (2 * m + h) / (2 * variance)), exp_between(-h * h / variance)
    ratios, falls = ((math.floor(low * ONE), math.ceil(high * ONE)) for low, high in (ratio, fall))
    low, high, terms = 0, 0, (ONE, ONE)
    while terms[1] >> 96:
        low, high = low + terms[0], high + terms[1]
        terms, ratios = product(terms, ratios), product(ratios, falls)
    high += terms[1] * ONE // (ONE - ratios[1]) + 1
    square = m * m / variance
    ends = (1 - h**2) * m / (12 * variance) + (h**4 - 1) * m * (square - 3) / (720 * variance**2) - Fraction(h - 1, 2)
    fifth = 68 / (variance**2 * max(root, 1))
    if m > 0 and square > 12:
        fifth = f[1] * m * (square**2 - 10 * square + 15) / variance**3
    off = (h**6 + 1) * fifth / 15360 if h > 1 else 0
    return f[0] * (h * Fraction(low, ONE) + ends) - off, f[1] * (h * Fraction(high, ONE) + ends) + off

def gaussian_delta(variance: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """The delta of one number by its own distribution: P(Z >= m) - e^epsilon P(Z >= m + shift) at the m where it is
    largest, and it grows with the shift ([CKS] theorem 7); rounded up."""
    m = math.floor(epsilon * variance / shift - Fraction(shift, 2)) + 1
    need(m >= 0 or m * m <= 400 * variance, "the noise hides next to nothing")
    most = gaussian_sum(variance, m)[1] - exp_between(epsilon)[0] * gaussian_sum(variance, m + shift)[0]
    return max(Fraction(0), most / (1 + 2 * gaussian_sum(variance, 1)[0]))

# --- What the noise hides, and what it costs --------------------------------------------------------------------------
def noise(claim: Any, moves: dict[str, Any], currency: str) -> str:
    """One noisy number: [DMNS] ln P(z)/P(z+s) = (|z+s| - |z|)/scale <= |s|/scale for each key; [CKS] theorem 4."""
    need((claim["mechanism"] in CHOSEN) == (claim["ask"]["what"] == "quantile" or "top" in claim["ask"]),
         "a quantile is chosen, and so are names of the greatest, and nothing else is")
    if claim["mechanism"] in CHOSEN:
        return choice(claim, moves, currency)
    pure = (currency, claim["mechanism"]) == ("epsilon", "discrete_laplace")
    need(number(claim["rho" if pure else "epsilon"]) == 0, "it is said to lose in two ways")
    if claim["mechanism"] == "discrete_gaussian":
        square, variance, rho = moves["l2_squared"], number(claim["variance"]), number(claim["rho"])
        lost = square / (2 * variance)  # in a ledger of epsilon, one with rho 0 is priced by its own law: see the cost
        need(lost <= rho or (rho == 0 and currency == "epsilon"), "it hides less than it says")
        told = f"rho = l2^2 / (2 variance) = {square} / (2 x {shown(variance)}) = {shown(lost)}"
        return f"discrete Gaussian noise in steps of {moves['unit']}: {told}"
    need(claim["mechanism"] == "discrete_laplace", "this noise is not known here")
    scale, lost = number(claim["scale"]), moves["l1"] / number(claim["scale"])
    need(number(claim[currency]) >= (lost if currency == "epsilon" else lost**2 / 2), "it hides less than it says")
    told = f"epsilon = l1 / scale = {moves['l1']} / {shown(scale)} = {shown(lost)}"
    told += "" if currency == "epsilon" else f", rho = epsilon^2 / 2 = {shown(lost**2 / 2)}"
    return f"discrete Laplace noise in steps of {moves['unit']}: {told}"

CHOSEN = ("exponential", "permute_and_flip")

def choice(claim: Any, moves: dict[str, Any], currency: str) -> str:
    """A candidate chosen with probability proportional to e^(rate score) ([MT]): where no score of key k moves by more
    than s_k, ln P/P' spans at most 2 rate s_k, so that epsilon adds up to 2 rate l1, and rho to the sum of
    (2 rate s_k)^2 / 8 = rate^2 l2^2 / 2 ([CR]). Names of the greatest: one choice after another among those left, in
    each of which ln P/P' spans at most rate times how far two counts move apart ([MT], [CR]). Permute-and-flip takes
    the greatest of score + E, E exponential of mean 1 / rate ([MS]): given the other E, how great the own must be moves
    by at most 2 s_k, and P(E >= x) falls by e^-rate a step, so |ln P/P'| <= 2 rate s_k; of its span nothing is said."""
    rate, epsilon, rho = number(claim["rate"]), number(claim["epsilon"]), number(claim["rho"])
    count, widest = claim["candidates"], claim["grid"]["upper"] - claim["grid"]["lower"] + 1
    top = claim["ask"].get("top", 0)
    need(type(count) is int and 0 < count <= (claim["ask"]["among"] if top else widest) and rate > 0
         and (not top or count == claim["ask"]["among"]), "there is nothing to choose from")
    need((epsilon == 0) != (rho == 0) and (currency == "epsilon" or epsilon == 0), "it is said to lose in two ways")
    need(claim["mechanism"] == "exponential" or (rho == 0 and not top), "permute-and-flip is of a quantile, in epsilon")
    lost = 2 * rate * moves["l1"] if epsilon else rate**2 * moves["l2_squared"] / 2
    if top:
        lost = top * (rate * moves["l1"] if epsilon else rate**2 * moves["l2_squared"] / 8)
    need(lost <= (epsilon or rho), "it hides less than it says")
    told = f"epsilon = 2 rate l1 = {shown(lost)}" if epsilon else f"rho = rate^2 l2^2 / 2 = {shown(lost)}"
    if top:
        told = f"epsilon = {top} rate l1 = {shown(lost)}" if epsilon else f"rho = {top} rate^2 l2^2 / 8 = {shown(lost)}"
    some = f"{top or 'one'} of {claim['candidates']} candidates"
    how = "" if claim["mechanism"] == "exponential" else " by permute-and-flip"
    return f"{some}, chosen at rate {shown(rate)} in steps of {moves['unit']}{how}: {told}"

WITH_KEYS = {"laplace_threshold": "scale", "gaussian_threshold": "variance"}

def drawn_with_keys(claim: Any, reach: SimpleNamespace, chosen: Any) -> str:
    """The count of units by which a threshold selects unknown keys, shown as it was drawn for that: what the selection
    promises it promises of the pair, shown or not and that number ([K]; the proof takes sets of such pairs)."""
    what, given, kind = claim["ask"]["what"], chosen["rule"]["parameters"], WITH_KEYS[claim["mechanism"]]
    need(what == "units" or (what == "rows" and reach.one == 1), "keys are not selected by this number")
    need(reach.keys is None and not reach.other and claim["epsilon"] == claim["rho"] == "0"
         and chosen["rule"]["rule"] == claim["mechanism"], "it is not drawn with the selection of keys")
    right = reach.groups / number(given["eps"]) if kind == "scale" else reach.groups / (2 * number(given["rho"]))
    need(number(claim[kind]) == right, "it has another noise than the selection")
    return f"drawn once, with the selection of keys and at its price: noise of {kind} {shown(right)} on whole units"

def selection(told: Any, reach: SimpleNamespace, currency: str) -> str:
    """The rule that shows keys nobody listed. It counts the units of each key; one unit moves `groups` counts by 1.

    truncated_geometric: by its definition the chance of showing a key changes within epsilon/groups and delta/groups
    from n units to n + 1 ([D] theorem 1). A threshold on noisy counts: the noise hides the counts of keys that others
    have too; that any of a unit's own keys is shown has at most the chance delta, which defines the threshold ([K]).
    """
    rule, given = told["rule"]["rule"], told["rule"]["parameters"]
    lost, delta = number(given.get("eps", "0")), number(given["delta"])
    need(set(told) == {"rule", *NAMES} and set(told["rule"]) == {"rule", "parameters"}
         and set(given) <= {"eps", "rho", "delta", "groups", "min_units"}, "the selection of keys has other parts")
    # with a least number m of units a rule decides by max(0, n - m + 1), which moves no more than n
    need(number(given.get("min_units", "1")) == reach.min_units, "keys are selected for another least number of units")
    need(number(given["groups"]) == reach.groups and 0 < delta < 1, "keys are selected for other caps")
    if rule == "gaussian_threshold":
        need(number(given["rho"]) and (lost or (currency == "rho" and not reach.replaced)), "it promises no epsilon")
        delta += zcdp_delta(number(given["rho"]), lost) if lost else 0
    else:
        need(rule in ("truncated_geometric", "laplace_threshold") and lost > 0, "this rule is not known here")
    if reach.replaced:  # one unit out, another in: two steps
        lost, delta = 2 * lost, delta * (1 + exp_between(lost)[1])
    lost = lost if currency == "epsilon" else lost**2 / 2 if lost else number(given["rho"])
    need(number(told["rho" if currency == "epsilon" else "epsilon"]) == 0, "it is said to lose in two ways")
    need(lost <= number(told[currency]) and delta <= number(told["delta"]), "the selection hides less than it says")
    return f"by a {rule.replace('_', ' ')} rule, {currency} {shown(lost)} and delta {shown(delta)} at most"

def cost(receipt: Any, reach: SimpleNamespace) -> str:
    """Losses add up ([DMNS]; [BS] lemma 1.7). Gaussian noise converts to the epsilon it has at its delta."""
    offered, nothing = receipt["price"], dict.fromkeys(NAMES, "0")
    before = receipt.get("shared", {"readings": [None] * len(receipt["readings"]), "keys": None})
    every = [claim for claim, place in zip(receipt["readings"], before["readings"], strict=True) if place is None]
    claims = [claim for claim in every if claim["mechanism"] not in WITH_KEYS]
    need(sum(claim["mechanism"] in WITH_KEYS for claim in receipt["readings"]) <= 1, "two counts are drawn with keys")
    currency, chosen = offered["currency"], (before["keys"] and nothing) or receipt["selection"] or nothing
    need((reach.keys is None) == (receipt["selection"] is not None), "unknown keys are selected, and others are not")
    epsilon, rho, delta = (number(receipt[name]) - number(chosen[name]) for name in NAMES)
    epsilons, rhos = (sum((number(claim[name]) for claim in claims), Fraction(0)) for name in ("epsilon", "rho"))
    by_rho = [claim for claim in claims if claim["mechanism"] == "discrete_gaussian"
              or (claim["mechanism"] == "exponential" and number(claim["rho"]))]
    if currency == "rho" or not by_rho:
        need([epsilon, rho, delta] == [epsilons, rhos, 0] and (rho if currency == "epsilon" else epsilon) == 0,
             "the cost is not the sum of the losses")
    else:
        epsilon -= epsilons  # of Laplace noise beside it: they add up
        some = by_rho
        alone = len(some) == some[0]["coordinates"] == 1 and number(some[0]["rho"]) == 0
        need(rho == 0 <= epsilon, "the cost is not that of the noise")
        need(alone or all(number(claim["rho"]) for claim in some), "a noise hides nothing")
        shift = max(1, some[0]["linf"])
        worth = gaussian_delta(number(some[0]["variance"]), shift, epsilon) if alone else zcdp_delta(rhos, epsilon)
        need(worth <= delta, "the noise has a greater delta than is paid for")
    need(number(receipt[currency]) <= number(offered["amount"]) and number(receipt["delta"]) <= number(offered["delta"])
         and 0 < number(receipt["confidence"]) < 1, "it cost more than was offered, or its confidence is none")
    named = {name: receipt[name] for name in ("price", *NAMES, "confidence", "selection")}
    noises = [{name: claim[name] for name in claim if name != "derivation"} for claim in every]
    if "shared" not in receipt:  # else they are those of the whole question at its price, which is not worked out here
        same([("the digest of its parameters", digest(named | {"mechanisms": noises}), receipt["parameters_sha256"])])
    return " and ".join(f"{name} {shown(number(receipt[name]))}" for name in NAMES if receipt[name] != "0") + " in all"

def shared(receipt: Any, reach: SimpleNamespace, others: list[Any]) -> str:
    """Which of its numbers earlier charges paid: used again as they are, they cost nothing, and nothing more is learnt.

    Where the receipt of such a charge is at hand, it tells of the same number with the same noise.
    """
    numbers, keys = receipt["shared"]["readings"], receipt["shared"]["keys"]
    places = [(n, place) for n, place in enumerate([*numbers, keys]) if place is not None]
    whole = None not in numbers and (reach.keys is not None or keys is not None)
    need(set(receipt["shared"]) == {"readings", "keys"} and len(numbers) == len(receipt["readings"]) and places
         and whole == (receipt["format"] == SHARED), "what it shares is not what its format says")
    need((keys is not None) == (reach.keys is None), "numbers of selected keys are shared with their keys, others not")
    need(all(place for claim, place in zip(receipt["readings"], numbers, strict=True)
             if claim["mechanism"] in WITH_KEYS), "a count is drawn with keys that it shares")
    need((reach.keys is None) == (receipt["selection"] is not None) and 0 < number(receipt["confidence"]) < 1,
         "unknown keys are selected, and others are not; or its confidence is none")
    need(number(receipt["price"]["amount"]) > 0 and number(receipt["price"]["delta"]) >= 0, "its price is none")
    found = 0
    for n, place in places:
        last = place["number"] if n < len(numbers) else 0
        counts = (place["position"], place["part"], last)
        need(set(place) == PLACE and all(type(one) is int and one >= 0 for one in counts)
             and (n < len(numbers) or place["number"] is None)
             and counts[0] < receipt.get("ledger", {"position": math.inf})["position"],
             "the place of what it shares is none")
        found += sum(paid_by(one, receipt, n if n < len(numbers) else None, place) for one in others)
    left = f"; that they paid IS TAKEN ON TRUST for {len(places) - found} (give --receipt)" * (found < len(places))
    return f"{len(places)} of what it rests on was paid by earlier charges, and is used again as it was{left}"

def paid_by(one: Any, receipt: Any, n: int | None, place: Any) -> bool:
    """Whether `one` is the receipt of the charge that paid a receipt's number n (None: its keys), and then tells of the
    same number, noise, rows and keys."""
    batch, ledger = one.get("batch") or {"index": 0, "plans": [None]}, one.get("ledger", {"position": 0, "head": ""})
    if [ledger["position"], ledger["head"]] != [place["position"], place["head"]]:
        return False
    need(one["request"] == place["request"] and place["part"] < len(batch["plans"]),
         "what it shares was paid by another charge")
    if batch["index"] != place["part"]:
        return False
    mine, its = ((receipt["selection"], one["selection"]) if n is None
                 else (receipt["readings"][n], one["readings"][place["number"]]))
    facts = ("analyst", "data_version", "protects", "neighbours", "reach")
    same([("what it shares", unnamed(its), unnamed(mine)), *((name, one[name], receipt[name]) for name in facts),
          ("its rows", rows_of(one, "top" in mine.get("ask", ())), rows_of(receipt, "top" in mine.get("ask", ())))])
    before = one.get("shared") or {"readings": [None] * len(one["readings"]), "keys": None}
    need((before["keys"] if n is None else before["readings"][place["number"]]) is None,
         "what it shares was not paid by the charge that it names")
    keys, selected = receipt["shared"]["keys"], before["keys"] or place
    need(keys is None or all(selected[name] == keys[name] for name in ("request", "part")),
         "a number that it shares is of the keys of another selection")
    return True

def unnamed(part: Any) -> Any:
    """Without the words and titles, which are a question's own."""
    if isinstance(part, list):
        return [unnamed(one) for one in part]
    if not isinstance(part, dict):
        return part
    named = {"derivation"} | ({"name"} & set(part) if "node" in part else set())
    named |= {"columns"} if part.get("node") == "Where" else set()
    return {name: unnamed(one) for name, one in part.items() if name not in named}

def rows_of(receipt: Any, named: bool = False) -> Any:
    """Its rows, keys and caps: the numbers of listed keys are the same in whatever order their columns are named, and
    names of the greatest are not."""
    source = unnamed(receipt["plan"]["source"])
    if not named and all(key["count"] is not None for key in source["source"]["columns"]):
        source["source"]["columns"].sort(key=canonical)
    return source

def unpaid(receipt: Any, reach: SimpleNamespace) -> str:
    """A public receipt: nothing need be read to answer it, so nothing was charged."""
    need(reach.keys is not None and 0 < number(receipt["confidence"]) < 1, "keys are read, or its confidence is none")
    need((receipt["price"]["amount"], receipt["price"]["delta"]) == ("0", "0"), "it costs something")
    return "no private data need be read to answer this, so nothing was charged"

def listed(receipt: Any, printed: Any, catalog: Any) -> None:
    """Keys are among those that the catalog lists, of a bare column whose values are written in one way."""
    reach = reach_of(receipt["plan"])
    columns = catalog["tables"][reach.table["table"]]["columns"] if reach.plain else {}  # else they are made of several
    for place, output in enumerate(receipt["plan"]["outputs"]):
        if output["part"]["node"] == "Key" and output["shown"] in ("text", "integer", "date"):
            key = receipt["plan"]["source"]["source"]["columns"][output["part"]["index"]]
            known = columns[key["name"]].get("keys") if isinstance(columns.get(key["name"]), dict) else None
            found = {str(row[place]["value"]) for row in printed["rows"] if row[place]["value"] is not None}
            need(key["part"]["node"] != "Field" or not isinstance(known, list) or found <= set(map(str, known)),
                 f"a key of {key['name']} is not among those that are declared")

def answer(receipt: Any, printed: Any, catalog: Any = None) -> str:
    """It is the answer whose hash was signed; and what is printed beside it is what the receipt says."""
    fields = ANSWER | ({"cut"} if receipt["format"] != PUBLIC and receipt["plan"].get("cut") else set())
    given = set(printed) - {"totals", "within_bar"}  # the first is in no receipt, the second not in earlier answers
    need(given == fields, f"no answer has these fields, or it lacks them: {sorted(given ^ fields)}")
    paid, currency, ledger = "ledger" in receipt, receipt["price"]["currency"], receipt.get("ledger")
    titles = [output["title"] for output in receipt["plan"]["outputs"]]
    beside = [("currency", currency), ("made_up", False), ("cost", shown(number(receipt[currency])) if paid else "0")]
    beside += [("budget", shown(budget(receipt)))] if paid else []
    if paid and printed["repeated"] is False:
        beside += [("spent", shown(number(ledger["spent"]))), ("left", shown(number(ledger["remaining"])))]
    core = {name: printed[name] for name in printed if name in CORE or name == "cut"}
    same([("its hash", digest(core), receipt["answer_sha256"]),
          ("its columns", titles, printed["columns"]), ("its confidence", receipt["confidence"], printed["confidence"]),
          *((name, fact, printed[name]) for name, fact in beside)])
    if catalog is not None:
        listed(receipt, printed, catalog)
    small = [[bool(one["error"]) and abs(one["value"] or 0) < one["error"] for one in row] for row in printed["rows"]]
    need(printed.get("within_bar", small) == small, "other values are marked as smaller than their error bars")
    if "cut" in printed:
        cut_printed(receipt, printed["cut"])
    counts = [key["count"] for key in receipt["plan"]["source"]["source"]["columns"]]
    sets = sets_of(receipt["plan"])
    most = math.inf if None in counts else sum(math.prod(counts[index] for index in kept) for kept in sets)
    need(len(printed["rows"]) <= most, "it has more rows than there are keys")
    need(isinstance(printed["repeated"], bool) and all(isinstance(printed[one], str) for one in AMOUNTS),
         "what is printed beside the receipt is malformed")
    return f"the one whose hash was signed; {', '.join(name for name, _ in beside)} beside it are the receipt's"

def cut_printed(receipt: Any, cut: Any) -> None:
    """How many units are cut is told as whole numbers with bars, in the words of its plan. That the bars are those of
    its noise is worked out by dpcurator verify."""
    counts = [claim["ask"] for claim in receipt["readings"] if overall(claim["ask"])]
    units = reach_of(receipt["plan"]).units
    need(isinstance(cut, dict) and set(cut) == {*CUT, "protects", "reason"}
         and all(type(cut[name]) is int for name in CUT) and cut["over_error"] >= 0
         and cut["protects"] == receipt["protects"], "how many units are cut is malformed")
    need(cut["units_error"] >= 0 if len(counts) > 1 else (cut["units"], cut["units_error"]) == (units, 0),
         "units are cut of another number of them")
    told = ["have a value outside its bounds"] * ("clamped" in counts[0])
    told = told if one_row(receipt["plan"]["source"]["source"]["source"]) else ["are over a cap", *told]
    need(cut["reason"] == " or ".join(told), "units are cut for another reason")

def charge(receipt: Any, name: str = "") -> Fraction:
    """What the ledger was charged, for this question or for the batch that it was asked in. name: by default, the
    ledger's currency."""
    batch, name = receipt["batch"], name or receipt["price"]["currency"]
    if batch and "point" in batch:
        return number(batch["point"][name])
    costs = batch["costs"] if batch else [[receipt[one] for one in NAMES]]
    return sum((number(cost[NAMES.index(name)]) for cost in costs), Fraction(0))

def budget(receipt: Any) -> Fraction:
    """The whole of it."""
    return number(receipt["ledger"]["spent"]) + number(receipt["ledger"]["remaining"])

def place(receipt: Any) -> str:
    """Its charge is within what was spent by then; and if it was asked in a batch, it is in that batch.

    A batch may be charged as one (epsilon, delta), less than the sum: that this covers the losses listed in the batch
    takes an accountant, too much for this file.
    """
    batch, ledger, spent, words = receipt["batch"], receipt["ledger"], number(receipt["ledger"]["spent"]), "by itself"
    need(charge(receipt) <= spent and type(ledger["position"]) is int and ledger["position"] >= 2 and len(ledger) == 4
         and re.fullmatch("[0-9a-f]{64}", ledger["head"]), "less was spent than it cost, or its place is none")
    if batch is not None:
        at, plans, costs = batch["index"], batch["plans"], batch["costs"]
        need({"index", "plans", "costs"} <= set(batch) <= {"index", "plans", "costs", "facts", "point", "losses"}
             and ("point" in batch) == ("losses" in batch) and type(at) is int
             and 0 <= at < len(plans) == len(costs) == len(set(plans)), "its batch is none")
        own = [receipt["plan_sha256"], [receipt[name] for name in NAMES]]
        facts = batch.get("facts", [receipt["catalog_sha256"]] * len(plans))  # what each question uses of the catalog
        need(len(facts) == len(plans) and all(re.fullmatch("[0-9a-f]{64}", one) for one in facts), "its facts are none")
        same([("its place in the batch", [*own, facts[at]], [plans[at], costs[at], receipt["catalog_sha256"]])])
        words = f"as question {at + 1} of a batch of {len(plans)}, paid at once"
    if batch is not None and "point" in batch:
        words += f"; that {shown(charge(receipt))} covers all IS TAKEN ON TRUST here (dpcurator verify works it out)"
    return f"asked {words}; {shown(spent)} was spent with it, of {shown(budget(receipt))}; event {ledger['position']}"

# --- What is known from elsewhere -------------------------------------------------------------------------------------
def fewest(fact: Any) -> int:
    """How many keys a bare column has at least, by what the catalog declares of it."""
    fact = fact if isinstance(fact, dict) else {"type": fact}
    keys = fact.get("keys", [False, True] if fact["type"] == "boolean" else None)
    need(isinstance(keys, list | dict), "its keys are listed, and the catalog lists none")
    return len(set(map(repr, keys))) + (fact.get("keys_include_missing") is True) if isinstance(keys, list) else 0

def owner(tables: Any, name: str) -> list[Any]:
    """The column that says whose a table's rows are, and its place; looked up through another table it is one more."""
    columns, unit = list(tables[name]["columns"]), tables[name]["unit"]
    through = [owner(tables, unit["through"])[0], len(columns)] if isinstance(unit, dict) else None
    return through or ([None, None] if unit == "each row" else [unit, columns.index(unit)])

def declared(receipt: Any, reach: SimpleNamespace, catalog: Any) -> str:
    """What the receipt rests on is what the catalog file declares."""
    curator, table, rows = catalog["curator"], catalog["tables"][reach.table["table"]], reach.table
    for one in reach.tables:
        same([(f"the unit of {one['table']} and its column", owner(catalog["tables"], one["table"]),
               [one["unit"], one["unit_index"]]),
              (f"whether a unit has one row of {one['table']}", one.get("one_row", False),
               catalog["tables"][one["table"]].get("one_row_per") == [one["unit"]])])
    for key in (one for one in receipt["plan"]["source"]["source"]["columns"] if one.get("per_unit") and reach.plain):
        read = {one["index"] for one in parts_of(key["part"]) if isinstance(one, dict) and one.get("node") == "Field"}
        facts = [fact for index, fact in enumerate(table["columns"].values()) if index in read]
        single = [isinstance(fact, dict) and fact.get("per_unit") == 1 for fact in facts]
        need(read and len(single) == len(read) and all(single), f"{key['name']} may differ in the rows of a unit")
    ruled = {one["index"] for one in parts_of(receipt["plan"]["source"]["source"]["source"].get("predicate"))
             if isinstance(one, dict) and one.get("node") == "Field"}  # by WHERE some of its keys may be ruled out
    for key in receipt["plan"]["source"]["source"]["columns"]:
        at = key["part"].get("index") if key["count"] is not None and reach.plain else None  # of a bare column
        need(at is None or at in ruled or key["count"] >= fewest([*table["columns"].values()][at]),
             f"{key['name']} has too few keys")
    for one in parts_of(receipt["plan"]["source"]):
        need(not (isinstance(one, dict) and one.get("node") in ("JoinPublic", "InPublic"))
             or catalog["tables"][one["table"]].get("public") is True, "a table is read as public, and is not")
    amounts, currency = catalog["ledger"], receipt["price"]["currency"]
    numbers = [curator.get("units", 0), amounts[currency], amounts.get("delta", 0),
               *(catalog["tables"][one["table"]].get("min_units", 1) for one in reach.tables)]
    units, whole, delta, *least = (str(Fraction(str(one).replace(" ", ""))) for one in numbers)
    need("ledger" not in receipt or charge(receipt, "delta") <= Fraction(delta), "it cost more delta than there is")
    need(reach.keys is not None or reach.min_units >= max(map(int, least)), "groups of fewer units may be shown")
    same([("what is protected", curator["protects"], receipt["protects"]),
          ("the neighbours", curator.get("neighbours", "add-remove"), rows["neighbours"]),
          ("of units", units, str(reach.units or 0)),
          ("the budget", whole, str(budget(receipt)) if "ledger" in receipt else whole)])
    return "the table is private; its unit and neighbours, and the budget, are those declared"

def event(receipt: Any) -> Any:
    """What all receipts of one charge have in common."""
    told = {name: receipt[name] for name in ("request", "analyst", "time", "data_version")}
    return told | receipt["ledger"] | {
        "batch": {**(receipt["batch"] or {"plans": receipt["plan_sha256"]}), "index": None}}

def chain(receipt: Any, others: list[Any], links: Any = ()) -> str:
    """All are of one history: a place has one head, and what is spent grows by what each charge cost at least."""
    for one in others:
        form(one)
        signature(one, receipt["public_key"], links)
    paid = [one for one in [receipt, *others] if "ledger" in one]  # one that cost nothing has no place of its own
    shared = [one["shared"] for one in [receipt, *others] if "shared" in one]
    places = [one["ledger"] for one in paid] + [one for all in shared for one in [*all["readings"], all["keys"]] if one]
    every = sorted(paid, key=lambda one: one["ledger"]["position"])
    pairs = {(one["position"], one["head"]) for one in places}
    need(len({place for place, _ in pairs}) == len({head for _, head in pairs}) == len(pairs),
         "a fork: an event was signed with two heads, or a head for two events")
    questions = {(one["ledger"]["position"], one["batch"] and one["batch"]["index"]) for one in every}
    need(len({canonical(one) for one in every}) == len(questions), "one charge paid for two answers to one question")
    for before, after in pairwise(every):
        a, b = event(before), event(after)
        need(a == b or a["position"] != b["position"], f"event {a['position']} is given as two charges")
        need(a == b or number(b["spent"]) - number(a["spent"]) >= charge(after), "less was spent than it cost")
        need(budget(before) == budget(after), "the whole budget is another")
    return f"it and {len(others)} other receipts are of one history, without a fork"

# --- All steps --------------------------------------------------------------------------------------------------------
def steps(receipt: Any, key: str | None = None, catalog: Any = None, others: Any = (),
          printed: Any = None, beside: Any = (), keys: Any = ()) -> list[Step]:
    """What was checked of one receipt, in order; with `catalog`, `others` and the `printed` answer where at hand.

    beside: receipts that the caller holds to be of one history himself, to look shared numbers up in. keys: how the
    ledger's keys followed one another.
    """
    found = [step("form", form, receipt)]
    if found[0][1]:
        found += [step("signature", signature, receipt, key, keys), step("question", question, receipt, catalog)]
    if found[-1][:2] != ("question", True):  # what follows rests on it
        return found
    reach, currency = reach_of(receipt["plan"]), receipt["price"]["currency"]
    each = enumerate(receipt.get("readings", []), 1)
    chosen = receipt.get("selection")
    found += [step(f"number {n}", reading, claim, reach, currency, chosen) for n, claim in each]
    if receipt["format"] == PUBLIC:
        found += [step("price", unpaid, receipt, reach)]
    elif reach.keys is None:
        found += [step("keys", selection, receipt["selection"], reach, currency)]
    found += [step("cost", cost, receipt, reach), step("place", place, receipt)] if "ledger" in receipt else []
    found += [step("shared", shared, receipt, reach, [*others, *beside])] if "shared" in receipt else []
    found += [step("catalog", declared, receipt, reach, catalog)] if catalog is not None else []
    found += [step("answer", answer, receipt, printed, catalog)] if printed is not None else []
    return found + ([step("other receipts", chain, receipt, others, keys)] if others else [])

def entries_in(data: bytes) -> list[tuple[Any, Any]]:
    """What the bytes of a file hold: receipts, each with the printed answer around it or None."""
    need(len(data) <= LARGEST, "the file is too large")
    found = read_json(data.decode("utf-8-sig"))
    every = found if isinstance(found, list) else [found]
    around = [isinstance(one, dict) and "format" not in one for one in every]
    return [(one.get("receipt"), one) if answer else (one, None) for one, answer in zip(every, around, strict=True)]

ALIKE = ("plan_sha256", "confidence", "analyst", "data_version")

def mean(printed: Any) -> str:
    """A sharpened answer names releases of one question. That its values are their mean is worked out by
    dpcurator verify, beside the ledger: the noisy numbers are in no receipt."""
    first, *others = receipts = printed["sharpened"]
    need(printed["receipt"] is None and len({one["request"] for one in receipts}) == len(receipts),
         "it counts one release twice, or is a release by itself")
    for one in others:
        asks = [[claim["ask"] for claim in part["readings"] if not overall(claim["ask"])] for part in (one, first)]
        same([("its readings", asks[0], asks[1]), *((f"its {name}", one[name], first[name]) for name in ALIKE)])
    noises = {claim["mechanism"] for one in receipts for claim in one["readings"]}
    need(not any("shared" in one or one["selection"] for one in receipts)
         and noises <= {"discrete_laplace", "discrete_gaussian"}, "what is chosen, or shared, has none")
    need(printed["confidence"] == first["confidence"], "its confidence is not that of its releases")
    return f"of {len(receipts)} releases of one question; its values and amounts ARE TAKEN ON TRUST here"

def file_steps(data: bytes, key: str | None = None, catalog: Any = None, others: Any = (),
               keys: Any = ()) -> list[Step]:
    """Of all that a file holds, numbered where they are many; all its receipts, and the others, are of one history."""
    try:
        found, entries = [], entries_in(data)
    except (ValueError, RecursionError, No) as why:
        return [("file", False, f"it is no JSON of receipts: {why}".partition(" (")[0])]
    means = [printed for _, printed in entries if printed and isinstance(printed.get("sharpened"), list)]
    entries = [pair for one, printed in entries for pair in (
        [(part, None) for part in printed["sharpened"]] if printed in means else [(one, printed)])]
    for n, (receipt, printed) in enumerate(entries, 1):
        beside = [one for one, _ in entries] + list(others)
        each = steps(receipt, key, catalog, printed=printed, beside=beside, keys=keys)
        found += [(f"{n}: {name}" if len(entries) > 1 else name, holds, words) for name, holds, words in each]
    found += [step("mean", mean, printed) for printed in means]
    every = [receipt for receipt, _ in entries] + list(others)
    return found + ([step("other receipts", chain, every[0], every[1:], keys)] if len(every) > 1 else [])

def main() -> int:
    parser = argparse.ArgumentParser(description="Check a dpcurator receipt by itself.", epilog=NOT_CHECKED)
    parser.add_argument("receipt")
    parser.add_argument("--key", help="the steward's public key, which you know from elsewhere")
    parser.add_argument("--keys", help="how the keys followed one another: what `dpcurator key --json` prints")
    parser.add_argument("--catalog", help="curator.toml")
    parser.add_argument("--receipt", dest="others", action="append", default=[], help="another one of the same ledger")
    given = parser.parse_args()
    try:
        catalog = tomllib.loads(Path(given.catalog).read_text("utf-8-sig")) if given.catalog else None
        others = [one for file in given.others for one, _ in entries_in(Path(file).read_bytes())]
        keys = read_json(Path(given.keys).read_text("utf-8-sig")) if given.keys else ()
        found = file_steps(Path(given.receipt).read_bytes(), given.key, catalog, others, keys)
    except OSError as why:
        parser.error(f"{why.filename} cannot be read: {why.strerror}")
    except (ValueError, RecursionError, No):
        found = [("files", False, "one of --receipt is no receipt, or --catalog or --keys is none")]
    holds = all(good for _, good, _ in found) and bool(found)
    print(*(f"{'ok ' if good else 'NO '} {name}: {words}" for name, good, words in found), sep="\n")
    print("the receipt holds" if holds else "the receipt does NOT hold", NOT_CHECKED, sep="\n")
    return 0 if holds else 1

if __name__ == "__main__":
    sys.exit(main())
