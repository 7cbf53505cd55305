"""What could regret-based pruning skip on a hold'em spot, and what would the discounts cost that it needs?

    python benchmarks/holdem/pruning.py tests/holdem/spots.json TB,T --threads 2

A pass for a player may skip all behind an action, board by board, if no hand of the player needs it. Two shares of the
numbers that the player's passes go through, averaged over looks every ``--step`` iterations up to 0.1 % of the pot:

    unplayed   no hand of the board plays the action now: what an oracle would skip that knew it stays so, at no cost
    by (9)     no hand's regret could get above zero in the next iteration, for any strategies: equation (9) of the
               RBP paper with discounts, |R| d(t) >= reach U, where the opponent's reach is as it is now (all of its
               hands, whether or not they share a card), U is half the pot and all the chips, and the value of the
               decision is taken to be zero
    length     for how many iterations in a row, the median over the actions that (9) skips

What the opponent does not reach is skipped by the engine already and not counted here. Beside them, iterations to 0.5
and 0.1 % of the pot: larger beta remembers negative regret longer, so that more can be skipped, and converges slower.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.rows import hand_rows
from treeplex.engines.boards.trees import by_node
from treeplex.games.holdem.classes import EVERY_BOARD
from treeplex.growth.spot_plans import as_it_is, plan_of
from treeplex.holdem import load_spot, make_spot

VARIANTS = (
    DEFAULT_SPOT_ALGORITHM,
    "dcfr(beta=0,gamma=4)",
    "dcfr(beta=0.5,gamma=4)",
    "dcfr(beta=1,gamma=4)",
    "dcfr(beta=1.5,gamma=4)",
    "dcfr(beta=3,gamma=4)",
    "lcfr",
    "cfr",
)
TARGETS = (0.5, 0.1)  # per cent of the pot
MOST = 1500


class Looking:
    """How much of a player's passes could be skipped now."""

    def __init__(self, game: Any, solver: Any) -> None:
        self.game, self.solver, self.known = game, solver, by_node(game)
        self.rows = [hand_rows(game, player) for player in (0, 1)]
        self.parents = [np.array([deal.parent for deal in deals]) for deals in game.deals]
        self.root = game.streets[0].decisions[0].node
        self.largest = (game.spot.pot / 2 + game.spot.effective_stack) / game.spot.chip

    def shares(self, state: Any, player: int) -> tuple[float, float, list[int]]:
        """Unplayed, by (9), and lengths."""
        game, regret, opponent = self.game, state.learners[player].regret, 1 - player
        other = plan_of(
            game, Sources(state.learners[0].regret, state.learners[1].regret), opponent, as_it_is(self.root)
        ).numbers
        chances = game.chances[len(game.chances) - len(game.streets) + 1 :]
        dealt = np.cumprod([1.0, *chances])
        down = self.solver.schedules(state.iteration + 200).negative[state.iteration :]
        total, unplayed, skipped, lengths = 0.0, 0.0, 0.0, list[int]()
        waiting = [(self.root, 0, np.zeros(1, bool), np.zeros(1, bool), np.full(1, game.weights(opponent).sum()))]
        while waiting:
            node, depth, idle, gone, reach = waiting.pop()
            if node.kind == "chance":
                if node.children[0].kind != "decision":
                    continue
                above = self.parents[depth + 1]
                waiting.append((node.children[0], depth + 1, idle[above], gone[above], reach[above] * chances[depth]))
                continue
            mine = self.rows[player][depth, EVERY_BOARD]
            hands = np.bincount(mine.board, weights=mine.boards > 0.0, minlength=len(idle))
            total, unplayed, skipped = total + hands.sum(), unplayed + hands @ idle, skipped + hands @ gone
            if node.kind != "decision":
                continue
            _, decision = self.known[id(node)]
            if decision.player == player:
                numbers = regret[mine.actions(decision.slot, len(node.actions))].astype(float)
                here = mine.boards > 0.0
                settled = (numbers > 0.0).any(axis=0) | ~here  # else strategies are even
                for k, child in enumerate(node.children):
                    never = np.ones(len(idle), bool)
                    np.logical_and.at(never, mine.board, ((numbers[k] <= 0.0) & settled) | ~here)
                    bound = reach[mine.board] * self.largest
                    enough = (numbers[k] * down[0] + bound <= 0.0) & settled | ~here
                    sure = reach > 0.0
                    np.logical_and.at(sure, mine.board, enough)
                    if sure.any():
                        lengths += self._lengths(numbers[k], bound, here, mine.board, sure, down)
                    waiting.append((child, depth, idle | never, gone | (never & sure), reach))
            else:
                theirs = self.rows[opponent][depth, EVERY_BOARD]
                held = _weights(game, opponent)[theirs.number] * (theirs.boards > 0.0)
                for k, child in enumerate(node.children):
                    played = other[theirs.at(decision.slot + k)] * held
                    below = np.bincount(theirs.board, weights=played, minlength=len(idle)) * dealt[depth]
                    waiting.append((child, depth, idle, gone, below))
        return unplayed / total, skipped / total, lengths

    def _lengths(self, numbers: Any, bound: Any, here: Any, board: Any, sure: Any, down: Any) -> list[int]:
        """For how many iterations each of the boards that ``sure`` lists may skip."""
        found = np.full(len(sure), len(down))
        left, alive = numbers.copy(), np.ones(len(numbers), bool)
        for m, factor in enumerate(down):
            left = left * factor + bound
            alive &= (left <= 0.0) | ~here
            over = np.ones(len(sure), bool)
            np.logical_and.at(over, board, alive)
            found[~over & (found > m)] = m
        return found[sure].tolist()


def _weights(game: Any, player: int) -> Any:
    weights = np.zeros(1327)
    weights[game.boards[0].hands[player].number] = game.weights(player)
    weights[1326] = 0.0
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots_file")
    parser.add_argument("spots")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--step", type=int, default=20)
    parser.add_argument("--only", default="", help="algorithms, separated by blanks")
    given = parser.parse_args()
    known = json.loads(Path(given.spots_file).read_text())["spots"]
    print("| spot | algorithm | to 0.5 % | to 0.1 % | unplayed | by (9) | length |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in given.spots.split(","):
        game = load_spot(make_spot(known[name]))
        for algorithm in given.only.split() or VARIANTS:
            solver = build(algorithm).open(game, Execution(storage="float32", threads=given.threads))
            solver = replace(solver, prune=False)  # so that all regrets are up to date
            state, met, shares, lengths = solver.start(game), dict[float, int](), [], list[int]()
            while len(met) < len(TARGETS) and state.iteration < MOST:
                state = solver.advance(game, state, given.step)
                found = solver.report(game, state, "average").evaluate().exploitability
                percent = 100.0 * found / game.spot.pot
                met |= {target: state.iteration for target in TARGETS if percent <= target and target not in met}
                for player in (0, 1):
                    unplayed, skipped, long = Looking(game, solver).shares(state, player)
                    shares.append((unplayed, skipped))
                    lengths += long
            mean = 100.0 * np.mean(shares, axis=0)
            told = [str(met.get(target, f"> {MOST}")) for target in TARGETS]
            print(
                f"| {name} | {algorithm} | {told[0]} | {told[1]} | {mean[0]:.1f} % | {mean[1]:.1f} % |"
                f" {np.median(lengths) if lengths else 0:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
