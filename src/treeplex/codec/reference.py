"""The coder in plain Python: the specification of ``codec.coder``, number by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treeplex.codec.coder import BITS, CASES, CONTEXTS, LANES, LOW, TOKENS, TOP

Counts = list[list[int]]  # [contexts][tokens]


class Coded(NamedTuple):
    """A coded group of rows."""

    frequency: Counts
    states: list[int]
    words: list[int]


class Cell(NamedTuple):
    """A number in the order of decoding: its lane and positions of its neighbours, -1 where there is none."""

    lane: int
    at: int
    left: int
    second: int
    above: int
    before: int


def cells(segments: Sequence[tuple[int, int]]) -> Iterator[Cell]:
    """Yield all numbers of segments (rows, numbers per row) in the order of decoding."""
    begin = 0
    for rows, width in segments:
        quarter = rows // LANES
        for row in range(quarter):
            for h in range(width):
                for lane in range(LANES):
                    yield _cell(lane, begin, lane * quarter + row, h, width, has_above=row > 0)
        for row in range(LANES * quarter, rows):
            for h in range(width):
                yield _cell(0, begin, row, h, width, has_above=row > 0)
        begin += rows * width


def _cell(lane: int, begin: int, row: int, h: int, width: int, *, has_above: bool) -> Cell:
    at = begin + row * width + h
    above = at - width if has_above else -1
    return Cell(
        lane, at, at - 1 if h > 0 else -1, at - 2 if h > 1 else -1, above, above - 1 if has_above and h > 0 else -1
    )


def context(numbers: Sequence[int], cell: Cell) -> tuple[int, int]:
    """Return the context of a number and its prediction."""
    left, second, above, before = (numbers[at] if at >= 0 else 0 for at in cell[2:])
    length = (abs(left - second) + abs(above - before)).bit_length()
    return CASES * length + (2 if left else 1 if above else 0), left


def token(number: int, prediction: int) -> tuple[int, int, int]:
    """Return the token of a number, its raw bits, and their count."""
    error = (number - prediction + 2**15) % 2**16 - 2**15
    folded = 2 * error if error >= 0 else -2 * error - 1
    count = max(folded.bit_length() - 3, 0)
    return 4 * count + folded // 2**count, folded % 2**count, count


def raw_count(kind: int) -> int:
    """Return the number of raw bits that follow a token."""
    return max(kind // 4 - 1, 0)


def number_of(kind: int, raw: int, prediction: int) -> int:
    """Return the number of a token and its raw bits."""
    folded = (kind - 4 * raw_count(kind)) * 2 ** raw_count(kind) + raw
    error = folded // 2 if folded % 2 == 0 else -(folded + 1) // 2
    return (prediction + error + 2**15) % 2**16 - 2**15


def normalised(counts: Sequence[int]) -> list[int]:
    """Return frequencies that sum to 2^11, in proportion to counts, and at least 1 for tokens that occur."""
    total, most = sum(counts), 2**BITS
    if not total:
        return [0] * len(counts)
    result = [max(1, (count * most + total // 2) // total) if count else 0 for count in counts]
    while sum(result) != most:
        largest = result.index(max(result))
        result[largest] += max(most - sum(result), -1)
    return result


def encoded(numbers: Sequence[int], segments: Sequence[tuple[int, int]]) -> Coded:
    """Code a group of rows."""
    symbols = [(cell.lane, *_symbol(numbers, cell)) for cell in cells(segments)]
    counts = [[0] * TOKENS for _ in range(CONTEXTS)]
    for _, where, kind, _, _ in symbols:
        counts[where][kind] += 1
    frequency = [normalised(each) for each in counts]
    states, words = [LOW] * LANES, list[int]()
    for lane, where, kind, raw, count in reversed(symbols):
        f, start, x = frequency[where][kind], sum(frequency[where][:kind]), states[lane]
        if x >= f * 2 ** (TOP - count):
            words.insert(0, x % 2**32)
            x //= 2**32
        y = x * 2**count + raw
        states[lane] = y // f * 2**BITS + start + y % f
    return Coded(frequency, states, words)


def _symbol(numbers: Sequence[int], cell: Cell) -> tuple[int, int, int, int]:
    where, prediction = context(numbers, cell)
    return where, *token(numbers[cell.at], prediction)


def decoded(coded: Coded, segments: Sequence[tuple[int, int]]) -> list[int]:
    """Return the numbers of a coded group."""
    numbers = [0] * sum(rows * width for rows, width in segments)
    states, words = list(coded.states), list(coded.words)
    for cell in cells(segments):
        where, prediction = context(numbers, cell)
        x, frequency = states[cell.lane], coded.frequency[where]
        kind, slot = 0, x % 2**BITS
        while slot >= frequency[kind]:
            slot -= frequency[kind]
            kind += 1
        y, count = frequency[kind] * (x // 2**BITS) + slot, raw_count(kind)
        numbers[cell.at] = number_of(kind, y % 2**count, prediction)
        x = y // 2**count
        states[cell.lane] = x * 2**32 + words.pop(0) if x < LOW else x
    return numbers


def split(shorts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]] | None:
    """Return the upper 16 bits of numbers in their order, and the others; None if lower ones would be lost.

    ``shorts``: the parts of each number, lowest first, from 0 to 2^16 - 1.
    """
    numbers, lower = list[int](), list[int]()
    for *low, high in shorts:
        numbers.append(high if high < 2**15 else 2**15 - 1 - high)
        if high:
            lower += low
        elif any(low):
            return None
    return numbers, lower
