"""Transfer of learnt tables into the same spot with more sizes, or with fewer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import aligned
from treeplex.engines.boards.arrays import HandLearner, Offsets, no_learner
from treeplex.engines.boards.boards import open_spans
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Span
from treeplex.engines.boards.trees import decisions_by_line


class NewPositions(NamedTuple):
    """Positions of one street's actions and decisions in another tree; -1: none."""

    slot: tuple[Offsets, Offsets]  # by player: [slots of the old tree]
    decision: tuple[Offsets, Offsets]  # by player: [decisions of the old tree]


def new_positions(old: HoldemGame, new: HoldemGame) -> list[NewPositions]:
    """Return the positions for every street, matched by line of actions and action."""
    streets = [
        NewPositions(
            (np.full(street.slots(0), -1), np.full(street.slots(1), -1)),
            (np.full(street.count(0), -1), np.full(street.count(1), -1)),
        )
        for street in old.streets
    ]
    known = decisions_by_line(new)
    for line, (depth, source) in decisions_by_line(old).items():
        if line not in known:
            continue
        _, target = known[line]
        streets[depth].decision[source.player][source.number] = target.number
        for k, action in enumerate(source.node.actions):
            if action in target.node.actions:
                at = target.slot + target.node.actions.index(action)
                streets[depth].slot[source.player][source.slot + k] = at
    return streets


def carried(old: HoldemGame, new: HoldemGame, learner: HandLearner, player: int) -> HandLearner:
    """Return a learner of the new game: the old numbers where line and action are the same, zeros elsewhere."""
    regret, average = (aligned(new.elements(player), learner.regret.dtype) for _ in range(2))
    last = np.zeros(new.decisions(player), np.int32)
    for depth, (slots, numbers) in enumerate(new_positions(old, new)):
        before, after = (game.boards[depth].hands[player] for game in (old, new))
        spans = (open_spans(game.streets[depth], player, game.boards[depth].texture).tolist() for game in (old, new))
        for board, (width, ours, theirs) in enumerate(zip(np.diff(before.start).tolist(), *spans, strict=True)):
            old_span, new_span = Span(*ours), Span(*theirs)
            targets = slots[player][old_span.slot : old_span.slot + old_span.slots] - new_span.slot
            shared = slots[player][old_span.slot : old_span.slot + old_span.slots] >= 0
            begin = int(before.storage[board]) + old_span.slot * width
            end = int(after.storage[board]) + new_span.slot * width
            for source, target in ((learner.regret, regret), (learner.average, average)):
                numbers_before = source[begin : begin + old_span.slots * width].reshape(-1, width)
                target[end : end + new_span.slots * width].reshape(-1, width)[targets[shared]] = numbers_before[shared]
            old_decisions = old_span.number + np.flatnonzero(
                numbers[player][old_span.number : old_span.number + old_span.numbers] >= 0
            )
            new_decisions = int(after.decision[board]) + numbers[player][old_decisions]
            last[new_decisions] = learner.last[int(before.decision[board]) + old_decisions]
    return no_learner(learner.regret.dtype.name)._replace(regret=regret, average=average, last=last)
