"""How large a game tree is likely to be, from a few random lines of play."""

from __future__ import annotations

import random

from treeplex.errors import quoted
from treeplex.games.protocol import TERMINAL, Game, name_of
from treeplex.games.returned import checked_actions, checked_mover

PROBES = 101
LONGEST = 10_000  # moves after which a line of play is given up as endless


def likely_nodes(game: Game) -> int:
    """A high one of Knuth's estimates of the number of nodes: 1 + b1 + b1 b2 + ... along random lines of play.

    Each estimate is right on average, so it exceeds the truth 20 times with probability 1/20 at most (Markov). That a
    fifth of 101 estimates do so has probability below 1e-7: divided by 20, this number is safe to refuse a game by.
    """
    draw = random.Random(0)  # noqa: S311 - no secrets here
    return sorted(_probe(game, draw) for _ in range(PROBES))[PROBES * 4 // 5]


def _probe(game: Game, draw: random.Random) -> int:
    name, history, width, nodes = name_of(game), game.root(), 1, 1

    def place() -> str:
        return f"history {quoted(history)}"

    for _ in range(LONGEST):
        if checked_mover(name, game.mover(history), place) == TERMINAL:
            return nodes
        actions = checked_actions(name, game.actions(history), place)
        if not actions:  # which is said where the walk gets there
            return nodes
        width *= len(actions)
        nodes += width
        history = game.child(history, draw.choice(actions))
    return nodes
