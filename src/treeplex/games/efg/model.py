"""What an ``.efg`` file says, as data: the title, the players and the nodes of the tree in depth-first order.

Numbers are exact fractions, as the format demands: ``0.1`` and ``1/10`` are the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

LARGEST: Final = 10**300
"""No number of a file may exceed this, so that every sum of payoffs still fits a float."""

LONGEST: Final = 10**500
"""Numerator and denominator of every number stay below this, so that exact arithmetic stays cheap."""


SUM_BITS: Final = 4096
"""The longest denominator of a sum: beyond it exact addition of hostile fractions would take forever."""


class NodeKind(Enum):
    """What happens at a node; the value is the letter that stands for it in a file."""

    CHANCE = "c"
    PLAYER = "p"
    TERMINAL = "t"


@dataclass(frozen=True, slots=True)
class EfgNode:
    """One node with everything said of it, also what the file leaves out because an earlier node has said it.

    An infoset is known by its player and number and an outcome by its number: labels are only for people, may be
    empty and may repeat. Chance moves are numbered on their own, with player 0.
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
    payoffs: tuple[Fraction, ...] = ()  # what each player gets on reaching this node; empty at the null outcome


@dataclass(frozen=True, slots=True)
class EfgFile:
    """The content of one file. ``nodes`` lists each node before its children and these in the order of its actions."""

    title: str
    players: tuple[str, ...]
    nodes: tuple[EfgNode, ...]
    comment: str = ""


def fits(value: Fraction) -> bool:
    """Whether a number is small and simple enough for a file of ours."""
    size, denominator = abs(value.numerator), value.denominator
    return size <= LARGEST * denominator and size < LONGEST and denominator < LONGEST
