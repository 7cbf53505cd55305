"""Arrays on disk: one safetensors file with a few words in its header. Nothing in it can run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from treeplex.files import replacing

Array = npt.NDArray[Any]
Tensors = dict[str, npt.NDArray[Any]]
Record = TypeVar("Record")

CHECKPOINT: Final = "treeplex-checkpoint-2"
"""The kind of file that a run is kept in."""

TYPES: Final = {
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}
"""What safetensors calls the types of arrays."""


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


def leaves(record: Any, name: str) -> Iterator[tuple[str, Array]]:
    """Every array and number of a nested tuple, with the path to it."""
    if isinstance(record, tuple):
        parts = cast(tuple[Any, ...], record)
        for key, part in zip(_fields(parts), parts, strict=True):
            yield from leaves(part, f"{name}.{key}")
    else:
        yield name, np.asarray(record)


def restored(fresh: Record, name: str, tensors: Mapping[str, Array]) -> Record:
    """A record like ``fresh``, with the arrays and numbers that were saved; nothing in a file decides about types."""
    if isinstance(fresh, tuple):
        parts = cast(tuple[Any, ...], fresh)
        found = [restored(part, f"{name}.{key}", tensors) for key, part in zip(_fields(parts), parts, strict=True)]
        kind: Any = type(parts)
        return kind(*found) if hasattr(parts, "_fields") else cast(Record, tuple(found))
    saved = tensors[name]
    if isinstance(fresh, np.ndarray):
        array = cast(Array, fresh)
        if saved.shape != array.shape or saved.dtype != array.dtype:
            raise ValueError(f"{name} is {saved.dtype}{list(saved.shape)}, not {array.dtype}{list(array.shape)}")
        array[...] = saved
        return cast(Record, array)
    scalar: Any = type(fresh)
    return scalar(saved.item())


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
