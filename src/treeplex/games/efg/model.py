"""Content of an ``.efg`` file: the title, the players and the nodes of the tree in depth-first order.

Numbers are exact fractions, as the format requires: ``0.1`` and ``1/10`` are the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

LARGEST: Final = 10**300
"""Largest number in a file, so that every sum of payoffs still fits a float."""

LONGEST: Final = 10**500
"""Bound of the numerator and denominator of every number, so that exact arithmetic stays cheap."""


SUM_BITS: Final = 4096
"""Largest number of bits of a sum's denominator, beyond which adding hostile fractions exactly takes too long."""


class NodeKind(Enum):
    """Kind of a node; the value is its letter in a file."""

    CHANCE = "c"
    PLAYER = "p"
    TERMINAL = "t"


@dataclass(frozen=True, slots=True)
class EfgNode:
    """One node with its complete description, including the parts that a file may omit after an earlier node.

    Player and number identify an infoset, and its number identifies an outcome. Labels are only for people, may be
    empty and may repeat. Infosets of chance have their own numbers, with player 0.
    """

    kind: NodeKind
    label: str = ""
    player: int = 0  # counted from 1; 0 at chance and terminal nodes
    infoset: int = 0  # 0 at terminal nodes
    infoset_label: str = ""
    actions: tuple[str, ...] = ()
    probabilities: tuple[Fraction, ...] = ()  # of the actions, at chance nodes only
    outcome: int = 0  # 0 is the null outcome
    outcome_label: str = ""
    payoffs: tuple[Fraction, ...] = ()  # each player's payoff on reaching this node; empty at the null outcome


@dataclass(frozen=True, slots=True)
class EfgFile:
    """Content of one file. ``nodes`` has each node before its children, which are in the order of its actions."""

    title: str
    players: tuple[str, ...]
    nodes: tuple[EfgNode, ...]
    comment: str = ""


def fits(value: Fraction) -> bool:
    """Whether a number is small and simple enough for a file."""
    size, denominator = abs(value.numerator), value.denominator
    return size <= LARGEST * denominator and size < LONGEST and denominator < LONGEST
