"""A growing run on disk: the arrays of its tree, the counts beside them, and where the archived subgames lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from treeplex.engines.public.archive import Entry
from treeplex.runs.growth import Addition, GrowthRow, Run
from treeplex.engines.public.store import Place
from treeplex.engines.public.tree import DTYPES, Block, GrowingTree, nodes_of
from treeplex.errors import FormatError
from treeplex.engines.public.arrays import Nodes, Rows
from treeplex.tensors import read_tensors, write_tensors

FORMAT: Final = "treeplex-growing-checkpoint-1"


def save(run: Run, path: Path) -> None:
    """Write under another name, then replace: whoever is killed leaves the old checkpoint or the new one."""
    game = run.game
    tensors = {f"nodes.{name}": array for name, array in game.tree.nodes._asdict().items()}
    tensors |= {f"rows.{name}": array for name, array in game.tree.rows._asdict().items()}
    game.archive.store.flush()
    about: dict[str, Any] = {
        "halves": game.halves,
        "weight": game.weight,
        "touched": game.touched,
        "rows": [list(row) for row in run.rows],
        "additions": [list(addition) for addition in run.additions],
        "seconds": [run.seconds, run.growing, run.evaluating],
        "archive": [[entry.node, list(entry.place), *entry[2:]] for entry in game.archive.entries],
        "stored": game.archive.store.size,
    }
    write_tensors(path, FORMAT, tensors, about)


def restore(run: Run, path: Path) -> None:
    """Bring a fresh run to where another one was saved."""
    game = run.game
    try:
        tensors, about = read_tensors(path, FORMAT)
        nodes = nodes_of(tensors[f"nodes.{name}"] for name in Nodes._fields)
        rows = Rows(*(tensors[f"rows.{name}"] for name in Rows._fields))
        count = len(nodes.parent)
        for name, array in nodes._asdict().items():
            if array.dtype != DTYPES[name] or array.shape != (count,):
                raise ValueError(f"nodes.{name} is {array.dtype}{list(array.shape)}")
        for name, array in rows._asdict().items():
            if array.dtype != "float64" or array.shape != (count, game.tree.hands):
                raise ValueError(f"rows.{name} is {array.dtype}{list(array.shape)}")
        game.tree = GrowingTree(Block(nodes, rows))
        game.halves, game.touched = int(about["halves"]), int(about["touched"])
        game.weight = float(about["weight"])
        run.rows = [GrowthRow(*row) for row in about["rows"]]
        run.additions = [Addition(*addition) for addition in about["additions"]]
        run.seconds, run.growing, run.evaluating = map(float, about["seconds"])
        archive = game.archive
        archive.entries = [
            Entry(node, Place(*place), histories, (largest[0], largest[1]), (squares[0], squares[1]))
            for node, place, histories, largest, squares in about["archive"]
        ]
        archive.store.cut(int(about["stored"]))
        archive.renumber()
    except (OSError, KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise FormatError(f"not a whole checkpoint of this run ({error}).", path=str(path)) from error
