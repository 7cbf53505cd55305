"""Algorithms as they are carried out on spots, and where kernels keep the numbers of a decision on a board."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards.arrays import Schedules
from treeplex.engines.boards.streets import Decision
from treeplex.engines.boards.tables import schedules as schedules_of
from treeplex.games.holdem.classes import EVERY_BOARD
from treeplex.holdem import HoldemGame


def algorithm(name: str, game: HoldemGame, storage: str = "float64", threads: int = 1) -> CFR:
    """The algorithm of that name, as a run carries it out on a spot."""
    solver = build(name).open(game, Execution(storage=storage, threads=threads))
    assert isinstance(solver, CFR)
    return solver


def schedules(solver: CFR, last: int) -> Schedules:
    """Discounts and weights of iterations 0 to ``last``."""
    return schedules_of(solver.scheme, solver.storage, last)


class Rows(NamedTuple):
    """A decision on a stored board: a view of its rows, without padding, and the numbers of its hands."""

    decision: Decision
    cards: tuple[int, ...]
    numbers: Any  # [actions, hands], a view that can be written to
    hands: Any  # [hands]
    place: int  # among the player's decisions on all boards
    start: int = 0  # where its numbers are kept
    width: int = 0  # hands of a row, padding included


def all_rows(game: HoldemGame, arrays: Any) -> list[Rows]:
    """The rows of every decision on every stored board in two players' arrays."""
    found = []
    for depth, street in enumerate(game.streets):
        for board, deal in enumerate(game.deals[depth]):
            for decision in street.decisions:
                if decision.texture not in (EVERY_BOARD, deal.texture):
                    continue
                hands = game.boards[depth].hands[decision.player]
                begin, count = int(hands.start[board]), int(hands.counts[board])
                width = int(hands.start[board + 1]) - begin
                start = int(hands.storage[board]) + decision.slot * width
                actions = len(decision.node.actions)
                table = arrays[decision.player][start : start + actions * width].reshape(actions, width)
                numbers = hands.number[begin : begin + count].astype(np.int64)
                place = int(hands.decision[board]) + decision.number
                found.append(Rows(decision, deal.cards, table[:, :count], numbers, place, start, width))
    return found


def discounts(rule: Any, last: int, t: int) -> tuple[float, float]:
    """What regrets touched last in iteration ``last`` are still to be multiplied by, up to iteration ``t``."""
    return float(np.prod(rule.positive[last : t + 1])), float(np.prod(rule.negative[last : t + 1]))


def discounted(numbers: Any, rule: Any, last: int, t: int) -> Any:
    """Stored regrets as they stand after iteration ``t``."""
    positive, negative = discounts(rule, last, t)
    return np.where(numbers > 0.0, numbers * positive, numbers * negative)


def undiscounted(numbers: Any, rule: Any, last: int, t: int) -> Any:
    """The other way round."""
    positive, negative = discounts(rule, last, t)
    return np.where(numbers > 0.0, numbers / positive, numbers / (negative or 1.0))
