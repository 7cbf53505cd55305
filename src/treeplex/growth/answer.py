"""The solution of a grown game: the sizes at each decision, the finite game they make, and a strategy for it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treeplex.engines.public.arrays import NONE
from treeplex.engines.public.game import GrowingGame
from treeplex.engines.public.tree import reached_by_both
from treeplex.evaluation.exact import Evaluation
from treeplex.games.sized import OTHERWISE, Abstraction, Menu
from treeplex.growth.dealt import loss_if_unknown
from treeplex.growth.figures import GrowthFigures
from treeplex.growth.options import Growth
from treeplex.growth.remove import Removal
from treeplex.growth.run import GrowthAnswer, GrowthRun
from treeplex.policies.policy import Policy


class Addition(NamedTuple):
    """An added size: when, where, which, and why."""

    iteration: int
    player: int
    decision: str  # the line of public moves
    word: str  # "bet" or "raise"
    size: float
    method: str
    gain: float  # regret per iteration for not having it, in chips per hand: the reason for adding it
    needed: float  # regret required by proposition 1
    regret: float  # regret per iteration of the new move once it was added, over all hands
    histories: int  # histories that it added
    recovery: int  # iterations of the recovery game
    discount: float  # weight of the past since then
    seconds: float  # seconds that adding took


class GrowthExtras(GrowthAnswer):
    """Fields of a growing game's solution beyond value and NashConv."""

    kinds = Addition, Removal

    def __init__(self, run: GrowthRun[GrowingGame], name: str, growth: Growth, evaluation: Evaluation) -> None:
        self.grown, self.name, self.growth, self.evaluation = run.game, name, growth, evaluation
        self.additions, self.removals = run.additions, run.removals

    @property
    def reading(self) -> str:
        """Assumption about sizes off the menu: "told" (known to the opponent, an upper bound) or kept "secret"."""
        return self.grown.reading

    @cached_property
    def found(self) -> list[DiscoveredSize]:
        """Every size added and not removed, with its gain and frequency; largest gain first."""
        return discovered_sizes(self.grown, self.additions)

    @cached_property
    def abstraction(self) -> Abstraction:
        """The finite game with the sizes in the abstraction now, for ``treeplex.load``."""
        return abstraction(self.grown, self.name)

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        figures = GrowthFigures.of(self.evaluation)
        archived = figures.archived
        return self.growth_summary(self.reading, self.found, histories=figures.histories + archived, archived=archived)

    def documents(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {"sizes": self.abstraction.menu.by_line}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {
            "sizes.json": "the sizes in the abstraction at every decision at the end",
            "archive.bin": "subtrees that no player reaches",
        }


class DiscoveredSize(NamedTuple):
    """A discovered size: the loss of an opponent who does not know it, and its frequency."""

    addition: Addition
    worth: float  # loss in chips per hand of an opponent who maps it to its neighbours, over the run
    frequency: float  # frequency with which the player at the decision chooses it
    by_hand: dict[str, float]  # frequency by hand


def everything(game: GrowingGame) -> None:
    """Load all subtrees from disk."""
    game.archive.bring_back_below(game.tree, 0)


def discovered_sizes(game: GrowingGame, additions: list[Addition]) -> list[DiscoveredSize]:
    """Return every size added and not removed, with its frequency in the solution; largest loss first."""
    everything(game)
    strategy = game.answer()
    nodes = game.tree.nodes
    reach = reached_by_both(nodes, strategy)
    nodes_by_line = {game.rules.separator.join(game.line(n)): n for n in np.flatnonzero(nodes.key != NONE).tolist()}
    listed: list[DiscoveredSize] = []
    last = {(addition.decision, addition.size): addition for addition in additions}  # a removed size may have returned
    for addition in last.values():
        node = nodes_by_line.get(addition.decision, NONE)
        child = (
            next((c for c in game.tree.children(node) if nodes.size[c] == addition.size), NONE) if node >= 0 else NONE
        )
        if child == NONE:  # removed since
            continue
        hands = game.rules.hands()[addition.player]
        frequencies = strategy[child][: len(hands)]
        deal = game.builder.joint(int(nodes.cards[node]))
        dealt = deal @ reach[1, node] if addition.player == 0 else reach[0, node] @ deal
        weight = dealt[: len(hands)] * reach[addition.player, node][: len(hands)]
        frequency = float(frequencies @ weight / weight.sum()) if weight.sum() > 0.0 else 0.0
        by_hand = dict(zip(hands, frequencies.tolist(), strict=True))
        listed.append(DiscoveredSize(addition, loss_if_unknown(game, node, child), frequency, by_hand))
    return sorted(listed, key=lambda size: -size.worth)


def abstraction(game: GrowingGame, name: str) -> Abstraction:
    """Return the finite game with the sizes in the abstraction at every decision, for any solver."""
    everything(game)
    nodes = game.tree.nodes
    by_line: dict[str, tuple[float, ...]] = {}
    for n in np.flatnonzero(nodes.key != NONE).tolist():
        sizes = nodes.size[game.tree.children(n)]
        by_line[game.rules.separator.join(game.line(n))] = tuple(sizes[sizes > 0.0].tolist())
    otherwise = by_line.get("") or next(iter(by_line.values()))
    return Abstraction(game.rules, Menu(by_line={OTHERWISE: otherwise} | by_line), name)


def policy(game: GrowingGame, name: str) -> Policy:
    """Return the strategies that are the solution."""
    everything(game)
    nodes, strategy = game.tree.nodes, game.answer()
    rows: list[tuple[int, str, str, float]] = []
    for n in np.flatnonzero(nodes.mover >= 0).tolist():
        player, line = int(nodes.mover[n]), game.line(n)
        children = game.tree.children(n)
        labels = [game.line(child)[-1] for child in children]
        possible = game.builder.joint(int(nodes.cards[n])).sum(axis=1 - player) > 0.0
        for h, hand in enumerate(game.rules.hands()[player]):
            if not possible[h]:
                continue
            infoset = game.rules.separator.join((hand, *line))
            chosen: list[float] = strategy[children, h].tolist()
            rows += [(player, infoset, label, probability) for label, probability in zip(labels, chosen, strict=True)]
    return Policy.from_rows(rows, name)
