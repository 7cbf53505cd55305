"""A compiled game as one safetensors file: plain arrays and a few words, nothing that could run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from treeplex.arrow import decode, encode, texts, unpacked
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.history import HistoryTree
from treeplex.compiled.labels import Labels
from treeplex.compiled.payoffs import Csr, Payoffs
from treeplex.compiled.treeplex import Treeplex
from treeplex.errors import FormatError

FORMAT = "treeplex-game-1"

Tensors = dict[str, npt.NDArray[Any]]


def save(game: CompiledGame, path: str | Path) -> None:
    """Write ``game`` to ``path``: under another name first, so that a killed process leaves no half file."""
    tensors: Tensors = {f"tree.{field}": array for field, array in game.tree._asdict().items()}
    for player in (0, 1):
        tensors[f"{player}.first"], tensors[f"{player}.parent"] = game.treeplexes[player]
        tensors[f"{player}.actions"] = game.labels[player].actions
        tensors |= _texts(f"{player}.infosets", *encode(game.labels[player].infosets))
    for side, csr in game.payoffs._asdict().items():
        tensors |= {f"payoffs.{side}.{field}": array for field, array in csr._asdict().items()}
    tensors |= _texts("vocabulary", *encode(texts(game.actions)))
    about = {"name": game.name, "constant": game.constant, "known_value": game.known_value}
    partial = Path(f"{path}.partial")
    save_file(
        {key: np.ascontiguousarray(array) for key, array in tensors.items()},
        partial,
        {"format": FORMAT, "about": json.dumps(about)},
    )
    partial.replace(path)


def load(path: str | Path) -> CompiledGame:
    """Read a game written by ``save``; refuse a file that is anything else or does not fit together."""
    try:
        tensors, about = _read(Path(path))
        game = _assemble(tensors, about)
        _check(game)
    except (SafetensorError, KeyError, ValueError, TypeError, IndexError) as error:
        raise FormatError(
            f"not a whole compiled game of treeplex ({error}); compile it again.", path=str(path)
        ) from error
    return game


def _texts(name: str, offsets: npt.NDArray[Any], text: npt.NDArray[Any]) -> Tensors:
    return {f"{name}.offsets": offsets, f"{name}.text": text}


def _read(path: Path) -> tuple[Tensors, dict[str, Any]]:
    opened: Any = safe_open(path, framework="numpy")
    with opened as file:
        header: dict[str, str] = file.metadata() or {}
        if header.get("format") != FORMAT:
            raise ValueError(f"format is {header.get('format')!r}, not {FORMAT!r}")
        return {key: file.get_tensor(key) for key in file.keys()}, json.loads(header["about"])  # noqa: SIM118


def _assemble(tensors: Tensors, about: dict[str, Any]) -> CompiledGame:
    def csr(side: str) -> Csr:
        return Csr(*(tensors[f"payoffs.{side}.{field}"] for field in Csr._fields))

    def labels(player: int) -> Labels:
        name = f"{player}.infosets"
        return Labels(decode(tensors[f"{name}.offsets"], tensors[f"{name}.text"]), tensors[f"{player}.actions"])

    payoffs = Payoffs(csr("rows"), csr("columns"))
    tree = HistoryTree(*(tensors[f"tree.{field}"] for field in HistoryTree._fields))
    words = unpacked(decode(tensors["vocabulary.offsets"], tensors["vocabulary.text"]))
    known = about["known_value"]
    return CompiledGame(
        name=str(about["name"]),
        treeplexes=(
            Treeplex(tensors["0.first"], tensors["0.parent"]),
            Treeplex(tensors["1.first"], tensors["1.parent"]),
        ),
        labels=(labels(0), labels(1)),
        actions=tuple(words),
        nodes=tree.nodes,
        terminals=tree.terminals,
        largest_payoff=float(np.abs(tree.payoff).max(initial=0.0)),
        make_tree=lambda: tree,
        make_payoffs=lambda: payoffs,
        constant=float(about["constant"]),
        known_value=None if known is None else float(known),
    )


def _check(game: CompiledGame) -> None:
    """Kernels trust their indices: let none through that points outside."""
    nodes = game.tree.nodes
    if any(len(array) != nodes for array in game.tree) or nodes == 0 or game.tree.size[0] != nodes:
        raise ValueError("arrays of the tree differ in length")
    end = np.arange(nodes) + game.tree.size
    _within("tree.size", game.tree.size, 1, nodes + 1)
    _within("tree.size", end, 1, nodes + 1)
    _within("tree.parent", game.tree.parent[1:], 0, nodes)
    _within("tree.action", game.tree.action[1:], 0, len(game.actions))
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        own = game.tree.infoset[game.tree.mover == player]
        _within(f"tree.infoset of player {player}", own, 0, treeplex.infosets)
        if len(treeplex.first) != treeplex.infosets + 1 or treeplex.first[0] != 1 or np.any(treeplex.actions < 1):
            raise ValueError(f"sequences of player {player} are not in order")
        _within(f"{player}.parent", treeplex.first[:-1] - treeplex.parent, 1, treeplex.sequences + 1)
        _within(f"{player}.parent", treeplex.parent, 0, treeplex.sequences)
        if len(labels.infosets) != treeplex.infosets or len(labels.actions) != treeplex.sequences:
            raise ValueError(f"labels of player {player} are not one for one")
        _within(f"{player}.actions", labels.actions[1:], 0, len(game.actions))
    sizes = [treeplex.sequences for treeplex in game.treeplexes]
    for csr, rows, columns in ((game.payoffs.rows, *sizes), (game.payoffs.columns, *sizes[::-1])):
        if len(csr.start) != rows + 1 or len(csr.column) != len(csr.data) or csr.start[-1] != len(csr.data):
            raise ValueError("the payoff matrix has another shape")
        _within("payoffs.start", np.diff(csr.start), 0, len(csr.data) + 1)
        _within("payoffs.column", csr.column, 0, columns)


def _within(what: str, values: npt.NDArray[np.integer], low: int, high: int) -> None:
    if len(values) and (int(values.min()) < low or int(values.max()) >= high):
        raise ValueError(f"{what} points outside the game")
