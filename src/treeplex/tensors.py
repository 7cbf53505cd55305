"""Arrays on disk: one safetensors file with a few words in its header. Nothing in it can run."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast, get_type_hints

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from treeplex.files import replacing

Array = npt.NDArray[Any]
Tensors = dict[str, npt.NDArray[Any]]
Record = TypeVar("Record")
Named = TypeVar("Named", bound=NamedTuple)

CHECKPOINT: Final = "treeplex-checkpoint-2"
"""The kind of file that a run is kept in."""

TYPES: Final = {
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}
"""What safetensors calls the types of arrays."""

MOST: Final = 2**53
"""Of what is counted: iterations, nodes, calls."""

LARGEST, LARGEST_SUM = 1e150, 1e300
"""Of numbers that are learnt, whose squares must be numbers; and of sums, whose weights may grow fast."""

TINY: Final = 1e-300
"""Less than any number that must be positive."""

SUMS: Final = frozenset(
    ("average", "earlier", "marks", "squares", "errors", "moves", "scale", "regret_scale", "average_scale"),
)
"""Fields of records that hold sums of probabilities or of squares, or scales: never negative."""

SIGNED: Final = frozenset(("regret", "average"))
"""Fields whose whole numbers are numbers with a scale, not counts."""

PROBABILITIES: Final = frozenset(("averages", "plan", "response", "strategies", "strategy"))
"""Fields that hold strategies or realization plans."""

ROUNDED: Final = 1.0 + 1e-5
"""The largest probability, in float32."""


def write_tensors(path: Path, kind: str, tensors: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write a whole file, or none."""
    arrays = {key: np.ascontiguousarray(array) for key, array in tensors.items()}
    words = json.dumps(about)
    header: dict[str, Any] = {"__metadata__": {"format": kind, "about": words, "checksum": checksum(arrays, words)}}
    names, end = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)), 0  # all aligned
    for name in names:
        array, begin = arrays[name], end
        end += array.nbytes
        header[name] = {"dtype": TYPES[array.dtype.name], "shape": array.shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as temporary, temporary.open("wb") as file:  # the library leaves files of its own when killed
        file.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            file.write(arrays[name].reshape(-1).view(np.uint8).data if arrays[name].size else b"")


def read_tensors(path: Path, kind: str) -> tuple[Tensors, dict[str, Any]]:
    """Arrays and words of a file of this kind; ValueError if it is anything else or damaged."""
    with _damaged():
        tensors, header = _opened(path, kind, mapped=False)
        return tensors, _checked(header, checksum(tensors, header.get("about", "")))


@contextmanager
def mapped_tensors(path: Path, kind: str) -> Generator[tuple[Tensors, dict[str, Any]]]:
    """The same for those who copy arrays elsewhere: they are pages of the file, read when they are looked at.

    The checksum is taken meanwhile, by another thread: whether the file is whole is known when the context ends.
    """
    with _damaged(), ThreadPoolExecutor(1) as helper:
        tensors, header = _opened(path, kind, mapped=True)
        found = helper.submit(checksum, tensors, header.get("about", ""))
        try:
            yield tensors, json.loads(header["about"])
        finally:  # what a damaged file has led to is told as damage
            _checked(header, found.result())


def _opened(path: Path, kind: str, *, mapped: bool) -> tuple[Tensors, dict[str, str]]:
    """Arrays and header of a file, not yet checked."""
    opened: Any = safe_open(path, framework="numpy")
    with opened as file:
        header: dict[str, str] = file.metadata() or {}
        if header.get("format") != kind:
            raise ValueError(f"its format is {header.get('format')!r}, not {kind!r}")
        names: list[str] = list(file.keys())
        return _mapped(path, names) if mapped else {key: file.get_tensor(key) for key in names}, header


def _checked(header: Mapping[str, str], found: str) -> dict[str, Any]:
    """The words of a file whose checksum is right."""
    if header.get("checksum") != found:
        raise ValueError("its checksum is wrong")
    about: dict[str, Any] = json.loads(header["about"])
    return about


@contextmanager
def _damaged() -> Generator[None]:
    """Whatever a damaged file leads to is a ValueError."""
    try:
        yield
    except (SafetensorError, KeyError, TypeError, OverflowError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _mapped(path: Path, names: list[str]) -> Tensors:
    """Views of a file whose header is known to be right."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(size))
    kinds = {word: kind for kind, word in TYPES.items()}
    start, found = 8 + size, Tensors()
    for name in names:
        about = header[name]
        (begin, end), kind = about["data_offsets"], kinds[about["dtype"]]
        shape = tuple(about["shape"])
        pages = np.memmap(path, kind, "r", start + begin, shape) if end > begin else np.zeros(shape, kind)
        found[name] = pages.view(np.ndarray)
    return found


def checksum(tensors: Mapping[str, npt.NDArray[Any]], words: str) -> str:
    """A hash of arrays, their names, types and shapes, and of the words beside them."""
    digest = hashlib.blake2b(words.encode(), digest_size=16)
    for key in sorted(tensors):
        array = tensors[key]
        digest.update(f"{key} {array.dtype} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def leaves(record: object, name: str) -> Iterator[tuple[str, Array]]:
    """Every array and number of a nested tuple, with the path to it."""
    if isinstance(record, tuple):
        parts = cast(tuple[Any, ...], record)
        for key, part in zip(_fields(parts), parts, strict=True):
            yield from leaves(part, f"{name}.{key}")
    else:
        yield name, np.asarray(record)


def restored(fresh: Record, name: str, tensors: Mapping[str, Array]) -> Record:
    """A record like ``fresh``, with the arrays and numbers that were saved; nothing in a file decides about types.

    ValueError unless every array has the type and shape of the fresh one and numbers that can stand there: floats are
    finite, whole numbers are counts, bytes are flags, and what ``SUMS`` names is not negative.
    """
    if isinstance(fresh, tuple):
        parts = cast(tuple[Any, ...], fresh)
        found = [restored(part, f"{name}.{key}", tensors) for key, part in zip(_fields(parts), parts, strict=True)]
        kind: Any = type(parts)
        return kind(*found) if hasattr(parts, "_fields") else cast(Record, tuple(found))
    array = np.asarray(fresh)
    shape = array.shape if isinstance(fresh, np.ndarray) else None
    saved = checked(name, tensors[name], array.dtype, shape, *_bounds(name, array))
    if isinstance(fresh, np.ndarray):
        array[...] = saved
        return cast(Record, array)
    scalar: Any = type(fresh)
    return scalar(saved.item())


def check(record: object, name: str) -> None:
    """ValueError unless numbers of a record are such as can stand there: as ``restored``."""
    for key, array in leaves(record, name):
        checked(key, array, array.dtype, None, *_bounds(key, array))


def checked(
    name: str,
    array: Array,
    dtype: npt.DTypeLike,
    shape: tuple[int, ...] | None = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Array:
    """The array; ValueError unless it has this type, this shape, and finite numbers from ``low`` to ``high``.

    Where ``low`` is NaN, numbers may be anything.
    """
    if array.dtype != dtype or (shape is not None and array.shape != shape):
        shown = "" if shape is None else list(shape)
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, not {np.dtype(dtype)}{shown}")
    if array.size and not math.isnan(low):
        least, most = array.min().item(), array.max().item()
        if not (math.isfinite(least) and math.isfinite(most)):  # a NaN is both the least and the most
            raise ValueError(f"{name} has numbers that are not finite")
        if least < low or most > high:
            raise ValueError(f"{name} has numbers from {least:g} to {most:g}, which is not within {low:g} to {high:g}")
    return array


def _bounds(name: str, array: Array) -> tuple[float, float]:
    """What numbers of an array may be, by its type and name."""
    if array.dtype.kind == "i" and SIGNED.isdisjoint(name.split(".")):
        return 0, 1 if array.dtype == np.int8 else MOST
    if "memory" in name.split("."):  # of a user's own rule
        return math.nan, math.nan
    if array.dtype.kind == "u":  # counters of random numbers
        return 0, math.inf
    if not PROBABILITIES.isdisjoint(name.split(".")):
        return 0.0, ROUNDED
    return (-LARGEST, LARGEST) if SUMS.isdisjoint(name.split(".")) else (0.0, LARGEST_SUM)


def count_of(value: object) -> int:
    """A count from JSON, or ValueError."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{value!r:.40} is not a count")
    return value


def number_of(value: object) -> float:
    """A finite number from JSON, or ValueError."""
    if type(value) not in (int, float) or not math.isfinite(cast(float, value)):
        raise ValueError(f"{value!r:.40} is not a finite number")
    return float(cast(float, value))


def record_of(kind: type[Named], fields: object) -> Named:
    """A record of counts, numbers and texts from a list in JSON, or ValueError."""
    types: dict[str, type] = get_type_hints(kind)
    if type(fields) is not list or len(cast(list[Any], fields)) != len(types):
        raise ValueError(f"{fields!r:.40} is not a {kind.__name__}")
    made: list[Any] = []
    for wanted, value in zip(types.values(), cast(list[Any], fields), strict=True):
        if wanted is str and not isinstance(value, str):
            raise ValueError(f"{value!r:.40} is not a text")
        made.append(value if wanted is str else (count_of if wanted is int else number_of)(value))
    return kind._make(made)


def copied(record: Record) -> Record:
    """The same with arrays of its own."""
    if isinstance(record, tuple):
        parts = cast(tuple[Any, ...], record)
        kind: Any = type(parts)
        copies = [copied(part) for part in parts]
        return kind(*copies) if hasattr(parts, "_fields") else cast(Record, tuple(copies))
    return cast(Record, cast(Array, record).copy()) if isinstance(record, np.ndarray) else record


def _fields(parts: tuple[Any, ...]) -> tuple[str, ...]:
    names: tuple[str, ...] | None = getattr(parts, "_fields", None)
    return names if names is not None else tuple(str(i) for i in range(len(parts)))
