"""A run's session with its shards: calls and checkpoints. Also a function that cuts a list into balanced parts.

A checkpoint is written in two phases. Every shard writes a file of its own, and then the trunk's file, which names
these files, replaces the previous one. So a run that is killed at any time leaves a whole checkpoint, old or new.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.engines.protocol import Array, Cost, Engine, Scheme
from treeplex.engines.sharded.shards import FORMAT, LEARN, RESTORE, SAVE, START, Message, Order, Shards, Stamp, payload
from treeplex.errors import ParameterError
from treeplex.tensors import CHECKPOINT, Tensors, mapped_tensors

FOLDER: Final = "shards"
"""Subfolder of a run folder into which shards write."""

PROCESS: Final = 350_000_000
"""Bytes of a worker without a game: Python, NumPy, compiled kernels. Measured on Linux."""

MANIFEST: Final = "cut"
"""Key of the list of files in the trunk's checkpoint; its value is JSON in bytes."""


class Cutting(NamedTuple):
    """Settings for cutting a game, and the transport of calls to its shards."""

    shards: Shards
    workers: int  # largest number of shards
    threads: int = 1  # threads per worker
    memory: int | None = None  # memory limit per worker in bytes; None: no limit
    report: Callable[[str], None] | None = None  # called with sentences that report progress
    run: str = ""  # hash that identifies the run


class ShardSession:
    """Session of one run with its shards.

    It counts the bytes that are sent and received, and it knows the files of the last checkpoint.
    """

    def __init__(self, shards: Shards, orders: Sequence[Order], run: str, folder: Path | None) -> None:
        self.shards, self.orders, self.run, self.folder = shards, orders, run, folder
        self.begun = 0
        self.bytes = self.passes = 0  # only passes that learn are counted
        self.checkpoint_files: list[str] = []

    def start(self, messages: Sequence[Message] | None = None) -> None:
        """Start all shards without regrets; ``messages`` has one message per shard, None: empty messages."""
        self._begin()
        nothing: Message = {}
        self.ask(0, 0, START, messages or [nothing] * len(self.orders))

    def restore(self, iteration: int, files: Sequence[Message]) -> None:
        """Restore all shards from ``files``, those of the checkpoint from which a run resumes."""
        self.checkpoint_files = [Path(file["path"]).name for file in files if file["run"] is not None]
        self._begin()
        self.ask(iteration, 0, RESTORE, [{"files": list(files)}] * len(self.orders))

    def ask(self, iteration: int, player: int, phase: str, messages: Sequence[Message]) -> list[Message]:
        """Send each shard its message and return all answers, in the order of the shards."""
        answers = self.shards.ask(Stamp(f"{self.run}/{self.begun}", iteration, player, phase), messages)
        if phase == LEARN:
            self.passes += 1
            self.bytes += sum(map(payload, messages)) + sum(map(payload, answers))
        return answers

    def save(self, iteration: int) -> Tensors:
        """Write the files of all shards and return the entry of the trunk's checkpoint that names them."""
        if self.folder is None:
            raise ParameterError("A game that is cut saves its checkpoints to the folder of its run: give out=.")
        folder = self.folder / FOLDER
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():  # delete files that the last checkpoint does not name
            if path.name not in self.checkpoint_files:
                with suppress(OSError):
                    path.unlink()
        names = [f"{iteration}-{k}.safetensors" for k in range(len(self.orders))]
        messages = [{"path": str((folder / name).absolute())} for name in names]
        self.ask(iteration, 0, SAVE, messages)
        self.checkpoint_files = names
        files = [{"name": name, "part": order.words["part"]} for name, order in zip(names, self.orders, strict=True)]
        words = json.dumps({"run": self.run, "iteration": iteration, "files": files})
        return {MANIFEST: np.frombuffer(words.encode(), dtype=np.uint8)}

    def whole_file(self, part: Sequence[int]) -> Message:
        """Describe the checkpoint of one machine, which has all parts, as a file of a shard."""
        path = (self.folder or Path()) / "checkpoint.safetensors"
        return {"path": str(path.absolute()), "part": part, "run": None}

    @property
    def bytes_per_iteration(self) -> int:
        """Bytes of arrays sent and received per iteration, measured, on average."""
        return 2 * self.bytes // max(self.passes, 1)

    @property
    def workers(self) -> str:
        """The number of workers, in words."""
        count = len(self.orders)
        return f"{count} worker{'s' * (count > 1)}"

    def describe(self, parts: str, predicted: int) -> str:
        """Describe how the game is cut, in one line."""
        memory = max(order.words["memory"] for order in self.orders)
        return f"{parts} {self.workers} of up to {sized(memory)}, {sized(predicted)} on the wire per iteration."

    def traffic(self, predicted: int) -> dict[str, int]:
        """Number of workers and bytes exchanged per iteration, as fields of the result."""
        return {
            "workers": len(self.orders),
            "bytes_per_iteration": self.bytes_per_iteration,
            "bytes_per_iteration_predicted": predicted,
        }

    def traffic_note(self, predicted: int) -> str:
        """Describe the number of workers and the bytes exchanged per iteration, in one line."""
        line = f"{self.workers}, {sized(predicted)} on the wire per iteration by count"
        return f"{line}, {sized(self.bytes_per_iteration)} measured" if self.bytes_per_iteration else line

    def _begin(self) -> None:
        self.begun += 1
        self.shards.begin(self.orders)


@dataclass(frozen=True, eq=False)
class ShardedEngine(Engine):
    """Base of the engines for trunks: properties of the engine for one machine, and a session with the shards."""

    inner: Engine  # engine for the whole game on one machine
    session: ShardSession

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Storage of the engine for one machine, which shards also use."""
        return self.inner.storage

    @property
    def counters(self) -> Mapping[str, int]:
        """As ``Engine``: bytes sent and received per iteration, measured."""
        return {"bytes_per_iteration": self.session.bytes_per_iteration}

    @property
    def cost(self) -> Cost:
        """As ``Engine``: the cost on one machine, so that the log has the same rows."""
        return self.inner.cost

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``."""
        self.inner.check(scheme)

    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """As ``Engine``."""
        return self.inner.nodes(scheme, iterations)


def files_of(tensors: Mapping[str, Array], folder: Path | None) -> list[dict[str, Any]]:
    """Files that a trunk's checkpoint names, with their paths; ValueError if there is no folder."""
    words: dict[str, Any] = json.loads(tensors[MANIFEST].tobytes())
    if folder is None:
        raise ValueError("its shards are not beside it")
    return [
        {"path": str((folder / FOLDER / Path(file["name"]).name).absolute()), "part": file["part"], "run": words["run"]}
        for file in words["files"]
    ]


@contextmanager
def opened_part(file: Message, iteration: int) -> Generator[Tensors]:
    """Map the file of a shard or of one machine into memory; ValueError if it is not that of ``iteration``."""
    whole = file["run"] is None
    with mapped_tensors(Path(file["path"]), CHECKPOINT if whole else FORMAT) as (tensors, about):
        if not whole and (about["run"] != file["run"] or list(about["part"]) != list(file["part"])):
            raise ValueError(f"{file['path']} belongs to another run")
        saved = int(tensors["state.iteration"].item())
        if saved != iteration:
            raise ValueError(f"{file['path']} is of iteration {saved}, not {iteration}")
        yield tensors


def split(work: npt.NDArray[np.integer[Any]], count: int) -> list[tuple[int, int]]:
    """Cut a list of items with sizes ``work`` into at most ``count`` runs, so that the largest is as small as possible.

    >>> split(np.array([3, 1, 1, 1, 2]), 2)
    [(0, 2), (2, 5)]
    """
    limits = range(int(work.max(initial=0)), int(work.sum()))
    least = bisect_left(limits, True, key=lambda limit: len(_packed(work, limit)) <= count)
    return _packed(work, limits.start + least)


def _packed(work: npt.NDArray[np.integer[Any]], limit: int) -> list[tuple[int, int]]:
    """Cut a list into runs of at most ``limit``, each as long as possible."""
    runs: list[tuple[int, int]] = []
    begin, total = 0, 0
    for index, size in enumerate(work.tolist()):
        if total + size > limit and index > begin:
            runs.append((begin, index))
            begin, total = index, 0
        total += size
    return [*runs, (begin, len(work))]


def sized(count: int) -> str:
    """Format a number of bytes for people.

    >>> sized(3_400_000_000)
    '3.40 GB'
    """
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"
