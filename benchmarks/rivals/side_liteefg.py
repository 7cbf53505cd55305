"""LiteEFG's side of the benchmark: its own baselines, in the loop of its own training script.

LiteEFG keeps converted games in the folder ``game_instances`` of $HOME; ``run.py`` gives it a home of its own.
"""

from __future__ import annotations

from importlib.metadata import version

import LiteEFG
import pyspiel
from LiteEFG.baselines import CFR, CFRplus

BASELINES = {
    "cfr": (CFR.graph, "avg-iterate", "Enumerate"),
    "cfr+": (CFRplus.graph, "linear-avg-iterate", "Enumerate"),
    "external": (CFR.graph, "avg-iterate", "External"),
}


class Side:
    """Baselines CFR and CFRplus over the whole tree ("Enumerate") or by external sampling, one thread (its default)."""

    def versions(self) -> dict[str, str]:
        return {"LiteEFG": version("LiteEFG")}

    def load(self, game: str) -> None:
        self.game = pyspiel.load_game(game)

    def start(self, algorithm: str) -> None:
        graph, self.average, walk = BASELINES[algorithm]
        self.graph = graph()
        self.env = LiteEFG.OpenSpielEnv(self.game, traverse_type=walk)  # a second graph needs a second one
        self.env.set_graph(self.graph)

    def advance(self, iterations: int) -> None:
        graph, env, strategy = self.graph, self.env, self.graph.current_strategy()
        for _ in range(iterations):
            graph.update_graph(env)
            env.update_strategy(strategy)

    def nash_conv(self) -> float:
        """NashConv by OpenSpiel's evaluator, which knows nothing of LiteEFG's conversion of the game."""
        policy, _ = self.env.get_strategy(self.graph.current_strategy(), self.average)
        table = {
            label: [(a, p) for a, (p, legal) in enumerate(zip(row, mask, strict=True)) if legal]
            for label, row, mask in (
                (label, policy.action_probability_array[i].tolist(), policy.legal_actions_mask[i])
                for label, i in policy.state_lookup.items()
            )
        }
        return pyspiel.nash_conv(self.game, table)
