"""OpenSpiel's side of the benchmark: its C++ solvers, driven from Python as its own examples do."""

from __future__ import annotations

from importlib.metadata import version

import pyspiel

SOLVERS = {"cfr": pyspiel.CFRSolver, "cfr+": pyspiel.CFRPlusSolver}
SAMPLERS = {"external": pyspiel.ExternalSamplingMCCFRSolver}


class Side:
    """C++ CFRSolver and CFRPlusSolver, one thread (they have no other way)."""

    def versions(self) -> dict[str, str]:
        return {"open_spiel": version("open_spiel")}

    def load(self, game: str) -> dict[str, object]:
        self.game = pyspiel.load_game(game)
        return count(self.game)

    def start(self, algorithm: str) -> None:
        if algorithm in SAMPLERS:
            self.solver = SAMPLERS[algorithm](self.game, seed=1)
            self.step = self.solver.run_iteration
        else:
            self.solver = SOLVERS[algorithm](self.game)
            self.step = self.solver.evaluate_and_update_policy

    def advance(self, iterations: int) -> None:
        step = self.step
        for _ in range(iterations):
            step()

    def nash_conv(self) -> float:
        if isinstance(self.solver, tuple(SAMPLERS.values())):
            return pyspiel.nash_conv(self.game, self.solver.average_policy(), True)
        return pyspiel.nash_conv(self.game, self.solver.tabular_average_policy())


def count(game: pyspiel.Game) -> dict[str, object]:
    """Histories and each player's information sets."""
    nodes, infosets = 0, (set(), set())
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        nodes += 1
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            infosets[state.current_player()].add(state.information_state_string())
        stack += [state.child(action) for action in state.legal_actions()]
    return {"nodes": nodes, "infosets": [len(labels) for labels in infosets]}
