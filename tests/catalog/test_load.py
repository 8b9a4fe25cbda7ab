"""What `load` says about bad files: a table of documents and of the exact first line, and the shape of all of them."""

import re
from fractions import Fraction

import pytest

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured

GOOD = """\
[curator]
protects = "patients"
[ledger]
epsilon = 4
delta = "1e-8"
[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 4
max_groups = 3
[tables.visits.columns]
patient_id = "text"
city = { type = "text", keys = ["Leeds", "York", "Hull"] }
age  = { type = "integer", bounds = [0, 110] }
cost = { type = "float", bounds = [0.1, 20000], missing = "drop" }
"""


def message(document):
    with pytest.raises(Misconfigured) as caught:
        load(document)
    assert caught.value.__cause__ is None
    return str(caught.value)


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_good_file():
    declared = load(GOOD)
    assert declared.epsilon == 4
    assert declared.delta == Fraction(1, 10**8)
    (visits,) = declared.tables
    assert (visits.unit, visits.max_rows, visits.max_groups) == ("patient_id", 4, 3)
    assert [column.keys for column in visits.columns][1] == ("Hull", "Leeds", "York")
    assert visits.columns[3].lower == Fraction(1, 10)
    assert declared.where("visits", "age") == "curator.toml:14"
    assert declared.where("visits") == "curator.toml:6"


TABLE = [
    ("[ledger]", "[ledgre]", 'curator.toml:3: ledgre is no section of a catalog. Did you mean "ledger"?'),
    ('protects = "patients"', "", "curator.toml:1: [curator] has no protects. Add a line: protects = \"patients\""),
    ('protects = "patients"', "protects = 3", "curator.toml:2: protects must be text in quotes. See docs/catalog.md."),
    ('protects = "patients"', 'protects = "?"',
     'curator.toml:2: protects is still blank ("?"). Put your own value in its place.'),
    ('protects = "patients"', 'protects = "p"\nneighbours = "replace-one"',
     'curator.toml:3: neighbours = "replace-one" needs the number of units, which it makes public. Add units = 1000 '
     'with the number that is known already; never count it in the data. Or write neighbours = "add-remove".'),
    ('protects = "patients"', 'protects = "p"\nneighbours = "replace-one"\nunits = 0',
     "curator.toml:4: units must be a whole number of at least 1, not 0. Write units = 1000: the public number, 1 or "
     "more."),
    ('protects = "patients"', 'protects = "p"\nneighbours = "replace-one"\nunits = 1.5',
     "curator.toml:4: units must be a whole number of at least 1, not 1.5. Write units = 1000: the public number, 1 or "
     "more."),
    ('protects = "patients"', 'protects = "p"\nunits = 9',
     'curator.toml:3: units is for neighbours = "replace-one" only. Leave it out, or write expected_units in a table '
     "for error bars."),
    ('protects = "patients"', 'protects = "p"\nneighbours = "replace-all"',
     'curator.toml:3: neighbours must be "add-remove" or "replace-one". Did you mean "replace-one"?'),
    ('protects = "patients"', 'protects = "p"\nsalt = "00112233445566778899aabbccddeef"',
     "curator.toml:3: salt must be 32 hexadecimal digits. Draw 32 hexadecimal digits once, as `dpcurator init` or "
     "`openssl rand -hex 16` does."),
    ("epsilon = 4", "", 'curator.toml:3: [ledger] has no epsilon or rho. Add a line: epsilon = 4 (or rho = "0.5", with '
     'delta = "1e-8").'),
    ("epsilon = 4", "epsilon = 4\nrho = 1", "curator.toml:5: epsilon and rho are two currencies, and a ledger counts "
     "in one. Keep epsilon, or rho with delta; docs/currencies.md says when to choose which."),
    ("epsilon = 4", "rho = 0", "curator.toml:4: rho must be above 0, not 0. Write rho as in 0.1."),
    ('epsilon = 4\ndelta = "1e-8"', "rho = 1", "curator.toml:4: A ledger in rho needs a delta above 0: rho means an "
     'epsilon only at a delta. Write delta = "1e-8", far below 1 / (number of people).'),
    ('epsilon = 4\ndelta = "1e-8"', "rho = 1\ndelta = 0", "curator.toml:5: A ledger in rho needs a delta above 0: rho "
     'means an epsilon only at a delta. Write delta = "1e-8", far below 1 / (number of people).'),
    ("epsilon = 4", "epsilon = 0", "curator.toml:4: epsilon must be above 0, not 0. Write epsilon as in 0.1."),
    ("epsilon = 4", "epsilon = true",
     'curator.toml:4: epsilon must be a finite number, not True. Write epsilon as in 0.1, "1/3" or 2.'),
    ("epsilon = 4", "epsilon = inf",
     'curator.toml:4: epsilon must be a finite number, not inf. Write epsilon as in 0.1, "1/3" or 2.'),
    ("epsilon = 4", 'epsilon = "abc"',
     "curator.toml:4: epsilon must be a finite number, not 'abc'. Write epsilon as in 0.1, \"1/3\" or 2."),
    ("epsilon = 4", "epsilon = 4\nepsilom = 4",
     'curator.toml:5: "epsilom" is no field of [ledger]. Did you mean "epsilon"?'),
    ("epsilon = 4", "epsilon = 4\nepsilon = 5",
     "curator.toml:5: ledger.epsilon is given twice, first on line 4. Keep one of them."),
    ('delta = "1e-8"', "delta = 1",
     'curator.toml:5: delta must be at least 0 and below 1. Write delta = "1e-8" or 0.'),
    ("max_rows = 4", "max_rows = 4 4", "curator.toml:9: This is not TOML: Expected newline or end of document after a "
     "statement. Mend this line; text goes in quotes, lists in [ ], a name appears once."),
    ("max_rows = 4", "max_rows = 0",
     "curator.toml:9: max_rows must be a whole number of at least 1, not 0. Write max_rows = 1 or more."),
    ("max_rows = 4", "max_row = 4",
     'curator.toml:9: "max_row" is no field of table "visits". Did you mean "max_rows"?'),
    ('unit = "patient_id"', "",
     'curator.toml:6: table "visits" does not say whose its rows are. Add unit = "patient_id" (a column), '
     'unit = "each row", or public = true.'),
    ('unit = "patient_id"', 'unit = "Patient_ID"',
     'curator.toml:8: The unit "Patient_ID" is not among the columns. Did you mean "patient_id"? '
     'Or add under [tables.visits.columns]: Patient_ID = "text"'),
    ('patient_id = "text"', 'patient_id = "float"',
     'curator.toml:12: The unit "patient_id" cannot be of type float. A unit is compared exactly: use one of integer, '
     "text, uuid."),
    ('unit = "patient_id"', 'unit = "each row"',
     'curator.toml:9: max_rows cannot be given with unit = "each row": a row is in one group. Leave it out.'),
    ('unit = "patient_id"', 'unit = "patient_id"\npublic = true',
     "curator.toml:8: A public table has no unit. Leave out unit, or public = true."),
    ('"integer"', '"int"', 'curator.toml:14: "int" is no type. Did you mean "integer"?'),
    ("bounds = [0, 110]", "bounds = [110, 0]",
     "curator.toml:14: bounds [110, 0] are the wrong way round. The lower one comes first."),
    ("bounds = [0, 110]", "bounds = [0, inf]", "curator.toml:14: each of bounds [0, inf] must be a finite number, not "
     "inf. Write finite numbers, as in bounds = [0, 100]."),
    ("bounds = [0, 110]", "bounds = [nan, 1]", "curator.toml:14: each of bounds [nan, 1] must be a finite number, not "
     "nan. Write finite numbers, as in bounds = [0, 100]."),
    ("bounds = [0, 110]", 'bounds = ["0", "10"]', 'curator.toml:14: bounds must be numbers without quotes, not '
     '["0", "10"]. Write finite numbers, as in bounds = [0, 100].'),
    ("bounds = [0, 110]", "bounds = [false, true]",
     "curator.toml:14: each of bounds [false, true] must be a finite "
     "number, not False. Write finite numbers, as in bounds = [0, 100]."),
    ("bounds = [0, 110]", "bounds = [0, 1.5]",
     "curator.toml:14: bounds [0, 1.5] of an integer column must be whole and "
     'inside 64 bits. Write whole numbers from -2^63 to 2^63 - 1, or use type = "float".'),
    ("bounds = [0, 110]", "bounds = [0]",
     "curator.toml:14: bounds must be two numbers, not [0]. Write bounds = [0, 100]."),
    ("bounds = [0, 110]", "bounds = 3", "curator.toml:14: bounds must be a list, as in [0, 100]. See docs/catalog.md."),
    ("bounds = [0, 110]", "bound = [0, 110]",
     'curator.toml:14: "bound" is no field of column "age". Did you mean "bounds"?'),
    (', keys = ["Leeds", "York", "Hull"]', ", bounds = [0, 1]",
     "curator.toml:13: bounds are for numbers, dates and timestamps, not text. Leave them out."),
    ('"York", "Hull"', '"York",\n\n3',
     'curator.toml:15: key 3 is a number, not text in quotes. Write a text here as in "a".'),
    ('["Leeds", "York", "Hull"]', '"unknown"', 'curator.toml:13: keys = "unknown" of "city" needs a salt, by which a '
     "unit's keys are chosen. Draw 32 hexadecimal digits once, as `dpcurator init` or `openssl rand -hex 16` does, and "
     'write them as salt = "..." under [curator].'),
    ('["Leeds", "York", "Hull"]', '"unknwon"',
     'curator.toml:13: keys must be a list, { table = ... } or "unknown", not "unknwon". Write keys = ["a", "b"].'),
    ('patient_id = "text"', 'patient_id = { type = "text", keys = "unknown" }',
     "curator.toml:12: A unit column has no unknown keys: each would be one unit. Leave keys out; COUNT(DISTINCT ...) "
     "counts the units."),
    ('["Leeds", "York", "Hull"]', '{ table = "cities" }', 'curator.toml:13: keys name the table "cities", which is not '
     "declared. Declare it as [tables.NAME] with public = true."),
    ('file = "visits.csv"', 'file = "visits.csv"\nduckdb = { file = "a", table = "b" }',
     "curator.toml:8: A table has one source: file or duckdb, not both. Leave one out."),
    ('file = "visits.csv"', 'file = "visits.parquet"\ndelimiter = ";"',
     "curator.toml:8: delimiter is for CSV files. Leave it out."),
    ('file = "visits.csv"', 'file = "visits.csv"\nencoding = "utf-9"',
     'curator.toml:8: "utf-9" is no known encoding. Write "utf-8" or "latin-1".'),
    ('file = "visits.csv"', 'file = "visits.csv"\nencoding = "base64"',
     'curator.toml:8: "base64" is no known encoding. Write "utf-8" or "latin-1".'),
    ('file = "visits.csv"', 'file = "visits.csv"\nrename = { a = "b" }', 'curator.toml:8: rename is by position, not '
     '"a". Write the column\'s number, from 1: rename = { 3 = "score_a" }.'),
]


@pytest.mark.parametrize(("old", "new", "told"), TABLE)
def test_what_is_wrong_where_and_the_cure(old, new, told):
    assert message(changed(old, new)).splitlines()[0] == told


@pytest.mark.parametrize(("old", "new", "told"), TABLE)
def test_every_line_of_a_message_has_file_line_and_cure(old, new, told):
    for line in message(changed(old, new)).splitlines():
        assert re.fullmatch(r"curator\.toml:\d+: .+[.?] .+", line), line


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    document = (
        changed("epsilon = 4", "epsilon = -1").replace("[0, 110]", "[9, 1]").replace("max_rows = 4", "max_rows = 0")
    )
    document = document.replace('"patients"', '"?"').replace('city = { type = "text"', 'city = { type = "txt"')
    lines = [int(line.split(":")[1]) for line in message(document).splitlines()]
    assert lines == [2, 4, 9, 13, 14]


def test_one_faulty_field_does_not_hide_another_of_the_same_column():
    told = message(changed("bounds = [0, 110]", "bounds = [2, 1], kees = [1], keys = ['a'], zone = 3"))
    assert len(told.splitlines()) == 4


@pytest.mark.parametrize("document", ["x\n", "\n", "[curator\n", 'a = "\n', "a = [1,\n", "\x00\n", "[tables]\n"])
def test_broken_documents_end_in_words(document):
    assert message(document)


def test_files(tmp_path):
    with pytest.raises(Misconfigured, match="There is no such catalog file"):
        load(tmp_path / "curator.toml")
    with pytest.raises(Misconfigured, match="a directory"):
        load(tmp_path)
    path = tmp_path / "my curator.toml"
    path.write_bytes(b'[curator]\nprotects = "\xff"\n')
    with pytest.raises(Misconfigured, match=r"my curator.toml:2: The file is not UTF-8 here"):
        load(path)
    path.write_text("\ufeff" + GOOD, encoding="utf-8")
    declared = load(str(path))
    assert declared.directory == tmp_path
    assert declared.state == tmp_path / ".dpcurator"


def test_a_dict_is_read_like_a_file_and_placed_by_path():
    import tomllib

    raw = tomllib.loads(GOOD)
    assert load(raw).tables == load(GOOD).tables
    raw["tables"]["visits"]["columns"]["net-gain"] = "money"
    with pytest.raises(Misconfigured, match=r'^catalog tables.visits.columns.net-gain.type: "money" is no type.'):
        load(raw)


def test_names_of_every_kind_load():
    names = [
        "net-gain",
        "select",
        "a b",
        'say "hi"',
        "line\nbreak",
        "größe",
        "年齢",
        "",
        "a.b",
        "'",
        "\t",
        "each row?",
        "type",
    ]
    raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": "1/3"}}
    raw["tables"] = {name: {"unit": "u", "columns": dict.fromkeys([*names, "u"], "text")} for name in names}
    declared = load(raw)
    assert [table.name for table in declared.tables] == names
    assert [column.name for column in declared.tables[0].columns] == [*names, "u"]


def test_c1_a_blank_is_a_bare_question_mark_where_a_value_is_wanted():
    table = '[tables.t]\nfile = "t.csv"\nunit = "each row"\ndelimiter = "?"\nmissing = ["", "?"]\n[tables.t.columns]\n'
    head = '[curator]\nprotects = "p"\n[ledger]\nepsilon = 1\n'
    declared = load(head + table + 'x = { type = "text", keys = ["?", "a"], missing = { value = "?" } }\n')
    assert declared.sources[0].csv.delimiter == "?"
    assert declared.sources[0].csv.missing == ("", "?")
    assert declared.tables[0].columns[0].keys == ("?", "a")
    assert declared.tables[0].columns[0].missing == "?"
    for line in ('x = "?"', 'x = { type = "?" }', 'x = { type = "text", keys = "?" }',
                 'x = { type = "integer", bounds = ["?", "?"] }', 'x = { type = "date", format = "?" }'):
        with pytest.raises(Misconfigured, match="still blank"):
            load(head + table + line + "\n")


def test_a7_a_guessed_type_is_a_question_until_the_steward_confirms_it():
    head = '[curator]\nprotects = "p"\n[ledger]\nepsilon = 1\n[tables.t]\nunit = "each row"\n[tables.t.columns]\n'
    text = head + 'x = "integer?"\n"a day" = { type = "date?", format = "DD/MM/YYYY" }\n'
    with pytest.raises(Misconfigured) as caught:
        load(text)
    assert str(caught.value) == (
        'curator.toml:8: The types of "x", "a day" are guesses. Take away the "?" of each that is right, as in '
        'x = "integer".'
    )
    assert [c.type for c in load(text.replace('?"', '"')).tables[0].columns] == ["integer", "date"]
