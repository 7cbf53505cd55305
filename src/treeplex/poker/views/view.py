"""A decision of a solved spot for people: strategy, EV and equity of every hand, as a selection of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa

from treeplex.arrays import Floats
from treeplex.arrow import Table, table
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.cards import HAND_CARDS, RANKS, card_name, hand_name
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.spot import PLAYERS
from treeplex.html import html_table
from treeplex.poker.views.node import Row, Summary, hand_of

INDIFFERENT: Final = 0.001  # smallest fraction of the pot: actions whose EVs differ by less are equally good
MOST_SHOWN: Final = 20  # classes of hands in a notebook
ORDERS: Final = ("class", "reach", "ev", "equity")
"""Orders of rows, besides the frequency of an action."""


@dataclass(frozen=True, eq=False)
class View:
    """One player's hands at a decision; arrays over the 1,326 hands, zero or nan where a hand is impossible.

    The waiting player has no actions here, and so no strategy and no EV per action.
    """

    line: str
    board: tuple[int, ...]
    pot: float
    player: int  # owner of the hands
    to_act: int  # the player who decides
    actions: list[Action]
    names: list[str]  # actions with their size in per cent of the pot
    reach: Floats  # [1326] how often the player gets here with a hand, times its weight in the range
    opponent: Floats  # [1326] reach of the other player
    share: Floats  # [1326] fraction of all deals that get here; sums to 1
    strategy: Floats  # [actions, 1326]
    ev: Floats  # [actions, 1326] chips won from here on, playing on well: ``poker.views.continuation``
    values: Floats  # [1326] chips won from here on, acting by the strategy and playing on well
    played: Floats  # [1326] chips won from here on, playing the strategy at every decision to come
    equity: Floats  # [1326] fraction of the pot if nobody bets any more
    accuracy: float = INDIFFERENT  # fraction of the pot: actions whose EVs differ by less are equally good

    def __repr__(self) -> str:
        board, where = " ".join(card_name(card) for card in self.board), self.line or "root"
        plays = ", ".join(f"{name} {100 * share:.1f}%" for name, share in self.totals().items())
        about = f"{PLAYERS[self.player]}, pot {self.pot:.10g}, {len(self.hands())} hands"
        text = f"View({board}, {where}: {about}; {plays})"
        return text if len(text) < 280 else text[:275] + " ...)"

    def _repr_html_(self) -> str:
        """Return the notebook's table of classes of hands, the most frequent first."""
        rows = [
            (row.hand, *(f"{100 * x:.0f}%" for x in row.strategy), _words(row.value), _words(row.equity))
            for row in self.rows(sort="reach", most=MOST_SHOWN, by_class=True)
        ]
        return html_table(repr(self), ("hand", *self.names, "EV", "equity"), rows)

    def __getitem__(self, name: str) -> Row:
        """Return the row of a hand such as ``"AsAh"``, or the summed row of a class or range such as ``"AKs"``."""
        hands = self.hands(name)
        if not hands:
            raise ParameterError(f"No hand of {name!r:.80} is in {PLAYERS[self.player]}'s range at this decision.")
        return self._row(hand_name(hands[0]), hands) if len(hands) == 1 else self._row(name, hands)

    def totals(self) -> dict[str, float]:
        """Return the frequency of each action over all hands."""
        shares = (self.strategy * self.share).sum(axis=1)
        return {action.name: float(x) for action, x in zip(self.actions, shares, strict=True)}

    @property
    def short_names(self) -> list[str]:
        """Action names with bets in per cent of the pot only: ``bet 50%``; ``all-in``."""
        pairs = zip(self.actions, self.names, strict=True)
        return [a.kind if a.kind == "all-in" else n.replace(f" {a.amount} (", " ").rstrip(")") for a, n in pairs]

    def hands(self, chosen: str | None = None) -> list[int]:
        """Return the hands that get here, sorted by class; only those of the range ``chosen``, if it is set."""
        here = self.share > 0.0
        if chosen is not None:
            here &= parse_range(chosen, "hand") > 0.0
        return sorted(np.flatnonzero(here).tolist(), key=_by_class)

    def value(self, hand: int) -> float:
        """Return the chips that a hand wins from here on, acting by its strategy."""
        return float(self.values[hand])

    @property
    def range_ev(self) -> float | None:
        """Chips that the player wins if all hands play their strategies; both players' values add up to the pot."""
        return average(self.played, self.share)

    @property
    def tolerance(self) -> float:
        """Chips within which two actions are equally good."""
        return self.accuracy * self.pot

    def rows(
        self, chosen: str | None = None, sort: str = "class", most: int | None = None, *, by_class: bool = False
    ) -> list[Row]:
        """Return rows of the hands that get here, or of their classes: at most ``most``, of the range ``chosen``.

        ``sort``: "class" (aces first), or, largest first, "reach", "ev", "equity" or the frequency of an action.
        """
        key = self._key(sort)
        hands = self.hands(chosen)
        if not by_class:
            return sorted(self._hand_rows(hands), key=key)[:most]
        groups: dict[str, list[int]] = {}
        for hand in hands:
            groups.setdefault(class_of(hand), []).append(hand)
        return sorted((self._row(name, hands) for name, hands in groups.items()), key=key)[:most]

    def table(self, rows: Sequence[Row] | None = None) -> Table:
        """Return a table with one row per hand and action; for the waiting player, one per hand."""
        names: list[str | None] = [action.name for action in self.actions] or [None]
        empty: tuple[None, ...] = () if self.actions else (None,)
        flat = [
            (row, each)
            for row in self._all(rows)
            for each in zip(names, row.strategy or empty, row.ev or empty, strict=True)
        ]
        columns = {
            "hand": [row.hand for row, _ in flat],
            "action": [name for _, (name, _, _) in flat],
            "reach": [row.reach for row, _ in flat],
            "share": [row.share for row, _ in flat],
            "probability": [probability for _, (_, probability, _) in flat],
            "ev": [ev for _, (_, _, ev) in flat],
            "value": [row.value for row, _ in flat],
            "equity": [row.equity for row, _ in flat],
            "indifferent": [row.indifferent for row, _ in flat],
        }
        numbers = dict.fromkeys(("reach", "share", "probability", "ev", "value", "equity"), pa.float64())
        return table(columns, {"hand": pa.string(), "action": pa.string(), "indifferent": pa.bool_()} | numbers)

    def summary(self, rows: Sequence[Row] | None = None) -> Summary:
        """Return the JSON that ``treeplex holdem show --json`` prints."""
        return {
            "line": self.line,
            "board": " ".join(card_name(card) for card in self.board),
            "pot": self.pot,
            "player": PLAYERS[self.player],
            "to_act": PLAYERS[self.to_act],
            "actions": [action.name for action in self.actions],
            "totals": list(self.totals().values()),
            "tolerance": self.tolerance,
            "hands": [hand_of(row) for row in self._all(rows)],
        }

    def _all(self, rows: Sequence[Row] | None) -> Sequence[Row]:
        return self.rows() if rows is None else rows

    def _hand_rows(self, hands: list[int]) -> list[Row]:
        """Return the rows of many single hands at once."""
        best = np.where(np.isnan(self.ev), -np.inf, self.ev).max(axis=0, initial=-np.inf)
        alike = (self.ev >= best - self.tolerance).sum(axis=0) > 1
        columns = [self.reach, self.share, *self.strategy, *self.ev, self.values, self.equity]
        count, rows = len(self.actions), list[Row]()
        for hand, same, row in zip(hands, alike[hands].tolist(), np.stack(columns)[:, hands].T.tolist(), strict=True):
            known = [None if math.isnan(x) else x + 0.0 for x in row]
            reach, share, strategy = row[0], row[1], tuple(x or 0.0 for x in known[2 : 2 + count])
            ev, (value, equity) = tuple(known[2 + count : 2 + 2 * count]), known[2 + 2 * count :]
            rows.append(Row(hand_name(hand), reach, share, strategy, ev, value, equity, same))
        return rows

    def _row(self, name: str, hands: list[int]) -> Row:
        share = self.share[hands]
        ev = tuple(_mean(values[hands], share) for values in self.ev)
        good = [x for x in ev if x is not None]
        return Row(
            name,
            float(self.reach[hands].sum()),
            float(share.sum()),
            tuple(_mean(played[hands], share) or 0.0 for played in self.strategy),
            ev,
            _mean(self.values[hands], share),
            _mean(self.equity[hands], share),
            sum(x >= max(good) - self.tolerance for x in good) > 1,
        )

    def _key(self, sort: str) -> Callable[[Row], float]:
        """Return the sort key of rows; ties stay in the order of classes."""
        fields = {"reach": "reach", "ev": "value", "equity": "equity"}
        if sort in fields:
            return lambda row: -_or_least(getattr(row, fields[sort]))
        if sort == "class":
            return lambda _: 0.0
        action = self._action(sort)
        return lambda row: -row.strategy[action]

    def _action(self, word: str) -> int:
        """Return the action that a word names: ``bet 50``, ``bet 50%``, or ``bet`` if there is only one."""
        plain = " ".join(word.lower().split())
        kinds, amounts = ([getattr(action, field) for action in self.actions] for field in ("kind", "name"))
        for names in (amounts, self.names, self.short_names, kinds):
            if names.count(plain) == 1:
                return names.index(plain)
        legal = ", ".join([*ORDERS, *amounts])
        raise ParameterError(f"Hands are sorted by {legal}; got {word!r:.80}.")


@cache
def class_of(hand: int) -> str:
    """Return the class of a hand.

    >>> class_of(0), class_of(1325)
    ('22', 'AA')
    """
    (high, low), (first, second) = HAND_CARDS[hand] // 4, HAND_CARDS[hand] % 4
    return RANKS[high] + RANKS[low] + ("" if high == low else "s" if first == second else "o")


@cache
def _by_class(hand: int) -> tuple[int, ...]:
    """Return a sort key: aces first, pairs before suited before offsuit hands, then by suits."""
    high, low = (int(card) for card in HAND_CARDS[hand])
    return (-(high // 4), -(low // 4), int(high % 4 != low % 4), -(high % 4), -(low % 4))


def average(values: Floats, weights: Floats) -> float | None:
    """Return the weighted mean of the known values, or ``None`` if none is known."""
    known = ~np.isnan(values) & (weights > 0.0)
    total = float(weights[known].sum())
    return float(values[known] @ weights[known]) / total if total > 0.0 else None


def known_or_none(x: float) -> float | None:
    """Return a number, or ``None`` if it is not finite."""
    return float(x) if np.isfinite(x) else None


def _mean(values: Floats, share: Floats) -> float | None:
    """Return the weighted mean of the known values, without negative zeros."""
    known = ~np.isnan(values)
    if not known.any():
        return None
    if len(values) == 1:
        return float(values[0]) + 0.0
    return float(values[known] @ share[known] / share[known].sum()) + 0.0


def _or_least(x: float | None) -> float:
    return -math.inf if x is None else x


def _words(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}"
