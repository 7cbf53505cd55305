"""Estimates of a spot's size before a solve."""

from __future__ import annotations

from typing import Any

from treeplex.compile.memory import available
from treeplex.engines.boards.game import load_spot
from treeplex.engines.boards.solver import seconds_to_solve
from treeplex.games.holdem.spot import make_spot
from treeplex.updates.storage import STORAGES


def estimate(fields: object) -> dict[str, Any]:
    """Return the spot with every field, the size of its tree, and estimates of memory and time of a solve."""
    spot = make_spot(fields)
    game = load_spot(spot)
    return {
        "spot": spot.summary(),
        "nodes": game.nodes,
        "bytes": {storage: game.memory(storage) for storage in STORAGES},
        "bytes_free": available(),
        "seconds": seconds_to_solve(game),
        "boards_by_street": [len(level) for level in game.deals],
        "decisions_by_street": game.counts()["action_nodes_by_street"],
        "hands": [int(hands.counts[0]) for hands in game.boards[0].hands],
    }
