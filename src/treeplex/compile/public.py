"""The public tree of dealt rules, in arrays.

Equal public states have equal subtrees. So the rules are called once per distinct state, and its subtree is the
concatenation of its children's subtrees. Python runs per distinct state (hundreds), array copies per node.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.history import Index, levels, parents_from_depth
from treeplex.compile.memory import require
from treeplex.errors import GameError, quoted
from treeplex.games.dealt import DealtRules, Public
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.returned import Place, checked_actions, checked_mover, checked_settlement

BYTES_PER_PUBLIC_NODE = 300  # measured peak while assembling, with all shared subtrees

DEEPEST = 5_000  # largest number of public moves of one line of play
CHECK_EVERY = 1 << 10  # public states between two checks of the length of a line

BYTES_PER_HAND = 120  # and per public node: memory for numbering its infosets


class PublicTree(NamedTuple):
    """Public nodes in depth-first preorder."""

    mover: Bytes  # [P]
    depth: Ints  # [P]
    size: Ints  # [P]
    action: Ints  # [P] label of the move that led here, -1 at the root
    place: Ints  # [P] position of that move among its siblings
    amount: Floats  # [P] factor of the payoff table at a terminal
    table: Ints  # [P] payoff table of a terminal, odds of a chance node, -1 elsewhere


TYPES: tuple[npt.DTypeLike, ...] = (np.int8, np.int32, np.int32, np.int32, np.int32, np.float64, np.int32)
"""Types of the arrays of a public tree."""


class PublicGame(NamedTuple):
    """A public tree and the tables it refers to."""

    tree: PublicTree
    parent: Ints  # [P] -1 at the root
    actions: list[str]  # vocabulary of the moves' labels
    outcomes: list[Hashable]  # payoff tables, by number
    chances: list[Public]  # public states where chance moves, by number

    def moves(self, mover: int) -> tuple[Index, Ints]:
        """Return the nodes that moves of ``mover`` lead to, and [P] the number of the last one on the path to a node.

        Numbers start at 1, and 0 means that ``mover`` has not moved.
        """
        after = np.flatnonzero((self.parent >= 0) & (self.tree.mover[self.parent] == mover))
        last = np.zeros(len(self.parent), dtype=np.int32)
        last[after] = np.arange(1, len(after) + 1)
        for level in levels(self.tree.depth)[1:]:
            inherit = level[last[level] == 0]
            last[inherit] = last[self.parent[inherit]]
        return after, last


def build_public(rules: DealtRules) -> PublicGame:
    """Build the public tree; raise GameError if it would not fit in memory."""
    children, order = _states(rules)
    sizes: dict[Public, int] = {}
    for state in order:
        try:
            sizes[state] = 1 + sum(sizes[child] for _, child in children[state])
        except KeyError:
            raise GameError(
                f"{rules.name} is endless: moves lead from the public state {quoted(state)} back to it."
            ) from None
    nodes = sizes[order[-1]]
    widest = max(map(len, rules.hands()))
    require(rules.name, nodes, max(BYTES_PER_PUBLIC_NODE, BYTES_PER_HAND * widest), "a public tree of")

    actions: dict[str, int] = {}
    outcomes: dict[Hashable, int] = {}
    chances: dict[Public, int] = {}
    subtrees: dict[Public, PublicTree] = {}
    for state in order:
        mover, amount, table = int(rules.mover(state)), 0.0, -1
        if mover == TERMINAL:
            amount, key = checked_settlement(rules.name, rules.settle(state), _place(state))
            table = outcomes.setdefault(key, len(outcomes))
        elif mover == CHANCE:
            table = chances.setdefault(state, len(chances))
        codes = [actions.setdefault(action, len(actions)) for action, _ in children[state]]
        below = [subtrees[child] for _, child in children[state]]
        subtrees[state] = _join(mover, amount, table, codes, below)
    tree = subtrees[order[-1]]
    return PublicGame(tree, parents_from_depth(tree.depth), list(actions), list(outcomes), list(chances))


def _states(rules: DealtRules) -> tuple[dict[Public, list[tuple[str, Public]]], list[Public]]:
    """Return every distinct public state with its moves, and an order in which children precede parents."""
    children: dict[Public, list[tuple[str, Public]]] = {}
    order: list[Public] = []
    stack: list[tuple[Public, bool]] = [(rules.start(), False)]
    while stack:
        state, done = stack.pop()
        if done:
            order.append(state)
        elif not isinstance(state, Hashable):
            raise GameError(f"{rules.name}: a public state must be hashable, such as a tuple, got {quoted(state)}.")
        elif state not in children:
            children[state] = _moves(rules, state)
            stack.append((state, True))
            stack.extend((child, False) for _, child in children[state])
            if len(children) % CHECK_EVERY == 0 and sum(entered for _, entered in stack) > DEEPEST:
                raise GameError(
                    f"{rules.name} has a line of play that goes on after {DEEPEST:,} public moves; end every line with"
                    " TERMINAL."
                )
    return children, order


def _moves(rules: DealtRules, state: Public) -> list[tuple[str, Public]]:
    """Return every move with the state that it leads to; none if the game is over."""
    place = _place(state)
    try:
        mover = checked_mover(rules.name, rules.mover(state), place)
        if mover == TERMINAL:
            return []
        if mover not in (0, 1, CHANCE):
            raise GameError(
                f"{rules.name} says mover {mover} at {place()}; treeplex solves games of two players: 0, 1, CHANCE or"
                " TERMINAL."
            )
        actions = checked_actions(rules.name, rules.actions(state), place)
        if not actions or len(set(actions)) != len(actions):
            raise GameError(f"{rules.name} must have actions at {place()}, with labels that differ.")
        return [(action, rules.next(state, action)) for action in actions]
    except GameError:
        raise
    except Exception as error:
        error.add_note(f"in the rules, at {place()}")
        raise


def _place(state: Public) -> Place:
    return lambda: f"public state {quoted(state)}"


def _join(mover: int, amount: float, table: int, codes: list[int], below: list[PublicTree]) -> PublicTree:
    """Build the subtree of a state from those of its children."""
    total = 1 + sum(len(child.mover) for child in below)
    tree = PublicTree(*(np.empty(total, dtype) for dtype in TYPES))
    for array, root in zip(tree, (mover, 0, total, -1, 0, amount, table), strict=True):
        array[0] = root
    start = 1
    for place, (code, child) in enumerate(zip(codes, below, strict=True)):
        end = start + len(child.mover)
        for array, part in zip(tree, child, strict=True):
            array[start:end] = part
        tree.depth[start:end] += 1
        tree.action[start], tree.place[start] = code, place
        start = end
    return tree
