"""What requests hold, and how far: the fields of a question and its price, as `Curator.ask` takes them.

A field that is not there is unknown, and refused: a misspelt limit must not be passed over. Numbers may be texts, so
that they are exact. Checked in tests/server.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from dpcurator.curator.batching import MOST as MOST_QUESTIONS

LONGEST_SQL: Final = 100_000  # characters
MOST_NAMES: Final = 100  # of one object


def _few(given: Any) -> Any:
    """Raises ValueError for an object of more names, before each of them is looked at: a body may have 100,000."""
    if isinstance(given, dict) and len(given) > MOST_NAMES:
        raise ValueError(f"it has more than {MOST_NAMES} names")
    return given


Text = Annotated[StrictStr, Field(max_length=200)]
Sql = Annotated[StrictStr, Field(max_length=LONGEST_SQL, description="One SELECT.", examples=[
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"])]
Number = Annotated[Text | StrictInt | StrictFloat, Field(description="A number, or a text of one, as 0.1 or \"1/10\".")]
Whole = Annotated[Text | StrictInt, Field(description="A whole number.")]
ByColumn = Annotated[dict[Text, Number], BeforeValidator(_few), Field(max_length=MOST_NAMES)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")

    _names = model_validator(mode="before")(_few)

    def given(self, *without: str) -> dict[str, Any]:
        """The fields that were sent."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in without}


class Caps(_Form):
    """Contribution bounds of this question, in place of the catalog's."""

    max_total: Whole | None = None
    max_rows: Whole | None = None
    max_groups: Whole | None = None
    min_units: Whole | None = None
    cut: StrictBool | None = None
    assume_count: Whole | None = None
    confidence: Number = "0.95"


class Look(Caps):
    """A question, without a price."""

    sql: Sql


class _Price(Caps):
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    spend: Text | None = None
    within: ByColumn | None = None


class Ask(_Price):
    """A question and its price: one of epsilon, rho, spend (a share of the whole budget, as "5%") and within (a wanted
    error for each named column)."""

    sql: Sql
    weights: ByColumn | None = None


class Total(_Form):
    """by: what is still grouped by; []: nothing, one row in all. columns: of the answer; []: all that have totals."""

    by: Annotated[list[Text], Field(max_length=MOST_NAMES)]
    columns: Annotated[list[Text], Field(max_length=MOST_NAMES)] = []


class Pay(Ask):
    """The same, to be paid. fresh: pay again for independent noise. sharpen: the same, and show the mean of all
    releases of this question, whose receipts are in "sharpened". stored: only if it was paid before, and costs nothing.
    totals: also these, of its noisy numbers, which cost nothing more."""

    fresh: StrictBool = False
    sharpen: StrictBool = False
    stored: StrictBool = False
    totals: Annotated[list[Total], Field(max_length=MOST_NAMES)] | None = None


class Counted(_Form):
    """A private table, by its exact name."""

    table: Text


class PayCounted(Counted):
    """The same, and a price: one of epsilon, rho and spend."""

    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    spend: Text | None = None


class AskBatch(_Price):
    """Several questions at one price. shares: how much of it each has, in proportion; equal shares unless given."""

    questions: Annotated[list[Sql], Field(min_length=1, max_length=MOST_QUESTIONS)]
    as_one: StrictBool = False
    shares: Annotated[list[Number], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = None


class PayBatch(AskBatch):
    """The same, to be paid."""

    fresh: StrictBool = False


class LookBatch(Caps):
    """Several questions, without a price."""

    questions: Annotated[list[Sql], Field(min_length=1, max_length=MOST_QUESTIONS)]


class Refresh(_Form):
    """version: a public name for the data; one that is there is not read again."""

    version: Text | None = None


class Grant(_Form):
    """What is to change of an account; what is not sent stays. token: true makes a new one, false lets none sign in."""

    role: Text | None = None
    limit: Number | None = None
    delta: Number | None = None
    token: StrictBool | None = None
