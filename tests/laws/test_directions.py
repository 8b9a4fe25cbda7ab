"""The directions of design 7, held by reading every import statement under src/dpcurator, also those in functions.

`MAY` says, room by room, which other rooms it imports. What matters most is said again below as sentences: a mechanism
cannot reach an engine, a ledger cannot see data, a price is made without either, and randomness has few users.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from source import nodes

import dpcurator

ROOT = Path(dpcurator.__file__).parent
ALL = {"values", "errors", "numbers", "process"}  # for every room
MAY: dict[str, set[str]] = {
    "values": set(),
    "errors": set(),
    "process": set(),
    "numbers": set(),
    "entropy": set(),
    "postgres": set(),
    "samplers": {"entropy"},
    "privacy": set(),
    "accounting": {"privacy"},
    "sensitivity": set(),
    "mechanisms": {"entropy", "privacy", "samplers", "sensitivity"},
    "auditing": {"entropy", "mechanisms", "privacy"},
    "catalog": {"postgres"},
    "snapshot": {"catalog"},
    "language": {"catalog"},
    "plan": {"catalog", "language"},
    "aggregates": {"plan"},
    "fronts": {"aggregates", "catalog", "language", "plan"},
    "engines": {"catalog", "language", "plan"},
    "pricing": {"accounting", "aggregates", "catalog", "language", "mechanisms", "plan", "privacy"},
    "release": {"aggregates", "catalog", "entropy", "mechanisms", "plan", "pricing"},
    "ledger": {"postgres"},
    "receipts": {"aggregates", "catalog", "engines", "language", "ledger", "mechanisms", "plan", "pricing", "privacy",
                 "release"},
    "standalone": set(),
    "curator": {"accounting", "aggregates", "catalog", "engines", "entropy", "fronts", "language", "ledger", "plan",
                "pricing", "privacy", "receipts", "release", "snapshot"},
    "break_me": {"auditing", "catalog", "curator", "engines", "ledger", "plan", "pricing", "release"},
    "client": {"catalog", "fronts", "language", "ledger", "pricing", "receipts", "release"},  # of the ledger: keys
    # of fronts: the bound on what a parser reads again
    "server": {"catalog", "curator", "fronts", "ledger", "plan", "plots", "pricing", "receipts", "release", "snapshot"},
    "plots": {"accounting", "auditing", "mechanisms", "privacy", "release"},
    "__main__": {"cli"},
    "cli": {"accounting", "auditing", "break_me", "catalog", "client", "curator", "engines", "fronts", "ledger",
            "mechanisms", "plan", "plots", "pricing", "privacy", "receipts", "release", "server", "snapshot",
            "standalone"},
}
NEVER = [
    ("mechanisms", {"engines", "ledger", "snapshot", "catalog", "language", "plan", "pricing"}),
    ("samplers", {"engines", "ledger", "snapshot", "catalog", "language", "plan", "pricing"}),
    ("mechanisms", {"accounting"}),
    ("privacy", {"accounting", "mechanisms"}),
    ("auditing", {"accounting", "pricing", "curator", "ledger", "engines", "language", "plan"}),
    ("curator", {"break_me", "cli", "server"}),
    ("server", {"cli"}),
    ("client", {"curator", "snapshot", "server"}),
    ("plots", {"engines", "ledger", "snapshot", "curator", "receipts"}),
    ("ledger", {"engines", "snapshot", "pricing", "release", "plan", "catalog"}),
    ("pricing", {"engines", "snapshot", "release", "ledger", "curator"}),
    ("release", {"engines", "snapshot", "ledger", "curator"}),
    ("language", {"engines", "plan", "snapshot", "ledger", "pricing"}),
    ("plan", {"engines", "snapshot", "ledger", "pricing"}),
    ("fronts", {"engines", "snapshot", "ledger", "pricing"}),
    ("engines", {"pricing", "ledger", "samplers", "entropy", "mechanisms", "snapshot"}),
    ("snapshot", {"engines", "pricing", "ledger", "entropy"}),
]
WITNESS = {"search.py", "questions.py", "expressions.py", "relations.py", "tables.py", "worst_case_tables.py",
           "sensitivity.py", "shrink.py"}
ENTROPY_USERS = {
    "samplers",
    "mechanisms",
    "release/release.py",
    "curator/paying.py",
    "curator/rehearsal.py",
    "auditing/exact/laws.py",
    "auditing/run.py",
}


def files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """(room, dotted name) of every import of this package's own."""
    for node in nodes(path):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "dpcurator" else [module]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "dpcurator" and rest and not rest.startswith("__"):
                yield rest.split(".")[0], name


def test_a_room_imports_only_what_its_direction_allows():
    wrong = [f"{path.relative_to(ROOT)}: {room(path)} imports {name}" for path in files()
             for other, name in imported(path) if other not in MAY[room(path)] | ALL | {room(path)}]
    assert wrong == []


@pytest.mark.parametrize(("one", "others"), NEVER, ids=[one for one, _ in NEVER])
def test_what_must_never_be_in_reach(one, others):
    """Also through other rooms: nothing that `one` imports leads there."""
    reach, left = set(), {one}
    while left:
        now = left.pop()
        reach.add(now)
        left |= (MAY[now] | (ALL & set(MAY))) - reach
    assert not (reach - {one}) & others


def test_what_break_me_judges_by_is_independent_of_what_it_judges():
    """Its bench drives curators and engines; what it asks, over which rows, and how it compares what comes back, is in
    files that import no pricing, plan, engine or curator: they are the witness, as `auditing` is."""
    folder = ROOT / "break_me"
    assert {path.name for path in folder.glob("*.py")} == WITNESS | {"bench.py", "__init__.py"}
    for path in (folder / name for name in WITNESS):
        for other, name in imported(path):
            assert other in {"auditing"} | ALL or name.removeprefix("dpcurator.break_me.") + ".py" in WITNESS, name


def test_the_directions_have_no_circle():
    TopologicalSorter(MAY).prepare()


def test_every_room_is_in_the_table_and_uses_each_line_of_it():
    used: dict[str, set[str]] = {}
    for path in files():
        used.setdefault(room(path), set()).update(other for other, _ in imported(path))
    assert set(used) == set(MAY)
    for one, others in MAY.items():
        assert others <= used[one], f"{one} no longer imports {others - used[one]}"


def test_the_design_names_every_room():
    """Its table of rooms is today's."""
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page[page.index("| room | concern |"):], flags=re.M)
    named = {name.strip("`") for row in rows for name in row.split(", ")}
    assert named == set(MAY) - {"__main__"}


def test_randomness_has_few_users():
    users = {str(path.relative_to(ROOT)) for path in files() for other, _ in imported(path) if other == "entropy"}
    assert {user for user in users if user not in ENTROPY_USERS and user.split("/")[0] not in ENTROPY_USERS} == set()


def test_no_other_randomness_is_imported():
    """`random`, `secrets` and numpy's generators appear nowhere but in making up people (demo, rehearsals, audits),
    and in the probe that tries to foretell them; os.urandom only for noise, names, keys and salts."""
    for path in files():
        made_up = (
            "cli/demo.py", "curator/rehearsal.py", "break_me/search.py", "break_me/questions.py",
            "break_me/expressions.py", "break_me/relations.py", "break_me/worst_case_tables.py",
        )
        if path in [ROOT / name for name in (*made_up, "auditing/probes/randomness.py")]:
            continue
        text = path.read_text("utf-8")
        for node in nodes(path):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            assert not {"random", "secrets", "numpy.random"} & {*names, module}, path
        assert ".random." not in text, path
        if "urandom(" in text:
            users = ("entropy.py", "ledger/appending.py", "ledger/keys.py", "ledger/accounts.py", "catalog/init.py",
                     "client/connection.py", "client/forms.py", "server/page/sessions.py", "server/wire/listening.py",
                     "server/wire/scram.py")
            assert str(path.relative_to(ROOT)) in users, path


TYPES_ONLY = {
    "pricing.bars pricing.held pricing.quote":
        "Quote shows its error bars, and they are computed from a quote",
    "privacy.loss privacy.sampled":
        "a Loss can be sampled, and a sample is of a Loss",
    "release.answer release.frames":
        "Answer has the methods that write it as a data frame, and they are given an answer",
}


def test_no_files_import_each_other_in_a_circle():
    """Neither while they load nor inside functions: each file can be read, and imported, after those it rests on.

    What a file names counts; that importing `a.b` also runs `a/__init__.py` does not.
    """
    assert circles(types=False) == set()


def test_files_that_name_each_others_types_are_few():
    """With imports under TYPE_CHECKING, which never run, these are left. The table may only become shorter."""
    assert circles(types=True) == set(TYPES_ONLY)


def test_a_circle_would_be_found():
    assert components({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d", "a"}}) == {"b c"}


def circles(types: bool) -> set[str]:
    return components({name: named_files(path, types) - {name} for name, path in by_name().items()})


@cache
def by_name() -> dict[str, Path]:
    """Each file by its dotted name under the package; a room's face by the room's."""
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files())
    return {name.removesuffix(".__init__"): path for name, path in zip(names, files(), strict=True)}


def named_files(path: Path, types: bool) -> set[str]:
    """The package's files that a file's imports name, in functions too; under TYPE_CHECKING where types is true."""
    guarded = [node for node in nodes(path) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    skipped = set() if types else {inner for node in guarded for one in node.body for inner in ast.walk(one)}
    found: set[str] = set()
    known = by_name().keys()
    for node in nodes(path):
        if isinstance(node, ast.Import) and node not in skipped:
            found |= {alias.name.removeprefix("dpcurator.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node not in skipped:
            module = str(node.module).removeprefix("dpcurator.")
            inner = {alias.name if module == "dpcurator" else f"{module}.{alias.name}" for alias in node.names}
            found |= {module, *inner} if inner - known else inner
    return found & known


def components(graph: dict[str, set[str]]) -> set[str]:
    """The sets of two or more that reach each other, each as its sorted names."""
    reach = {one: set(others) for one, others in graph.items()}
    for middle in graph:
        beyond = reach[middle]
        for found in reach.values():
            if middle in found:
                found |= beyond
    return {
        " ".join(sorted({one} | {other for other in reach[one] if one in reach.get(other, ())}))
        for one in graph
        if any(one in reach.get(other, ()) for other in reach[one] - {one})
    }
