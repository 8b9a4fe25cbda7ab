"""docs/catalog.md has every field with its meaning, and its example loads; docs/types.md is the grammar that runs."""

import re
from pathlib import Path

import pytest

from dpcurator.catalog.load import load
from dpcurator.catalog.schema import SECTIONS
from dpcurator.catalog.spelling import GRAMMAR, Unreadable, read_text

DOCS = Path(__file__).parents[2] / "docs"
CATALOG = (DOCS / "catalog.md").read_text(encoding="utf-8")
TYPES = (DOCS / "types.md").read_text(encoding="utf-8")
FIELDS = [
    (section, field.alias or name, field) for section in SECTIONS for name, field in section.model_fields.items()
]


def chapter(section):
    found = re.search(rf"<!-- {section.__name__} -->\n(.*?)\n\n", CATALOG, re.DOTALL)
    assert found, f"docs/catalog.md has no table for {section.__name__}"
    return found[1]


@pytest.mark.parametrize(("section", "name", "field"), FIELDS, ids=[f"{s.__name__}.{n}" for s, n, _ in FIELDS])
def test_every_field_is_documented_with_its_description(section, name, field):
    assert field.description
    assert f"| `{name}` | {field.description} |" in chapter(section)


@pytest.mark.parametrize("section", SECTIONS)
def test_no_field_is_documented_that_is_not_there(section):
    known = {name for at, name, _ in FIELDS if at is section}
    assert set(re.findall(r"^\| `(\w+)` \|", chapter(section), re.MULTILINE)) == known


def test_the_example_loads():
    for example in re.findall(r"```toml\n(.*?)```", CATALOG, re.DOTALL):
        load(example)


def test_columns_have_their_own_place():
    assert "`[tables.NAME.columns]`" in CATALOG


@pytest.mark.parametrize("type", GRAMMAR)
def test_each_type_is_documented_as_it_is_read(type):
    rule = GRAMMAR[type]
    row = f"| `{type}` | `{rule.pattern}` | {rule.range} | {rule.meaning} |".replace("|inf", "\\|inf")
    assert row.replace("\\", "") in TYPES.replace("\\", "")


def test_the_examples_of_the_types_page_are_read_as_it_says():
    rows = re.findall(r"^\| `(\w+)` \| `\"(.*)\"` \| (.*) \|$", TYPES, re.MULTILINE)
    assert len(rows) > 20
    for type, text, told in rows:
        found = read_text(text, type)
        assert told == (
            "unreadable" if isinstance(found, Unreadable) else "missing" if found is None else f"`{found!r}`"
        )
