# What a contributor runs. `just` lists these; each line can be typed by hand.

default:
    @just --list

# the ordinary tests, all cores; `just test -m slow` for what it leaves out, `just test -m slow --part 3/32` for a part
test *args:
    python -m pytest {{args}}

# a minute: two cases of each test, and none that takes long
quick *args:
    python -m pytest --quick {{args}}

# what is added has its line everywhere it must: twenty seconds
registry:
    python -m pytest -m registry

# the table of power: what each law tries in an ordinary run, and in a long one
power:
    python -m pytest --power --collect-only -qq -n 0 -s

# the engine and the refresh on Spark: two minutes; needs Java and `pip install -e '.[spark]'`
spark *args:
    python -m pytest -n 0 tests/engines/spark tests/snapshot/test_spark_refresh.py {{args}}

# one room: `just room mechanisms`
room name *args:
    python -m pytest tests/{{name}} -m "not slow" {{args}}
    python -m pytest -m registry

# the tests that hold rows of docs/guarantees: `just guarantee S3 M16`
guarantee *ids:
    python tests/docs/guarantee.py {{ids}}

# style
lint:
    ruff check .

# types
types:
    mypy

# the documents' site, and every block in them
docs:
    mkdocs build --strict -q
    python -m pytest tests/docs -m "slow or not slow"
    python -m pytest tests/recipes

# measurements, one line each
bench:
    python bench/first_answer.py
    python bench/quote_relations.py
    python bench/batch.py
    python bench/group_by.py
    python bench/coded_units.py
    python bench/describe.py
    python bench/ledger.py
    python bench/noise.py
    python bench/unknown_keys.py

# the whole gate, on a fresh copy
ci:
    .ci/run
