"""`check`: what is undeclared, and that pasting its lines mends it."""

import json

import pytest

from dpcurator.catalog.bind import PublicFacts
from dpcurator.catalog.check import check, ready
from dpcurator.catalog.load import load

FILE = """\
[curator]
protects = "patients"
[ledger]
epsilon = 4
delta = 0.001
[tables."my visits"]
unit = "id"
expected_units = 50000
[tables."my visits".columns]
id = "text"
age = "integer"
"home town" = "text"
when = "date"
"""


def test_everything_undeclared_is_found_with_its_line():
    found = check(load(FILE))
    assert [(finding.level, finding.where) for finding in found] == [
        ("blocks", "curator.toml"), ("blocks", "curator.toml:6"),
        ("limits", "curator.toml:11"), ("limits", "curator.toml:12"), ("limits", "curator.toml:13"),
        ("advice", "curator.toml"),
    ]
    assert not ready(found)
    assert json.loads(json.dumps([finding.as_json() for finding in found]))[0]["paste"] == "dpcurator refresh"
    assert "max_total" in found[1].what
    assert str(found[1]).endswith('[tables."my visits"]\n    max_total = 20')


def test_pasting_the_lines_mends_it():
    text = FILE
    for finding in check(load(FILE), PublicFacts(1)):
        key = finding.paste.split(" = ")[0]
        kept = [line for line in text.splitlines() if not line.startswith(f"{key} = ")]
        kept.insert(kept.index(finding.under) + 1, finding.paste)
        text = "\n".join(kept) + "\n"
    assert check(load(text), PublicFacts(1)) == []
    assert ready([])


def test_public_keys_that_no_refresh_has_read():
    keyed = '[tables.v]\nunit = "each row"\n[tables.v.columns]\nc = { type = "text", keys = { table = "p" } }\n'
    public = '[tables.p]\npublic = true\n[tables.p.columns]\nc = "text"\n'
    declared = load('[curator]\nprotects = "x"\n[ledger]\nepsilon = 1\n' + keyed + public)
    found, note = check(declared, PublicFacts(1))
    assert note.level == "note"
    assert 'Table "p" is public' in note.what
    assert (found.level, found.where, found.paste) == ("blocks", "curator.toml:8", "dpcurator refresh")
    assert [one.level for one in check(declared, PublicFacts(1, ((("p", "c"), ("a",)),)))] == ["note"]


def test_what_is_kept_of_repeated_rows_is_told():
    told = '[tables.v]\nunit = "pid"\nmax_total = 5\ndistinct = ["visit", "day"]\n[tables.v.columns]\npid = "integer"\n'
    told += 'visit = "boolean"\nday = "boolean"\n'
    (note,) = check(load('[curator]\nprotects = "x"\n[ledger]\nepsilon = 1\n' + told), PublicFacts(1))
    assert (note.level, note.where) == ("note", "curator.toml:5")
    assert note.what.startswith('A refresh keeps one row of "v" for each "pid" and "visit" and "day"')


CHOICES = """\
[curator]
protects = "patients"
neighbours = "replace-one"
units = 1000
salt = "00112233445566778899aabbccddeeff"
[ledger]
rho = "0.5"
delta = "DELTA"
[tables.visits]
unit = "id"
max_rows = 1
max_groups = 2
[tables.visits.columns]
id = "text"
town = { type = "text", keys = "unknown" }
"""


def test_choices_are_told_in_plain_words():
    town, units = check(load(CHOICES.replace("DELTA", "1e-8")), PublicFacts(1))
    assert (town.level, town.where, units.level, units.where) == ("note", "curator.toml:15", "note", "curator.toml")
    assert "every question that groups by it pays rho and delta to choose" in town.what
    assert "keys of few patients are left out, and a unit counts in at most 2 of them." in town.what
    assert "one of the patients may be exchanged for another unnoticed" in units.what
    assert "taken to be 1,000 even where it is not" in units.what
    assert ready([town, units])


@pytest.mark.parametrize(("delta", "words"), [
    ("0.01", "delta is above 1/1,000"), ("1e-4", "delta is not far below 1/1,000"), ("1e-5", None), ("1e-8", None),
])
def test_delta_is_told_when_it_is_not_far_below_one_over_the_units(delta, words):
    advice = [found for found in check(load(CHOICES.replace("DELTA", delta))) if found.level == "advice"]
    assert [found.what.split(" and ")[0] for found in advice] == ([words] if words else [])
    assert all(found.paste == 'delta = "1/1000000"' for found in advice)


FIELDS = """\
[curator]
protects = "p"
[ledger]
epsilon = 1
[tables.t]
file = "t.csv"
unit = "each row"
[tables.t.columns]
day = { type = "date", format = "DD.MM.YYYY", unreadable = "set-aside", missing = 2020-02-29 }
at = { type = "timestamp", zone = "Europe/Paris", missing = "2020-01-01T00:00" }
"the age" = { type = "integer", missing = 7, keys = [1, 2], keys_include_missing = true }
city = { type = "text", missing = { value = "?" }, unreadable = "set-aside" }
"""


def test_c3_lines_to_paste_keep_every_other_field():
    before = load(FIELDS)
    text = FIELDS
    found = check(before, PublicFacts(1))
    assert len(found) == 4
    for finding in found:
        key = finding.paste.split(" = ")[0]
        text = "\n".join(finding.paste if line.startswith(f"{key} = ") else line for line in text.splitlines()) + "\n"
    after = load(text)
    assert check(after, PublicFacts(1)) == []
    for old, new in zip(before.tables[0].columns, after.tables[0].columns, strict=True):
        assert (old.type, old.missing) == (new.type, new.missing)
        assert old.keys in (None, new.keys)
    for old, new in zip(before.sources[0].readings, after.sources[0].readings, strict=True):
        assert (old.spelling, old.set_aside) == (new.spelling, new.set_aside)
        assert dict(old.fields).items() <= dict(new.fields).items()


def test_git_is_asked_about_files_and_not_about_servers(monkeypatch):
    asked = []
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("subprocess.run", lambda command, **_: asked.append(command[-1]) or Ran())
    source = 'postgres = { dsn = "env:CLINIC_DSN", table = "public.visits" }\n'
    found = check(load(FILE.replace('unit = "id"', source + 'unit = "id"')))
    assert asked == [":(literal).dpcurator"]
    assert not [finding for finding in found if "CLINIC_DSN" in str(finding)]


class Ran:
    returncode, stdout = 0, b""
