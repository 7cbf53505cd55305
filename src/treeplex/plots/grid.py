"""The 13 x 13 grid of hand classes: pairs on the diagonal, suited hands above it, offsuit hands below."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from rich.color import Color, ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text

from treeplex.arrays import Floats
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.cards import RANKS, card_name
from treeplex.games.holdem.ranges import class_hands
from treeplex.games.holdem.spot import PLAYERS
from treeplex.plots.plot import drawing
from treeplex.poker.views.view import View

SIDE: Final = len(RANKS)
CELL: Final = 5  # characters per cell in a terminal; 13 cells with blanks between them fit into 80 columns
TEXT: Final = 0.8  # smallest height of a bar in the PNG for its class to be written on it
FOLD: Final = "#3d7cb8"
PASSIVE: Final = "#5aa469"
BETS: Final = ("#f2b5a0", "#e88468", "#d4553f", "#ad2f2a", "#7a1620")  # larger bets are darker
PLAIN_BETS: Final = (  # for terminals of 16 colours
    *("bright_yellow", "yellow", "bright_red", "red"),
    *("bright_magenta", "magenta", "bright_cyan", "cyan"),
)


class Cells(NamedTuple):
    """The grid as numbers; row 0 and column 0 are aces."""

    share: Floats  # [13, 13] fraction of all deals that reach this node
    full: Floats  # [13, 13] fraction of the range's weight that reaches this node, 0 to 1
    strategy: Floats  # [13, 13, actions]
    ev: Floats  # [13, 13] nan if no hand reaches this node


def class_name(row: int, column: int) -> str:
    """Return the name of a cell's hand class.

    >>> class_name(0, 1), class_name(1, 0), class_name(12, 12)
    ('AKs', 'AKo', '22')
    """
    high, low = SIDE - 1 - min(row, column), SIDE - 1 - max(row, column)
    return RANKS[high] + RANKS[low] + ("" if row == column else "s" if column > row else "o")


def cells(view: View, chosen: str | None = None) -> Cells:
    """Average the hands of every class, weighted by their reach; ``chosen``: only the hands of this range."""
    share, full = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    strategy = np.zeros((SIDE, SIDE, len(view.actions)))
    ev = np.full((SIDE, SIDE), np.nan)
    rows_by_hand = {row.hand: row for row in view.rows(chosen, by_class=True)}
    for row, column in np.ndindex(SIDE, SIDE):
        name = class_name(row, column)
        hands = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])
        full[row, column] = float(view.reach[hands].max())
        if name in rows_by_hand:
            share[row, column], strategy[row, column] = rows_by_hand[name].share, rows_by_hand[name].strategy
            ev[row, column] = np.nan if rows_by_hand[name].value is None else rows_by_hand[name].value
    return Cells(share, full, strategy, ev)


def colours(actions: list[Action]) -> list[str]:
    """Choose a colour per action: blue folds, green checks and calls, red bets, larger ones darker."""
    bets = [action.amount for action in actions if action.amount]
    kinds = {"fold": FOLD, "check": PASSIVE, "call": PASSIVE}
    return [kinds.get(action.kind) or _shade(bets.index(action.amount), len(bets)) for action in actions]


def _shade(index: int, count: int) -> str:
    """Return one of ``count`` reds, from light to dark; the middle one if ``count`` is 1."""
    at = (index / (count - 1) if count > 1 else 0.5) * (len(BETS) - 1)
    low = min(int(at), len(BETS) - 2)
    pairs = [(int(BETS[low][k : k + 2], 16), int(BETS[low + 1][k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(one + (two - one) * (at - low)):02x}" for one, two in pairs)


def palette_for(console: Console, actions: list[Action]) -> list[str] | None:
    """Choose colours of actions that differ on this console; None if it does not have enough colours."""
    if console.no_color or console.color_system is None:
        return None
    if console.color_system in ("standard", "windows"):
        count = sum(action.amount > 0 for action in actions)
        kinds, bets = {"fold": "blue", "check": "green", "call": "green"}, iter(PLAIN_BETS[:count])
        return [kinds.get(action.kind) or next(bets) for action in actions] if count <= len(PLAIN_BETS) else None
    palette = colours(actions)
    system = ColorSystem.EIGHT_BIT if console.color_system == "256" else ColorSystem.TRUECOLOR
    codes = {Color.parse(colour).downgrade(system).get_ansi_codes() for colour in palette}
    return palette if len(codes) == len(palette) else None


def print_grid(view: View, console: Console, chosen: str | None = None) -> None:
    """Print the grid in colours, each cell split among the actions, or in numbers if there are no colours."""
    palette = palette_for(console, view.actions) if view.actions else None
    console.print(_headline(view), highlight=False, soft_wrap=True)
    if palette is None:
        console.print(Text("\n".join(number_grid(view, chosen))), highlight=False, soft_wrap=True)
        return
    for line in (*_legend(view, palette), *_coloured(cells(view, chosen), palette)):
        console.print(line, highlight=False, soft_wrap=True)


def number_grid(view: View, chosen: str | None = None) -> list[str]:
    """Lines with each class and the percentages of its actions, or its EV for the player who is not to act."""
    grid = cells(view, chosen)
    labels = _labels(view) or ["EV"]
    wide = max(len(label) for label in labels)
    lines = [f"{name}: {100 * share:.1f}%" for name, share in zip(view.names, view.totals().values(), strict=True)]
    for row in range(SIDE):
        names = [class_name(row, column) for column in range(SIDE)]
        lines += ["", " " * wide + "".join(f"{name:>{CELL}}" for name in names)]
        for k, label in enumerate(labels):
            numbers = [_number(grid, row, column, k, view) for column in range(SIDE)]
            lines.append(f"{label:<{wide}}" + "".join(f"{number:>{CELL}}" for number in numbers))
    return lines


def _number(grid: Cells, row: int, column: int, action: int, view: View) -> str:
    if grid.share[row, column] <= 0.0 or (not view.actions and np.isnan(grid.ev[row, column])):
        return "."
    if not view.actions:
        return _chips(float(grid.ev[row, column]), view.pot)
    return f"{100 * grid.strategy[row, column, action]:z.0f}"


def _chips(ev: float, pot: float) -> str:
    """Format an EV in chips, with digits that depend on the pot; at most four characters in a pot below 10,000."""
    return f"{ev:z.{0 if pot >= 100 else 1 if pot >= 10 else 2}f}"


def _labels(view: View) -> list[str]:
    """Action labels, shortened if they stay unambiguous."""
    short = view.short_names
    return short if len(set(short)) == len(short) else [action.name for action in view.actions]


def _headline(view: View) -> Text:
    board = " ".join(card_name(card) for card in view.board)
    whose = "" if view.player == view.to_act else f", hands of {PLAYERS[view.player]}"
    headline = f"{board}   {view.line or 'root'}   {PLAYERS[view.to_act]} to act, pot {view.pot:.10g}{whose}"
    return Text(headline, style="bold")


def _legend(view: View, palette: list[str]) -> list[Text]:
    lines: list[Text] = []
    for name, share, colour in zip(view.names, view.totals().values(), palette, strict=True):
        lines.append(Text.assemble(("  ", Style(bgcolor=colour)), f" {name} {100 * share:.1f}%"))
    return lines


def _coloured(grid: Cells, palette: list[str]) -> list[Text]:
    lines: list[Text] = []
    for row in range(SIDE):
        line = Text()
        for column in range(SIDE):
            line.append_text(_cell(class_name(row, column), grid, row, column, palette))
            line.append(" ")
        lines.append(line)
    return lines


def _cell(name: str, grid: Cells, row: int, column: int, palette: list[str]) -> Text:
    text = Text(f" {name:<{CELL - 1}}")
    if grid.share[row, column] <= 0.0:
        text.stylize(Style(dim=True))
        return text
    ends = np.rint(CELL * np.cumsum(grid.strategy[row, column])).astype(int)
    start = 0
    for end, colour in zip(ends, palette, strict=True):
        text.stylize(Style(color=_ink(colour), bgcolor=colour), start, int(end))
        start = max(start, int(end))
    return text


def _ink(colour: str) -> str:
    """Choose black text on light colours and white text on dark ones."""
    if not colour.startswith("#"):
        return "black"
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 90 else "#ffffff"


def _under(strategy: Floats, palette: list[str]) -> str:
    """Colour behind the text on the left of a cell."""
    index = int(np.searchsorted(np.cumsum(strategy), 0.2)) if palette else 0
    return palette[min(index, len(palette) - 1)] if palette else PASSIVE


def plot_grid(view: View, path: str | Path | None = None, chosen: str | None = None) -> Any:
    """Plot the grid as stacked bars, whose height is the fraction of the class that reaches this node.

    Args:
        view: The result of ``solution.at(line)``.
        path: Path of a PNG to write. Default: none; a notebook shows the figure.
        chosen: Range to which the hands are limited.
    """
    from matplotlib.patches import Patch, Rectangle  # noqa: PLC0415 - a quarter of a second that only plots need

    grid, palette = cells(view, chosen), colours(view.actions)
    with drawing(path, (8.6, 9.4), "", 1, 1) as (axes,):
        for row, column in np.ndindex(SIDE, SIDE):
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor="#e9e9e9", edgecolor="white", linewidth=1.5))
            reached = grid.share[row, column] > 0.0
            tall, left = min(float(grid.full[row, column]), 1.0) * 0.96 if reached else 0.0, column + 0.02
            if tall > 0.0 and not palette:
                axes.add_patch(Rectangle((left, row + 0.98 - tall), 0.96, tall, facecolor=PASSIVE))
            for share, colour in zip(grid.strategy[row, column], palette, strict=True):
                if tall > 0.0 and share > 0.0:
                    axes.add_patch(Rectangle((left, row + 0.98 - tall), 0.96 * share, tall, facecolor=colour))
                    left += 0.96 * share
            ink = _ink(_under(grid.strategy[row, column], palette) if tall > TEXT else "#ffffff")
            colour = ink if reached else "#aaaaaa"
            axes.text(column + 0.07, row + 0.3, class_name(row, column), fontsize=8.5, color=colour)
            if reached and not np.isnan(grid.ev[row, column]):
                ev = _chips(float(grid.ev[row, column]), view.pot)
                axes.text(column + 0.07, row + 0.9, ev, fontsize=6.5, color=colour)
        axes.set(xlim=(0, SIDE), ylim=(SIDE, 0), aspect="equal")
        axes.axis("off")
        handles = [
            Patch(facecolor=colour, label=f"{name}: {100 * share:.1f}%")
            for name, share, colour in zip(view.names, view.totals().values(), palette, strict=True)
        ]
        if handles:
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.005), "ncols": min(len(handles), 3)}
            axes.legend(handles=handles, frameon=False, **below)
        board = " ".join(card_name(card) for card in view.board)
        whose = "" if view.player == view.to_act else f", hands of {PLAYERS[view.player].upper()}"
        title = f"{board}, {view.line or 'root'}: {PLAYERS[view.to_act].upper()} to act, pot {view.pot:.10g}{whose}"
        axes.set_title(title, fontsize=11, parse_math=False)
    return axes.figure
