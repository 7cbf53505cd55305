"""A compiled game as one file: plain arrays and a few words, nothing that could run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrow import ArrowError, decode, encode, texts, unpacked
from treeplex.compile.blocks_storage import check_blocks, load_blocks
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import HistoryTree
from treeplex.compile.labels import Labels
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.errors import FormatError, ParameterError
from treeplex.games.protocol import TERMINAL
from treeplex.tensors import Tensors, read_tensors, write_tensors

FORMAT: Final = "treeplex-game-1"


def save(game: CompiledGame, path: str | Path) -> None:
    """Write ``game`` to ``path``, atomically."""
    tensors: Tensors = {f"tree.{field}": array for field, array in game.tree._asdict().items()}
    for player in (0, 1):
        tensors[f"{player}.first"], tensors[f"{player}.parent"] = game.treeplexes[player]
        tensors[f"{player}.actions"] = game.labels[player].actions
        tensors |= _texts(f"{player}.infosets", *encode(game.labels[player].infosets))
    for side, csr in game.payoffs._asdict().items():
        tensors |= {f"payoffs.{side}.{field}": array for field, array in csr._asdict().items()}
    tensors |= _texts("vocabulary", *encode(texts(game.actions)))
    if game.blocks is not None:
        for side, rows in game.blocks._asdict().items():
            tensors |= {f"blocks.{side}.{field}": array for field, array in rows._asdict().items()}
    form = None if game.blocks is None else type(game.blocks).__name__
    about = {"name": game.name, "constant": game.constant, "known_value": game.known_value, "blocks": form}
    write_tensors(Path(path), FORMAT, tensors, about)


def load(path: str | Path) -> CompiledGame:
    """Read a game written by ``save``; refuse a file that is anything else or does not fit together."""
    try:
        tensors, about = read_tensors(Path(path), FORMAT)
        game = _assemble(tensors, about)
        _check(game)
    except FileNotFoundError:
        raise ParameterError(f"There is no file {path}.") from None
    except (OSError, ArrowError, KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"not a whole compiled game of treeplex ({reason}); compile it again.", path=str(path)
        ) from error
    return game


def _texts(name: str, offsets: npt.NDArray[Any], text: npt.NDArray[Any]) -> Tensors:
    return {f"{name}.offsets": offsets, f"{name}.text": text}


def _assemble(tensors: Tensors, about: dict[str, Any]) -> CompiledGame:
    def ints(name: str) -> npt.NDArray[Any]:
        return _typed(tensors, name, np.int32)

    def csr(side: str) -> Csr:
        name = f"payoffs.{side}."
        return Csr(ints(name + "start"), ints(name + "column"), _typed(tensors, name + "data", np.float64))

    def labels(player: int) -> Labels:
        name = f"{player}.infosets"
        return Labels(
            decode(ints(f"{name}.offsets"), _typed(tensors, f"{name}.text", np.uint8)), ints(f"{player}.actions")
        )

    kinds = {"mover": np.int8, "probability": np.float64, "payoff": np.float64}
    tree = HistoryTree(*(_typed(tensors, f"tree.{field}", kinds.get(field, np.int32)) for field in HistoryTree._fields))
    payoffs = Payoffs(csr("rows"), csr("columns"))
    words = unpacked(decode(ints("vocabulary.offsets"), _typed(tensors, "vocabulary.text", np.uint8)))
    known = about["known_value"]
    return CompiledGame(
        name=str(about["name"]),
        treeplexes=(Treeplex(ints("0.first"), ints("0.parent")), Treeplex(ints("1.first"), ints("1.parent"))),
        labels=(labels(0), labels(1)),
        actions=tuple(words),
        nodes=tree.nodes,
        terminals=tree.terminals,
        largest_payoff=float(np.abs(tree.payoff).max(initial=0.0)),
        make_tree=lambda: tree,
        make_payoffs=lambda: payoffs,
        blocks=None if about["blocks"] is None else load_blocks(about["blocks"], tensors),
        constant=float(about["constant"]),
        known_value=None if known is None else float(known),
    )


def _typed(tensors: Tensors, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    array = tensors[name]
    if array.ndim != 1 or array.dtype != dtype:
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, not a row of {np.dtype(dtype)}")
    return array


def _check(game: CompiledGame) -> None:
    """Kernels trust their indices: let none through that points outside."""
    _check_tree(game)
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        _check_treeplex(player, treeplex)
        own = game.tree.infoset[game.tree.mover == player]
        _within(f"tree.infoset of player {player}", own, 0, treeplex.infosets)
        names = unpacked(labels.infosets)
        if (
            len(names) != treeplex.infosets
            or len(set(names)) != len(names)
            or len(labels.actions) != treeplex.sequences
        ):
            raise ValueError(f"labels of player {player} are not one for one")
        _within(f"{player}.actions", labels.actions[:1], -1, 0)
        _within(f"{player}.actions", labels.actions[1:], 0, len(game.actions))
    sizes = [treeplex.sequences for treeplex in game.treeplexes]
    _check_csr(game.payoffs.rows, sizes[0], sizes[1])
    _check_csr(game.payoffs.columns, sizes[1], sizes[0])
    if game.blocks is not None:
        check_blocks(game.blocks, sizes)
    if not _transposed(game.payoffs):
        raise ValueError("the two orientations of the payoff matrix differ")
    if not math.isfinite(game.constant) or (game.known_value is not None and not math.isfinite(game.known_value)):
        raise ValueError("a number is not finite")


def _check_tree(game: CompiledGame) -> None:
    tree = game.tree
    nodes = tree.nodes
    if any(len(array) != nodes for array in tree) or nodes == 0 or tree.size[0] != nodes or tree.parent[0] != -1:
        raise ValueError("arrays of the tree do not fit together")
    place = np.arange(nodes, dtype=np.int64)
    _within("tree.mover", tree.mover, TERMINAL, 2)
    _within("tree.size", tree.size, 1, nodes + 1)
    _within("tree.size", place + tree.size, 1, nodes + 1)
    _within("tree.parent", tree.parent[1:], 0, nodes)
    _within("tree.parent", (place - tree.parent)[1:], 1, nodes + 1)
    _within("tree.action", tree.action[1:], 0, len(game.actions))
    _within("tree.action", tree.action[:1], -1, 0)
    if np.any((tree.size == 1) != (tree.mover == TERMINAL)) or np.any(tree.infoset[tree.mover < 0] != -1):
        raise ValueError("tree.mover does not fit the tree")
    if not np.isfinite(tree.payoff).all() or not ((tree.probability >= 0.0) & (tree.probability <= 1.0)).all():
        raise ValueError("a payoff or probability is not a number")


def _check_treeplex(player: int, treeplex: Treeplex) -> None:
    first = treeplex.first.astype(np.int64)
    if len(first) != treeplex.infosets + 1 or first[0] != 1 or np.any(np.diff(first) < 1):
        raise ValueError(f"sequences of player {player} are not in order")
    _within(f"{player}.parent", treeplex.parent, 0, treeplex.sequences)
    _within(f"{player}.parent", first[:-1] - treeplex.parent, 1, treeplex.sequences + 1)


def _check_csr(csr: Csr, rows: int, columns: int) -> None:
    start = csr.start.astype(np.int64)
    fits = len(start) == rows + 1 and start[0] == 0 and start[-1] == len(csr.data) and not np.any(np.diff(start) < 0)
    if not fits or len(csr.column) != len(csr.data) or not np.isfinite(csr.data).all():
        raise ValueError("the payoff matrix has another shape")
    _within("payoffs.column", csr.column, 0, columns)


def _transposed(payoffs: Payoffs) -> bool:
    """Do both orientations hold the same entries?"""
    rows, columns = payoffs
    row = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    column = np.repeat(np.arange(len(columns.start) - 1), np.diff(columns.start))
    one, other = np.lexsort((rows.column, row)), np.lexsort((column, columns.column))
    return (
        np.array_equal(row[one], columns.column[other])
        and np.array_equal(rows.column[one], column[other])
        and np.array_equal(rows.data[one], columns.data[other])
    )


def _within(what: str, values: npt.NDArray[np.integer], low: int, high: int) -> None:
    if len(values) and (int(values.min()) < low or int(values.max()) >= high):
        raise ValueError(f"{what} points outside the game")
