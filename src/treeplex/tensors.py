"""Arrays on disk: a safetensors file with JSON in its header. It contains nothing that can be executed."""

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
"""Format name of the checkpoint file of a run."""

TYPES: Final = {
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}
"""Names of the types of arrays in safetensors."""

MOST: Final = 2**53
"""Largest count of iterations, nodes or calls."""

LARGEST, LARGEST_SUM = 1e150, 1e300
"""Largest learnt number, whose square must be finite, and largest sum, whose weights may grow fast."""

TINY: Final = 1e-300
"""Lower bound of every number that must be positive."""

SUMS: Final = frozenset(
    ("average", "earlier", "marks", "squares", "errors", "moves", "scale", "regret_scale", "average_scale"),
)
"""Fields of records that hold sums of probabilities or of squares, or scales: never negative."""

SIGNED: Final = frozenset(("regret", "average"))
"""Fields whose integers are scaled numbers, not counts."""

PROBABILITIES: Final = frozenset(("averages", "plan", "response", "strategies", "strategy"))
"""Fields that hold strategies or realization plans."""

ROUNDED: Final = 1.0 + 1e-5
"""Largest probability, with the rounding of float32."""


def write_tensors(path: Path, kind: str, tensors: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write arrays and ``about`` to a file, either completely or not at all."""
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
    with (
        replacing(path) as temporary,
        temporary.open("wb") as file,
    ):  # safetensors itself leaves temporary files when killed
        file.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            file.write(arrays[name].reshape(-1).view(np.uint8).data if arrays[name].size else b"")


def read_tensors(path: Path, kind: str) -> tuple[Tensors, dict[str, Any]]:
    """Read the arrays and metadata of a file; raise ValueError if it is of another kind or damaged."""
    with _damaged():
        tensors, header = _opened(path, kind, mapped=False)
        return tensors, _checked(header, checksum(tensors, header.get("about", "")))


@contextmanager
def mapped_tensors(path: Path, kind: str) -> Generator[tuple[Tensors, dict[str, Any]]]:
    """Like ``read_tensors``, but with arrays mapped from the file, for callers that copy them.

    Another thread computes the checksum meanwhile, and a damaged file is reported when the context ends.
    """
    with _damaged(), ThreadPoolExecutor(1) as helper:
        tensors, header = _opened(path, kind, mapped=True)
        digest = helper.submit(checksum, tensors, header.get("about", ""))
        try:
            yield tensors, json.loads(header["about"])
        finally:  # an error caused by a damaged file is reported as damage
            _checked(header, digest.result())


def _opened(path: Path, kind: str, *, mapped: bool) -> tuple[Tensors, dict[str, str]]:
    """Open a file and return its arrays and header, not yet checked."""
    opened: Any = safe_open(path, framework="numpy")
    with opened as file:
        header: dict[str, str] = file.metadata() or {}
        if header.get("format") != kind:
            raise ValueError(f"its format is {header.get('format')!r}, not {kind!r}")
        names: list[str] = list(file.keys())
        return _mapped(path, names) if mapped else {key: file.get_tensor(key) for key in names}, header


def _checked(header: Mapping[str, str], digest: str) -> dict[str, Any]:
    """Return the metadata of a file; raise ValueError if its checksum is wrong."""
    if header.get("checksum") != digest:
        raise ValueError("its checksum is wrong")
    about: dict[str, Any] = json.loads(header["about"])
    return about


@contextmanager
def _damaged() -> Generator[None]:
    """Turn every error that a damaged file causes into a ValueError."""
    try:
        yield
    except (SafetensorError, KeyError, TypeError, OverflowError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _mapped(path: Path, names: list[str]) -> Tensors:
    """Return arrays mapped from a file whose header has been checked."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(size))
    kinds = {word: kind for kind, word in TYPES.items()}
    start, views = 8 + size, Tensors()
    for name in names:
        about = header[name]
        (begin, end), kind = about["data_offsets"], kinds[about["dtype"]]
        shape = tuple(about["shape"])
        pages = np.memmap(path, kind, "r", start + begin, shape) if end > begin else np.zeros(shape, kind)
        views[name] = pages.view(np.ndarray)
    return views


def checksum(tensors: Mapping[str, npt.NDArray[Any]], words: str) -> str:
    """Hash of arrays, their names, types and shapes, and of the metadata."""
    digest = hashlib.blake2b(words.encode(), digest_size=16)
    for key in sorted(tensors):
        array = tensors[key]
        digest.update(f"{key} {array.dtype} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def leaves(record: object, name: str) -> Iterator[tuple[str, Array]]:
    """Yield every array and number of a nested tuple, with the path to it."""
    if isinstance(record, tuple):
        parts = cast(tuple[Any, ...], record)
        for key, part in zip(_fields(parts), parts, strict=True):
            yield from leaves(part, f"{name}.{key}")
    else:
        yield name, np.asarray(record)


def restored(fresh: Record, name: str, tensors: Mapping[str, Array]) -> Record:
    """Return a record like ``fresh``, with the saved arrays and numbers. Types come from ``fresh``, not from the file.

    Raises ValueError unless every array has the type and shape of the fresh one and legal numbers. Floats are finite,
    whole numbers are counts, bytes are flags, and the fields in ``SUMS`` are not negative.
    """
    if isinstance(fresh, tuple):
        parts = cast(tuple[Any, ...], fresh)
        values = [restored(part, f"{name}.{key}", tensors) for key, part in zip(_fields(parts), parts, strict=True)]
        kind: Any = type(parts)
        return kind(*values) if hasattr(parts, "_fields") else cast(Record, tuple(values))
    array = np.asarray(fresh)
    shape = array.shape if isinstance(fresh, np.ndarray) else None
    saved = checked(name, tensors[name], array.dtype, shape, *_bounds(name, array))
    if isinstance(fresh, np.ndarray):
        array[...] = saved
        return cast(Record, array)
    scalar: Any = type(fresh)
    return scalar(saved.item())


def check(record: object, name: str) -> None:
    """Raise ValueError unless the numbers of a record are legal; see ``restored``."""
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
    """Return the array; raise ValueError unless it has this type and shape and finite numbers in [``low``, ``high``].

    If ``low`` is NaN, any number is accepted.
    """
    if array.dtype != dtype or (shape is not None and array.shape != shape):
        shown = "" if shape is None else list(shape)
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, not {np.dtype(dtype)}{shown}")
    if array.size and not math.isnan(low):
        least, most = array.min().item(), array.max().item()
        if not (math.isfinite(least) and math.isfinite(most)):  # a NaN is both the minimum and the maximum
            raise ValueError(f"{name} has numbers that are not finite")
        if least < low or most > high:
            raise ValueError(f"{name} has numbers from {least:g} to {most:g}, which is not within {low:g} to {high:g}")
    return array


def _bounds(name: str, array: Array) -> tuple[float, float]:
    """Smallest and largest legal number of an array, by its type and name."""
    if array.dtype.kind == "i" and SIGNED.isdisjoint(name.split(".")):
        return 0, 1 if array.dtype == np.int8 else MOST
    if "memory" in name.split("."):  # of a user's rule
        return math.nan, math.nan
    if array.dtype.kind == "u":  # counters of random numbers
        return 0, math.inf
    if not PROBABILITIES.isdisjoint(name.split(".")):
        return 0.0, ROUNDED
    return (-LARGEST, LARGEST) if SUMS.isdisjoint(name.split(".")) else (0.0, LARGEST_SUM)


def count_of(value: object) -> int:
    """Return a count read from JSON; raise ValueError if it is not one."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{value!r:.40} is not a count")
    return value


def number_of(value: object) -> float:
    """Return a finite number read from JSON; raise ValueError if it is not one."""
    if type(value) not in (int, float) or not math.isfinite(cast(float, value)):
        raise ValueError(f"{value!r:.40} is not a finite number")
    return float(cast(float, value))


def record_of(kind: type[Named], fields: object) -> Named:
    """Build a record of counts, numbers and texts from a JSON list; raise ValueError if they do not fit."""
    types: dict[str, type] = get_type_hints(kind)
    if type(fields) is not list or len(cast(list[Any], fields)) != len(types):
        raise ValueError(f"{fields!r:.40} is not a {kind.__name__}")
    made: list[Any] = []
    for expected, value in zip(types.values(), cast(list[Any], fields), strict=True):
        if expected is str and not isinstance(value, str):
            raise ValueError(f"{value!r:.40} is not a text")
        made.append(value if expected is str else (count_of if expected is int else number_of)(value))
    return kind._make(made)


def copied(record: Record) -> Record:
    """Copy a record with all its arrays."""
    if isinstance(record, tuple):
        parts = cast(tuple[Any, ...], record)
        kind: Any = type(parts)
        copies = [copied(part) for part in parts]
        return kind(*copies) if hasattr(parts, "_fields") else cast(Record, tuple(copies))
    return cast(Record, cast(Array, record).copy()) if isinstance(record, np.ndarray) else record


def _fields(parts: tuple[Any, ...]) -> tuple[str, ...]:
    names: tuple[str, ...] | None = getattr(parts, "_fields", None)
    return names if names is not None else tuple(str(i) for i in range(len(parts)))
