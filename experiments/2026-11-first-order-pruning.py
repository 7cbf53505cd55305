"""How many nodes could pruning by regret save a first-order method? An upper bound, from the states of runs.

    python experiments/2026-11-first-order-pruning.py

A gradient is a walk that enters histories which chance and the opponent reach with probability c / t or more. Pruning by
regret would also leave out what lies behind own moves that the player's smoothed response plays with probability below
c / t, for as long as a bound like (11) says that it stays there. The count here leaves all of it out at once, without
any bound or revisit.
"""

from __future__ import annotations

import numpy as np

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.levels import chance_reach
from treeplex.engines.history.paths import last_sequences, paths
from treeplex.engines.sequence.reference.treeplex import realization_plan

ALGORITHMS = ("egt-dt(c=0.01)", "mirror-prox-dt(c=0.01)")
CUT = 0.01
TIMES = {"leduc": (100, 1000, 5000), "leduc5": (30, 100)}


def counts(game: CompiledGame, strategies: tuple[np.ndarray, np.ndarray], limit: float) -> tuple[int, int]:
    """Nodes that both players' gradients enter against these strategies: as they are, and with own moves left out."""
    tree = paths(game).tree
    chance, entered, both = chance_reach(tree), 0, 0
    plans = []
    for treeplex, strategy in zip(game.treeplexes, strategies, strict=True):
        plan = np.empty(treeplex.sequences)
        realization_plan(treeplex, strategy, plan)
        plans.append(plan)
    last = [last_sequences(tree, player) for player in (0, 1)]
    for player in (0, 1):
        reached = chance * plans[1 - player][last[1 - player]] >= limit
        entered += int(reached.sum())
        both += int((reached & (plans[player][last[player]] >= limit)).sum())
    return entered, both


def main() -> None:
    """Print a table."""
    print("game, algorithm, t, nodes of a gradient, without own moves below the threshold, ratio")
    for name, times in TIMES.items():
        game = tp.load(name)
        for spec in ALGORITHMS:
            algorithm = build(spec)
            state = algorithm.start(game)
            for t in times:
                state = algorithm.advance(game, state, t - state.iteration)
                current = algorithm.report(game, state, "current").arrays
                entered, both = counts(game, current, CUT / t)
                print(f"{name}, {spec}, {t}, {entered / 2:,.0f}, {both / 2:,.0f}, {entered / both:.2f}", flush=True)


if __name__ == "__main__":
    main()
