"""What a grown game says: the sizes found at each decision, the finite game they make, and how to play it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.algorithms.growth.add import neighbours
from treeplex.engines.public.game import GrowingGame
from treeplex.runs.growth import Addition
from treeplex.evaluation.policy import Policy
from treeplex.games.sized import OTHERWISE, Abstraction, Menu
from treeplex.engines.public.cpu.growing import reach
from treeplex.engines.public.cpu.sizes import curve
from treeplex.engines.public.arrays import NONE


class Found(NamedTuple):
    """A size that was found, what it is worth, and how much it is used."""

    addition: Addition
    worth: float  # chips a hand: what an opponent who did not know it would have lost to it, over the whole run
    frequency: float  # how often the player who gets to the decision chooses it
    by_hand: dict[str, float]  # the same, by hand


def everything(game: GrowingGame) -> None:
    """Bring back all that is on disk."""
    game.archive.bring_back_below(game.tree, 0)


def found(game: GrowingGame, additions: list[Addition]) -> list[Found]:
    """Every size that was added, with its use in the average strategies; most worth first."""
    everything(game)
    behaviour = game.averages()
    arriving = np.ones((2, game.tree.count, game.tree.hands))
    for player in (0, 1):
        reach(game.tree.nodes, behaviour, player, arriving[player])
    nodes = game.tree.nodes
    places = {game.rules.separator.join(game.line(n)): n for n in np.flatnonzero(nodes.key != NONE).tolist()}
    listed: list[Found] = []
    for addition in additions:
        node = places[addition.decision]
        child = next(c for c in game.tree.children(node) if nodes.size[c] == addition.size)
        hands = game.rules.hands()[addition.player]
        used = behaviour[child][: len(hands)]
        deal = game.builder.scene(int(nodes.scene[node]))
        dealt = deal @ arriving[1, node] if addition.player == 0 else arriving[0, node] @ deal
        weight = dealt[: len(hands)] * arriving[addition.player, node][: len(hands)]
        frequency = float(used @ weight / weight.sum()) if weight.sum() > 0.0 else 0.0
        by_hand = dict(zip(hands, used.tolist(), strict=True))
        listed.append(Found(addition, unknown_worth(game, node, child), frequency, by_hand))
    return sorted(listed, key=lambda one: -one.worth)


def unknown_worth(game: GrowingGame, node: int, child: int) -> float:
    """What an offered size would have won an iteration, had the opponent read it as one of its neighbours.

    As when a size is considered (``where``): by how much it exceeds the largest regret of another action, summed over
    hands.
    """
    nodes, rows = game.tree.nodes, game.tree.rows
    near = neighbours(game, node, float(nodes.size[child]))
    lower = next((c for c in near if nodes.size[c] < nodes.size[child]), NONE)
    upper = next((c for c in near if nodes.size[c] > nodes.size[child]), NONE)
    others = [c for c in game.tree.children(node) if c != child]
    base = np.maximum(rows.regret[others].max(axis=0), 0.0)
    u, total = 1.0 + float(nodes.size[child]), 0.0
    for h in range(game.tree.hands):
        rise, level, fall = curve(
            nodes.size, nodes.theta, lower, upper, h, rows.worth, rows.loose, game.rules.stretch
        )  # fmt: skip
        won = (rise * u + level + fall / u - float(rows.earned[node, h])) / game.norm
        total += max(won - float(base[h]), 0.0)
    return total / (game.weight * game.effective)


def menu(game: GrowingGame) -> Menu:
    """The sizes offered at every decision."""
    everything(game)
    nodes = game.tree.nodes
    by_line: dict[str, tuple[float, ...]] = {}
    for n in np.flatnonzero(nodes.key != NONE).tolist():
        sizes = nodes.size[game.tree.children(n)]
        by_line[game.rules.separator.join(game.line(n))] = tuple(sizes[sizes > 0.0].tolist())
    return Menu(by_line={OTHERWISE: by_line[""]} | by_line)


def abstraction(game: GrowingGame, name: str) -> Abstraction:
    """The finite game with the sizes offered, for any solver."""
    return Abstraction(game.rules, menu(game), name)


def policy(game: GrowingGame, name: str) -> Policy:
    """The average strategies."""
    everything(game)
    nodes, behaviour = game.tree.nodes, game.averages()
    rows: list[tuple[int, str, str, float]] = []
    for n in np.flatnonzero(nodes.mover >= 0).tolist():
        player, line = int(nodes.mover[n]), game.line(n)
        children = game.tree.children(n)
        labels = [game.line(child)[-1] for child in children]
        possible = game.builder.scene(int(nodes.scene[n])).sum(axis=1 - player) > 0.0
        for h, hand in enumerate(game.rules.hands()[player]):
            if not possible[h]:
                continue
            infoset = game.rules.separator.join((hand, *line))
            chosen: list[float] = behaviour[children, h].tolist()
            rows += [(player, infoset, label, share) for label, share in zip(labels, chosen, strict=True)]
    return Policy.from_rows(rows, name)
