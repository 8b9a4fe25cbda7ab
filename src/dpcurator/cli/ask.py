"""What an analyst runs: ask, quote, explain, budget, receipt, verify."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, ledger_at, show, show_json
from dpcurator.cli.distant import ask_there, budget_there, given, unpriced
from dpcurator.cli.drawing import Drawing
from dpcurator.cli.formats import Format, absent, chosen, text_of, write
from dpcurator.cli.place import connected
from dpcurator.cli.price_options import NOTHING, Asked, AsOne, File, Question, priced, question_text, questions_of
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.numbers import decimal_text


def _curator(catalog: Path) -> Any:
    from dpcurator.curator.opening import open_curator

    return open_curator(catalog)


def _menu(curator: Any, question: str | None, asked: Asked, as_json: bool) -> None:
    """The prices of a question that was given none. A delta alone is no price."""
    if asked.delta is not None:
        raise Refusal("--delta alone is no price.", cure="Add --rho, --epsilon, --spend or --within.")
    menu = curator.menu(
        question_text(question), assume_count=asked.assume_count, confidence=asked.confidence, cut=asked.cut,
        **asked.caps(),
    )
    show_json(menu.as_json()) if as_json else show(menu.told(f"choose one with --spend, or --{menu.currency}"))


@command(name="ask", epilog='Example: dpcurator ask "SELECT city, COUNT(*) AS n FROM visits GROUP BY city" --spend 5%')
@priced
def ask(
    question: Question = None,
    asked: Asked = NOTHING,
    file: File = None,
    as_one: AsOne = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for independent noise.")] = False,
    sharpen: Annotated[
        bool, typer.Option("--sharpen", help="Pay again, and show the mean of all releases of the question.")
    ] = False,
    request_id: Annotated[
        str | None, typer.Option("--request-id", help="Names the request: a retry is never paid twice.", metavar="ID")
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Also write the receipt to a new file.", metavar="FILE")
    ] = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Answer over made-up rows: free, needs no data, charges nothing.")
    ] = False,
    totals: Annotated[
        list[str] | None,
        typer.Option("--totals", help="Also totals by these grouping columns, free; () for one row.", metavar="COLS"),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Also draw the answer: a new .svg, .png, .html or .json file.", metavar="FILE"),
    ] = None,
    plot_column: Annotated[
        str | None, typer.Option("--plot-column", help="The column to draw; default, the first of numbers.",
                                 metavar="NAME"),
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="How the answer is written.", show_default="table")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write the answer to a new file.", metavar="FILE")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before paying much, or for what looks like a mistake.")
    ] = False,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Ask a question. Without a price it prints a menu of prices, free; with one it pays and answers."""
    how_written = chosen(form, as_json)
    as_json = how_written is Format.JSON
    absent(output, "output")
    wanted = [_columns(one) for one in totals or []]
    if wanted and (file is not None or how_written not in (Format.TABLE, Format.JSON)):
        raise Refusal("--totals is for one question, as a table or json.",
                      cure="Ask the question by itself again, with --totals and the same price: it is free.")
    if sharpen and (file is not None or rehearse or fresh):
        raise Refusal("--sharpen is for one question, and pays for new noise already.",
                      cure="Leave out --file, --rehearse and --fresh.")
    drawn = Drawing.of(plot, plot_column, file)
    if (remote := connected()) is not None:
        questions = [question_text(question)] if file is None else questions_of(file, question, asked)
        more = {name: True for name, said in (("as_one", as_one), ("sharpen", sharpen)) if said}
        answers = ask_there(remote, questions, asked, how_written, of_file=file is not None, rehearse=rehearse, yes=yes,
                            fresh=fresh, request_id=request_id, **more)
        for answer in answers:
            signed = answer.sharpened[-1] if answer.sharpened else answer.receipt
            if receipt is not None and signed is not None:
                write_receipt(receipt, signed)
            _put(answer, how_written, output, [answer.totals(by=by) for by in wanted])
            drawn.save(answer)
        return
    if file is not None:
        if how_written not in (Format.TABLE, Format.JSON) or output is not None:
            raise Refusal(
                "--file takes neither --output nor another --format than table or json.",
                cure="Ask the questions one by one, or send the output on, as in --json > answers.json.",
            )
        if receipt is not None:
            raise Refusal(
                "--file takes no --receipt.", cure="Print them afterwards, as `dpcurator receipt` does, by their names."
            )
        questions = questions_of(file, question, asked)
        if rehearse:
            _rehearsed_batch(catalog, questions, asked, as_json, real=bool(fresh or request_id or as_one))
            return
        if asked.unpriced:
            _batch_menu(_curator(catalog), questions, asked, as_json)
            return
        how = {"fresh": fresh, "request_id": request_id, "as_one": as_one}
        _batch(catalog, questions, asked, as_json, yes=yes, **how)
        return
    if as_one:
        raise Refusal("--as-one is for a file of questions.", cure="Write the questions in a file, and add --file.")
    if rehearse:
        made_up = _rehearsed(catalog, question, asked, real=bool(fresh or request_id or receipt))
        _put(made_up, how_written, output, [made_up.totals(by=by) for by in wanted])
        drawn.save(made_up)
        return
    curator, text = _curator(catalog), question_text(question)
    if asked.unpriced_by(text):
        if how_written not in (Format.TABLE, Format.JSON) or output is not None or wanted or drawn.path:
            raise Refusal(
                "without a price there is no answer to write, only a menu.", cure="Add a price, as in --spend 5%."
            )
        _menu(curator, text, asked, as_json)
        return
    absent(receipt, "receipt")
    if wanted:
        from dpcurator.release.totals import planned

        quoted = curator.quote(text, **asked.offer())
        for by in wanted:  # what has no total is said before anything is charged
            planned(quoted, (), by)
    if drawn.path is not None:
        drawn.check(curator.quote(text, **asked.offer()).plan.outputs)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        quote = curator.quote(text, **asked.offer())
        if (fresh or sharpen) and quote.held is not None:  # it is paid again in full
            quote = quote.held.cutless or quote.held.whole
        _confirmed(curator, quote.cautions(), quote.cost)
    if sys.stderr.isatty() and not as_json:
        print("answering ...", file=sys.stderr)
    answer = curator.ask(text, **asked.offer(), fresh=fresh, request_id=request_id, sharpen=sharpen)
    signed = answer.receipt if answer.adds_up is None else answer.adds_up.receipt  # of a mean, that of the new release
    if receipt is not None and signed is not None:
        write_receipt(receipt, signed)
    _put(answer, how_written, output, [answer.totals(by=by) for by in wanted])
    drawn.save(answer)


def _columns(given: str) -> list[str]:
    """The names in city, month; or in (city, month), as GROUPING SETS has them."""
    inside = given.strip()
    inside = inside[1:-1] if inside[:1] == "(" and inside[-1:] == ")" else inside
    return [name.strip() for name in inside.split(",") if name.strip()]


def _confirmed(curator: Any, cautions: Sequence[str], cost: Fraction) -> None:
    """Ask a person at a terminal before much of the budget is paid, or for what looks like a mistake."""
    total = curator.catalog.budget
    told = list(cautions)
    if cost * 5 > total:
        told.append(f"this costs {decimal_text(100 * cost / total)} % of the whole budget")
    if told and cost:
        print(*(f"caution: {words}" for words in told), sep="\n", file=sys.stderr)
        if not typer.confirm("pay and answer?", err=True):
            raise Refusal("not asked: you said no.", cure="Nothing was charged. With --yes there is no such question.")


def _put(answer: Any, how: Format, output: Path | None, totals: Sequence[Any] = ()) -> None:
    """The answer, on standard output or in a new file, and its totals after it."""
    text = text_of(answer, how)
    if totals and how is Format.JSON:
        told = answer.as_json() | {"totals": [one.as_json() for one in totals]}
        text = json.dumps(told, ensure_ascii=False, indent=2)
    elif totals:
        text = "\n\n".join([text, *map(str, totals)])
    show(text) if output is None else write(output, text)


def _batch(catalog: Path, questions: tuple[str, ...], asked: Asked, as_json: bool, *, yes: bool, **how: Any) -> None:
    """Several questions: one charge, one statement."""
    curator = _curator(catalog)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        batch = curator.quote_batch(questions, **asked.batch_offer(), as_one=how["as_one"])
        whole = replace(batch, before=()) if how["fresh"] else batch  # it is paid again in full
        told = [f"question {n}: {words}" for n, one in enumerate(batch.asked, 1) for words in one.cautions()]
        _confirmed(curator, told, whole.cost)
    answers = curator.batch(questions, **asked.batch_offer(), **how)
    if as_json:
        show_json([answer.as_json() for answer in answers])
        return
    from dpcurator.cli.batch import batch_text

    show(batch_text(questions, answers))


def _rehearsed(catalog: Path, question: str | None, asked: Asked, *, real: bool) -> Any:
    """The question over made-up rows; works before there is a snapshot or a ledger."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import rehearsing

    if real:
        raise Refusal("a rehearsal is free and has no receipt.", cure="Leave out --fresh, --request-id and --receipt.")
    return rehearsing(load(catalog)).rehearse(question_text(question), **asked.offer())


def _rehearsed_batch(
    catalog: Path, questions: tuple[str, ...], asked: Asked, as_json: bool, *, real: bool
) -> None:
    """A file's questions over made-up rows."""
    from dpcurator.catalog.load import load
    from dpcurator.cli.batch import batch_text
    from dpcurator.curator.opening import rehearsing

    if real:
        raise Refusal("a rehearsal is free and has no receipt.", cure="Leave out --fresh, --request-id and --as-one.")
    answers = rehearsing(load(catalog)).rehearse_batch(questions, **asked.batch_offer())
    show_json([answer.as_json() for answer in answers]) if as_json else show(batch_text(questions, answers))


def _batch_menu(curator: Any, questions: tuple[str, ...], asked: Asked, as_json: bool) -> None:
    """The prices of a file's questions together."""
    if asked.delta is not None:
        raise Refusal("--delta alone is no price.", cure="Add --rho, --epsilon, --spend or --within.")
    if asked.shares is not None:
        raise Refusal("--shares divides a price, and there is none.", cure="Add --rho, --epsilon or --spend.")
    menu = curator.menu_batch(
        questions, assume_count=asked.assume_count, confidence=asked.confidence, cut=asked.cut, **asked.caps()
    )
    show_json(menu.as_json()) if as_json else show(menu.told(f"choose one with --spend, or --{menu.currency}"))


def write_receipt(path: Path, receipt: dict[str, Any]) -> None:
    try:
        write(path, json.dumps(receipt, indent=2))
    except Misconfigured:
        raise Misconfigured(
            "the receipt could not be written; the answer is paid and stored.",
            where=str(path),
            cure=f"Print it with `dpcurator receipt {receipt['request'][:8]}`."
            if "request" in receipt
            else ("Ask again: it is free."),
        ) from None


@command(name="tables", epilog="Example: dpcurator tables")
def tables(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """What can be asked: each table's columns, types, bounds and keys, and what bounds a unit. Free; reads no data."""
    found = (connected() or _curator(catalog)).tables
    show_json(found.as_json()) if as_json else show(found)


@command(name="schema", hidden=True, epilog="Example: dpcurator schema")
def schema(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """The same as `dpcurator tables`."""
    found = (connected() or _curator(catalog)).tables
    show_json(found.as_json()) if as_json else show(found)


@command(name="quote", epilog='Example: dpcurator quote "SELECT COUNT(*) AS n FROM visits" --rho 0.005 --delta 1e-9')
@priced
def quote(
    question: Question = None,
    asked: Asked = NOTHING,
    file: File = None,
    as_one: AsOne = False,
    caps: Annotated[
        bool, typer.Option("--caps", help="Show the error bars under other contribution bounds, at the same price.")
    ] = False,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """What a question would cost, how wrong its answer might be, and why. Free."""
    if as_one and file is None:
        raise Refusal("--as-one is for a file of questions.", cure="Write the questions in a file, and add --file.")
    if (remote := connected()) is not None:
        more = {"as_one": True} if as_one else {}
        if file is not None:
            told = remote.quote_batch(questions_of(file, question, asked), **given(asked.batch_offer()), **more)
        else:
            text, offer = question_text(question), given(asked.offer())
            looks = not caps and asked.unpriced_by(text)
            asking = remote.menu if looks else remote.caps if caps else remote.quote
            told = asking(text, **(unpriced(offer) if looks else offer))
        show_json(told.as_json()) if as_json else show(told)
        return
    curator = _curator(catalog)
    if file is not None:
        _quote_batch(curator, questions_of(file, question, asked), asked, as_json, as_one=as_one)
        return
    text = question_text(question)
    if caps:
        other = curator.caps(text, **(asked.offer() | ({"spend": "5%"} if asked.unpriced_by(text) else {})))
        show_json(other.as_json()) if as_json else show(other)
        return
    if asked.unpriced_by(text):
        _menu(curator, text, asked, as_json)
        return
    found = curator.quote(text, **asked.offer())
    if as_json:
        show_json(found.as_json())
    else:
        from dpcurator.cli.layout import quote_text

        show(quote_text(found, curator.budget()))


def _quote_batch(curator: Any, questions: tuple[str, ...], asked: Asked, as_json: bool, *, as_one: bool) -> None:
    from dpcurator.cli.batch import batch_quote_text

    if asked.unpriced:
        _batch_menu(curator, questions, asked, as_json)
        return
    batch = curator.quote_batch(questions, **asked.batch_offer(), as_one=as_one)
    if as_json:
        show_json(batch.as_json())
        return
    show(batch_quote_text(questions, batch, curator.budget(), as_one=as_one))


@command(name="explain", epilog='Example: dpcurator explain "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"')
@priced
def explain(
    question: Question = None,
    asked: Asked = NOTHING,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """The plan of a question, its sensitivity step by step, its noise, and the engine's query. Free; reads no data."""
    if (remote := connected()) is not None:  # without the engine's query, which is the steward's
        told = remote.explain(question_text(question), **given(asked.offer()))
        show_json(told.as_json()) if as_json else show(told)
        return
    from dpcurator.cli.explain import engine_query, explain_text
    from dpcurator.cli.layout import quote_text

    curator = _curator(catalog)
    text = question_text(question)
    found = curator.quote(text, **(asked.offer() | ({"spend": "1%"} if asked.unpriced_by(text) else {})))
    if as_json:
        sql, values = engine_query(found)
        show_json(found.as_json() | {"engine": {"sql": sql, "parameters": values}})
    else:
        show(explain_text(found, quote_text(found, curator.budget())))


@command(name="budget", epilog="Example: dpcurator budget")
def budget(
    delta: Annotated[
        str | None, typer.Option("--delta", help="Also bound all charges together at this delta.", metavar="NUMBER")
    ] = None,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """What is spent and what is left, of epsilon or rho and of delta; and what all charges reveal together."""
    if (remote := connected()) is not None:
        budget_there(remote, as_json)
        return
    from dpcurator.cli.budget_text import budget_json, budget_text, together_text
    from dpcurator.curator.history import together

    ledger = ledger_at(catalog)
    found, life, made = ledger.budget(), ledger.life(), together(ledger, delta=delta)
    if as_json:
        show_json(budget_json(found, life) | {"together": made and made.as_json()})
        return
    show("\n".join([budget_text(found, life), *together_text(found, made, wanted=delta is not None)]))


@command(name="receipt", epilog="Example: dpcurator receipt 7f3a > receipt.json")
def receipt(
    name: Annotated[str, typer.Argument(help="The receipt's name, as `ask` printed it.", metavar="ID")],
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Print the signed receipt of an answer; of a batch all of them, as a list, or one by its number: 7f3a.2."""
    if (remote := connected()) is not None:
        show_json(remote.receipt(name))
        return
    from dpcurator.receipts.named import receipt_named

    show_json(receipt_named(ledger_at(catalog), name))


@command(name="verify", epilog="Example: dpcurator verify receipt.json --key 1c37b0...")
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="A receipt, or an answer printed with --json.", metavar="RECEIPT")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="The steward's public key, from elsewhere.", metavar="HEX")
    ] = None,
    keys: Annotated[Path | None, typer.Option(
        "--keys", help="How its keys followed one another, where no ledger is here.", metavar="FILE"
    )] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Look at the receipt only, at no catalog or ledger.")] = False,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Check a receipt, step by step; without one, check the whole ledger. Exit code 1 when something is wrong."""
    from dpcurator.cli.verify import verify_ledger, verify_receipt

    if file is None:
        verdict = verify_ledger(catalog)
        sound, words = verdict.sound, verdict.problem or f"the chain of {verdict.position} events is whole"
        show_json({"holds": sound, "events": verdict.position, "head": verdict.head, "words": words}) if as_json else (
            show(f"{'ok ' if sound else 'NO '} ledger: {words}")
        )
        raise typer.Exit(0 if sound else 1)
    found = verify_receipt(file, key, None if alone else catalog, keys)
    show_json(found.as_json()) if as_json else show(found)
    raise typer.Exit(0 if found.holds else 1)
