"""The shards of a cut game as actors of a Ray cluster, placed by memory.

Ray executes a call of an actor at most once, but a call that fails may have been executed. So no call is repeated.
Any failure is a ``LostError``, after which all shards begin anew from the last checkpoint. Workers that are gone are
replaced first.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, Final

import numpy as np

from treeplex.cluster.connect import nodes
from treeplex.engines.sharded.session import Cutting
from treeplex.engines.sharded.shards import LostError, Message, Order, OutOfStepError, Stamp, payload
from treeplex.errors import Note, ParameterError, TreeplexError, quoted, within
from treeplex.runs.transport import ShardProxy
from treeplex.version import __version__

PLACING: Final = 120.0
"""Seconds in which workers must be ready: Ray may have to wait for a node, and a worker to load its part of a game."""

MESSAGE: Final = 90_000
"""Bytes that go in Ray's own messages, which hold 100 KiB. Larger arrays go through the object store, with extra calls:
a pass over two workers of one machine, with 0.3 MB from each, took 5.6 ms there and 2.7 ms in messages."""

PIECES: Final = 4
"""Number of messages of an answer. From twice this number on, 0.7 MB, the object store is as fast."""

UNITS: Final = {"": 1, "B": 1} | {
    f"{letter}{mark}B": base**power
    for power, letter in enumerate("KMGT", 1)
    for mark, base in (("", 1000), ("I", 1024))
}


class RayShards:
    """All shards of a run, each on its own worker."""

    def __init__(self, module: ModuleType, threads: int) -> None:
        self._ray, self._threads = module, threads
        self._actors: list[Any] = []
        self._calls: list[Any] = []  # of each actor, ready to be sent
        self.processes: dict[int, int] = {}  # by shard: its process number

    def begin(self, orders: Sequence[Order]) -> None:
        """As ``Shards``: workers that are still alive stay, with the game that they have loaded."""
        self._actors = self._actors or [None] * len(orders)
        for k, actor in enumerate(self._actors):
            if actor is not None and not self._alive(actor):
                self._actors[k] = None
        new = {k: self._new(order) for k, order in enumerate(orders) if self._actors[k] is None}
        ready: dict[Any, int] = {actor.ready.remote(): k for k, actor in new.items()}
        until = time.monotonic() + PLACING
        late = [k for reference, k in ready.items() if not self._in_time(reference, k, until)]
        if late:
            for actor in new.values():
                self._ray.kill(actor)
            need, gpu = max(orders[k].words["memory"] for k in late), ", a GPU" * orders[0].gpus
            raise LostError(
                f"{len(late)} of {len(orders)} workers could not be scheduled within {PLACING:.0f} s: each takes"
                f" {self._threads} CPU{'s' * (self._threads > 1)}{gpu} and {need / 1e9:.2f} GB; see: ray status."
            )
        for k, actor in new.items():
            self._actors[k] = actor
        self._calls = [actor.call.options(num_returns=PIECES) for actor in self._actors]

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        """As ``Shards``: a large message to all of them is sent once to each node."""
        try:
            sent = {id(own): self._sent(own) for own in messages}
            replies = [
                call.remote(tuple(stamp), sent[id(own)]) for call, own in zip(self._calls, messages, strict=True)
            ]
        except self._ray.exceptions.RayError as error:
            raise LostError(f"A call could not be sent ({_words(error)}).") from error
        return [whole(self._answer(k, references)) for k, references in enumerate(replies)]

    def close(self) -> None:
        """As ``Shards``."""
        for actor in self._actors:
            if actor is not None:
                with suppress(Exception):
                    self._ray.kill(actor)
        self._actors, self._calls = [], []

    def _sent(self, message: Message) -> Any:
        """Put the message into the call itself if it fits there, else into the object store."""
        return dict(message) if payload(message) <= MESSAGE else self._ray.put(dict(message))

    def _new(self, order: Order) -> Any:
        remote = self._ray.remote(ShardWorker).options(
            num_cpus=self._threads,
            num_gpus=order.gpus,
            memory=order.words["memory"],
            max_restarts=0,
            max_task_retries=0,
        )
        return remote.remote(order, __version__)

    def _in_time(self, reference: object, k: int, until: float) -> bool:
        """Wait for an answer; return whether it has come in time."""
        done, _ = self._ray.wait([reference], timeout=max(until - time.monotonic(), 0.0))
        if done:
            self.processes[k] = self._answer(k, reference)
        return bool(done)

    def _alive(self, actor: Any) -> bool:
        try:
            return bool(self._ray.get(actor.ready.remote()))
        except self._ray.exceptions.RayError:
            return False

    def _answer(self, k: int, reference: object) -> Any:
        """Return an answer, or raise an error of the worker's own or ``LostError``."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            inner: Any = error.cause
            if isinstance(inner, TreeplexError | ValueError | KeyError) and not isinstance(inner, OutOfStepError):
                raise inner from error
            raise LostError(f"Worker {k} has failed ({_words(inner)}).") from error
        except self._ray.exceptions.RayError as error:
            raise LostError(f"Worker {k} is lost ({_words(error)}).") from error


class ShardWorker:
    """Actor that runs one shard in its own process."""

    def __init__(self, order: Order, version: str) -> None:
        self._proxy = ShardProxy(order, version)

    def ready(self) -> int:
        """Return the number of the process, once its part of the game is loaded."""
        return os.getpid()

    def call(self, stamp: tuple[Any, ...], message: Message) -> tuple[Message, ...]:
        """Call the shard as ``ShardProxy`` does, and return the answer in pieces."""
        return pieces(self._proxy.call(Stamp(*stamp), message))


def pieces(answer: Message) -> tuple[Message, ...]:
    """Split an answer, arrays by name, into ``PIECES`` pieces; a very small or large one is all in the first."""
    if not MESSAGE < payload(answer) <= PIECES * MESSAGE:
        return answer, *({} for _ in range(PIECES - 1))
    cut = {name: np.array_split(array, PIECES) for name, array in answer.items()}
    return tuple({name: parts[k] for name, parts in cut.items()} for k in range(PIECES))


def whole(answer: Sequence[Message]) -> Message:
    """Join the pieces of an answer.

    >>> {name: array.tolist() for name, array in whole([{"a": np.arange(2)}, {"a": np.arange(1)}]).items()}
    {'a': [0, 1, 0]}
    """
    first, *rest = answer
    if not any(rest):
        return first
    return {name: np.concatenate([piece[name] for piece in answer]) for name in first}


@contextmanager
def sharding(
    module: ModuleType, workers: int | None, threads: int, worker_memory: str | int | None, *, gpus: bool = False
) -> Generator[Cutting]:
    """Start workers for a game that will be cut, with a GPU each if ``gpus``; they end with the context."""
    memory, each, there = bytes_of(worker_memory), max(threads, 1), nodes(module)
    count = None if workers is None else within(int, "workers", workers, "an integer >= 1", 1)
    cpus, cards = sum(int(node.cpus) for node in there), sum(int(node.gpus) for node in there)
    if gpus and (count or 1) > cards:
        raise ParameterError(
            f"With backend=cuda every worker takes a GPU, and the cluster has {cards}, got {count or 1}"
            f" worker{'s' * (count not in (None, 1))}; give fewer workers, or backend=cpu."
        )
    if count is None:
        count = max(min(cpus // each, cards if gpus else cpus), 1)
    elif count * each > cpus:
        raise ParameterError(
            f"The cluster has {cpus} CPUs, but {count} workers with {each} thread{'s' * (each > 1)} each take"
            f" {count * each}; give fewer workers or fewer threads."
        )
    shards = RayShards(module, each)
    try:
        yield Cutting(shards, count, each, memory, _note)
    finally:
        shards.close()


def bytes_of(amount: str | int | None) -> int | None:
    """Return the number of bytes that a user wrote.

    >>> bytes_of("8GB"), bytes_of("512 MiB")
    (8000000000, 536870912)
    """
    if amount is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B?)\s*", str(amount).upper())
    if match is None or match[2] not in UNITS or not float(match[1]) > 0.0:
        raise ParameterError(f"The 'worker_memory' parameter must be such as 8GB or 512MiB, got {quoted(amount)}.")
    return int(float(match[1]) * UNITS[match[2]])


def _note(sentence: str) -> None:
    warnings.warn(sentence, Note, stacklevel=2)


def _words(error: BaseException) -> str:
    """Describe an error in at most 120 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]
