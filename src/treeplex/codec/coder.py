"""Kernels that code rows of 16-bit numbers: prediction from neighbours, contexts, asymmetric numeral systems (rANS).

**Prediction.** A number is predicted to be that of the hand before it in its row (zero for the first hand). What is
coded is e = (number - prediction) mod 2^16 as a signed number, folded to u = 2 e if e >= 0, else -2 e - 1.

**Tokens.** The token of u is its leading three bits plus 4 n, where n is the number of bits below them. These are coded
as they are. So u < 8 is its own token.

**Contexts.** With l, ll the two numbers before in the row, and a, al the numbers of the row above at this hand and the
one before, the context is the bit length of |l - ll| + |a - al|, from 0 to 17, and one of three cases: l and a are
zero, only l is zero, l is not zero. Each context has its own frequencies of tokens, which sum to 2^11. Neighbours that
do not exist are zero.

**rANS** (Duda 2013). A state x in [2^31, 2^63) takes in a token of frequency f that starts at c, with n raw bits r:

    y = x 2^n + r,    x' = floor(y / f) 2^11 + c + y mod f

after it has given its lower 32 bits to the stream if x >= f 2^(52 - n). Decoding inverts both, last number first, so
numbers are encoded in reverse order.

**Lanes.** Four states share one stream. Each codes a quarter of the rows of a segment, number by number in turn, so
that processors can work on four numbers at a time. The first state also codes the rows that remain. The row above the
first row of a lane does not exist.

``codec.reference`` is the specification in plain Python. Nothing here can leave its arrays, whatever the stream says:
tokens, contexts and positions in tables are masked or bounded by the layout, and reads of words are clipped.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.kernels.jit import allocating_kernel, inlined, kernel
from treeplex.kernels.whole import bit_length, upper_half

Table = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int16]
Layout = npt.NDArray[np.int64]
Word = Any

BITS: Final = 11  # frequencies of a context sum to 2^BITS
TOKENS: Final = 60
LENGTHS, CASES = 18, 3
CONTEXTS: Final = LENGTHS * CASES
LANES: Final = 4
LOW: Final = 2**31  # smallest state
TOP: Final = 63 - BITS  # a state below f 2^(TOP - n) can take in a token of frequency f with n raw bits

_SUM: Final = np.uint64(2**BITS)
_SLOT: Final = np.uint64(2**BITS - 1)
_BITS: Final = np.uint64(BITS)
_LOW: Final = np.uint64(LOW)
_WORD: Final = np.uint64(2**32 - 1)
_TOP: Final = np.uint64(TOP)
_HALF: Final = np.uint64(32)
_ONE: Final = np.uint64(1)


@inlined
def context_of(left: Word, second: Word, above: Word, before: Word) -> Any:
    """Return the context of a number from its neighbours: l, ll, a and al."""
    zero = np.int64(left == 0)
    case = 2 - zero * (2 - np.int64(above != 0))
    return bit_length(np.int64(abs(left - second) + abs(above - before))) * CASES + case


@inlined
def symbol_of(number: Word, left: Word) -> Any:
    """Return the token of a number in the upper 16 bits, and the raw bits in the lower 16."""
    error = np.int64(np.int16(number - left))
    folded = (error << 1) ^ (error >> 63)
    raw = max(bit_length(folded) - 3, 0)
    return (4 * raw + (folded >> raw)) << 16 | (folded & ((1 << raw) - 1))


@inlined
def bits_of(token: Word) -> Any:
    """Return the number of raw bits that follow a token."""
    return max((token >> 2) - 1, 0)


@kernel
def model(numbers: Numbers, segments: Layout, symbols: Table, counts: Table) -> None:
    """Write the context, token and raw bits of every number, and count tokens per context. Modified in place.

    ``segments`` [., 2] rows and numbers per row. ``symbols`` [numbers] 2^16 (60 context + token) + raw bits.
    ``counts`` [contexts times tokens].
    """
    at = 0
    for k in range(len(segments)):
        rows, width = segments[k, 0], segments[k, 1]
        quarter = rows // LANES
        for row in range(rows):
            first = row == 0 or (row < quarter * LANES and row % quarter == 0)
            left, second, before = 0, 0, 0
            for _ in range(width):
                number = np.int64(numbers[at])
                above = 0 if first else np.int64(numbers[at - width])
                symbol = context_of(left, second, above, before) * (TOKENS << 16) + symbol_of(number, left)
                symbols[at] = symbol
                counts[symbol >> 16] += 1
                left, second, before = number, left, above
                at += 1


@kernel
def normalise(counts: Table, frequency: Table) -> None:
    """Scale counts of tokens of every context to a sum of 2^11, at least 1 for each token that occurs. In place."""
    for begin in range(0, CONTEXTS * TOKENS, TOKENS):
        total = np.int64(0)
        for k in range(begin, begin + TOKENS):
            total += counts[k]
        if total == 0:
            continue
        left = np.int64(2**BITS)
        for k in range(begin, begin + TOKENS):
            if counts[k] > 0:
                frequency[k] = max(np.int64(1), (np.int64(counts[k]) * 2**BITS + total // 2) // total)
                left -= frequency[k]
        while left != 0:
            best = begin
            for k in range(begin, begin + TOKENS):
                if frequency[k] > frequency[best]:
                    best = k
            change = left if left > 0 else -1
            frequency[best] += change
            left -= change


@kernel
def reciprocals(frequency: Table, table: npt.NDArray[np.uint64]) -> None:
    """Fill ``table`` [contexts times tokens, 2] for divisions by frequencies without a division (Granlund 1994).

    With s = ceil(log2 f): the reciprocal ceil(2^(63 + s) / f), and 2^32 b + 2^16 f + 2^8 n + s - 1 with n raw bits. For
    y < 2^63 floor(y / f) is the upper half of the product, without its lowest s - 1 bits. b is where the token starts.
    For f = 1 the reciprocal is 2^64 - 1, which gives y - 1 and not y, and b is 2^11 - 1 more.
    """
    for context in range(CONTEXTS):
        start = 0
        for token in range(TOKENS):
            k = context * TOKENS + token
            f, bias, s = np.int64(frequency[k]), np.int64(start), bit_length(np.int64(frequency[k]) - 1)
            if f == 0:
                continue
            if f == 1:
                table[k, 0], bias, s = ~np.uint64(0), np.int64(start + 2**BITS - 1), 1
            else:
                whole, rest = (_ONE << np.uint64(63)) // np.uint64(f), (_ONE << np.uint64(63)) % np.uint64(f)
                more = (rest << np.uint64(s)) + np.uint64(f) - _ONE
                table[k, 0] = (whole << np.uint64(s)) + more // np.uint64(f)
            table[k, 1] = bias << 32 | f << 16 | bits_of(token) << 8 | (s - 1)
            start += f


@inlined
def _push(symbol: Word, table: npt.NDArray[np.uint64], state: Word, words: Table, at: Word) -> Any:
    """Return the state with one more number, and the start of the words written so far."""
    k = symbol >> 16
    entry = table[k, 1]
    f, bits = (entry >> np.uint64(16)) & np.uint64(0xFFFF), (entry >> np.uint64(8)) & np.uint64(0xFF)
    full = np.uint64(state >= f << (_TOP - bits))
    words[at - 1] = np.uint32(state & _WORD)  # counts only if the state is full
    at -= np.int64(full)
    y = (state >> (full * _HALF)) << bits | np.uint64(symbol & 0xFFFF)
    quotient = upper_half(y, table[k, 0]) >> (entry & np.uint64(0xFF))
    return y + (entry >> _HALF) + quotient * (_SUM - f), at


@allocating_kernel
def encode(symbols: Table, segments: Layout, frequency: Table, words: Table, states: npt.NDArray[np.uint64]) -> Any:
    """Write words of the stream to the end of ``words``, last word first, and the final ``states``.

    Return the start of the words. There is room for one per number, and one more.
    """
    table = np.zeros((CONTEXTS * TOKENS, 2), np.uint64)
    reciprocals(frequency, table)
    x0, x1, x2, x3 = _LOW, _LOW, _LOW, _LOW
    at, end = len(words), len(symbols)
    for k in range(len(segments) - 1, -1, -1):
        rows, width = segments[k, 0], segments[k, 1]
        part = rows // LANES * width
        begin = end - rows * width
        for i in range(end - 1, begin + LANES * part - 1, -1):
            x0, at = _push(np.int64(symbols[i]), table, x0, words, at)
        for i in range(begin + part - 1, begin - 1, -1):
            x3, at = _push(np.int64(symbols[i + 3 * part]), table, x3, words, at)
            x2, at = _push(np.int64(symbols[i + 2 * part]), table, x2, words, at)
            x1, at = _push(np.int64(symbols[i + part]), table, x1, words, at)
            x0, at = _push(np.int64(symbols[i]), table, x0, words, at)
        end = begin
    states[0], states[1], states[2], states[3] = x0, x1, x2, x3
    return at


@kernel
def slots(frequency: Table, table: Table) -> None:
    """Fill ``table`` [contexts times 2^11]: token, frequency - 1, position within it, and raw bits of every slot.

    They have 6, 11, 11 and 4 bits. Frequencies of a context sum to 2^11, or all are zero: token 0 then has all slots.
    """
    for context in range(CONTEXTS):
        at = context << BITS
        for token in range(TOKENS):
            f = np.int64(frequency[context * TOKENS + token])
            for k in range(f):
                table[at] = token << 26 | (f - 1) << 15 | k << 4 | bits_of(token)
                at += 1
        if at == context << BITS:
            for k in range(1 << BITS):
                table[at + k] = ((1 << BITS) - 1) << 15 | k << 4


@inlined
def _pull(table: Table, context: Word, state: Word, words: Table, at: Word, last: Word, left: Word) -> Any:
    """Return the next number of a state, the state without it, and the position in the words."""
    entry = np.uint64(table[np.uint64(context) << _BITS | (state & _SLOT)])
    f, k = ((entry >> np.uint64(15)) & _SLOT) + _ONE, (entry >> np.uint64(4)) & _SLOT
    bits, token = entry & np.uint64(15), np.int64(entry >> np.uint64(26))
    y = f * (state >> _BITS) + k
    raw = np.int64(y & ((_ONE << bits) - _ONE))
    word, state = np.uint64(words[np.uint64(min(at, last))]), y >> bits
    empty = np.uint64(state < _LOW)
    state = state << (empty * _HALF) | word * empty
    folded = (token - 4 * np.int64(bits)) << np.int64(bits) | raw
    number = np.int64(np.int16(left + ((folded >> 1) ^ -(folded & 1))))
    return number, state, at + np.int64(empty)


@kernel
def decode(words: Table, states: npt.NDArray[np.uint64], table: Table, segments: Layout, numbers: Numbers) -> bool:
    """Fill ``numbers`` from a stream of words. Return whether it ended as every encoded stream does.

    ``words`` ends with one word that is not part of the stream. ``segments`` must fit ``numbers``.
    """
    x0, x1, x2, x3 = states[0], states[1], states[2], states[3]
    p, last, begin = np.int64(0), np.int64(len(words) - 1), 0
    for k in range(len(segments)):
        rows, width = segments[k, 0], segments[k, 1]
        quarter = rows // LANES
        part = quarter * width
        for row in range(quarter):
            first = row == 0
            i = begin + row * width
            l0, l1, l2, l3, s0, s1, s2, s3, b0, b1, b2, b3 = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            for _ in range(width):
                a0 = 0 if first else np.int64(numbers[i - width])
                a1 = 0 if first else np.int64(numbers[i + part - width])
                a2 = 0 if first else np.int64(numbers[i + 2 * part - width])
                a3 = 0 if first else np.int64(numbers[i + 3 * part - width])
                n0, x0, p = _pull(table, context_of(l0, s0, a0, b0), x0, words, p, last, l0)
                n1, x1, p = _pull(table, context_of(l1, s1, a1, b1), x1, words, p, last, l1)
                n2, x2, p = _pull(table, context_of(l2, s2, a2, b2), x2, words, p, last, l2)
                n3, x3, p = _pull(table, context_of(l3, s3, a3, b3), x3, words, p, last, l3)
                numbers[i], numbers[i + part], numbers[i + 2 * part], numbers[i + 3 * part] = n0, n1, n2, n3
                s0, s1, s2, s3 = l0, l1, l2, l3
                l0, l1, l2, l3 = n0, n1, n2, n3
                b0, b1, b2, b3 = a0, a1, a2, a3
                i += 1
        for row in range(LANES * quarter, rows):
            i = begin + row * width
            l0, s0, b0 = 0, 0, 0
            for _ in range(width):
                a0 = np.int64(numbers[i - width]) if row > 0 else 0
                n0, x0, p = _pull(table, context_of(l0, s0, a0, b0), x0, words, p, last, l0)
                numbers[i] = n0
                s0, l0, b0 = l0, n0, a0
                i += 1
        begin += rows * width
    return p == last and x0 == _LOW and x1 == _LOW and x2 == _LOW and x3 == _LOW
