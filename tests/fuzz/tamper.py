"""Files of arrays with a right checksum and wrong contents."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import mutate
import numpy as np
import numpy.typing as npt

from treeplex.tensors import TYPES, read_tensors, write_tensors

Array = npt.NDArray[Any]

EXTREMES = (-1, -2, 1, 2, 3, 127, -128, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63))
ODD = (np.nan, np.inf, -np.inf, -1.0, 1e308, -1e308, 5e-324, 0.0, 2.0, -1e-9, 1e18)


def tampered(draw: random.Random, path: Path, kind: str) -> None:
    """Change one to three things of a file of arrays, in place; the checksum fits."""
    tensors, about = read_tensors(path, kind)
    if draw.random() < 0.03:
        path.write_bytes(mutate.data(draw, path.read_bytes()[: draw.choice((8, 100, None, None))]))
        return
    tensors = dict(tensors)
    if draw.random() < 0.08:
        about = mutate.tree(draw, about)
    else:
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            _change(draw, tensors)
    write_tensors(path, kind, tensors, about)


def _change(draw: random.Random, tensors: dict[str, Array]) -> None:
    name = draw.choice(sorted(tensors))
    array = tensors[name].copy()
    if array.dtype == np.uint8 and array.ndim == 1 and array[:1].tobytes() in (b"{", b"["):
        tensors[name] = _text(draw, array)
        return
    edit = draw.randrange(20)
    if edit == 0:
        del tensors[name]
    elif edit == 1:
        tensors[draw.choice((name + "x", "state", "extra", "cut", "mark.average"))] = array
    elif edit == 2:
        like = [key for key in sorted(tensors) if tensors[key].dtype == array.dtype]
        other = draw.choice([key for key in like if tensors[key].shape == array.shape] if draw.random() < 0.8 else like)
        tensors[name], tensors[other] = tensors[other], array
    elif edit == 3:
        with np.errstate(all="ignore"):
            tensors[name] = array.astype(draw.choice(sorted(TYPES)), casting="unsafe")
    elif edit == 4:
        tensors[name] = _reshaped(draw, array)
    else:
        tensors[name] = _values(draw, array)


def _values(draw: random.Random, array: Array) -> Array:
    """The same type and shape, other numbers."""
    flat = array.reshape(-1).copy()
    if not len(flat):
        return array
    numbers = np.random.default_rng(draw.randrange(2**32))
    edit, some = draw.randrange(6), numbers.integers(0, len(flat), draw.choice((1, 1, 2, len(flat))))
    with np.errstate(all="ignore"):
        if edit == 0:
            flat[:] = _odd(draw, flat)
        elif edit == 1:
            flat[some] = _odd(draw, flat)
        elif edit == 2:
            flat = numbers.permutation(flat)
        elif edit == 3:
            flat[some] = flat[numbers.integers(0, len(flat), len(some))]
        elif edit == 4 and flat.dtype.kind in "iu":
            low, high = int(flat.min()), int(flat.max())
            flat[some] = [draw.randint(low, high) for _ in some]
        elif flat.dtype.kind == "f":
            flat[some] *= draw.choice((-1.0, 1e30, 1e300, 0.0, 1e-300))
        else:
            flat[some] = ~flat[some]
    return flat.reshape(array.shape)


def _odd(draw: random.Random, flat: Array) -> Any:
    if flat.dtype.kind == "f":
        return draw.choice(ODD)
    if flat.dtype.kind == "b":
        return draw.random() < 0.5
    limits = np.iinfo(flat.dtype)
    size = len(flat)
    every = (*EXTREMES, limits.min, limits.max, draw.randint(0, size), size, size - 1)
    return draw.choice([number for number in every if limits.min <= number <= limits.max])


def _reshaped(draw: random.Random, array: Array) -> Array:
    edit = draw.randrange(5)
    if edit == 0:
        return array.reshape(-1)[: draw.randrange(array.size + 1)]
    if edit == 1:
        return np.concatenate((array.reshape(-1), array.reshape(-1)[:1]))
    if edit == 2:
        return array.reshape(-1)
    return array[None] if edit == 3 else np.zeros((0, *array.shape), array.dtype)


def _text(draw: random.Random, array: Array) -> Array:
    """JSON that is kept as an array of bytes."""
    try:
        text = json.dumps(mutate.tree(draw, json.loads(array.tobytes())))
    except ValueError:
        text = "{}"
    if draw.random() < 0.2:
        text = mutate.text(draw, text)
    return np.frombuffer(text.encode(errors="surrogatepass"), dtype=np.uint8)
