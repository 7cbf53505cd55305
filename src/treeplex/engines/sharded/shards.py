"""A game that is cut: a trunk, which an engine iterates here, and shards below it, which workers keep.

The engine tells all shards the same thing at the same time and waits for all answers, in the order of the shards.
Whoever carries its words (``runs.transport``, ``cluster.shards``) looks into none of them.

Every call has a stamp. A shard does what it is told once: the same call again gives the same answer and changes
nothing, and a call that is not the next one is refused. Nothing is ever asked again without need: after any failure all
shards go back to the last checkpoint that all of them have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from treeplex.engines.protocol import Array
from treeplex.errors import TreeplexError

Given = Mapping[str, Any]
"""What a call brings, and what is answered: arrays and words by name."""


class Stamp(NamedTuple):
    """Which call it is."""

    run: str  # which run, and how often its shards have begun anew
    iteration: int
    player: int
    phase: str  # START, RESTORE, SAVE, or what a pass does


START, RESTORE, SAVE, LEARN, FINISH = "start", "restore", "save", "learn", "finish"
BEST, VALUE, GATHER = "best", "value", "gather"
"""Phases: begin without regrets, go back to a checkpoint, write one; passes that learn, and what is left to do after
the last of some; passes that respond best, or play; strategies to be fetched."""


BOARDS, SEQUENCES = "boards", "sequences"
"""Kinds of shards."""


class Order(NamedTuple):
    """What a shard is made of."""

    kind: str  # of shard: BOARDS or SEQUENCES
    words: Mapping[str, Any]  # as JSON has them
    arrays: Mapping[str, Array]
    backend: str = "cpu"
    scheme: Any = None  # what iterations do, of SEQUENCES: an object, since a user's rule has no name

    @property
    def needs_gpu(self) -> bool:
        """Must the worker have a GPU?"""
        return self.backend != "cpu"


class Shard(Protocol):
    """Keeps what is learnt below a cut; see ``Stamp`` for what it is told."""

    def do(self, stamp: Stamp, given: Given) -> Given:
        """Carry out a call that is made for the first time."""
        ...


class Shards(Protocol):
    """All shards of a run, in their order."""

    def begin(self, orders: Sequence[Order]) -> None:
        """Make those that are not there."""
        ...

    def ask(self, stamp: Stamp, given: Sequence[Given]) -> list[Given]:
        """Tell each its own, at the same time; all answers, in order. ``LostError`` if one does not come."""
        ...

    def close(self) -> None:
        """Nothing will be asked any more."""
        ...


class LostError(TreeplexError, RuntimeError):
    """A shard, or an answer of one, is lost: all shards have to go back to the last checkpoint."""


class OutOfStepError(TreeplexError, RuntimeError):
    """A shard was told something that does not come next."""


def in_step(stamp: Stamp, iteration: int, turn: int) -> None:
    """Refuse a pass that learns if it is not the next one, after ``iteration`` whole ones."""
    if (stamp.iteration, stamp.player) != (iteration + 1, turn):
        raise OutOfStepError(f"The next pass is that of player {turn} in iteration {iteration + 1}, got {stamp}.")


def payload(given: Given) -> int:
    """Bytes of the arrays of a call or an answer."""
    return sum(getattr(value, "nbytes", 0) for value in given.values())
