"""A checkpoint of a cut game, read by one machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from treeplex.algorithms.cut.session import MANIFEST
from treeplex.algorithms.cut.trunk import Trunk

Array = npt.NDArray[Any]


def as_one(algorithm: Any, game: Any, tensors: Mapping[str, Array], folder: Path) -> Mapping[str, Array]:
    """What a checkpoint has, as one machine saves it: whether it is of a cut game and read by who is not cut."""
    if MANIFEST not in tensors or isinstance(algorithm, Trunk):
        return tensors
    from treeplex.algorithms.holdem import HoldemCFR  # noqa: PLC0415 - its kernels take time to load

    if isinstance(algorithm, HoldemCFR):
        from treeplex.algorithms.cut.board_part import joined  # noqa: PLC0415

        return joined(game, algorithm, tensors, folder)
    from treeplex.algorithms.cut.sequence_part import joined as joined_sequences  # noqa: PLC0415

    return joined_sequences(game, algorithm, tensors, folder)
