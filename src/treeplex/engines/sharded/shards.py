"""A game that is cut: a trunk, which an engine iterates here, and shards below it, which workers keep.

The engine tells all shards the same thing at the same time and waits for all answers, in the order of the shards.
Whoever carries its words (``runs.transport``, ``cluster.shards``) looks into none of them.

Every call has a stamp. A shard does what it is told once: the same call again gives the same answer and changes
nothing, and a call that is not the next one is refused. Nothing is ever asked again without need: after any failure all
shards go back to the last checkpoint that all of them have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from treeplex.engines.protocol import Array, Scheme
from treeplex.errors import TreeplexError
from treeplex.tensors import Tensors, write_tensors

FORMAT: Final = "treeplex-shard-1"

Message = Mapping[str, Any]
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
    scheme: Scheme  # what iterations do: an object, since a user's rule has no name
    backend: str = "cpu"

    @property
    def gpus(self) -> int:
        """How many a worker has to itself: Ray shows it no other, so that it is the first one there."""
        return int(self.backend != "cpu")


class Shards(Protocol):
    """All shards of a run, in their order."""

    def begin(self, orders: Sequence[Order]) -> None:
        """Make those that are not there."""
        ...

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        """Tell each its own, at the same time; all answers, in order. ``LostError`` if one does not come."""
        ...

    def close(self) -> None:
        """Nothing will be asked any more."""
        ...


class LostError(TreeplexError, RuntimeError):
    """A shard, or an answer of one, is lost: all shards have to go back to the last checkpoint."""


class OutOfStepError(TreeplexError, RuntimeError):
    """A shard was told something that does not come next."""


class Shard(ABC):
    """Keeps what is learnt below a cut; see ``Stamp`` for what it is told. ``part``: what of the game, as words."""

    def __init__(self, part: list[int]) -> None:
        self.words = part
        self.iteration, self.turn = 0, 0  # whole iterations, and whose pass is next

    def do(self, stamp: Stamp, message: Message) -> Message:
        """Carry out a call that is made for the first time."""
        phase = stamp.phase.partition(" ")[0]
        if phase == START:
            self.iteration, self.turn = 0, 0
            self.start(message)
        elif phase == RESTORE:
            self.iteration, self.turn = stamp.iteration, 0
            self.restore(message["files"])
        elif phase == SAVE:
            about = {"run": stamp.run.partition("/")[0], "iteration": self.iteration, "part": self.words}
            write_tensors(Path(message["path"]), FORMAT, self.tensors(), about)
        elif phase == LEARN:
            if (stamp.iteration, stamp.player) != (self.iteration + 1, self.turn):
                raise OutOfStepError(
                    f"The next pass is that of player {self.turn} in iteration {self.iteration + 1}, got {stamp}."
                )
            answer = self.learn(stamp.player, stamp.iteration, message)
            self.iteration, self.turn = self.iteration + stamp.player, 1 - stamp.player
            return answer
        else:
            return self.answer(phase, stamp.player, message)
        return {}

    @abstractmethod
    def start(self, message: Message) -> None:
        """Begin without anything learnt."""

    @abstractmethod
    def restore(self, files: Sequence[Message]) -> None:
        """Go back to the iteration that these files are of."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """What is learnt, for a file of its own."""

    @abstractmethod
    def learn(self, player: int, t: int, message: Message) -> Message:
        """One player's half of iteration ``t``."""

    @abstractmethod
    def answer(self, phase: str, player: int, message: Message) -> Message:
        """Any other phase."""


def payload(message: Message) -> int:
    """Bytes of the arrays of a call or an answer."""
    return sum(getattr(value, "nbytes", 0) for value in message.values())
