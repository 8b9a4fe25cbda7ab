"""How the shell shows a batch: each answer under its question, and once what all of it cost.

Checked in tests/cli/test_batches.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpcurator.cli.layout import priced_text, quote_text
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import printable
from dpcurator.release.answer import Answer
from dpcurator.values import Budget


def batch_text(questions: Sequence[str], answers: Sequence[Answer]) -> str:
    """The answers in the order of the questions; their receipts are told apart by the number after the point."""
    parts = [
        "\n".join([_asked(number, question), answer.table(), *_told(answer)])
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1)
    ]
    return "\n\n".join([*parts, _foot(answers)])


def _asked(number: int, question: str) -> str:
    return f"{number}: {printable(' '.join(question.split()))}"


def _told(answer: Answer) -> list[str]:
    return ["public: no private data was read"] if answer.public else [*answer.told]


def _foot(answers: Sequence[Answer]) -> str:
    if answers[0].made_up:
        return "made up: no data was read, and nothing was spent"
    paid = {a.receipt["batch"]["index"]: a for a in answers if a.receipt is not None and "ledger" in a.receipt}
    left = f"(left {decimal_text(answers[0].remaining)})"
    if not paid and any(answer.paid_before for answer in answers):
        return f"spent 0 of {decimal_text(answers[0].total)} {left}   made of numbers that were paid for before"
    if not paid:
        return f"public: no private data was read, nothing was spent {left}"
    one = next(iter(paid.values()))
    apart = sum((answer.cost for answer in paid.values()), Fraction(0))
    point = one.receipt["batch"].get("point") if one.receipt else None
    cost = Fraction(0) if one.repeated else apart if point is None else Fraction(point["epsilon"])
    again = "a repeat: nothing was spent" if one.repeated else "the same batch again is free"
    amount = f"{'rho ' if one.currency == 'rho' else ''}{decimal_text(cost)} of {decimal_text(one.total)}"
    if point is not None and not one.repeated:
        left += f" and delta {decimal_text(Fraction(point['delta']))}, as one (one by one: {decimal_text(apart)})"
    names = dict.fromkeys(str(paid[index].receipt_id) for index in (min(paid), max(paid)))
    return f"spent {amount} {left}   receipt{'s' if len(names) > 1 else ''} {' to '.join(names)}   {again}"


def batch_quote_text(questions: Sequence[str], batch: Any, budget: Budget, *, as_one: bool = False) -> str:
    """The price of all, whether it can be paid, and what each question gets for its share. batch: a `Batch`."""
    parts = [
        "\n".join([
            _asked(at + 1, question), *([printable(f"planned as {words}")] if (words := batch.planned(at)) else []),
            quote_text(quote, budget, of_batch=True, paid_apart=batch.payer(at) is not None),
        ])
        for at, (question, quote) in enumerate(zip(questions, batch.asked, strict=True))
    ]
    if not batch.paid:
        return "\n\n".join(parts)
    price = priced_text(batch, budget)
    if batch.point is not None:
        price.append(f"       as one; one by one the questions cost epsilon {decimal_text(batch.summed('epsilon'))}")
    elif as_one:
        price.append("       one by one: as one they would not cost less epsilon")
    return "\n\n".join(["\n".join(price), *parts])
