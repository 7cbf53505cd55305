"""The one schema of a node of a solved spot: JSON of the CLI, the web and reports.

A text beside a type (``Annotated``) is the field's description in the schema of the web.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict, cast

from treeplex.arrays import Floats

Player = Literal["oop", "ip"]


@dataclass(frozen=True)
class Row:
    """A hand, or a class of hands, at a decision; ``None``: not known, because it never meets the opponent here."""

    hand: str
    reach: float  # of its weight in the range; of a class, the sum over its hands
    share: float  # of all deals that get here
    strategy: tuple[float, ...]  # how often each action is taken
    ev: tuple[float | None, ...]  # of each action: chips taken of the pot from here on, if the hand plays on well
    value: float | None  # the same, acting by its strategy
    equity: float | None  # of the pot if nobody bets any more
    indifferent: bool  # are two actions or more as good as the best, within the view's ``tolerance``?


_Class = TypedDict("_Class", {"class": NotRequired[str]})


class Hand(_Class):
    """A hand, or a class of hands: a ``Row`` and what the web shows beside it."""

    hand: NotRequired[str]
    reach: float
    share: float
    strategy: Sequence[float]
    ev: Sequence[float | None]
    value: float | None
    equity: float | None
    indifferent: bool
    realisation: NotRequired[float | None]
    full: NotRequired[Annotated[float, "The fraction of a class's weight in the range that gets here."]]
    best: NotRequired[Annotated[int | None, "The action of the hand's best response."]]
    best_ev: NotRequired[float | None]
    gain: NotRequired[float | None]


class Summary(TypedDict):
    """A decision, as ``treeplex holdem show --json`` prints it."""

    line: str
    board: str
    pot: float
    player: str
    to_act: str
    actions: list[str]
    totals: list[float]
    tolerance: float
    hands: list[Hand]


class NodeAction(TypedDict):
    """An action of a decision."""

    name: str
    label: str
    short: str
    colour: str
    line: str
    frequency: NotRequired[float]
    ev: NotRequired[float | None]


class Range(TypedDict):
    """All hands of a player at a node."""

    combos: float
    ev: float | None
    equity: float | None
    realisation: float | None


class Crumb(TypedDict):
    """A decision or a card on the path to a node."""

    kind: Literal["decision", "chance"]
    line: str
    card: NotRequired[str]
    player: NotRequired[str]
    pot: NotRequired[float]
    actions: NotRequired[list[NodeAction]]
    taken: NotRequired[int]


class Node(TypedDict):
    """A node of a solved spot."""

    kind: Literal["decision", "chance", "terminal"]
    line: Annotated[str, "Canonical: use it in links."]
    board: list[str]
    street: str
    pot: float
    stacks: list[float]
    to_call: float
    crumbs: list[Crumb]
    to_act: NotRequired[Player]
    player: NotRequired[Player]
    actions: NotRequired[list[NodeAction]]
    tolerance: NotRequired[float]
    hands: NotRequired[list[Hand]]
    classes: NotRequired[Annotated[list[Hand | None], "169, row by row, aces first."]]
    ranges: NotRequired[dict[str, Range]]
    locked: NotRequired[bool]
    gain: NotRequired[Annotated[float, "What a best response from here on gains."]]
    cards: NotRequired[list[dict[str, str]]]
    result: NotRequired[str]


def hand_of(row: Row) -> Hand:
    """Return a hand as the CLI prints it."""
    return cast(Hand, dict(vars(row)))


def node_hand(row: Row, pot: float) -> Hand:
    """Return a hand of a node."""
    high, first, low, second = row.hand
    name = high + low + ("" if high == low else "s" if first == second else "o")
    return {**hand_of(row), "class": name, "realisation": realisation(row.value, row.equity, pot)}


def node_class(row: Row, pot: float, full: float) -> Hand:
    """Return a class of hands of a node."""
    part = realisation(row.value, row.equity, pot)
    shown: Hand = {**hand_of(row), "class": row.hand, "realisation": part, "full": full}
    del shown["hand"]
    return shown


def range_of(reach: Floats, ev: float | None, equity: float | None, pot: float) -> Range:
    """Return a player's range at a node."""
    return {"combos": float(reach.sum()), "ev": ev, "equity": equity, "realisation": realisation(ev, equity, pot)}


def realisation(ev: float | None, equity: float | None, pot: float) -> float | None:
    """EV as a fraction of what equity would take of the pot."""
    return None if ev is None or not equity else ev / (equity * pot)
