"""Spellings of every type for the two readers of a column: plausible, at the limits, and damaged by a letter or two."""

import datetime as dt
import random
import re
import struct
from decimal import Decimal
from fractions import Fraction

LETTERS = [
    *"0123456789", *"+-.,eE_xXTtZz:/ ", "\t", "\n", "\r", "\0", "\xa0", "\u0660", "\u3000", "\ufeff", "é", "ſ", "K",
    "İ", "\U0001d7d8", "１", "−", "'", '"', "(BC)", "nan", "inf", "00", ".0", "e5", "+00", "Z", ":60", "0x",
]
ODD = [
    "", " ", "1e5", " 1", "1 ", "+1", "-0", "0x10", "1_000", "1,000", "NaN", "nan", "-nan", "inf", "Infinity", "-inf",
    "1e400", "1e-400", "-1e-400", "5.", ".5", ".", "-", "+", "--1", "1-", "2.0", "2.", "2.00", "00", "-00", "+0",
    "-007",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9" * 400, "0" * 400,
    "0000-00-00", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2024-02-29", "2023-02-29", "2100-02-29",
    "2024-1-1", "20240101", "2024-01-01 (BC)", "-2024-01-01", "infinity", "epoch", "today", "now", "2024-01-01 ",
    "2024-01-01T24:00Z", "2024-01-01T23:59:60Z", "2024-01-01T00:00", "2024-01-01T00:00:00+25:00", "true", "tRuE", "on",
    "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01", "2024-01-01 00:00:00 UTC", "2024-01-01 00:00:00.Z",
    "{123e4567-e89b-12d3-a456-426614174000}", "123e4567e89b12d3a456426614174000", "1e", "e5", "1e+", "0b1", "1f", "1d",
    "1.5e3", "1E+05", "1e00000000005", "0." + "0" * 300 + "1", "１２", "१", "1" * 20 + ".0",
]


def whole(lot):
    size = lot.choice([1, 2, 4, 9, 18, 19, 20])
    number = lot.choice([lot.randrange(10**size), 2**63 + lot.randrange(-3, 4), 10**size - 1])
    sign, zeros, after = lot.choice(["", "", "-", "+"]), "0" * lot.choice([0, 0, 0, 3]), lot.choice(["", "", "", ".0"])
    return f"{sign}{zeros}{number}{after}"


def real(lot):
    match lot.randrange(6):
        case 0:
            return repr(struct.unpack("d", struct.pack("Q", lot.getrandbits(64)))[0])
        case 1:
            return f"{lot.uniform(-1e6, 1e6):.{lot.randrange(9)}f}"
        case 2:  # just half way between two doubles, or beside it
            low = abs(struct.unpack("d", struct.pack("Q", lot.randrange(900, 1200) << 52 | lot.getrandbits(52)))[0])
            high = struct.unpack("d", struct.pack("Q", struct.unpack("Q", struct.pack("d", low))[0] + 1))[0]
            middle = (Fraction(low) + Fraction(high)) / 2
            digits = Decimal(middle.numerator * 5**300) * Decimal(2) ** 300 / Decimal(10) ** 300 / middle.denominator
            return lot.choice(["", "-"]) + f"{digits:e}" + lot.choice(["", "0"])
        case 3:
            return f"{lot.randrange(10**17)}.{lot.randrange(10**17)}"
        case 4:
            return f"{lot.randrange(10**lot.randrange(1, 25))}e{lot.randrange(-345, 320)}"
        case _:
            return whole(lot)


def day(lot):
    year = lot.choice([lot.randrange(1, 10_000), lot.randrange(1900, 2100), 0, 4, 10_000])
    return f"{year:04d}-{lot.randrange(14):02d}-{lot.randrange(33):02d}"


def moment(lot):
    known = dt.datetime(1, 1, 1) + dt.timedelta(seconds=lot.randrange(86_400 * 365 * 9_998))
    date = known.date().isoformat() if lot.random() < 0.8 else day(lot)
    clock = f"{lot.randrange(25):02d}:{lot.randrange(61):02d}" + lot.choice(["", f":{lot.randrange(61):02d}"])
    parts = lot.choice(["", "", "." + "".join(lot.choices("0123456789", k=lot.randrange(9))), ",5"])
    sign, hours, minutes = lot.choice("+-"), lot.randrange(26), lot.randrange(62)
    offset = lot.choice(["", "Z", "z", f"{sign}{hours:02d}", f"{sign}{hours:02d}{minutes:02d}",
                         f"{sign}{hours:02d}:{minutes:02d}"])
    return f"{date}{lot.choice('TT t ')}{clock}{parts}{offset}"


def identifier(lot):
    text = f"{lot.getrandbits(128):032x}"
    text = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
    return lot.choice([text, text, text.upper(), text.replace("-", ""), text.capitalize()])


def letters(lot):
    return "".join(lot.choices(LETTERS, k=lot.choice([0, 1, 3, 9, 30])))


PLAUSIBLE = {
    "integer": whole, "float": real, "date": day, "timestamp": moment, "uuid": identifier, "text": letters,
    "boolean": lambda lot: lot.choice(["true", "True", "TRUE", "t", "YES", "no", "0", "1", "F", "tRue"]),
}


def formatted(lot, formats):
    """A day and time, sometimes none, written in one of the formats, token by token."""
    declared = lot.choice(formats)
    if declared == "ISO":
        return moment(lot) if lot.random() < 0.5 else day(lot)
    if " since " in declared:
        count = lot.randrange(10 ** lot.choice([1, 3, 5, 7, 11, 17])) * lot.choice([1, 24])
        return lot.choice(["", "-", "+"]) + str(count) + lot.choice(["", "", ".0"])
    y = lot.choice([lot.randrange(1, 10_000), lot.randrange(1900, 2100), 0])
    mo, d = lot.randrange(14), lot.randrange(33)
    h, mi, s = lot.randrange(26), lot.randrange(61), lot.randrange(61)
    offset = f"{lot.choice('+-')}{lot.randrange(26):02d}{lot.choice([':', ''])}{lot.randrange(62):02d}"
    written = {
        "YYYY": f"{y:04d}", "MM": f"{mo:02d}", "DD": f"{d:02d}", "M": f"{mo}", "D": f"{d}", "HH": f"{h:02d}",
        "MON": lot.choice(["Jan", "FEB", "mar", "Apr", "May", "jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Xyz"]),
        "hh": f"{h % 14:02d}", "H": f"{h}", "h": f"{h % 14}", "mm": f"{mi:02d}", "AM": lot.choice(["AM", "pm", "Pm"]),
        "ss": f"{s:02d}" + lot.choice(["", "", ".", ",5", ".1234567"]), "UTC": lot.choice(["UTC", "utc"]),
        "Z": lot.choice(["Z", "z", offset, offset[:3]]),
    }
    tokens = "(YYYY|MON|MM|DD|HH|hh|mm|ss|AM|UTC|M|D|H|h|Z)"
    return "".join(written.get(part, part) for part in re.split(tokens, declared))


def grouped(lot, thousands, decimal):
    """A number with marks between thousands, sometimes one in a wrong place."""
    text = f"{lot.randrange(-(10**lot.randrange(1, 16)), 10**15):,}".replace(",", thousands)
    text += lot.choice(["", "", f"{decimal}{lot.randrange(1000)}", f"{decimal}0", f"{decimal}5e3", "e5"])
    if lot.random() < 0.2:
        place = lot.randrange(len(text) + 1)
        text = text[:place] + thousands + text[place:]
    return text


def declared(lot, spelling):
    """A spelling of what a column declares besides its type; "" where that is nothing."""
    if spelling.formats:
        return formatted(lot, spelling.formats)
    if spelling.thousands:
        return grouped(lot, spelling.thousands, spelling.decimal)
    if spelling.true_words:
        word = lot.choice(spelling.true_words + spelling.false_words)
        return lot.choice([word, word.upper(), word.title(), word.capitalize(), word.swapcase(), f" {word} "])
    return ""


def spellings(type, count, seed, spelling=None):
    """So many spellings: half plausible, the others odd or changed."""
    lot = random.Random(f"{type} {seed}")
    found = []
    for _ in range(count):
        text = lot.choice(ODD) if lot.random() < 0.05 else PLAUSIBLE[type if lot.random() < 0.95 else "integer"](lot)
        if spelling is not None and lot.random() < 0.8:
            text = declared(lot, spelling) or text
        for _ in range(lot.choice([0, 0, 0, 1, 1, 2])):
            place = lot.randrange(len(text) + 1)
            text = text[:place] + lot.choice(LETTERS) + text[place + lot.randrange(2) :]
        found.append(text)
    return found
