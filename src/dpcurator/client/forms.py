"""What a client sends: a question as SQL, numbers as exact text, names in their form.

Checked in tests/server/test_client.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.values import Json

_NAME: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")


def sql_of(question: Any) -> str:
    """A question as it is sent. Raises Refusal for what is none."""
    from dpcurator.fronts.frame import Frame
    from dpcurator.language.render import render

    if not isinstance(question, str | Frame):
        raise Refusal(f"a question is an SQL text or a frame, not a {type(question).__name__}.",
                      cure='Write it as in ask("SELECT COUNT(*) FROM visits").')
    return question if isinstance(question, str) else render(question.question())


def each_sql(questions: Any) -> list[str]:
    """The questions of a batch as they are sent. Raises Refusal."""
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        raise Refusal("a batch is a list of questions.", cure='Write it as in batch(["SELECT COUNT(*) ..."]).')
    return [sql_of(one) for one in questions]


def names_of(given: Any, what: str) -> list[str]:
    """A list of names; what: its keyword. Raises Refusal."""
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise Refusal(f"{what} is a list of names.", cure=f'Write it as in {what}=["city"].')
    return list(given)


def escaped(name: object) -> str:
    """The name of an answer, which may stand in an address. Raises Refusal."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refusal("an answer's name is that which is printed below it.", cure='Give it as in "3f9a01bc".')
    return name


def plain(asked: Any) -> Json:
    """Keywords as JSON: exact numbers as text; what was left out is left out."""
    return {name: _exact(value) for name, value in asked.items() if value is not None}


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _exact(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(one) for one in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


def key_of(request_id: str | None, fresh: bool) -> str | None:
    """A retry of a question that is paid again must be the same request."""
    if request_id is not None and not (isinstance(request_id, str) and _NAME.fullmatch(request_id)):
        raise Refusal("A request id must be 1 to 200 letters, digits, dots, colons, dashes or underscores.",
                      cure="Choose such an id, or leave it out.")
    return request_id if request_id is not None or not fresh else os.urandom(16).hex()
