"""A hold'em subgame as arrays: betting streets, boards, hands, and the memory that a solve takes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards.arrays import Boards, Level
from treeplex.engines.boards.boards import Deal, board_arrays, deal_streets, lay_out_storage, open_spans
from treeplex.engines.boards.streets import Span, Street, betting_arrays, split_streets
from treeplex.engines.boards.working import working_bytes
from treeplex.errors import GameError
from treeplex.games.holdem.betting import FOLD, BettingNode, betting_tree
from treeplex.games.holdem.cards import card_name
from treeplex.games.holdem.classes import CLASSES, EVERY_BOARD, boards_by_class, texture_of, whatever_after
from treeplex.games.holdem.locks import Lock, LockedDecision, locked_decisions
from treeplex.games.holdem.spot import STREETS, Spot
from treeplex.system import cores
from treeplex.tensors import leaves
from treeplex.updates.storage import STORAGES

CARDS_LEFT: Final = {"turn": 45, "river": 44}  # cards that can be dealt, with both hands and the board before known
LOCK: Final = 8  # bytes per decision for the mark whether it is locked
THREADS_FROM: Final = 2**20  # numbers stored for both players from which threads gain more than barriers cost
SMALLEST: Final = min(STORAGES, key=lambda name: STORAGES[name].bytes)


@dataclass(frozen=True, eq=False)
class HoldemGame:
    """A spot as solvers see it. Player 0 is out of position."""

    spot: Spot
    streets: list[Street]
    deals: list[list[Deal]]  # the boards of every street, up to suit isomorphism
    boards: list[Boards]
    start: tuple[Floats, Floats]  # both players' weights on the first board, of order one, including padding
    combinations: float  # sum of products of these weights over hands that can be dealt together
    locks: tuple[Lock, ...] = ()  # decisions whose strategies are fixed

    def __repr__(self) -> str:
        hands = " x ".join(str(int(hands.counts[0])) for hands in self.boards[0].hands)
        locked = f", {len(self.locks)} locked" if self.locks else ""
        return f"HoldemGame({self.name}, pot {self.spot.pot:.10g}, {hands} hands, {self.nodes:,} nodes{locked})"

    @property
    def name(self) -> str:
        """The board in the usual notation."""
        return " ".join(card_name(card) for card in self.spot.cards)

    @property
    def zero_sum(self) -> bool:
        """Whether there is no rake. With rake, one player loses more than the other wins."""
        return self.spot.rake(self.spot.pot) <= 0.0

    @property
    def fingerprint(self) -> str:
        """A short hash of the spot's fields and of its locks."""
        fields = [self.spot.summary(), [[lock.line, lock.strategy] for lock in self.locks]]
        return hashlib.blake2b(json.dumps(fields, sort_keys=True).encode(), digest_size=16).hexdigest()

    @property
    def root(self) -> BettingNode:
        """The first decision of the betting tree."""
        return self.streets[0].decisions[0].node

    @cached_property
    def locked(self) -> list[LockedDecision]:
        """Probabilities that locks fix. Raises ``ParameterError`` if a lock does not fit the spot."""
        return locked_decisions(self.spot, self.root, self.locks, self.deals[0][0].symmetries)

    @property
    def levels(self) -> tuple[Level, Level, Level]:
        """First, middle and last street for the kernels. With fewer than three streets, some are repeated."""
        levels = [
            Level((betting_arrays(self.spot, street, 0), betting_arrays(self.spot, street, 1)), boards)
            for street, boards in zip(self.streets, self.boards, strict=True)
        ]
        return levels[0], levels[len(levels) // 2], levels[-1]

    @property
    def chances(self) -> tuple[float, float]:
        """Probabilities of a turn card and of a river card."""
        return 1.0 / CARDS_LEFT["turn"], 1.0 / CARDS_LEFT["river"]

    def weights(self, player: int) -> Floats:
        """A player's weights of order one, in the order of the first board's hands, including padding."""
        return self.start[player]

    def elements(self, player: int) -> int:
        """Count of numbers stored for ``player`` in every array over actions and hands."""
        total = 0
        for street, boards in zip(self.streets, self.boards, strict=True):
            spans = open_spans(street, player, boards.texture)
            total += int(np.diff(boards.hands[player].start) @ spans[:, Span._fields.index("slots")])
        return total

    def decisions(self, player: int) -> int:
        """Number of public decisions of ``player``, over all boards."""
        pairs = zip(self.streets, self.boards, strict=True)
        spans = [open_spans(street, player, boards.texture) for street, boards in pairs]
        return sum(int(each[:, Span._fields.index("numbers")].sum()) for each in spans)

    def boards_of(self, depth: int, texture: int) -> int:
        """Number of boards of a street that match a texture."""
        known = self.boards[depth].texture
        if texture == EVERY_BOARD:
            return len(known)
        return int((known == texture if texture >= 0 else known // len(CLASSES) == whatever_after(texture)).sum())

    @property
    def action_counts(self) -> list[int]:
        """Distinct numbers of actions of the decisions, in ascending order."""
        return sorted({len(decision.node.actions) for street in self.streets for decision in street.decisions})

    @property
    def nodes(self) -> int:
        """Number of public nodes, after suit isomorphism of the cards to come."""
        return sum(self.counts()["nodes_by_kind"].values())

    def counts(self) -> dict[str, Any]:
        """Return the sizes of the public tree, by kind of node and street."""
        by_street = {name: [0, 0, 0] for name in ("action", "chance", "fold", "showdown")}
        for depth, street in enumerate(self.streets):
            index, known = STREETS.index(street.name), set(street.textures)
            boards = {texture: self.boards_of(depth, texture) for texture in known}
            chance_nodes = {id(branch.node): branch.root for branch in street.chance_nodes}
            by_street["action"][index] = sum(boards[decision.texture] for decision in street.decisions)
            by_street["chance"][index] = sum(boards[street.textures[root]] for root in chance_nodes.values())
            for end in street.terminals:
                kind = "fold" if end.node.kind == FOLD else "showdown"
                by_street[kind][index] += boards[street.textures[end.root]]
        return {
            "nodes_by_kind": {kind: sum(numbers) for kind, numbers in by_street.items()},
            "action_nodes_by_street": by_street["action"],
            "chance_nodes_by_street": by_street["chance"][:2],
            "fold_terminals_by_street": by_street["fold"],
            "showdown_terminals": sum(by_street["showdown"]),
        }

    def stored(self, storage: str, beside: int = 0) -> int:
        """Bytes of regrets, averages, ``beside`` further numbers per action and hand, and tables of hands."""
        size, _, scaled = STORAGES[storage]
        tables = sum(array.nbytes for _, array in leaves(tuple(self.boards), ""))
        numbers = (2 + beside) * sum(self.elements(player) for player in (0, 1)) * size
        return numbers + sum(self.decisions(player) for player in (0, 1)) * (12 if scaled else 4) + tables

    def summary(self) -> dict[str, Any]:
        """Return what ``treeplex info --json`` prints of the tree and its memory."""
        counts = self.counts()
        return {
            "game": self.name,
            "board": self.name,
            "nodes": self.nodes,
            **{key: counts[key] for key in counts if key != "nodes_by_kind"},
            "boards_by_street": [len(level) for level in self.deals],
            "hands": [int(hands.counts[0]) for hands in self.boards[0].hands],
            "elements": [self.elements(player) for player in (0, 1)],
            "combinations": self.combinations,
            "bytes": {storage: self.memory(storage) for storage in STORAGES},
        }

    def memory(self, storage: str, beside: int = 0, threads: int = 0) -> int:
        """Bytes that a solve takes: what is ``stored``, and the working arrays of its threads."""
        locks = sum(self.decisions(player) for player in (0, 1)) * LOCK
        working = working_bytes(self.streets, self.boards, STORAGES[storage].work, threads_for(self, threads))
        return self.stored(storage, beside) + locks + working


def threads_for(game: HoldemGame, threads: int = 0) -> int:
    """Return the number of threads, where 0 means all cores if the game is large enough to use them."""
    return threads or (cores() if sum(game.elements(player) for player in (0, 1)) >= THREADS_FROM else 1)


def load_spot(
    spot: Spot, isomorphic: bool = True, locks: tuple[Lock, ...] = (), like: HoldemGame | None = None
) -> HoldemGame:
    """Build the betting tree and all boards. With ``isomorphic=False``, every card is dealt, for comparison.

    ``like``: a game with the same board and ranges, whose cards need not be dealt again.
    """
    streets = split_spot(spot)
    _check_size(spot, streets)
    if like is not None and _cards(like.spot) == _cards(spot) and len(like.streets) == len(streets):
        boards = lay_out_storage(streets, like.boards)
        return HoldemGame(spot, streets, like.deals, boards, like.start, like.combinations, locks)
    deals = deal_streets(spot, len(streets), isomorphic)
    boards = board_arrays(spot, streets, deals)
    hands = boards[0].hands
    ours, theirs = (np.append(of_order_one(spot.weights(player)), 0.0)[hands[player].number] for player in (0, 1))
    return HoldemGame(spot, streets, deals, boards, (ours, theirs), _combinations(boards[0], ours, theirs), locks)


def split_spot(spot: Spot) -> list[Street]:
    """Return the betting of a spot, street by street. No board is dealt."""
    return split_streets(betting_tree(spot))


def _cards(spot: Spot) -> tuple[str, str, str]:
    return spot.board, spot.oop_range, spot.ip_range


def of_order_one(weights: Floats) -> Floats:
    """Return weights times the power of two that brings the largest into (0.5, 1].

    No bit is lost, and float32 can represent them.

    >>> bool(of_order_one(np.array([3e-40, 1e-40])).max() > 0.5)
    True
    """
    top = float(weights.max(initial=0.0))
    if not 0.0 < top < np.inf:
        return weights
    mantissa, exponent = np.frexp(top)
    return np.ldexp(weights, 1 - exponent if mantissa == 0.5 else -exponent)


def estimate(spot: Spot, streets: list[Street], storage: str) -> int:
    """Estimate the bytes that a solve takes before any board is dealt. All cards count, in all suits."""
    total = 0.0
    hands = [int((spot.weights(player) > 0.0).sum()) for player in (0, 1)]
    for depth, street in enumerate(streets):
        known = boards_by_class(spot.cards, depth)
        boards = Counter({texture_of(classes): count for classes, count in known.items()})
        boards[EVERY_BOARD] = known.total()
        for player in (0, 1):
            slots = sum(boards[texture] * span.slots for texture, span in street.spans(player).items())
            total += 2.0 * slots * hands[player] * STORAGES[storage].bytes
    return int(total)


def require_memory(game: HoldemGame, storage: str, beside: int = 0, threads: int = 0) -> None:
    """Raise GameError before allocation if a solve does not fit into memory."""
    need, free = game.memory(storage, beside, threads), available()
    if need > free:
        advice = "fewer or larger bet sizes, or narrower ranges"
        least = game.memory(SMALLEST, threads=threads)
        if storage != SMALLEST and not beside and least <= free:
            advice = f'storage="{SMALLEST}" (which takes {least / GIB:,.1f} GiB)'
        raise GameError(
            f"Solving {game.name} with {storage} numbers takes {need / GIB:,.1f} GiB, but only {free / GIB:,.1f} GiB"
            f" are free; choose {advice}."
        )


def _check_size(spot: Spot, streets: list[Street]) -> None:
    """Raise GameError before boards are dealt if the tree cannot fit even in 16 bits.

    Isomorphism saves at most a factor of 24.
    """
    need, free = estimate(spot, streets, SMALLEST) / 24, available()
    if need > free:
        raise GameError(
            f"The spot takes at least {need / GIB:,.1f} GiB, but only {free / GIB:,.1f} GiB are free; choose fewer or"
            " larger bet sizes, or narrower ranges."
        )


def _combinations(root: Boards, ours: Floats, theirs: Floats) -> float:
    """Weight of all deals: the total minus hands that share a card."""
    first, second = root.hands
    by_card = np.zeros(64)
    np.add.at(by_card, second.first, theirs)
    np.add.at(by_card, second.second, theirs)
    met = theirs.sum() - by_card[first.first] - by_card[first.second] + theirs[first.same]
    return float((ours * met)[: int(first.counts[0])].sum())
