"""Checkpoints: the state of a run after some iteration, in one file that names the run it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Algorithm, Game, State, StrategyReport
from treeplex.errors import FormatError
from treeplex.runs.log import LogRow, read_rows, written_rows
from treeplex.runs.request import identified
from treeplex.tensors import CHECKPOINT, copied, leaves, mapped_tensors, number_of, restored, write_tensors

DAMAGES: Final = (OSError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions that damaged or foreign files may cause."""


class Best(NamedTuple):
    """Strategies with the lowest NashConv at any evaluation so far."""

    nash_conv: float
    report: StrategyReport


class Checkpoint(NamedTuple, Generic[State]):
    """State of a run after some iteration, with its log."""

    state: State
    rows: list[LogRow]
    seconds: float  # spent so far
    evaluating: float  # of these, spent on evaluations
    best: Best | None = None


def save_checkpoint(
    path: Path, identity: Mapping[str, Any], algorithm: Algorithm[Game, State], point: Checkpoint[State]
) -> None:
    """Write a checkpoint to a temporary file that replaces the old one, so that a killed process leaves either."""
    tensors = dict(algorithm.save(point.state))
    if point.best is not None:
        tensors |= {name: np.ascontiguousarray(leaf) for name, leaf in leaves(point.best.report.arrays, "best")}
    about = {
        "run": dict(identity),
        **written_rows(point.rows),
        "seconds": point.seconds,
        "evaluating": point.evaluating,
        "best": None if point.best is None else point.best.nash_conv,
    }
    write_tensors(path, CHECKPOINT, tensors, about)


def load_checkpoint(
    path: Path, identity: Mapping[str, Any], algorithm: Algorithm[Game, State], game: Game, seed: int
) -> Checkpoint[State]:
    """Read a checkpoint, and check that it belongs to this run."""
    try:
        with mapped_tensors(path, CHECKPOINT) as (tensors, about):
            owner = identified(about["run"])
            other = next((key for key in identity if owner.get(key) != identity[key]), None)
            if other is not None:
                raise ValueError(f"its {other} is {owner.get(other)!r}, not {identity[other]!r}")
            state = algorithm.restore(game, tensors, seed)
            rows, work = read_rows(about), algorithm.work(game, state)
            if any(not 1 <= row.iteration <= max(work[:2]) for row in rows):
                raise ValueError("its log has iterations that were not run")
            best = None
            if about["best"] is not None:
                fresh = algorithm.report(game, state, "average").host()
                arrays = restored(copied(fresh.arrays), "best", tensors)
                best = Best(number_of(about["best"]), fresh.replace(arrays))
            seconds, evaluating = number_of(about["seconds"]), number_of(about["evaluating"])
            if seconds < 0.0 or evaluating < 0.0:
                raise ValueError("its seconds are negative")
        return Checkpoint(state, rows, seconds, evaluating, best)
    except DAMAGES as error:
        raise FormatError(f"not a complete checkpoint of this run ({error}).", path=str(path)) from error
