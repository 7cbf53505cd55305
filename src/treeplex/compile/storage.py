"""Storage of a compiled game as one file of plain arrays and metadata, with nothing that can be executed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.arrow import ArrowError, Encoded, decode, encode, texts, unpacked
from treeplex.compile.blocks import (
    BlockRows,
    Blocks,
    ClassBlocks,
    ClassRows,
    DealtOperator,
    RankedBlocks,
    RankedRows,
)
from treeplex.compile.efg import to_efg
from treeplex.compile.game import CompiledGame, Prebuilt
from treeplex.compile.history import HistoryTree
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.errors import FormatError, ParameterError, brief, quoted
from treeplex.files import replace_text
from treeplex.games.efg import write
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.tensors import LARGEST, Tensors, leaves, read_tensors, write_tensors

FORMAT: Final = "treeplex-game-1"

DIMENSIONS: Final = {"tables": 3, "sequence": 2, "other": 2}
"""Number of dimensions of the fields of a file that have more than one."""

TYPES: Final[dict[str, Any]] = {
    "mover": np.int8,
    "text": np.uint8,
    **dict.fromkeys(("probability", "payoff", "data", "amount", "tables", "copies"), np.float64),
}
"""Types of the fields that are not 32-bit integers."""

TOLERANCE: Final = 1e-6
"""Allowed error in the sum of chance probabilities: more than rounding, less than a mistake."""

FORMS: Final[dict[str, tuple[Any, Any]]] = {
    "Blocks": (Blocks, BlockRows),
    "RankedBlocks": (RankedBlocks, RankedRows),
    "ClassBlocks": (ClassBlocks, ClassRows),
}
"""Operators of dealt games, with the types of their rows."""

Record = TypeVar("Record", bound=NamedTuple)


def save(game: CompiledGame, path: str | Path) -> None:
    """Write ``game`` to ``path``, atomically."""
    records: dict[str, Any] = {"tree": game.tree, "payoffs": game.payoffs, "vocabulary": encode(texts(game.actions))}
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        infosets, actions = encode(labels.infosets), labels.actions
        records |= {f"{player}": treeplex, f"{player}.actions": actions, f"{player}.infosets": infosets}
    if game.blocks is not None:
        records["blocks"] = game.blocks
    tensors = {key: array for name, record in records.items() for key, array in leaves(record, name)}
    form = None if game.blocks is None else type(game.blocks).__name__
    about = {
        "name": game.name,
        "constant": game.constant,
        "unit": game.unit,
        "known_value": game.known_value,
        "blocks": form,
    }
    write_tensors(Path(path), FORMAT, tensors, about)


def write_game(game: CompiledGame, path: Path) -> None:
    """Write a game in the format given by the suffix of the file name."""
    match path.suffix.lower():
        case ".safetensors":
            save(game, path)
        case ".efg":
            text = write(to_efg(game))
            try:
                replace_text(path, text)
            except OSError as error:
                reason = error.strerror or brief(str(error))
                raise ParameterError(f"The file {quoted(path)} cannot be written: {reason}.") from error
        case _:
            raise ParameterError(f"The file name of a saved game must end in .safetensors or .efg, got {quoted(path)}.")


def load(path: str | Path) -> CompiledGame:
    """Read a game written by ``save``; raise FormatError if the file is something else or inconsistent."""
    try:
        tensors, about = read_tensors(Path(path), FORMAT)
        game = _assemble(tensors, about)
        _check(game)
    except FileNotFoundError:
        raise ParameterError(f"There is no file {quoted(Path(path))}.") from None
    except (OSError, ArrowError, LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"not a whole compiled game of treeplex ({reason}); compile it again.", path=str(path)
        ) from error
    return game


def _assemble(tensors: Tensors, about: dict[str, Any]) -> CompiledGame:
    tree = _read(HistoryTree, "tree", tensors)
    payoffs = Payoffs(*(_read(Csr, f"payoffs.{side}", tensors) for side in Payoffs._fields))
    first, second = (_read(Treeplex, f"{player}", tensors) for player in (0, 1))
    names = [decode(*_read(Encoded, f"{player}.infosets", tensors)) for player in (0, 1)]
    codes = [_typed(tensors, f"{player}.actions", "actions") for player in (0, 1)]
    known, unit = about["known_value"], float(about.get("unit", 1.0))
    if not (unit > 0.0 and math.frexp(unit)[0] == 0.5):
        raise ValueError(f"the unit of payoffs is {unit:g}, which is not a power of two")
    return CompiledGame(
        name=str(about["name"]),
        treeplexes=(first, second),
        labels=(Labels(names[0], codes[0]), Labels(names[1], codes[1])),
        actions=tuple(unpacked(decode(*_read(Encoded, "vocabulary", tensors)))),
        nodes=tree.nodes,
        terminals=tree.terminals,
        largest_payoff=float(np.abs(tree.payoff).max(initial=0.0)),
        make_tree=Prebuilt(tree),
        make_payoffs=Prebuilt(payoffs),
        blocks=_blocks(about["blocks"], tensors),
        constant=float(about["constant"]),
        unit=unit,
        known_value=None if known is None else float(known),
    )


def _blocks(form: str | None, tensors: Tensors) -> DealtOperator | None:
    if form is None:
        return None
    if form not in FORMS:
        raise ValueError(f"there is no payoff operator {form!r}")
    kind, rows = FORMS[form]
    return kind(*(_read(rows, f"blocks.{side}", tensors) for side in kind._fields))


def _read(kind: type[Record], name: str, tensors: Tensors) -> Record:
    """Return the record of arrays that is stored under ``name``."""
    return kind._make(_typed(tensors, f"{name}.{field}", field) for field in kind._fields)


def _typed(tensors: Tensors, name: str, field: str) -> npt.NDArray[Any]:
    array, dimensions, dtype = tensors[name], DIMENSIONS.get(field, 1), TYPES.get(field, np.int32)
    if array.ndim != dimensions or array.dtype != dtype:
        expected = f"{np.dtype(dtype)} of {dimensions} dimensions" if dimensions > 1 else f"a row of {np.dtype(dtype)}"
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}, not {expected}")
    if array.dtype == np.float64 and not (np.abs(array) <= LARGEST).all():  # sums of squares of payoffs must be finite
        raise ValueError(f"{name} has numbers that are not finite or too large")
    return array


def _check(game: CompiledGame) -> None:
    """Raise ValueError if an index points outside its array, since kernels trust them, or if this is not a game."""
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        _check_treeplex(player, treeplex)
        names = unpacked(labels.infosets)
        counts = len(names), len(set(names)), len(labels.actions)
        if counts != (treeplex.infosets, treeplex.infosets, treeplex.sequences):
            raise ValueError(f"labels of player {player} are not one for one")
        _within(f"{player}.actions", labels.actions[:1], -1, 0)
        _within(f"{player}.actions", labels.actions[1:], 0, len(game.actions))
    _check_tree(game)
    _check_moves(game)
    sizes = [treeplex.sequences for treeplex in game.treeplexes]
    for csr, own, other in zip(game.payoffs, sizes, sizes[::-1], strict=True):
        _check_rows(*csr, own, other)
    if isinstance(game.blocks, ClassBlocks):
        for side, own, other in zip(game.blocks, sizes, sizes[::-1], strict=True):
            _check_classes(side, own, other)
    elif game.blocks is not None:
        _check_blocks(game.blocks, sizes)
    if not _transposed(game.payoffs):
        raise ValueError("the two orientations of the payoff matrix differ")
    if not math.isfinite(game.constant) or (game.known_value is not None and not math.isfinite(game.known_value)):
        raise ValueError("a number is not finite")


def _check_tree(game: CompiledGame) -> None:
    """Check that nodes are in depth-first order: the ``size - 1`` nodes that follow a node are its descendants."""
    tree = game.tree
    nodes = tree.nodes
    if any(len(array) != nodes for array in tree) or nodes == 0 or tree.size[0] != nodes or tree.parent[0] != -1:
        raise ValueError("arrays of the tree do not fit together")
    node, above = np.arange(1, nodes, dtype=np.int64), tree.parent[1:]
    _within("tree.mover", tree.mover, TERMINAL, 2)
    _within("tree.parent", above, 0, nodes)
    _within("tree.parent", node - above, 1, nodes + 1)
    _within("tree.size", tree.size, 1, nodes + 1)
    _within("tree.action", tree.action[1:], 0, len(game.actions))
    _within("tree.action", tree.action[:1], -1, 0)
    end = np.arange(nodes) + tree.size
    below = np.bincount(above, weights=tree.size[1:], minlength=nodes)  # whole numbers below 2^53: exact
    if np.any(end[1:] > end[above]) or np.any(below + 1 != tree.size):
        raise ValueError("tree.size does not fit the tree")
    if np.any((tree.size == 1) != (tree.mover == TERMINAL)) or np.any(tree.infoset[tree.mover < 0] != -1):
        raise ValueError("tree.mover does not fit the tree")
    chance = tree.mover[above] == CHANCE
    total = np.bincount(above[chance], weights=tree.probability[1:][chance], minlength=nodes)[tree.mover == CHANCE]
    odd = not ((tree.probability >= 0.0) & (tree.probability <= 1.0)).all()
    if odd or np.any(np.abs(total - 1.0) > TOLERANCE) or np.any(tree.probability[1:][~chance] != 1.0):
        raise ValueError("a payoff or probability is not a number, or probabilities do not add up to 1")
    if np.any(tree.payoff[tree.mover != TERMINAL] != 0.0):
        raise ValueError("tree.payoff does not fit the tree")


def _check_moves(game: CompiledGame) -> None:
    """Check that moves of the tree are sequences of the treeplexes, with equal numbers, labels and parents."""
    tree, order = game.tree, np.argsort(game.tree.parent, kind="stable")
    count = np.bincount(tree.parent[1:], minlength=tree.nodes)
    number = np.empty(tree.nodes, dtype=np.int64)  # index of a node among its siblings
    number[order[1:]] = np.arange(tree.nodes - 1) - np.repeat(np.cumsum(count) - count, count)
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        own = np.flatnonzero(tree.mover == player)
        infoset = tree.infoset[own]
        _within(f"tree.infoset of player {player}", infoset, 0, treeplex.infosets)
        if np.any(count[own] != treeplex.actions[infoset]):
            raise ValueError(f"nodes and infosets of player {player} have different moves")
        after = 1 + np.flatnonzero(tree.mover[tree.parent[1:]] == player)  # nodes right after a move of the player
        sequence = treeplex.first[tree.infoset[tree.parent[after]]] + number[after]
        if np.any(labels.actions[sequence] != tree.action[after]):
            raise ValueError(f"nodes and infosets of player {player} have different labels of moves")
        if np.any(_last(tree, after, sequence)[own] != treeplex.parent[infoset]):
            raise ValueError(f"player {player} does not remember its moves")
        if np.any(np.bincount(infoset, minlength=treeplex.infosets) == 0):
            raise ValueError(f"an infoset of player {player} is not in the tree")


def _last(tree: HistoryTree, after: npt.NDArray[Any], sequence: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """[N] last sequence of a player on the path to every node, from the sequences of nodes right after its moves."""
    last = np.full(tree.nodes, -1, dtype=np.int64)
    last[0], last[after] = 0, sequence
    ahead, above = np.flatnonzero(last < 0), tree.parent.copy()
    while len(ahead):  # each step goes up twice as far as the one before
        last[ahead] = last[above[ahead]]
        ahead = ahead[last[ahead] < 0]
        above[ahead] = above[above[ahead]]
    return last


def _check_treeplex(player: int, treeplex: Treeplex) -> None:
    first = treeplex.first.astype(np.int64)
    if len(first) != treeplex.infosets + 1 or first[0] != 1 or np.any(np.diff(first) < 1):
        raise ValueError(f"sequences of player {player} are not in order")
    _within(f"{player}.parent", treeplex.parent, 0, treeplex.sequences)
    _within(f"{player}.parent", first[:-1] - treeplex.parent, 1, treeplex.sequences + 1)


def _check_blocks(blocks: Blocks | RankedBlocks, sequences: list[int]) -> None:
    for side, own, other in ((blocks.rows, *sequences), (blocks.columns, *sequences[::-1])):
        table = side.table if isinstance(side, BlockRows) else side.showdown
        if any(0 in array.shape for array in side) or len(table) != len(side.amount):
            raise ValueError("the payoff blocks have a wrong shape")
        _check_rows(side.start, side.column, side.amount, len(side.sequence), len(side.other))
        _within("payoff blocks", side.sequence, -1, own)
        _within("payoff blocks", side.other, -1, other)
        shape = (side.other.shape[1], side.sequence.shape[1])
        if isinstance(side, BlockRows):
            if side.tables.shape[1:] != shape:
                raise ValueError("the payoff tables have a wrong shape")
            _within("payoff blocks", side.table, 0, len(side.tables))
        elif shape[0] != shape[1] or min(side.sequence.min(), side.other.min()) < 0:
            raise ValueError("the payoff blocks have a wrong shape")


def _check_classes(side: ClassRows, own: int, other: int) -> None:
    rows, count = len(side.board), len(side.copies)
    lengths = [len(array) - rows for array in (side.base, side.stride)]
    lengths += [len(side.other_stride) - len(side.other_base), len(side.showdown) - len(side.amount)]
    lengths += [len(array) - count for array in (side.below, side.not_above)]
    start = side.classes.astype(np.int64)
    width = np.diff(start)
    if any(lengths) or not len(width) or start[0] != 0 or start[-1] != count or np.any(width < 1):
        raise ValueError("the payoff blocks have a wrong shape")
    _check_rows(side.start, side.column, side.amount, rows, len(side.other_base))
    _within("payoff blocks", side.board, 0, len(width))
    _within("payoff blocks", side.showdown, 0, 2)
    _within("payoff blocks", side.stride, 0, own)
    _within("payoff blocks", side.other_stride, 0, other)
    _within("payoff blocks", side.base, 0, own)
    _within("payoff blocks", side.other_base, 0, other)
    last = width[side.board] - 1  # the largest index of a class on the board of a row
    _within("payoff blocks", side.base + last * side.stride, 0, own)
    facing = np.repeat(last, np.diff(side.start))
    _within("payoff blocks", side.other_base[side.column] + facing * side.other_stride[side.column], 0, other)
    most = np.repeat(width, width)
    if np.any(side.below < 0) or np.any(side.below >= side.not_above) or np.any(side.not_above > most):
        raise ValueError("the payoff blocks have a wrong shape")


def _check_rows(start: Ints, column: Ints, data: Floats, rows: int, columns: int) -> None:
    steps = np.diff(start.astype(np.int64))
    fits = len(start) == rows + 1 and start[0] == 0 and start[-1] == len(data) and not np.any(steps < 0)
    if not fits or len(column) != len(data):
        raise ValueError("the payoff matrix has a wrong shape")
    _within("payoffs.column", column, 0, columns)


def _transposed(payoffs: Payoffs) -> bool:
    """Whether both orientations have the same entries."""
    rows, columns = payoffs
    row, column = (np.repeat(np.arange(len(csr.start) - 1), np.diff(csr.start)) for csr in payoffs)
    one, other = np.lexsort((rows.column, row)), np.lexsort((column, columns.column))
    pairs = ((row, columns.column), (rows.column, column), (rows.data, columns.data))
    return all(np.array_equal(ours[one], theirs[other]) for ours, theirs in pairs)


def _within(what: str, values: npt.NDArray[np.integer], low: int, high: int) -> None:
    if len(values) and (int(values.min()) < low or int(values.max()) >= high):
        raise ValueError(f"{what} points outside the game")
