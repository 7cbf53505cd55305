"""Checkpoints: the state of a run in one safetensors file, replaced atomically, read without running anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from treeplex.errors import FormatError
from treeplex.evaluation.log import LogRow
from treeplex.tensors import read_tensors, write_tensors

FORMAT = "treeplex-checkpoint-1"

Array = npt.NDArray[Any]


class Best(NamedTuple):
    """The best strategies seen at a checkpoint so far."""

    nash_conv: float
    first: Array
    second: Array


class Checkpoint(NamedTuple):
    """A run as it stood after some iteration."""

    state: Any  # the algorithm's own
    rows: list[LogRow]
    seconds: float  # spent so far
    evaluating: float  # of these, on evaluation
    best: Best | None


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write under another name, then replace: whoever is killed leaves the old checkpoint or the new one."""
    tensors = {key: np.ascontiguousarray(leaf) for key, leaf in _leaves(checkpoint.state, "state")}
    if checkpoint.best is not None:
        tensors |= {"best.first": checkpoint.best.first, "best.second": checkpoint.best.second}
    about = {
        "rows": [list(row) for row in checkpoint.rows],
        "seconds": checkpoint.seconds,
        "evaluating": checkpoint.evaluating,
        "best": None if checkpoint.best is None else checkpoint.best.nash_conv,
    }
    write_tensors(path, FORMAT, tensors, about)


def load_checkpoint(path: Path, fresh: Any, sequences: list[int] | None) -> Checkpoint:
    """Read a checkpoint into the arrays of ``fresh``, a starting state of the same algorithm in the same game.

    ``sequences``: how many each player has; None if strategies are not stored as one number a sequence.
    """
    try:
        tensors, about = read_tensors(path, FORMAT)
        state = _restored(fresh, "state", tensors)
        rows = [LogRow(*row) for row in about["rows"]]
        best = None
        if about["best"] is not None:
            best = Best(float(about["best"]), tensors["best.first"], tensors["best.second"])
            if sequences is not None and any(
                array.shape != (size,) or array.dtype != np.float64
                for array, size in zip(best[1:], sequences, strict=True)
            ):
                raise ValueError("the best strategies have another shape")
        return Checkpoint(state, rows, float(about["seconds"]), float(about["evaluating"]), best)
    except (OSError, KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise FormatError(f"not a whole checkpoint of this run ({error}).", path=str(path)) from error


def _leaves(state: Any, name: str) -> Iterator[tuple[str, Array]]:
    """Every array and number of a nested tuple, with the path to it."""
    if isinstance(state, tuple):
        parts = cast(tuple[Any, ...], state)
        for key, part in zip(_fields(parts), parts, strict=True):
            yield from _leaves(part, f"{name}.{key}")
    else:
        yield name, np.asarray(state)


def _restored(fresh: Any, name: str, tensors: dict[str, Array]) -> Any:
    """A state like ``fresh``, with the arrays and numbers that were saved."""
    if isinstance(fresh, tuple):
        parts = cast(tuple[Any, ...], fresh)
        restored = [_restored(part, f"{name}.{key}", tensors) for key, part in zip(_fields(parts), parts, strict=True)]
        return type(parts)(*restored) if hasattr(parts, "_fields") else tuple(restored)
    saved = tensors[name]
    if isinstance(fresh, np.ndarray):
        array = cast(Array, fresh)
        if saved.shape != array.shape or saved.dtype != array.dtype:
            raise ValueError(f"{name} is {saved.dtype}{list(saved.shape)}, not {array.dtype}{list(array.shape)}")
        array[...] = saved
        return array
    return type(fresh)(saved.item())


def _fields(parts: tuple[Any, ...]) -> tuple[str, ...]:
    names: tuple[str, ...] | None = getattr(parts, "_fields", None)
    return names if names is not None else tuple(str(i) for i in range(len(parts)))
