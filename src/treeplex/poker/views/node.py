"""The one schema of a node of a solved spot: JSON of the CLI, the web and reports.

The text of an ``Annotated`` type is the field's description in the OpenAPI schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict, cast

from treeplex.arrays import Floats

Player = Literal["oop", "ip"]


@dataclass(frozen=True)
class Row:
    """A hand, or a class of hands, at a decision; ``None``: unknown, since the hand never faces the opponent here."""

    hand: str
    reach: float  # fraction of its weight in the range; for a class, the sum over its hands
    share: float  # fraction of all deals that get here
    strategy: tuple[float, ...]  # how often each action is taken
    ev: tuple[float | None, ...]  # per action: chips won from the pot from here on, if the hand plays on well
    value: float | None  # chips won from the pot from here on, acting by its strategy
    equity: float | None  # fraction of the pot if nobody bets any more
    indifferent: bool  # two or more actions are as good as the best, within the view's ``tolerance``


_Class = TypedDict("_Class", {"class": NotRequired[str]})


class Hand(_Class):
    """A hand, or a class of hands: a ``Row`` with the extra fields of the web page."""

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
    """The JSON of a decision that ``treeplex holdem show --json`` prints."""

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
    """An action of a decision, and the line it leads to."""

    name: str
    label: str
    short: str
    colour: str
    line: str
    frequency: NotRequired[float]
    ev: NotRequired[float | None]


class Range(TypedDict):
    """Totals over a player's hands at a node."""

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
    """Return a row as the dictionary that the CLI prints."""
    return cast(Hand, dict(vars(row)))


def node_hand(row: Row, pot: float) -> Hand:
    """Return a row of one hand as a dictionary for the web."""
    high, first, low, second = row.hand
    name = high + low + ("" if high == low else "s" if first == second else "o")
    return {**hand_of(row), "class": name, "realisation": realisation(row.value, row.equity, pot)}


def node_class(row: Row, pot: float, full: float) -> Hand:
    """Return a row of a class as a dictionary for the web; ``full`` is the fraction of its weight that gets here."""
    part = realisation(row.value, row.equity, pot)
    shown: Hand = {**hand_of(row), "class": row.hand, "realisation": part, "full": full}
    del shown["hand"]
    return shown


def range_of(reach: Floats, ev: float | None, equity: float | None, pot: float) -> Range:
    """Return the totals of a player's range at a node."""
    return {"combos": float(reach.sum()), "ev": ev, "equity": equity, "realisation": realisation(ev, equity, pot)}


def realisation(ev: float | None, equity: float | None, pot: float) -> float | None:
    """Return EV as a fraction of equity times the pot."""
    return None if ev is None or not equity else ev / (equity * pot)
