"""What was learnt in a spot, taken over into the same spot with more sizes, or with fewer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import aligned
from treeplex.engines.boards.arrays import HandLearner, Offsets, no_learner
from treeplex.engines.boards.boards import open_spans
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Span
from treeplex.engines.boards.trees import decisions_by_line


class Places(NamedTuple):
    """Where the actions and decisions of one street are in another tree; -1: nowhere."""

    slot: tuple[Offsets, Offsets]  # by player: [slots of the old tree]
    decision: tuple[Offsets, Offsets]  # by player: [decisions of the old tree]


def places(old: HoldemGame, new: HoldemGame) -> list[Places]:
    """For every street, by the line of actions that leads to a decision, and by the action."""
    streets = [
        Places(
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
    """A learner of the new game: the old numbers wherever line and action are the same, zeros elsewhere."""
    regret, average = (aligned(new.elements(player), learner.regret.dtype) for _ in range(2))
    last = np.zeros(new.decisions(player), np.int32)
    for depth, (slots, numbers) in enumerate(places(old, new)):
        before, after = (game.boards[depth].hands[player] for game in (old, new))
        spans = (open_spans(game.streets[depth], player, game.boards[depth].texture).tolist() for game in (old, new))
        for board, (width, ours, theirs) in enumerate(zip(np.diff(before.start).tolist(), *spans, strict=True)):
            was, now = Span(*ours), Span(*theirs)
            to = slots[player][was.slot : was.slot + was.slots] - now.slot
            alike = slots[player][was.slot : was.slot + was.slots] >= 0
            begin = int(before.storage[board]) + was.slot * width
            end = int(after.storage[board]) + now.slot * width
            for source, target in ((learner.regret, regret), (learner.average, average)):
                numbers_before = source[begin : begin + was.slots * width].reshape(-1, width)
                target[end : end + now.slots * width].reshape(-1, width)[to[alike]] = numbers_before[alike]
            which = was.number + np.flatnonzero(numbers[player][was.number : was.number + was.numbers] >= 0)
            there = int(after.decision[board]) + numbers[player][which]
            last[there] = learner.last[int(before.decision[board]) + which]
    return no_learner(learner.regret.dtype.name)._replace(regret=regret, average=average, last=last)
