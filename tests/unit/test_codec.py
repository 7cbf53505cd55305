"""The codec of rows of numbers: kernels against plain Python, round trips, streams of strangers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeplex.codec import arrays as codec
from treeplex.codec import coder, reference
from treeplex.codec.arrays import decode, encode
from treeplex.codec.halves import join, split

SEGMENTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=4)


def layout(segments) -> np.ndarray:
    return np.array(segments, dtype=np.int64).reshape(-1, 2)


def size_of(segments) -> int:
    return sum(rows * width for rows, width in segments)


@st.composite
def shorts(draw):
    """Segments, and numbers of all magnitudes with many zeros and repetitions."""
    segments = draw(SEGMENTS)
    pool = draw(st.lists(st.one_of(st.integers(-(2**15), 2**15 - 1), st.integers(-9, 9)), min_size=1, max_size=6))
    numbers = draw(st.lists(st.sampled_from([0, *pool]), min_size=size_of(segments), max_size=size_of(segments)))
    return segments, np.array(numbers, dtype=np.int16)


def coded(numbers, segments):
    """Return frequencies, states and words of the kernels."""
    symbols, counts = np.empty(len(numbers), np.uint32), np.zeros(coder.CONTEXTS * coder.TOKENS, np.uint32)
    frequency, states = np.zeros_like(counts), np.zeros(coder.LANES, np.uint64)
    coder.model(numbers, layout(segments), symbols, counts)
    coder.normalise(counts, frequency)
    words = np.empty(len(numbers) + 1, np.uint32)
    start = coder.encode(symbols, layout(segments), frequency, words, states)
    return frequency, states, words[start:]


def decoded(frequency, states, words, segments):
    table = np.empty(coder.CONTEXTS << coder.BITS, np.uint32)
    out = np.empty(size_of(segments), np.int16)
    coder.slots(frequency, table)
    return coder.decode(np.append(words, np.uint32(0)), states, table, layout(segments), out), out


@settings(max_examples=60, deadline=None)
@given(shorts())
def test_kernels_give_the_words_of_the_reference(drawn) -> None:
    segments, numbers = drawn
    frequency, states, words = coded(numbers, segments)
    slow = reference.encoded(numbers.tolist(), segments)
    assert frequency.reshape(coder.CONTEXTS, -1).tolist() == slow.frequency
    assert (states.tolist(), words.tolist()) == (slow.states, slow.words)
    assert reference.decoded(slow, segments) == numbers.tolist()
    complete, out = decoded(frequency, states, words, segments)
    assert complete and out.tolist() == numbers.tolist()


def test_every_error_has_a_token_that_gives_it_back() -> None:
    errors = [*range(-300, 300), *(sign * 2**n + k for n, sign, k in product(range(8, 16), (-1, 1), (-1, 0, 1)))]
    for error, left in product(errors, (0, -(2**15), 2**15 - 1, 77)):
        number = (left + error + 2**15) % 2**16 - 2**15
        kind, raw, count = reference.token(number, left)
        assert 0 <= kind < coder.TOKENS and 0 <= raw < 2**count and count == reference.raw_count(kind) <= 13
        assert reference.number_of(kind, raw, left) == number


@pytest.mark.parametrize("f", [*range(1, 130), 255, 256, 257, 1023, 1024, 1025, 2046, 2047, 2048])
def test_divisions_by_reciprocals_are_exact(f) -> None:
    frequency = np.zeros(coder.CONTEXTS * coder.TOKENS, np.uint32)
    frequency[7], frequency[8] = f, 2048 - f
    table = np.zeros((len(frequency), 2), np.uint64)
    coder.reciprocals(frequency, table)
    reciprocal, entry = table[7].tolist()
    bias, shift = entry >> 32, entry & 0xFF
    edges = [f * k + rest for k in (2**40, 2**51 + 3, 12345678) for rest in (0, f - 1)]
    drawn = np.random.default_rng(f).integers(2**31, 2**63, 50).tolist()
    for y in (2**31, 2**63 - 1, f * 2**52 - 1, *edges, *drawn):
        quotient = y * reciprocal // 2**64 >> shift
        assert y + bias + quotient * (2048 - f) == y // f * 2048 + y % f


def test_cost_is_close_to_the_entropy_of_errors() -> None:
    """Independent errors of a known distribution take no more than their entropy, tables aside."""
    rng = np.random.default_rng(0)
    chances = np.array([0.6, 0.2, 0.1, 0.1])
    errors = rng.choice([0, 1, -1, 2], p=chances, size=200_000)
    numbers = errors.reshape(100, -1).cumsum(axis=1).astype(np.int16).reshape(-1)
    _, _, words = coded(numbers, [(100, 2000)])
    entropy = -float(chances @ np.log2(chances))
    assert 0.99 < 32 * len(words) / len(numbers) / entropy < 1.01


FLOATS = st.one_of(st.floats(width=32), st.just(0.0), st.just(-0.0))


@settings(max_examples=60, deadline=None)
@given(st.data(), SEGMENTS, st.sampled_from(["int16", "float32", "float64"]))
def test_round_trip_of_bits(data, segments, kind) -> None:
    drawn = data.draw(arrays(kind, size_of(segments), fill=st.just(0)))
    stream = encode(drawn, layout(segments))
    out = np.full_like(drawn, 7)
    decode(stream, layout(segments), out)
    assert out.tobytes() == drawn.tobytes()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["float32", "float64"]), st.lists(FLOATS, max_size=8), st.booleans())
def test_floats_are_taken_apart_as_in_the_reference(kind, drawn, tiny) -> None:
    array = np.array([*drawn, 1e-45] if tiny else drawn, dtype=kind)
    parts = array.itemsize // 2
    numbers, lower = np.empty(len(array), np.int16), np.empty((len(array) + 1) * (parts - 1), np.uint16)
    count = split(array.view(np.uint16), parts, numbers, lower)
    slow = reference.split(array.view(np.uint16).reshape(-1, parts).tolist())
    if slow is None:
        assert count == -1
        return
    assert (numbers.tolist(), lower[:count].tolist()) == slow
    ordered = np.isfinite(array) & (array != 0)  # 0.0 and -0.0 are equal, but not the same
    assert numbers[ordered][np.argsort(array[ordered])].tolist() == sorted(numbers[ordered].tolist())
    out = np.full_like(array, 7)
    join(numbers, lower[:count].copy(), parts, out.view(np.uint16))
    assert out.tobytes() == array.tobytes()


def smooth(count: int, width: int, kind: str) -> np.ndarray:
    """Rows of numbers that are alike, with a third zeros."""
    t = np.arange(count * width)
    wave = 900.0 * np.sin(t / 97.0) * (t // width % 3 > 0)
    return wave.astype(kind)


@pytest.mark.parametrize("kind", codec.TYPES)
def test_groups_are_cut_and_coded_apart(kind, monkeypatch) -> None:
    segments, array = layout([(8, 64)] * 9), smooth(72, 64, kind)
    together = len(encode(array, segments))
    monkeypatch.setattr(codec, "GROUP", 1200)
    cut = codec.groups_of(segments)
    assert [(group.begin, group.end) for group in cut] == [(0, 1536), (1536, 3072), (3072, 4608)]
    stream = encode(array, segments)
    out = np.empty_like(array)
    decode(stream, segments, out)
    assert out.tobytes() == array.tobytes() and together < len(stream) < array.nbytes


def test_random_bits_are_stored_as_they_are() -> None:
    noise = np.random.default_rng(0).integers(-(2**15), 2**15, 4096).astype(np.int16)
    assert len(encode(noise, layout([(16, 256)]))) == noise.nbytes + 4 * 4


def test_small_numbers_in_floating_point_keep_their_bits() -> None:
    """The lower bits of a number whose upper ones are zero are not left out."""
    tiny = np.array([1e-45, 0.0, -0.0, np.nan, np.inf, -np.inf, 3e-41, 1.0] * 64, dtype=np.float32)
    out = np.empty_like(tiny)
    decode(encode(tiny, layout([(8, 64)])), layout([(8, 64)]), out)
    assert out.tobytes() == tiny.tobytes()


def test_arrays_that_do_not_fit_are_rejected() -> None:
    for array, segments in (
        (np.zeros(6, np.int16), [(2, 4)]),
        (np.zeros(8, np.int32), [(2, 4)]),
        (np.zeros((2, 4), np.int16), [(2, 4)]),
        (np.zeros(8, np.int16), [(-2, -4)]),
    ):
        with pytest.raises(ValueError, match="cannot be coded"):
            encode(array, layout(segments))


SHAPE = layout([(40, 64), (12, 48)])
COUNT = 40 * 64 + 12 * 48


@pytest.mark.parametrize("kind", codec.TYPES)
def test_truncated_and_longer_streams_are_rejected(kind, monkeypatch) -> None:
    monkeypatch.setattr(codec, "GROUP", 2000)
    array = smooth(COUNT, 1, kind)
    stream, out = encode(array, SHAPE), np.empty_like(array)
    for wrong in (*(stream[:k] for k in range(0, len(stream), 41)), np.append(stream, stream[:4])):
        with pytest.raises(ValueError):
            decode(wrong, SHAPE, out)


def test_tables_that_do_not_fit_are_rejected() -> None:
    """Kernels write as many slots as the frequencies of a context sum to."""
    stream, out = encode(smooth(COUNT, 1, "int16"), SHAPE), np.empty(COUNT, np.int16)
    assert len(stream) < 2 * COUNT  # coded, not plain
    marks = 4 * (2 + 1 + 2)  # after magic, groups and size, and two counts
    frequencies = marks + 4 * codec.MARKS
    for at, words in ((marks + 3, "marks"), (frequencies, "frequencies"), (frequencies + 5, "frequencies")):
        wrong = stream.copy()
        wrong[at] ^= 1
        with pytest.raises(ValueError, match=words):
            decode(wrong, SHAPE, out)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(codec.TYPES), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_changed_bytes_are_decoded_or_rejected(kind, changes) -> None:
    """Whatever the bytes are, nothing beside the numbers is written, and every other result is a ValueError."""
    stream = encode(smooth(COUNT, 1, kind), SHAPE).copy()
    for position, value in changes:
        stream[min(math.floor(position * len(stream)), len(stream) - 1)] = value
    room = np.full(COUNT + 200, 7, dtype=kind)
    try:
        decode(stream, SHAPE, room[100:-100])
    except ValueError as error:
        assert str(error)
    assert (room[:100] == 7).all() and (room[-100:] == 7).all()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=600))
def test_random_bytes_are_rejected(data) -> None:
    head = np.array([codec.MAGIC, 1, (len(data) // 4)], dtype=np.uint32).view(np.uint8)
    out = np.empty(COUNT, np.int16)
    for stream in (np.frombuffer(data, np.uint8), np.append(head, np.frombuffer(data[: len(data) // 4 * 4], np.uint8))):
        plain = len(data) // 4 == 1 + COUNT // 2 and data[:4] == bytes(4)
        with pytest.raises(ValueError) if not plain else pytest.MonkeyPatch.context():
            decode(stream, SHAPE, out)


def test_streams_end_without_words_and_with_the_first_states() -> None:
    """Zeros alone take no bits, so whatever states begin with, they end with."""
    segments = [(8, 5)]
    frequency, states, words = coded(np.zeros(40, np.int16), segments)
    assert len(words) == 0 and decoded(frequency, states, words, segments)[0]
    assert not decoded(frequency, states, np.array([7], np.uint32), segments)[0]
    for lane in range(coder.LANES):
        other = states.copy()
        other[lane] += np.uint64(5)
        assert not decoded(frequency, other, words, segments)[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_decoder_stays_inside_its_arrays_for_any_words(data) -> None:
    """Right tables with any states and any number of any words: the kernel ends, and reports that they are wrong."""
    numbers = smooth(72, 5, "int16")
    frequency, states, words = coded(numbers, [(72, 5)])
    any_words = np.array(data.draw(st.lists(st.integers(0, 2**32 - 1), max_size=40)), dtype=np.uint32)
    any_states = np.array(data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=4, max_size=4)), dtype=np.uint64)
    for wrong in ((any_states, words), (states, any_words)):
        if wrong[0].tolist() != states.tolist() or wrong[1].tolist() != words.tolist():
            assert not decoded(frequency, *wrong, [(72, 5)])[0]
