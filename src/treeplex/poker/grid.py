"""The 13 x 13 grid of hand classes: pairs on the diagonal, suited hands above it, offsuit hands below."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from rich.console import Group
from rich.style import Style
from rich.text import Text

from treeplex.arrays import Floats
from treeplex.evaluation.plot import drawing
from treeplex.evaluation.spots import View
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.cards import RANKS, card_name
from treeplex.games.holdem.ranges import class_hands
from treeplex.games.holdem.spot import PLAYERS

SIDE: Final = len(RANKS)
CELL: Final = 6  # characters of a cell in a terminal
FOLD: Final = "#3d7cb8"
PASSIVE: Final = "#5aa469"
BETS: Final = ("#f2b5a0", "#e88468", "#d4553f", "#ad2f2a", "#7a1620")  # the larger the darker
EMPTY: Final = "#3a3a3a"


class Cells(NamedTuple):
    """The grid as numbers; row 0 and column 0 are aces."""

    share: Floats  # [13, 13] of all deals that get here
    full: Floats  # [13, 13] how much of the range's weight gets here, 0 to 1
    strategy: Floats  # [13, 13, actions]
    ev: Floats  # [13, 13] nan where no hand gets here


def class_name(row: int, column: int) -> str:
    """The name of a cell.

    >>> class_name(0, 1), class_name(1, 0), class_name(12, 12)
    ('AKs', 'AKo', '22')
    """
    high, low = SIDE - 1 - min(row, column), SIDE - 1 - max(row, column)
    return RANKS[high] + RANKS[low] + ("" if row == column else "s" if column > row else "o")


def cells(view: View) -> Cells:
    """What the hands of every class do on average, weighted by how often they get here."""
    share, full = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    strategy = np.zeros((SIDE, SIDE, len(view.actions)))
    ev = np.full((SIDE, SIDE), np.nan)
    for row, column in np.ndindex(SIDE, SIDE):
        name = class_name(row, column)
        hands = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])
        weights = view.share[hands]
        total = float(weights.sum())
        share[row, column] = total
        full[row, column] = float(view.reach[hands].max())
        if total > 0.0:
            strategy[row, column] = view.strategy[:, hands] @ weights / total
            values = np.array([view.value(hand) for hand in hands])
            ev[row, column] = float(weights @ values) / total
    return Cells(share, full, strategy, ev)


def colours(actions: list[Action]) -> list[str]:
    """A colour for each action: blue folds, green checks and calls, red bets, the larger the darker."""
    bets = [action for action in actions if action.amount]
    shades: dict[float, str] = {}
    for place, action in enumerate(bets):
        last = action.kind == "all-in" or len(bets) == 1
        shades[action.amount] = BETS[-1 if last and len(bets) > 1 else min(place + (len(bets) == 1) * 2, len(BETS) - 2)]
    kinds = {"fold": FOLD, "check": PASSIVE, "call": PASSIVE}
    return [kinds.get(action.kind) or shades[action.amount] for action in actions]


def terminal_grid(view: View) -> Group:
    """The grid in a terminal's colours: each cell is split among the actions."""
    found, palette = cells(view), colours(view.actions)
    lines: list[Text] = [_headline(view), _legend(view, palette)]
    for row in range(SIDE):
        line = Text()
        for column in range(SIDE):
            line.append_text(_cell(class_name(row, column), found, row, column, palette))
            line.append(" ")
        lines.append(line)
    return Group(*lines)


def _headline(view: View) -> Text:
    board = " ".join(card_name(card) for card in view.board)
    where = view.line or "root"
    return Text(f"{board}   {where}   {PLAYERS[view.player]} to act, pot {view.pot}", style="bold")


def _legend(view: View, palette: list[str]) -> Text:
    line = Text()
    for name, share, colour in zip(view.names, view.totals().values(), palette, strict=True):
        line.append("  ", Style(bgcolor=colour))
        line.append(f" {name} {100 * share:.1f}%   ")
    return line


def _cell(name: str, found: Cells, row: int, column: int, palette: list[str]) -> Text:
    text = Text(f" {name:<{CELL - 1}}")
    if found.share[row, column] <= 0.0:
        text.stylize(Style(color="#777777", bgcolor=EMPTY))
        return text
    ends = np.rint(CELL * np.cumsum(found.strategy[row, column])).astype(int)
    start = 0
    for end, colour in zip(ends, palette, strict=True):
        text.stylize(Style(color="#111111", bgcolor=colour), start, end)
        start = max(start, int(end))
    return text


def save_grid(view: View, path: str | Path) -> None:
    """The grid as a PNG: stacked bars, as tall as the class is still in the range."""
    from matplotlib.patches import Patch, Rectangle  # noqa: PLC0415 - a quarter of a second that only plots need

    found, palette = cells(view), colours(view.actions)
    with drawing(path, (8.6, 9.4), "", 1, 1) as (axes,):
        for row, column in np.ndindex(SIDE, SIDE):
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor="#e9e9e9", edgecolor="white", linewidth=1.5))
            held = found.share[row, column] > 0.0
            tall, left = min(float(found.full[row, column]), 1.0) * 0.96 if held else 0.0, column + 0.02
            for share, colour in zip(found.strategy[row, column], palette, strict=True):
                if tall > 0.0 and share > 0.0:
                    axes.add_patch(Rectangle((left, row + 0.98 - tall), 0.96 * share, tall, facecolor=colour))
                    left += 0.96 * share
            dark = "#111111" if held else "#aaaaaa"
            axes.text(column + 0.07, row + 0.3, class_name(row, column), fontsize=8.5, color=dark)
            if held and not np.isnan(found.ev[row, column]):
                ev = f"{found.ev[row, column]:.0f}"
                axes.text(column + 0.93, row + 0.88, ev, fontsize=6.5, ha="right", color="#222222")
        axes.set(xlim=(0, SIDE), ylim=(SIDE, 0), aspect="equal")
        axes.axis("off")
        handles = [
            Patch(facecolor=colour, label=f"{name}: {100 * share:.1f}%")
            for name, share, colour in zip(view.names, view.totals().values(), palette, strict=True)
        ]
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.005), "ncols": min(len(handles), 3)}
        axes.legend(handles=handles, frameon=False, **below)
        board = " ".join(card_name(card) for card in view.board)
        title = f"{board}, {view.line or 'root'}: {PLAYERS[view.player].upper()} to act, pot {view.pot}"
        axes.set_title(title, fontsize=11)
