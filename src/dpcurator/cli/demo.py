"""`dpcurator demo`: everything at once, on a made-up clinic, in a directory of its own.

10,000 people and 100,000 visits, generated here: a heavy tail of visits per person, some values missing. Then the
commands a newcomer would run, each with what it prints; or, with --serve, a server of the clinic with two accounts.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.application import AsJson, app, command, show, show_json
from dpcurator.cli.serve import require_server
from dpcurator.errors import Misconfigured

PEOPLE, VISITS = 10_000, 100_000
_CATALOG = """\
[curator]
protects = "patients"
[ledger]
epsilon = 4
[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 10
max_groups = 2
expected_units = 10000
[tables.visits.columns]
patient_id = "text"
city = { type = "text", keys = ["Leeds", "York", "Hull", "Whitby"] }
age = { type = "integer", bounds = [0, 110] }
cost = { type = "float", bounds = [0, 2000] }
day = "date"
"""
_ACCOUNTS = (("ana", "analyst", "1"), ("sam", "steward", "4"))
_COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC"
_MEAN = "SELECT city, AVG(age) AS age, AVG(cost) AS cost FROM visits WHERE day >= DATE '2024-07-01' GROUP BY city"
_STEPS = (
    ("The steward reads the declared file once; only the steward sees this report.", ["refresh"]),
    ("Is everything declared that questions need?", ["check"]),
    ("What would a question cost? Without a price, a menu; looking is free.", ["ask", _COUNT]),
    ("And why: how far one person could move the answer, step by step.", ["quote", _COUNT, "--within", "n=500"]),
    ("Pay 5 % of the budget for an answer with error bars.", ["ask", _COUNT, "--spend", "5%"]),
    ("The same question again is free, and has the same noise.", ["ask", _COUNT, "--spend", "5%"]),
    ("What is left?", ["budget"]),
    (
        "A grouped mean, over the second half of the year.",
        ["ask", _MEAN, "--epsilon", "1.5", "--receipt", "receipt.json"],
    ),
    ("What is left?", ["budget"]),
    ("A row cannot be looked at.", ["ask", "SELECT patient_id, cost FROM visits", "--epsilon", "0.1"]),
    ("Nor can more be spent than there is.", ["ask", _COUNT, "--epsilon", "3"]),
    ("Anyone can check the receipt: sensitivity, noise, price, signature, ledger.", ["verify", "receipt.json"]),
)


@command(name="demo", epilog="Example: dpcurator demo --keep clinic")
def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Leave everything in this new directory, to go on from.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the made-up clinic on this machine instead, until stopped.")
    ] = False,
    port: Annotated[int, typer.Option(help="With --serve: the port.", min=1, max=65535, metavar="NUMBER")] = 8642,
    as_json: AsJson = False,
) -> None:
    """Everything at once on made-up data: price, ask, repeat, refuse, verify. Takes seconds, in a folder of its own."""
    if serve:
        require_server()
    with contextlib.ExitStack() as stack:
        if keep is None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpcurator-demo-")))
        else:
            try:
                keep.mkdir(parents=True)
            except OSError:
                raise Misconfigured(
                    "the directory exists already, or cannot be made.", where=str(keep), cure="Name a new one."
                ) from None
            place = keep.resolve()
        _generate(place)
        stack.enter_context(contextlib.chdir(place))
        if serve:
            _serve(place / "curator.toml", port, as_json)
            return
        steps = []
        if not as_json:
            show(f"A made-up clinic: {VISITS:,} visits of {PEOPLE:,} patients, in a file of its own.\n")
        for words, arguments in _STEPS:
            step = _run(words, arguments, as_json)
            steps.append(step)
            if not as_json:
                _tell(step)
        if as_json:
            show_json({"directory": str(keep) if keep else None, "steps": steps})
        elif keep:
            show(f"Go on in {keep}: dpcurator ask ...")


def _serve(catalog: Path, port: int, as_json: bool) -> None:
    """The clinic over HTTP, with an analyst's and a steward's account, until Ctrl-C or SIGTERM: then all of it goes."""
    import signal

    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import open_curator, refresh_all
    from dpcurator.ledger.accounts import new_token
    from dpcurator.server.running import Settings
    from dpcurator.server.running import serve as run

    refresh_all(load(catalog))
    ledger = open_curator(catalog).ledger
    tokens = {name: new_token(name) for name, *_ in _ACCOUNTS}
    for name, role, limit in _ACCOUNTS:
        ledger.grant(name, role=role, limit=limit, token=tokens[name])
    url = f"http://127.0.0.1:{port}"

    def said() -> None:
        if as_json:
            show_json({"url": url, "catalog": str(catalog), "tokens": tokens})
            return
        show(f"A made-up clinic, served at {url} until Ctrl-C; the catalog is {catalog}.")
        for name, role, limit in _ACCOUNTS:
            show(f"{role} {name}, at most epsilon {limit}, signs in with the token {tokens[name]}")
        show(f"Open {url} in a browser and sign in with a token, or ask from another terminal:\n"
             f"$ export DPCURATOR_TOKEN={tokens['ana']}\n"
             f"$ dpcurator --server {url} ask {_quoted(_COUNT)} --epsilon 0.1")

    with contextlib.suppress(ValueError):  # in a thread, where there are no signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the end is as with Ctrl-C: its directory goes too
    run(Settings(str(catalog), port=port), said)


def _run(words: str, arguments: list[str], as_json: bool) -> dict[str, Any]:
    """One command, run in this process, with what it prints and its exit code."""
    out = io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            app([*arguments, *(["--json"] if as_json else [])], prog_name="dpcurator")
        except SystemExit as end:
            code = int(end.code or 0)
    printed: Any = json.loads(out.getvalue()) if as_json else out.getvalue().rstrip()
    return {
        "what": words,
        "command": "dpcurator " + " ".join(map(_quoted, arguments)),
        "exit_code": code,
        "printed": printed,
    }


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _tell(step: dict[str, Any]) -> None:
    show(f"# {step['what']}\n$ {step['command']}\n{step['printed']}\n")


def _generate(place: Path) -> None:
    """visits.csv and curator.toml. The rows are made up from a fixed seed: they are nobody's, and noise is not."""
    made = random.Random(2024)
    people = [(f"p{number:05d}", made.choices(_CITIES, _SHARES)[0], _age(made)) for number in range(PEOPLE)]
    weights = [made.paretovariate(1.2) for _ in range(PEOPLE)]
    with (place / "visits.csv").open("w", encoding="utf-8") as file:
        file.write("patient_id,city,age,cost,day\n")
        for person in made.choices(people, weights, k=VISITS):
            name, home, age = person
            city = home if made.random() < 0.9 else made.choice(_CITIES)
            shown_age = "" if made.random() < 0.03 else str(age)
            cost = "" if made.random() < 0.05 else f"{made.gammavariate(2, 60 + age):.2f}"
            file.write(f"{name},{city},{shown_age},{cost},2024-{made.randint(1, 12):02d}-{made.randint(1, 28):02d}\n")
    (place / "curator.toml").write_text(_CATALOG, encoding="utf-8")


_CITIES, _SHARES = ("Leeds", "York", "Hull", "Whitby"), (60, 22, 16, 2)


def _age(made: random.Random) -> int:
    return min(105, max(0, round(made.gauss(46, 22))))
