"""Walks over the whole history tree, and two ways to leave parts of it out."""

from __future__ import annotations

from typing import NamedTuple, Protocol

NEVER = -1.0
"""The threshold of a traversal that does not prune by regret."""


class Traversal(Protocol):
    """What the walking kernels are told."""

    @property
    def partial(self) -> bool:
        """Skip a subtree that neither player's opponent reaches?"""
        ...

    @property
    def threshold(self) -> float:
        """Prune an action by its regret if about so many iterations will be skipped; ``NEVER``: not at all."""
        ...


class Full(NamedTuple):
    """Enter every history."""

    partial: bool = False
    threshold: float = NEVER


class Partial(NamedTuple):
    """Skip a subtree where the opponent's reach is zero: it changes nothing. Section 1 of Brown & Sandholm (2015)."""

    partial: bool = True
    threshold: float = NEVER


class RegretBased(NamedTuple):
    """Skip also what lies behind an action of negative regret, until (9) says that it could have become positive.

    Section 4 of Brown & Sandholm (2015); ``threshold``: equation (10), 25 in the paper.
    """

    partial: bool = True
    threshold: float = 25.0
