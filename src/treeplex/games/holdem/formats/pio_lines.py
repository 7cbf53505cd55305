"""PioSOLVER's ``add_line`` trees: for every action of a line, what it brings its player's chips since the start to.

``add_line 0 94 260`` is check, bet 94, raise to 260; on later streets a check repeats what its player has put in, so
``94 94 94 296`` is bet 94, call, and on the turn check, bet 202. Folds are not written; a fold, a call and a check are
possible wherever they are legal. Defined by piosolver.com/docs/upi/commands (``add_line``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from treeplex.errors import FormatError
from treeplex.games.holdem.betting import DECISION, SHOWDOWN, most_of
from treeplex.games.holdem.formats.menus import MenuNode, offers, walk, with_menus
from treeplex.games.holdem.spot import Spot

MOST_LINES: Final = 100_000


@dataclass
class Lines:
    """Lines as a tree: what may follow each beginning. ``written``: the first line that has it, counted from 1."""

    written: int = 0
    text: str = ""
    after: dict[int, Lines] = field(default_factory=dict[int, "Lines"])

    def add(self, tokens: list[int], number: int) -> None:
        """One more line."""
        here, text = self, " ".join(map(str, tokens))
        for token in tokens:
            if token not in here.after:
                here.after[token] = Lines(number, text)
            here = here.after[token]

    def at(self, path: Iterable[int]) -> Lines | None:
        """What follows a beginning; None if no line has it."""
        here: Lines | None = self
        for token in path:
            here = here.after.get(token) if here is not None else None
        return here


def spot_of_lines(spot: Spot, lines: Lines) -> tuple[Spot, tuple[str, ...]]:
    """The spot whose bets are those of the lines, and what had to be read into them."""
    unsaid: list[str] = []
    waiting: dict[tuple[int, ...], Lines] = {(): lines}

    def menu(step: MenuNode) -> list[int]:
        here = waiting.pop(step.path, None)
        if here is None:
            return []
        found = _amounts(step, here)
        passive = int(step.before + step.node.faced)
        for token, child in here.after.items():
            waiting[(*step.path, token)] = child
        if found and passive not in here.after and _goes_on(step):
            unsaid.append(" ".join(map(str, (*step.path, passive))))
        return found

    made = with_menus(spot, menu)
    for path, left in waiting.items():
        if left.after:
            raise _refused(left, f"goes on after {' '.join(map(str, path))}, where no player acts")
    if not unsaid:
        return made, ()
    shown = ", ".join(unsaid[:3]) + (", ..." if len(unsaid) > 3 else "")
    return made, (f"checks and calls that no line has ({shown}) are read as possible, with checks to the end",)


def lines_of(spot: Spot) -> Iterator[str]:
    """One line for every betting that ends in a showdown, as ``add_line`` takes them; in chips."""
    number = 0
    for step, _ in walk(spot, offers(spot)):
        if step.node.kind == SHOWDOWN:
            number += 1
            if number > MOST_LINES:
                raise FormatError(f"the betting has more than {MOST_LINES:,} lines; give fewer sizes.", path="pio")
            yield " ".join(map(str, step.path))


def _amounts(step: MenuNode, here: Lines) -> list[int]:
    """The bets and raises that lines go on with, put in on this street."""
    node, moment, before = step.node, step.moment, step.before
    passive, most = int(before + node.faced), int(most_of(node, moment))
    least = int(min(max(node.faced + node.to_call, 1), most))
    found: list[int] = []
    for token, child in here.after.items():
        amount = token - before
        if token == passive:
            continue
        if token < passive:
            raise _refused(child, f"has {token} where a check or call is {passive}")
        if moment.all_in or amount > most:
            raise _refused(child, f"has {token} where all-in is {before + most if not moment.all_in else passive}")
        if amount < least:
            raise _refused(child, f"has {token} where the least bet or raise is {before + least}")
        found.append(amount)
    return found


def _goes_on(step: MenuNode) -> bool:
    """Does anybody act after a check or call here?"""
    node, last = step.node, step.node.street == 2
    if not step.moment.raises:
        return node.kind == DECISION and not (last and node.player == 1)
    return not last and not step.moment.all_in


def _refused(where: Lines, why: str) -> FormatError:
    return FormatError(f"the line {where.text[:80]!r} {why}.", path="add_line", line=where.written, column=1)
