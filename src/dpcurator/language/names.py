"""Finding the table or column a name means. Quoted: exactly as spelled. Unquoted: any case, when that is one column.

An unquoted name that fits two columns differing in case only is refused, never guessed: a privacy id that silently
matched another column would lose its protection. A name that fits nothing is refused with the nearest ones.
Checked in tests/language/test_names.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcurator.errors import Mend, Refusal, closest

LONGEST = 80  # characters of a name in a message


def find(name: str, quoted: bool, among: Sequence[str], *, what: str, where: str = "") -> int:
    """The position in `among` that `name` means. Raises Refusal when there is none, or more than one."""
    if quoted:
        fits = [i for i, other in enumerate(among) if other == name]
    else:
        fits = [i for i, other in enumerate(among) if other.lower() == name.lower()]
    if len(fits) == 1:
        return fits[0]
    if fits:
        spelled = " and ".join(quote(among[i]) for i in fits)
        raise Refusal(
            f"{what} {show(name)} could be {spelled}.", where=where, cure="Put the one you mean in double quotes."
        )
    raise unknown(name, quoted, among, what=what, where=where)


def unknown(name: str, quoted: bool, among: Sequence[str], *, what: str, where: str = "", kind: str = "") -> Refusal:
    """No such name: the nearest ones are the cure. kind: what `among` holds, where that is not all `what` says."""
    close = closest(name, among, 3)
    written = '"' + name.replace('"', '""') + '"' if quoted else name
    return Refusal(
        f"there is no {what} {show(name)}.", where=where, cure=nearest(name, among, kind or what),
        mends=tuple(Mend(quote(other), written) for other in close[:1]),
    )


def nearest(name: str, among: Sequence[str], what: str) -> str:
    """A sentence offering the closest names, or all of them when they are few."""
    close = closest(name, among, 3)
    if close:
        return f"Did you mean {' or '.join(quote(other) for other in close)}?"
    if 0 < len(among) <= 12:
        return f"The {what}s are {', '.join(quote(other) for other in among)}."
    return f"`dpcurator check` lists every {what}." if among else f"No {what} is declared."


def quote(name: str) -> str:
    """The name as SQL writes it, for a message: bare when that is unambiguous, else in double quotes."""
    plain = name.isascii() and name.isidentifier() and name == name.lower() and len(name) <= LONGEST
    return name if plain else '"' + _printable(name).replace('"', '""') + '"'


def show(name: str) -> str:
    """The name as typed, for a message."""
    return f'"{_printable(name)}"'


def _printable(name: str) -> str:
    """Cut when it is very long; line breaks, lone surrogates and the like escaped."""
    text = name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
