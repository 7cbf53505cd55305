"""Choice of the engine that runs a problem. No other module knows problems, backends and shards together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt

from treeplex.compile.game import CompiledGame
from treeplex.engines.protocol import Engine, Execution, Scheme
from treeplex.engines.sharded.session import MANIFEST
from treeplex.errors import ParameterError, quoted
from treeplex.kernels.cuda.device import advise_storage, find_device, require
from treeplex.tensors import Tensors
from treeplex.updates.storage import COMPRESSED, STORAGES, number_type

CPU, CUDA, AUTO = "cpu", "cuda", "auto"
BACKENDS: Final = (AUTO, CPU, CUDA)

PAYS_FROM: Final = {"sequence": 2e7, "boards": 2e8}
"""Numbers read per iteration from which a usual run is faster on a GPU than on 16 cores.

A usual run is 2,000 iterations of a game or 200 of a spot. The two seconds of start-up on a GPU are included:
``benchmarks/gpu/break_even.py``."""


def check_backend(name: object) -> str:
    """Return a backend's name, or reject it."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise ParameterError(f"The 'backend' parameter must be one of {', '.join(BACKENDS)}, got {quoted(name)}.")
    return name


def choose_backend(engine: str, name: object, numbers: float, device: object = 0) -> str:
    """Return the backend that ``name`` stands for; an iteration of the engine reads ``numbers`` numbers."""
    if check_backend(name) == AUTO:
        pays = numbers >= PAYS_FROM[engine]
        return CUDA if pays and find_device(device) is not None else CPU
    if name == CUDA:
        require(device)
    return str(name)


def open_engine(problem: Any, execution: Execution, scheme: Scheme) -> Engine:
    """Return the engine that iterates ``scheme`` on a problem. Reject an execution that it does not support."""
    compiled = isinstance(problem, CompiledGame)
    engine = _open_game(problem, execution) if compiled else _open_spot(problem, execution)
    engine.check(scheme)
    if execution.shards is None:
        return engine
    folder = None if execution.folder is None else Path(execution.folder)
    if compiled:
        from treeplex.engines.sharded.sequences import cut_game  # noqa: PLC0415 - few runs are sharded

        return cut_game(engine, scheme, execution.shards, folder)  # pyright: ignore[reportArgumentType]
    from treeplex.engines.sharded.boards import cut_spot  # noqa: PLC0415

    return cut_spot(engine, scheme, execution.shards, folder)  # pyright: ignore[reportArgumentType]


def _open_game(game: CompiledGame, execution: Execution) -> Engine:
    from treeplex.engines.sequence.engine import SequenceEngine, sweep  # noqa: PLC0415 - kernels take time to load

    storage = _storage(execution.storage or "float64")
    if choose_backend("sequence", execution.backend, sweep(game), execution.device) == CUDA:
        from treeplex.engines.sequence.cuda.tables import CudaSequenceEngine  # noqa: PLC0415 - not without a GPU

        advise_storage(require(execution.device), storage)
        return CudaSequenceEngine(game, storage, execution.device)
    return SequenceEngine(game, storage, execution.threads)


def _open_spot(game: Any, execution: Execution) -> Engine:
    from treeplex.engines.boards.solver import BoardsEngine, board_cost  # noqa: PLC0415 - kernels take time to load

    if execution.storage == COMPRESSED and execution.backend != CUDA and execution.shards is None:
        from treeplex.engines.boards.compressed import CompressedEngine  # noqa: PLC0415

        return CompressedEngine(game, threads=execution.threads)
    storage = _storage(execution.storage or "float32", (*STORAGES, COMPRESSED))
    if choose_backend("boards", execution.backend, board_cost(game).iteration, execution.device) == CUDA:
        from treeplex.engines.boards.cuda.solver import CudaBoardsEngine  # noqa: PLC0415 - not without a GPU

        return CudaBoardsEngine(game, storage, execution.device)
    return BoardsEngine(game, storage, execution.threads)


def join_checkpoint(
    engine: Engine, scheme: Scheme, tensors: Mapping[str, npt.NDArray[Any]], folder: str | None
) -> Tensors | Mapping[str, npt.NDArray[Any]]:
    """Return a checkpoint as one machine saves it, whether or not the run that saved it was sharded."""
    if MANIFEST not in tensors or engine.name.startswith("sharded"):
        return tensors
    game: Any = getattr(engine, "game")  # noqa: B009 - every engine has a game
    path = None if folder is None else Path(folder)
    if engine.name == "boards":
        from treeplex.engines.sharded.boards import join_spot  # noqa: PLC0415

        return join_spot(game, number_type(engine.storage), scheme, tensors, path)
    from treeplex.engines.sharded.sequence_part import join_game  # noqa: PLC0415

    return join_game(game, engine.storage, scheme, tensors, path)


def _storage(name: object, legal: Sequence[str] = tuple(STORAGES)) -> str:
    if not isinstance(name, str) or name not in legal:
        raise ParameterError(f"The 'storage' parameter must be one of {', '.join(legal)}, got {quoted(name)}.")
    if name == COMPRESSED:
        raise ParameterError(
            "The 'storage' parameter must be float64, float32 or int16 on GPUs and clusters, got 'compressed'."
        )
    return name
