"""Protocol of a game that is cut: a trunk, which an engine iterates here, and shards below it on workers.

The engine calls all shards at the same time, in the same phase, and waits for all answers, in the order of the shards.
Transports (``runs.transport``, ``cluster.shards``) do not look into messages.

Every call has a stamp. A shard runs each call once: if the same call is repeated, it returns the same answer and
changes nothing. It rejects a call that is not the next one. A failed call is not repeated. Instead all shards go back
to the last checkpoint that all of them have.
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
"""Content of a call or of an answer: arrays and words by name."""


class Stamp(NamedTuple):
    """Identity of a call."""

    run: str  # hash of the run, and the number of times its shards have begun
    iteration: int
    player: int
    phase: str  # START, RESTORE, SAVE, or the kind of a pass


START, RESTORE, SAVE, LEARN, FINISH = "start", "restore", "save", "learn", "finish"
BEST, VALUE, GATHER = "best", "value", "gather"
"""Phases of calls.

START begins without regrets, RESTORE goes back to a checkpoint, SAVE writes one. LEARN is a pass that learns. FINISH
does the work that is left after the last of several such passes. BEST is a pass for best responses, VALUE one for the
values of strategies. GATHER fetches strategies.
"""

BOARDS, SEQUENCES = "boards", "sequences"
"""Kinds of shards: of hold'em spots, and of compiled games."""


class Order(NamedTuple):
    """Description of a shard, from which a worker makes it."""

    kind: str  # BOARDS or SEQUENCES
    words: Mapping[str, Any]  # JSON values
    arrays: Mapping[str, Array]
    scheme: Scheme  # definition of iterations; an object, since a user's rule has no name
    backend: str = "cpu"

    @property
    def gpus(self) -> int:
        """Number of GPUs that a worker has to itself; Ray hides all others, so it is device 0 on the worker."""
        return int(self.backend != "cpu")


class Shards(Protocol):
    """All shards of a run, in a fixed order."""

    def begin(self, orders: Sequence[Order]) -> None:
        """Make the shards that do not exist yet."""
        ...

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        """Send each shard its message at the same time and return all answers in order; ``LostError`` if one fails."""
        ...

    def close(self) -> None:
        """Release the shards; there are no further calls."""
        ...


class LostError(TreeplexError, RuntimeError):
    """A shard or its answer is lost, so all shards have to go back to the last checkpoint."""


class OutOfStepError(TreeplexError, RuntimeError):
    """A shard received a call that is not the next one."""


class Shard(ABC):
    """State of the game below a cut; see ``Stamp`` for calls. ``part``: the shard's part of the game, in numbers."""

    def __init__(self, part: list[int]) -> None:
        self.words = part
        self.iteration, self.turn = 0, 0  # number of whole iterations, and the player of the next pass

    def do(self, stamp: Stamp, message: Message) -> Message:
        """Run a call that is made for the first time, and return the answer."""
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
        """Begin without regrets, with uniform strategies."""

    @abstractmethod
    def restore(self, files: Sequence[Message]) -> None:
        """Go back to the iteration of these files."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """Arrays of the shard's state, for a file of its own."""

    @abstractmethod
    def learn(self, player: int, t: int, message: Message) -> Message:
        """Run one player's half of iteration ``t`` and return the answer."""

    @abstractmethod
    def answer(self, phase: str, player: int, message: Message) -> Message:
        """Run any other phase and return the answer."""


def payload(message: Message) -> int:
    """Number of bytes of the arrays of a call or an answer."""
    return sum(getattr(value, "nbytes", 0) for value in message.values())
