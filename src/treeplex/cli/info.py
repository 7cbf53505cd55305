"""``treeplex info``: show the size of a game."""

from __future__ import annotations

import time

from treeplex import api
from treeplex.cli.holdem import tell_size
from treeplex.cli.options import AsJson, GameName
from treeplex.cli.output import byte_count, loaded, print_json, print_table
from treeplex.problems.loading import load_game, spot_of


def info(game: GameName, as_json: AsJson = False) -> None:
    """Show the size, memory and, if known, the value of a game."""
    spot = spot_of(game)
    if spot is not None:
        tell_size(spot, as_json)
        return
    began = time.perf_counter()
    compiled = loaded(load_game, game)
    seconds = time.perf_counter() - began
    summary, advice = compiled.summary(), api.recommended(compiled)
    if as_json:
        print_json(summary | {"recommended": advice, "seconds": seconds})
        return
    first, second = compiled.treeplexes
    value = compiled.known_value
    rows = [
        ["nodes", f"{compiled.nodes:,}"],
        ["terminals", f"{compiled.terminals:,}"],
        ["infosets", f"{first.infosets:,} + {second.infosets:,}"],
        ["sequences", f"{first.sequences:,} + {second.sequences:,}"],
        ["payoff entries", f"{compiled.operator.entries:,}"],
        ["memory", byte_count(compiled.bytes)],
        ["compiled in", f"{seconds:.2f} s"],
        ["value (player 0)", "not in the catalog" if value is None else f"{value:.10g}"],
    ]
    rows.append(["recommended", f"--algorithm {advice['algorithm']} --backend {advice['backend']}"])
    if compiled.constant:
        rows.append(["constant sum", f"{compiled.constant:g}; player 1's payoffs are shifted to make it zero"])
    print_table(["", compiled.name], rows)
