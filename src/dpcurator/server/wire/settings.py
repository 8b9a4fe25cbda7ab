"""The settings of a session: the price and what else `Curator.ask` takes, as `dp.epsilon`; others are kept as told.

    SET dp.epsilon = 0.1; SHOW dp.epsilon; RESET dp.epsilon

They may come with the connection too (`options=-c dp.epsilon=0.1`). Checked in tests/server/test_wire.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dpcurator.errors import Refusal, closest
from dpcurator.pricing.offers import PRICES, check_said
from dpcurator.server.wire.system_tables import LONG_VERSION, VERSION
from dpcurator.server.wire.texts import SKIPPED

SETTINGS: Final = {  # each with a value that it may have
    "epsilon": "0.1",
    "rho": "0.005",
    "spend": "'5%'",
    "within": "'n=50, mean=5%'",
    "delta": "1e-8",
    "confidence": "0.95",
    "max_total": "5",
    "max_rows": "2",
    "max_groups": "3",
    "min_units": "10",
    "assume_count": "1000",
    "cut": "off",
    "fresh": "on",
}
FIXED: Final = {
    "server_version": VERSION,
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "is_superuser": "off",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}  # told at the start of a connection
_SHOWN: Final = {
    "transaction_isolation": "read committed",
    "transaction isolation level": "read committed",
    "search_path": "public",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "max_identifier_length": "63",
    "server_version_num": "150000",
    "lc_collate": "C",
    "lc_ctype": "C",
    "ssl": "on",
    "in_hot_standby": "off",
    "default_transaction_read_only": "on",
    "statement_timeout": "0",
    "extra_float_digits": "1",
    "version": LONG_VERSION,
}
_SET: Final = re.compile(
    SKIPPED + r"SET\s++(?:SESSION\s++|(?P<local>LOCAL)\s++)?(?P<name>[\w.]++)\s*+(?:=|TO\s)\s*+(?P<value>.*\S)\s*+",
    re.S | re.I,
)
ONE_NAME: Final = re.compile(
    SKIPPED + r"(?:SHOW|RESET)\s++(?P<name>[\w.]++(?: ++[\w.]++)*+)\s*+", re.S | re.I
)
_OWN_PRICE: Final = re.compile(r"DIFFERENTIAL_PRIVACY\s+OPTIONS\s*\([^)]*\bepsilon\b", re.I)


@dataclass
class Settings:
    """own: those of dp.*, by their name without it. told: all others that were set. first: those of own that came with
    the connection."""

    own: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def begin(self, parameters: Mapping[str, str]) -> None:
        """Takes the settings that come with the connection. Raises Refusal."""
        for name, value in parameters.items():
            if name == "options":
                for one in re.findall(r"(?:-c\s*|--)((?:[^\s\\]|\\.)+)", value):
                    key, _, said = re.sub(r"\\(.)", r"\1", one).partition("=")
                    self.set(key, said)
            elif name not in ("user", "database", "replication") and not name.startswith("_pq_."):
                self.set(name, value)
        self.first = dict(self.own)

    def set(self, name: str, value: str) -> None:
        """Raises Refusal for a setting of ours that there is not, or that has no such value, and for letters that are
        not sent."""
        lower = name.lower()
        if len(value) > 1000:
            raise Refusal(f"the value of {name[:60]} is too long.", cure="Set a shorter one.")
        if lower.startswith("dp."):
            own = lower.removeprefix("dp.")
            if own not in SETTINGS:
                near = closest(own, SETTINGS) or ["epsilon"]
                raise Refusal(
                    f"there is no setting {name[:60]}.",
                    cure=f"Did you mean dp.{near[0]}? There are {', '.join(f'dp.{one}' for one in SETTINGS)}.",
                )
            wanted = value.strip() and value.upper() != "DEFAULT"
            if wanted:
                _check(own, value)
            self.own.pop(own, None)
            if wanted:
                if own in PRICES:  # the last one said is the price
                    for other in PRICES:
                        self.own.pop(other, None)
                self.own[own] = value
            return
        if lower == "client_encoding" and value.strip("'\"").upper().replace("-", "") not in (
            "UTF8",
            "UNICODE",
            "DEFAULT",
        ):
            raise Refusal("texts are sent in UTF-8 alone.", cure="SET client_encoding = 'UTF8'")
        if len(self.told) < 100:
            self.told[lower] = value

    def set_by(self, sql: str) -> None:
        """Takes a SET statement. Raises Refusal."""
        found = _SET.fullmatch(sql)
        if found is not None:
            name, value = found["name"], found["value"]
            if found["local"] and name.lower().startswith("dp."):
                raise Refusal("LOCAL would end with the transaction, and a setting of dp lasts as the connection does.",
                              cure=f"SET {name[:60]} = {value[:1000]}")
            quoted = len(value) > 1 and value[0] == value[-1] == "'"
            self.set(name, value[1:-1].replace("''", "'") if quoted else value)
        elif re.search(r"\bdp\.", sql):
            raise Refusal("this setting cannot be read.", cure="Write it as in SET dp.epsilon = 0.1")
        # SET TRANSACTION, SET TIME ZONE and the like change nothing here

    def reset_by(self, sql: str) -> None:
        """Takes a RESET statement: of all, to what came with the connection."""
        found = ONE_NAME.fullmatch(sql)
        name = found["name"].lower() if found else "all"
        if name == "all":
            self.own, self.told = dict(self.first), {}
        for settings in (self.own, self.told):
            settings.pop(name.removeprefix("dp."), None)

    def shown(self, name: str) -> str:
        """What SHOW says. Raises Refusal."""
        lower = name.lower()
        if lower.startswith("dp.") and lower.removeprefix("dp.") in SETTINGS:
            return self.own.get(lower.removeprefix("dp."), "")
        fixed = {one.lower(): value for one, value in FIXED.items()} | _SHOWN
        if lower in self.told or lower in fixed:
            return self.told.get(lower, fixed.get(lower, ""))
        raise Refusal(f"there is no setting {name[:60]}.", cure="SHOW dp.epsilon, or SHOW dp.budget for what is left.")

    def asked(self, sql: str) -> dict[str, Any]:
        """The settings as `Curator.ask` takes them. Raises Refusal where there is no price."""
        given = {name: _read(name, value) for name, value in self.own.items()}
        if _OWN_PRICE.search(sql):
            return {name: value for name, value in given.items() if name not in PRICES}
        if not any(name in given for name in PRICES):
            raise Refusal("no price is set.", cure="Run: SET dp.epsilon = 0.1")
        return given


def _read(name: str, value: str) -> Any:
    """A setting as `Curator.ask` takes it. Raises Refusal."""
    if name in ("cut", "fresh"):
        return _truth(value, name)
    return _pairs(value) if name == "within" else value


def _check(name: str, value: str) -> None:
    """Raises Refusal for what no question takes, when it is set and not at the next question."""
    try:
        check_said(name, _read(name, value))
    except Refusal as refused:
        raise Refusal(f"dp.{name}: {refused.what}", cure=f"SET dp.{name} = {SETTINGS[name]}") from None


def _truth(text: str, name: str) -> bool:
    lower = text.lower()
    if lower in ("on", "true", "1", "yes"):
        return True
    if lower in ("off", "false", "0", "no"):
        return False
    raise Refusal("it is on or off.", cure=f"SET dp.{name} = on")


def _pairs(text: str) -> dict[str, str]:
    """As in 'n=50, mean=5%'. Raises Refusal."""
    found = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in text.split(","))}
    if not all(name and value for name, value in found.items()):
        raise Refusal("it names columns and errors.", cure="SET dp.within = 'n=50, mean=5%'")
    return found
