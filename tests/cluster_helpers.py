"""Small hold'em spots, as many as are needed; and all the bits of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from safetensors import safe_open

from treeplex.runs.batch.local import Ended, Processes
from treeplex.runs.batch.planning import Task
from treeplex.runs.batch.worker import work

STORE = 80 * 2**20  # bytes of the object store of each node in tests: little more than Ray wants at least
RIVERS = ("Ks 9h 6d 3c Jh", "As 8d 5c 2h Th", "Qd Jc 7s 4h 2c", "Tc 9c 8h 3s 3d", "Ah Kd 6c 6s 2h")
CARDS = tuple(rank + suit for rank in "2457TQA" for suit in "cdhs")
RANGES = {"oop_range": "AA,KQs,T9s,77,54s", "ip_range": "AKs,QQ,JTs,88,65s"}
MENU = {player: {"bet": "75%", "raise": "a"} for player in ("oop", "ip")}


def spot(board: str) -> dict[str, Any]:
    """A pot of 100 with 150 behind and a single size to bet."""
    sizes = dict.fromkeys(("turn", "river")[len(board.split()) - 4 :], MENU)
    return {"board": board, "pot": 100, "effective_stack": 150, "sizes": sizes, **RANGES}


def rivers(count: int) -> list[dict[str, Any]]:
    """Jobs about river spots: boards that differ in their last card."""
    flop = "Kd 9c 6h 3h"
    boards = list(RIVERS) + [f"{flop} {card}" for card in CARDS]
    boards += [f"Qd Jc 7s 4h {card}" for card in CARDS if card not in ("Qd", "Jc", "7s", "4h")]
    return [
        {"id": f"river{i}", "spot": spot(board), "exploitability": "0.5%pot"} for i, board in enumerate(boards[:count])
    ]


def turns(count: int) -> list[dict[str, Any]]:
    """Jobs about turn spots."""
    boards = [f"Kd 9c 6h {card}" for card in ("3h", "4d", "8s", "Jc", "Qs", "2c")]
    return [{"id": f"turn{i}", "spot": spot(board), "iterations": 20} for i, board in enumerate(boards[:count])]


def bits(folder: Path) -> dict[str, Any]:
    """All that a run computed, but for seconds."""
    with safe_open(folder / "checkpoint.safetensors", "numpy") as file:
        tensors = {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118 - it is no dictionary
    log = pq.read_table(folder / "log.parquet").to_pylist()
    result = json.loads((folder / "result.json").read_text())
    policy = folder / "policy.parquet"
    return {
        "tensors": tensors,
        "log": [{name: cell for name, cell in row.items() if "seconds" not in name} for row in log],
        "value": (result["value"], result["nash_conv"], result["iterations"], result["status"]),
        "policy": pq.read_table(policy).to_pydict() if policy.exists() else None,
    }


def parent(process: int) -> int | None:
    """The process that has started another, on Linux; None if that is over."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


class Inline(Processes):
    """Carries a task out in this very process, at once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.over: list[Ended] = []

    def submit(self, task: Task) -> None:
        work(task.job.fields, str(self._out), task.threads, 30.0)
        self.over.append(Ended(task))

    def ended(self, timeout: float) -> list[Ended]:
        found, self.over = self.over, []
        return found
