"""Conversion of any compiled game to an .efg file."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.games.efg import EfgFile, EfgNode, NodeKind
from treeplex.games.protocol import CHANCE, TERMINAL


def to_efg(game: CompiledGame) -> EfgFile:
    """Convert the game tree to Gambit's format: players and infosets from 1, exact numbers, one outcome per payoff.

    A probability such as 1/3 is not a binary number, so the simplest fraction that rounds to the same double is
    written. If the probabilities of a chance move do not add up to exactly one, the largest one is adjusted.
    """
    tree, labels = game.tree, [unpacked(names.infosets) for names in game.labels]
    constant = Fraction(repr(game.constant))
    children = _children(game)
    outcomes: dict[float, int] = {}
    nodes: list[EfgNode] = []
    chances = 0
    movers: list[int] = tree.mover.tolist()
    for node, mover in enumerate(movers):
        below = children[node]
        if mover == TERMINAL:
            payoff = float(tree.payoff[node]) * game.unit
            number = outcomes.setdefault(payoff, len(outcomes) + 1)
            own = Fraction(repr(payoff))
            nodes.append(EfgNode(NodeKind.TERMINAL, outcome=number, payoffs=(own, constant - own)))
        elif mover == CHANCE:
            chances += 1
            codes: list[int] = tree.action[below].tolist()
            actions = tuple(game.actions[code] for code in codes)
            odds = _exact(tree.probability[below].tolist())
            nodes.append(EfgNode(NodeKind.CHANCE, infoset=chances, actions=actions, probabilities=odds))
        else:
            infoset = int(tree.infoset[node])
            actions = tuple(game.actions_at(mover, infoset))
            name = labels[mover][infoset]
            nodes.append(
                EfgNode(NodeKind.PLAYER, player=mover + 1, infoset=infoset + 1, infoset_label=name, actions=actions)
            )
    return EfgFile(title=game.name, players=("Player 0", "Player 1"), nodes=tuple(nodes))


def _children(game: CompiledGame) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in range(game.tree.nodes)]
    parents: list[int] = game.tree.parent[1:].tolist()
    for node, parent in enumerate(parents, start=1):
        children[parent].append(node)
    return children


def _exact(probabilities: list[float]) -> tuple[Fraction, ...]:
    simple = [_simplest(probability, ulps=4) for probability in probabilities]
    if sum(simple) == 1:  # such as 1/3 each, where the doubles have rounding errors
        return tuple(simple)
    odds = [_simplest(probability, ulps=0) for probability in probabilities]
    odds[int(np.argmax(probabilities))] += 1 - sum(odds, Fraction(0))
    return tuple(odds)


def _simplest(number: float, ulps: int) -> Fraction:
    """Return a fraction with a small denominator within ``ulps`` of ``number``, or else exactly ``number``."""
    for bound in (10**3, 10**6, 10**9):
        fraction = Fraction(number).limit_denominator(bound)
        if abs(float(fraction) - number) <= ulps * math.ulp(number):
            return fraction
    return Fraction(number)
