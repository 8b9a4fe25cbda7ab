"""Functions of other dialects that there are not, and what to write in their place.

A text of SQL with {0}, {1}, ... for the arguments means the same and can be pasted; any other line is a sentence.
Checked in tests/plans/test_cures.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dpcurator.errors import Mend
from dpcurator.language.question import Call
from dpcurator.language.render import words

_CLOCK: Final = "Write the moment itself: an answer would change with the clock."
_NO_LUCK: Final = "Leave it out: nothing is drawn at random of rows, only the noise of the answer."
_LIKE: Final = (
    "Use LIKE: city LIKE 'L%' begins with L, '%L' ends with it, '%L%' contains it; _ stands for any one letter.")
_MONTHS: Final = "Write DATE_TRUNC('month', {0}), or EXTRACT(month FROM {0}); spell the dates of the answer."
_WEEKDAY: Final = "EXTRACT(isodow FROM {0})"
_TYPED: Final = (
    "Write CAST({0} AS date), for texts as in 2024-01-31; the steward declares any other format in the catalog.")
_ROWS: Final = "Write SUBSTRING(x, 3, 2), letters by their place, or CASE WHEN x LIKE 'a%' THEN 'a' ELSE 'b' END."
OF_ROWS: Final[Mapping[str, str]] = {
    "LOG": "LN is the natural logarithm; write LN(x) / LN(10) for base 10.",
    "LOG10": "(LN({0}) / LN(10))", "LOG2": "(LN({0}) / LN(2))", "LOG1P": "LN(1 + {0})", "EXP2": "POWER(2, {0})",
    "SQUARE": "POWER({0}, 2)", "CBRT": "Write POWER(x, 0.3333333333333333), for x of 0 and above.",
    "TRUNC": "Write FLOOR(x), or CASE WHEN x < 0 THEN CEIL(x) ELSE FLOOR(x) END.",
    "TRUNCATE": "Write FLOOR(x), or CASE WHEN x < 0 THEN CEIL(x) ELSE FLOOR(x) END.",
    "PI": "Write 3.141592653589793.",
    "NOW": _CLOCK, "GETDATE": _CLOCK, "SYSDATE": _CLOCK, "CURRENT_TIMESTAMP": _CLOCK, "CURRENT_TIME": _CLOCK,
    "TODAY": _CLOCK.replace("moment", "date"), "CURDATE": _CLOCK.replace("moment", "date"),
    "CURRENT_DATE": _CLOCK.replace("moment", "date"),
    "DAYOFWEEK": "Write EXTRACT(dow FROM day), Sunday = 0, or EXTRACT(isodow FROM day), Monday = 1.",
    "ISODOW": _WEEKDAY, "DAYNAME": f"Write {_WEEKDAY}, Monday = 1.", "MONTHNAME": "Write MONTH({0}), January = 1.",
    "DAYOFMONTH": "DAY({0})", "DAYOFYEAR": "EXTRACT(doy FROM {0})", "WEEKOFYEAR": "WEEK({0})",
    "STRFTIME": _MONTHS, "TO_CHAR": _MONTHS, "DATE_FORMAT": _MONTHS, "FORMAT": _MONTHS, "FORMAT_DATE": _MONTHS,
    "TO_DATE": _TYPED, "STR_TO_DATE": _TYPED, "STRPTIME": _TYPED, "PARSE_DATE": _TYPED,
    "DATE_ADD": "Write day + INTERVAL '1 month'.", "DATE_SUB": "Write day - INTERVAL '1 month'.",
    "DATEADD": "Write day + INTERVAL '1 month'.", "ADD_MONTHS": "Write day + INTERVAL '1 month'.",
    "LAST_DAY": "(DATE_TRUNC('month', {0}) + INTERVAL '1 month' - INTERVAL '1 day')",
    "MONTHS_BETWEEN": "DATE_DIFF('month', {1}, {0})", "AGE": "Write DATE_DIFF('year', earlier, later).",
    "ISNULL": "({0} IS NULL)", "ZEROIFNULL": "COALESCE({0}, 0)", "NULLIFZERO": "NULLIF({0}, 0)",
    "IFF": "CASE WHEN {0} THEN {1} ELSE {2} END", "NVL2": "CASE WHEN {0} IS NOT NULL THEN {1} ELSE {2} END",
    "DECODE": "Write CASE x WHEN 'a' THEN 1 ELSE 0 END.", "DECODE_CASE": "Write CASE x WHEN 'a' THEN 1 ELSE 0 END.",
    "CONCAT_WS": "Write CONCAT(x, '-', y).", "MID": "SUBSTRING({0}, {1}, {2})", "RIGHT": "Write SUBSTRING(x, 3).",
    "REGEXP_LIKE": _LIKE, "REGEXP_MATCHES": _LIKE, "RLIKE": _LIKE, "STARTS_WITH": _LIKE, "ENDS_WITH": _LIKE,
    "CONTAINS": _LIKE, "PREFIX": _LIKE, "SUFFIX": _LIKE, "INSTR": _LIKE, "STRPOS": _LIKE, "LOCATE": _LIKE,
    "STR_POSITION": _LIKE, "REGEXP_REPLACE": _ROWS, "REGEXP_EXTRACT": _ROWS, "REGEXP_SUBSTR": _ROWS,
    "SPLIT_PART": _ROWS, "SPLIT": _ROWS, "INITCAP": "Write UPPER or LOWER.",
    "RANDOM": _NO_LUCK, "RAND": _NO_LUCK, "UUID": _NO_LUCK, "GEN_RANDOM_UUID": _NO_LUCK,
    "NTILE": "Write WIDTH_BUCKET(x, 0, 100, 4).",
}
_EACH: Final = (
    "It would list rows' own values. Ask how many rows have each, by GROUP BY {0}, or which are the most frequent: "
    "TOP_K({0}, 3).")
_SHAPE: Final = "Ask for quantiles, as in QUANTILE({0}, 0.95), or for counts by GROUP BY: they say how values lie."
_LOGS: Final = "Ask for AVG(LN(x)), of an x with bounds above 0, and take the exponential of the answer."
OF_MANY: Final[Mapping[str, str]] = {
    "STDEV": "STDDEV({0})", "STD": "STDDEV({0})", "STDEVP": "STDDEV_POP({0})", "VAR": "VARIANCE({0})",
    "VARP": "VAR_POP({0})", "APPROX_COUNT_DISTINCT": "COUNT(DISTINCT {0})", "COUNT_DISTINCT": "COUNT(DISTINCT {0})",
    "PERCENTILE_APPROX": "QUANTILE({0}, {1})", "APPROX_PERCENTILE": "QUANTILE({0}, {1})",
    "SUM_IF": "SUM(CASE WHEN {1} THEN {0} END)", "SUMIF": "SUM(CASE WHEN {1} THEN {0} END)",
    "AVG_IF": "AVG(CASE WHEN {1} THEN {0} END)", "AVGIF": "AVG(CASE WHEN {1} THEN {0} END)",
    "PERCENTILE": "Write QUANTILE({0}, 0.5), with a number from 0 to 1.",
    "ARRAY_AGG": _EACH, "LIST": _EACH, "STRING_AGG": _EACH, "GROUP_CONCAT": _EACH, "LISTAGG": _EACH,
    "HISTOGRAM": "Ask for counts by GROUP BY BIN({0}, 10).",
    "KURTOSIS": _SHAPE, "SKEWNESS": _SHAPE, "MAD": _SHAPE,
    "ENTROPY": "Ask for counts by GROUP BY {0}, and work on the answer.",
    "PRODUCT": _LOGS, "GEOMEAN": _LOGS, "GEOMETRIC_MEAN": _LOGS,
}
_ONE: Final = re.compile(r'[\w."]+')  # stands as it is before IS NULL
_PLACE: Final = re.compile(r"\{(\d)\}")


def instead(call: Call, known: Mapping[str, str]) -> tuple[str, tuple[Mend, ...]] | None:
    """What to write for a call, as a sentence, and as a paste where there is one; None where nothing is known."""
    line = known.get(call.function)
    if line is None:
        return None
    texts = [words(one) for one in call.arguments]
    sentence = line.endswith(".")
    wanted = 1 + max((int(place) for place in _PLACE.findall(line)), default=-1)
    fits = len(texts) == wanted and None not in texts
    if sentence and not fits:  # a date may stand second: STRFTIME('%Y', day)
        texts = [text for text in texts if text is not None and not text.startswith("'")]
    made = line.format(*[*(text for text in texts if text is not None), "x", "y", "z"])
    over = words(call)
    if "{0} IS " in line and fits and not _ONE.fullmatch(texts[0] or ""):
        made = made.replace(f"{texts[0]} IS", f"({texts[0]}) IS", 1)
    if sentence:
        return made, ()
    return f"Write {made}.", (Mend(made, over),) if fits and over is not None else ()
