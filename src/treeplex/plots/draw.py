"""Drawing of a small game tree with movers, actions, infosets and payoffs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.plots.plot import drawing
from treeplex.policies.policy import PolicySource, policy_of

MOST_NODES: Final = 300
"""Largest number of nodes of a tree that is drawn; a larger drawing cannot be read."""

COLOURS: Final = {0: "#1f77b4", 1: "#d9601a", CHANCE: "#888888", TERMINAL: "#ffffff"}
ROW: Final = 0.22  # inches per terminal
COLUMN: Final = 1.7  # inches per move
SMALL: Final = 7.0  # points of text
BEND: Final = 24.0  # points by which lines between nodes of an infoset bend


class TreeDrawing(NamedTuple):
    """Position of every node: moves go to the right, terminals are rows."""

    x: Floats  # [N] depth
    y: Floats  # [N] rows from the top; an inner node is in the middle of its children
    rows: int


def draw_tree(game: CompiledGame, policy: PolicySource | None = None, path: str | Path | None = None) -> Any:
    """Draw the history tree of a small game, with the probabilities of ``policy`` on its branches; return the figure.

    Nodes of an infoset have the same label, and a dotted curve joins them.
    """
    if game.nodes > MOST_NODES:
        raise ParameterError(
            f"The tree of {game.name} has {game.nodes:,} nodes, and at most {MOST_NODES} can be drawn; treeplex serve"
            " shows larger trees a node at a time."
        )
    tree, at = game.tree, layout(game)
    strategies = None if policy is None else policy_of(policy, game).aligned(game)
    labels = [unpacked(names.infosets) for names in game.labels]
    size = (1.2 + COLUMN * float(at.x.max()), 0.9 + ROW * at.rows)
    with drawing(path, size, game.name, 1, 1) as (axes,):
        axes.axis("off")
        axes.set(xlim=(-0.35, at.x.max() + 0.3), ylim=(at.rows - 0.3, -0.7))
        for node in range(1, tree.nodes):
            _branch(axes, game, at, node, _probability(game, node, strategies))
        drawn: dict[int, int] = {}  # number of joined infosets by the depth of their first node
        for player in (0, 1):
            for infoset in range(game.treeplexes[player].infosets):
                nodes: list[int] = np.flatnonzero((tree.mover == player) & (tree.infoset == infoset)).tolist()
                if len(nodes) > 1:
                    depth = int(at.x[nodes[0]])
                    drawn[depth] = drawn.get(depth, 0) + 1
                    _join(axes, at, nodes, COLOURS[player], BEND * (1.0 + 0.7 * (drawn[depth] - 1)))
        for node in range(tree.nodes):
            _node(axes, game, at, node, labels)
        players = {f"player {k}": COLOURS[k] for k in (0, 1)} | {"chance": COLOURS[CHANCE]}
        handles = [axes.scatter([], [], color=colour, label=name) for name, colour in players.items()]
        axes.legend(handles=handles, loc="upper left", frameon=False, fontsize=SMALL + 1, borderaxespad=0)
    return axes.figure


def layout(game: CompiledGame) -> TreeDrawing:
    """Place terminals in rows, in the order of the tree, and every inner node in the middle of its children."""
    tree = game.tree
    x, y = np.zeros(tree.nodes), np.zeros(tree.nodes)
    for node in range(1, tree.nodes):
        x[node] = x[tree.parent[node]] + 1
    ends = np.flatnonzero(tree.size == 1)
    y[ends] = np.arange(len(ends))
    for node in range(tree.nodes - 1, -1, -1):
        if tree.size[node] > 1:
            children = np.flatnonzero(tree.parent == node)
            y[node] = (y[children[0]] + y[children[-1]]) / 2
    return TreeDrawing(x, y, len(ends))


def _probability(game: CompiledGame, node: int, strategies: tuple[Floats, Floats] | None) -> float | None:
    """Probability of the move that leads to a node, if it is known."""
    tree, parent = game.tree, int(game.tree.parent[node])
    mover = int(tree.mover[parent])
    if mover == CHANCE:
        return float(tree.probability[node])
    if strategies is None:
        return None
    siblings = np.flatnonzero(tree.parent == parent)
    first = int(game.treeplexes[mover].first[int(tree.infoset[parent])])
    return float(strategies[mover][first + int(np.searchsorted(siblings, node))])


def _branch(axes: Any, game: CompiledGame, at: TreeDrawing, node: int, probability: float | None) -> None:
    tree, parent = game.tree, int(game.tree.parent[node])
    chance = int(tree.mover[parent]) == CHANCE
    known = probability is not None and not chance
    strength = max(probability or 0.0, 0.08) if known else 1.0
    ends = [parent, node]
    axes.plot(at.x[ends], at.y[ends], color="black", alpha=strength, linewidth=0.4 + 1.4 * strength * known, zorder=2)
    text = game.actions[int(tree.action[node])]
    if probability is not None:
        text += f": {probability:.2f}".replace(" 0.", " .") if 0.0 < probability < 0.995 else f": {probability:.0f}"
    x, y = (at.x[ends] * [0.42, 0.58]).sum(), (at.y[ends] * [0.42, 0.58]).sum()
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85}
    axes.text(x, y, text, fontsize=SMALL, ha="center", va="center", bbox=box, parse_math=False, zorder=3)


def _join(axes: Any, at: TreeDrawing, nodes: list[int], colour: str, bend: float) -> None:
    """Draw dotted lines between the nodes of an infoset, bent by ``bend`` points so that infosets do not overlap."""
    line = {"arrowstyle": "-", "color": colour, "linestyle": (0, (1, 2)), "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    for one, two in pairwise(nodes):
        long = 72 * ROW * max(abs(float(at.y[two] - at.y[one])), 1.0)
        style = line | {"connectionstyle": f"arc3,rad={min(0.4, bend / long)}"}
        axes.annotate("", (at.x[two], at.y[two]), (at.x[one], at.y[one]), arrowprops=style, zorder=1)


def _node(axes: Any, game: CompiledGame, at: TreeDrawing, node: int, labels: list[list[str]]) -> None:
    tree, mover, x, y = game.tree, int(game.tree.mover[node]), at.x[node], at.y[node]
    if mover == TERMINAL:
        paid = float(tree.payoff[node]) * game.unit
        pays = f"{paid:+.4g}" if paid else "0"
        axes.text(x + 0.02, y, pays, fontsize=SMALL, va="center", ha="left", zorder=4)
        return
    shape = {"marker": "D" if mover == CHANCE else "o", "s": 26, "color": COLOURS[mover], "zorder": 4}
    axes.scatter([x], [y], **shape)
    if mover != CHANCE:
        label = labels[mover][int(tree.infoset[node])]
        style = {"color": COLOURS[mover], "fontsize": SMALL, "parse_math": False, "zorder": 4}
        axes.annotate(label, (x, y), (0, 4), textcoords="offset points", ha="center", va="bottom", **style)
