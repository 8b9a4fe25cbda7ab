# What a contributor runs. `just` lists these; each line can be typed by hand.

default:
    @just --list

# the ordinary tests; `just test -m slow` for the long runs
test *args:
    python -m pytest -n 2 {{args}}

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
    python -m pytest tests/docs tests/recipes

# measurements, one line each
bench:
    python bench/first_answer.py
    python bench/batch.py
    python bench/group_by.py
    python bench/ledger.py
    python bench/noise.py
    python bench/unknown_keys.py

# the whole gate, on a fresh copy
ci:
    .ci/run
