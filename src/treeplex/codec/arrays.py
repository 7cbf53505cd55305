"""Coded arrays: numbers of 16 bits, or of 32 or 64 bits in floating point, as a stream of bytes.

The caller knows type, length and rows of an array, as a state of a game does. ``segments`` [., 2] are rows and numbers
per row, in the order of the array. Neighbours in a row, and rows above each other, should be alike.

A number of 16 bits is coded by ``codec.coder``. In floating point, that is the upper 16 bits: sign, exponent and the
first bits of the fraction. Negative ones are turned around so that they are in the order of the numbers. The
lower bits are stored as they are, and left out where the upper ones are zero.

Groups of segments with at least ``GROUP`` numbers are coded apart, on all cores. Each has its own frequencies. The
bytes do not depend on the number of threads. A stream is, in little-endian order::

    4 bytes TPC1, uint32 groups, uint32 [groups] sizes in words of 4 bytes, then the groups

    group:  uint32 0, then the numbers as they are, if coding does not pay
            uint32 1 + n, with n words of the coder; uint32 f; bits that mark the tokens that occur, by context;
            uint8 [f] their frequencies less 1, or 255, and uint16 those of at least 256, less 1;
            uint64 [4] states; uint32 [n] words; uint16 lower bits

Every part is filled up with zeros to whole words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.codec import coder
from treeplex.codec.coder import BITS, CONTEXTS, LANES, TOKENS, Layout, Table
from treeplex.codec.halves import join, split
from treeplex.system import cores

Array = npt.NDArray[Any]
Stream = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]
Result = TypeVar("Result")

MAGIC: Final = int.from_bytes(b"TPC1", "little")
GROUP: Final = 2**19
TYPES: Final = ("int16", "float32", "float64")
MARKS: Final = -(-CONTEXTS * TOKENS // 32)  # words of bits that mark tokens
LONG: Final = 255  # a frequency less 1 from which it takes two more bytes
PLAIN, CODED = 0, 1


class Group(NamedTuple):
    """Segments that are coded together, and the numbers that they hold."""

    segments: Layout
    begin: int
    end: int


def groups_of(segments: Layout) -> list[Group]:
    """Cut segments into groups, each as short as possible with at least ``GROUP`` numbers."""
    edges: list[int] = [0, *np.cumsum(segments[:, 0] * segments[:, 1]).tolist()]
    groups: list[Group] = []
    first = 0
    while first < len(segments):
        last = min(bisect_left(edges, edges[first] + GROUP), len(segments))
        groups.append(Group(segments[first:last], edges[first], edges[last]))
        first = last
    return groups


def encode(array: Array, segments: Layout, threads: int = 0) -> Stream:
    """Return the stream of an array; ValueError if the segments do not cover it. ``threads`` 0: as many as cores."""
    groups = _checked(array, segments)
    parts = _in_parallel(lambda group: _encoded(array[group.begin : group.end], group.segments), groups, threads)
    head = np.array([MAGIC, len(parts), *(len(part) for part in parts)], dtype=np.uint32)
    return np.concatenate([head, *parts]).view(np.uint8)


def decode(stream: Stream, segments: Layout, out: Array, threads: int = 0) -> None:
    """Fill ``out`` from a stream; ValueError if the stream is not one of such an array."""
    groups = _checked(out, segments)
    if len(stream) % 4 or len(stream) < 4 * (2 + len(groups)):
        raise ValueError("it is too short")
    words = np.ascontiguousarray(stream).view(np.uint32)
    sizes, edge = words[2 : 2 + len(groups)].astype(np.int64), 2 + len(groups)
    if words[0] != MAGIC or words[1] != len(groups) or edge + sizes.sum() != len(words):
        raise ValueError("its parts do not have the right sizes")
    starts = edge + np.concatenate(([0], np.cumsum(sizes)))
    pairs = [(group, words[starts[k] : starts[k + 1]]) for k, group in enumerate(groups)]
    _in_parallel(lambda pair: _decode(pair[1], pair[0].segments, out[pair[0].begin : pair[0].end]), pairs, threads)


def _checked(array: Array, segments: Layout) -> list[Group]:
    groups = groups_of(segments)
    covered = groups[-1].end if groups else 0
    if array.dtype.name not in TYPES or array.shape != (covered,) or segments.min(initial=0) < 0:
        raise ValueError(f"an array of {array.dtype}{list(array.shape)} cannot be coded as {covered:,} numbers")
    return groups


def _in_parallel(task: Callable[[Any], Result], items: Sequence[Any], threads: int) -> list[Result]:
    """Apply a function to all items."""
    workers = min(threads or cores(), len(items))
    if workers < 2:
        return [task(item) for item in items]
    with ThreadPoolExecutor(workers) as helpers:
        return list(helpers.map(task, items))


def _encoded(array: Array, segments: Layout) -> Table:
    """Return a group as words: coded, or as it is if that is shorter."""
    plain = np.concatenate((np.array([PLAIN], dtype=np.uint32), _words(array)))
    numbers, lower = _split(array)
    if lower is None:
        return plain
    symbols, counts = np.empty(len(numbers), np.uint32), np.zeros(CONTEXTS * TOKENS, np.uint32)
    frequency, states = np.zeros_like(counts), np.zeros(LANES, np.uint64)
    coder.model(numbers, segments, symbols, counts)
    coder.normalise(counts, frequency)
    words = np.empty(len(numbers) + 1, np.uint32)
    start = coder.encode(symbols, segments, frequency, words, states)
    used = frequency > 0
    head = np.array([CODED + len(words) - start, np.count_nonzero(used)], dtype=np.uint32)
    less = frequency[used] - 1
    short, long = np.minimum(less, LONG).astype(np.uint8), less[less >= LONG].astype(np.uint16)
    parts = [np.packbits(used), short, long, states, words[start:], lower]
    coded = np.concatenate([head, *(_words(part) for part in parts)])
    return coded if len(coded) < len(plain) else plain


def _decode(words: Table, segments: Layout, out: Array) -> None:
    """Fill ``out`` from the words of a group."""
    reader = _Reader(words)
    count = reader.count()
    if count == PLAIN:
        out[:] = reader.take(len(out), out.dtype)
        return reader.end()
    used = reader.count()
    marks = np.unpackbits(reader.take(4 * MARKS, np.uint8), count=CONTEXTS * TOKENS).astype(np.bool_)
    if np.count_nonzero(marks) != used:
        raise ValueError("its marks do not fit")
    frequency, sums = np.zeros(len(marks), np.uint32), np.array([0, 2**BITS])
    less = reader.take(used, np.uint8).astype(np.uint32)
    long = less == LONG
    less[long] = reader.take(np.count_nonzero(long), np.uint16)
    frequency[marks] = less + 1
    if not np.isin(frequency.reshape(CONTEXTS, TOKENS).sum(axis=1), sums).all():
        raise ValueError("its frequencies do not fit")
    states = np.array(reader.take(LANES, np.uint64))  # aligned
    code = np.append(reader.take(count - CODED, np.uint32), np.uint32(0))  # with the word that is not part of it
    table, numbers = np.empty(CONTEXTS << BITS, np.uint32), np.empty(len(out), np.int16)
    coder.slots(frequency, table)
    if not coder.decode(code, states, table, segments, numbers):
        raise ValueError("its words do not end where its numbers do")
    _join(numbers, reader, out)
    return reader.end()


def _split(array: Array) -> tuple[npt.NDArray[np.int16], Shorts | None]:
    """Return numbers of 16 bits and what is stored as it is; None if that would not be all (``codec.halves``)."""
    if array.dtype == np.int16:
        return array, np.zeros(0, np.uint16)
    parts = array.itemsize // 2
    numbers, lower = np.empty(len(array), np.int16), np.empty((len(array) + 1) * (parts - 1), np.uint16)
    count = split(array.view(np.uint16), parts, numbers, lower)
    return numbers, None if count < 0 else lower[:count]


def _join(numbers: npt.NDArray[np.int16], reader: _Reader, out: Array) -> None:
    """Fill ``out`` from its upper 16 bits and the others."""
    if out.dtype == np.int16:
        out[:] = numbers
        return
    parts = out.itemsize // 2
    lower = np.array(reader.take(np.count_nonzero(numbers) * (parts - 1), np.uint16))
    join(numbers, lower, parts, out.view(np.uint16))


def _words(array: Array) -> Table:
    """Return the bytes of an array as words, filled up with zeros."""
    data, missing = np.ascontiguousarray(array).view(np.uint8), -array.nbytes % 4
    return (np.append(data, np.zeros(missing, np.uint8)) if missing else data).view(np.uint32)


class _Reader:
    """Parts of a group, one after the other, never beyond its end."""

    def __init__(self, words: Table) -> None:
        self._words, self._at = words, 0

    def count(self) -> int:
        """Return the next word."""
        return int(self.take(1, np.uint32)[0])

    def take(self, count: Any, kind: npt.DTypeLike) -> Any:
        """Return the next ``count`` elements of a type."""
        size = count * np.dtype(kind).itemsize
        begin, self._at = self._at, self._at - (-size // 4)
        if self._at > len(self._words):
            raise ValueError("it ends early")
        return self._words[begin : self._at].view(np.uint8)[:size].view(kind)

    def end(self) -> None:
        """Raise ValueError if there is anything left."""
        if self._at != len(self._words):
            raise ValueError("it is too long")
