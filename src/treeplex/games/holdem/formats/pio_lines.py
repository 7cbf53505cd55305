"""PioSOLVER's ``add_line`` trees, whose lines list the player's chips since the start after every action.

``add_line 0 94 260`` is check, bet 94, raise to 260. On later streets a check repeats the chips of its player, so
``94 94 94 296`` is bet 94, call, and on the turn check, bet 202. Folds are not written. A fold, a call and a check are
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
    """Tree of lines, by their beginnings. ``written``: number of the first line with this beginning, from 1."""

    written: int = 0
    text: str = ""
    after: dict[int, Lines] = field(default_factory=dict[int, "Lines"])

    def add(self, tokens: list[int], number: int) -> None:
        """Add a line to the tree."""
        here, text = self, " ".join(map(str, tokens))
        for token in tokens:
            if token not in here.after:
                here.after[token] = Lines(number, text)
            here = here.after[token]

    def at(self, path: Iterable[int]) -> Lines | None:
        """Return the subtree behind a beginning; None if no line has it."""
        here: Lines | None = self
        for token in path:
            here = here.after.get(token) if here is not None else None
        return here


def spot_of_lines(spot: Spot, lines: Lines) -> tuple[Spot, tuple[str, ...]]:
    """Build the spot with the bets of the lines, with notes about actions that the lines omit."""
    unsaid: list[str] = []
    waiting: dict[tuple[int, ...], Lines] = {(): lines}

    def menu(step: MenuNode) -> list[int]:
        here = waiting.pop(step.path, None)
        if here is None:
            return []
        amounts = _amounts(step, here)
        passive = int(step.before + step.node.faced)
        for token, child in here.after.items():
            waiting[(*step.path, token)] = child
        if amounts and passive not in here.after and _goes_on(step):
            unsaid.append(" ".join(map(str, (*step.path, passive))))
        return amounts

    made = with_menus(spot, menu)
    for path, left in waiting.items():
        if left.after:
            raise _refused(left, f"goes on after {' '.join(map(str, path))}, where no player acts")
    if not unsaid:
        return made, ()
    shown = ", ".join(unsaid[:3]) + (", ..." if len(unsaid) > 3 else "")
    return made, (f"checks and calls that no line has ({shown}) are assumed to be possible, with checks to the end",)


def lines_of(spot: Spot) -> Iterator[str]:
    """Yield one line in the notation of ``add_line``, in chips, for every betting that ends in a showdown."""
    number = 0
    for step, _ in walk(spot, offers(spot)):
        if step.node.kind == SHOWDOWN:
            number += 1
            if number > MOST_LINES:
                raise FormatError(f"the betting has more than {MOST_LINES:,} lines; give fewer sizes.", path="pio")
            yield " ".join(map(str, step.path))


def _amounts(step: MenuNode, here: Lines) -> list[int]:
    """Return the amounts of the next bets and raises of the lines, put in on this street."""
    node, state, before = step.node, step.state, step.before
    passive, most = int(before + node.faced), int(most_of(node, state))
    least = int(min(max(node.faced + node.to_call, 1), most))
    amounts: list[int] = []
    for token, child in here.after.items():
        amount = token - before
        if token == passive:
            continue
        if token < passive:
            raise _refused(child, f"has {token} where a check or call is {passive}")
        if state.all_in or amount > most:
            raise _refused(child, f"has {token} where all-in is {before + most if not state.all_in else passive}")
        if amount < least:
            raise _refused(child, f"has {token} where the least bet or raise is {before + least}")
        amounts.append(amount)
    return amounts


def _goes_on(step: MenuNode) -> bool:
    """Whether a player acts after a check or call here."""
    node, last = step.node, step.node.street == 2
    if not step.state.raises:
        return node.kind == DECISION and not (last and node.player == 1)
    return not last and not step.state.all_in


def _refused(where: Lines, why: str) -> FormatError:
    return FormatError(f"the line {where.text[:80]!r} {why}.", path="add_line", line=where.written, column=1)
