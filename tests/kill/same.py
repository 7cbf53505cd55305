"""Are two results the same, but for clocks?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from treeplex.tensors import read_tensors

CLOCKS = {"seconds", "evaluation_seconds", "growing_seconds", "evaluating", "growing", "folder"}
PICTURES = {".png"}  # drawn with seconds on an axis
RECORDS = "records"  # of a growing run: JSON with clocks in it


def results(place: Path) -> dict[str, Any]:
    """Everything a command left in a folder, without clocks."""
    files = (path for path in sorted(place.rglob("*")) if path.is_file() and path.suffix not in PICTURES)
    return {str(path.relative_to(place)): content(path) for path in files}


def content(path: Path) -> Any:
    """Of one file."""
    if path.name == "policy.parquet" or path.suffix in (".bin", ".efg", ".txt", ".md"):
        return path.read_bytes()
    if path.suffix == ".parquet":
        return timeless(pq.read_table(path).to_pylist())
    if path.suffix == ".json":
        return timeless(json.loads(path.read_text()))
    if path.suffix == ".csv":
        head, *rows = [line.split(",") for line in path.read_text().splitlines()]
        return [[cell for name, cell in zip(head, row, strict=False) if name not in CLOCKS] for row in rows]
    if path.name == "checkpoint.safetensors":
        return checkpoint(path)
    return path.read_bytes()


def checkpoint(path: Path) -> Any:
    """Arrays and words of a checkpoint."""
    tensors, about = read_tensors(path, "treeplex-checkpoint-2")
    records = json.loads(tensors.pop(RECORDS).tobytes()) if RECORDS in tensors else {}
    if records:
        records["additions"] = [addition[:-1] for addition in records["additions"]]  # the last number is seconds
    rows = [[*row[:2], *row[4:-1], timeless(row[-1])] for row in about.pop("rows")]
    arrays = {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in tensors.items()}
    return arrays, timeless(records), timeless(about), rows


def timeless(found: Any) -> Any:
    """Without fields that are clocks."""
    if isinstance(found, dict):
        return {key: timeless(part) for key, part in found.items() if key not in CLOCKS}
    return [timeless(part) for part in found] if isinstance(found, list) else repr(found)


def difference(one: dict[str, Any], two: dict[str, Any]) -> str:
    """The first file that differs; empty if none."""
    return next((name for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)), "")
