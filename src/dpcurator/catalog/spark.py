"""Where Spark runs, and the databases that it reads, as the catalog and the environment say.

An address may hold a token or a password, so the catalog names the environment variable that has it, and no message
repeats what is there. Checked in tests/catalog/test_spark.py.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from dpcurator.catalog.declaration import Cluster, Source
from dpcurator.errors import Misconfigured
from dpcurator.postgres import variable_of

MASTER: Final = re.compile(r"local\[[1-9][0-9]{0,2}\]|(?:spark|k8s|sc)://[^\s]+|yarn")
_JDBC: Final = re.compile(r"jdbc:[a-z0-9]+:[^\s]+", re.IGNORECASE)


PATTERN: Final = re.compile(r"[*?\[\]{}\\\x00]")  # what Hadoop's file systems read as a pattern of names


def address_of(path: Path) -> str:
    """A file or directory that this machine reaches, as Spark is told of it: whatever its own file system is."""
    return f"file://{path.resolve()}"


def names_master(given: str) -> bool:
    """Is it an address; a variable; or a variable and the address where it is not set?"""
    first, _, default = given.partition(" or ")
    if not variable_of(first):
        return bool(MASTER.fullmatch(given))
    return not default or bool(MASTER.fullmatch(default))


def master_of(cluster: Cluster) -> str:
    """The address of the master. Raises Misconfigured where a variable has none."""
    first, _, default = cluster.master.partition(" or ")
    variable = variable_of(first)
    master = (os.environ.get(variable, "").strip() if variable else first) or default
    if not MASTER.fullmatch(master):
        what = "is no address of Spark" if master else "is not set"
        raise Misconfigured(f"The environment variable {variable} {what}.", where="[curator] spark",
                            cure=f'Set it: export {variable}="sc://spark.example.org:15002"; or give a default: '
                            f'master = "env:{variable} or local[2]".')
    return master


def jdbc_of(source: Source) -> tuple[str, str]:
    """The variable that holds a database's address, and the address; "" for a table of Spark's own. Raises
    Misconfigured."""
    variable = variable_of(source.place)
    if not variable:
        return "", ""
    address = os.environ.get(variable, "").strip()
    if not _JDBC.fullmatch(address):
        what = "is no JDBC address" if address else "is not set"
        raise Misconfigured(f"The environment variable {variable} {what}.", where=source.where,
                            cure=f'Set it: export {variable}="jdbc:postgresql://db.example.org/clinic?user=reader"')
    return variable, address
