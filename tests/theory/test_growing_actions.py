"""Growth by actions of any compiled game, against the rules, history by history.

``Play`` of ``test_growing`` sums regrets and averages of an explicit sequence of profiles by definitions (1) to (3).
The recovery game is played here in plain Python, by the equations of linear CFR and the recovery game's rules.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from explicit_play import Allowed, Key, Play, Strategy, behaviour, kept_everywhere, kept_of
from treeplex.arrow import unpacked
from treeplex.compile.build import compile_game
from treeplex.compile.part import WholeGame
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.random_tree import RandomTree
from treeplex.growth.check import Candidate
from treeplex.growth.part_algorithm import SOLVERS
from treeplex.growth.parts import GrowingPart


def growing(rules: Any, seed: int, name: str = "cfr", share: float = 0.5) -> GrowingPart:
    """A part of a game by random actions, at least one at every infoset."""
    game, rng = compile_game(rules), np.random.default_rng(seed)
    masks = []
    for treeplex in game.treeplexes:
        mask = rng.random(treeplex.sequences) < share
        for infoset in range(treeplex.infosets):
            first, end = treeplex.first[infoset], treeplex.first[infoset + 1]
            mask[first + rng.integers(end - first)] = True
        mask[0] = True
        masks.append(mask)
    return GrowingPart(WholeGame(game), SOLVERS[name], tuple(masks), name == "cfr+")


class Sums(Play):
    """As ``Play``, with summed values of actions, and the opponent's summed reach of infosets."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.value: dict[Any, float] = defaultdict(float)
        self.earned: dict[Key, float] = defaultdict(float)
        self.reach: dict[Key, float] = defaultdict(float)

    def iteration(self, profile: Strategy, weight: float) -> None:
        super().iteration(profile, weight)
        values: dict[Any, float] = defaultdict(float)
        self._weight = weight
        self._walk(self.game.root(), profile, 1.0, (1.0, 1.0), values, {})
        for (player, label, action), value in values.items():
            self.value[player, label, action] += weight * value
            self.earned[player, label] += weight * profile[player, label][action] * value
        self._reached(self.game.root(), profile, weight)

    def _reached(self, history: Any, profile: Strategy, reach: float, own: tuple[float, float] = (1.0, 1.0)) -> None:
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return
        if mover == CHANCE:
            for a, p in zip(self.game.actions(history), self.game.probabilities(history), strict=True):
                self._reached(self.game.child(history, a), profile, reach * p, own)
            return
        label = self.game.infoset(history)
        self.reach[mover, label] += reach * own[1 - mover]
        for a in self.game.actions(history):
            p = profile[mover, label][a]
            self._reached(
                self.game.child(history, a),
                profile,
                reach,
                (own[0] * p, own[1]) if mover == 0 else (own[0], own[1] * p),
            )


def matched(regret: list[float]) -> list[float]:
    positive = [max(r, 0.0) for r in regret]
    return [r / sum(positive) for r in positive] if sum(positive) > 0.0 else [1.0 / len(regret)] * len(regret)


def recovery_game(rules: Any, head: Key, action: str, outside: list[Strategy], staying: float, n: int) -> Any:
    """Play linear CFR in the recovery game by its definition; return the weights and profiles that the mover faced.

    The opponent plays what it did on each of the iterations before, where it has a past, and learns elsewhere. The
    mover goes to the head for certain, since chance deals heads with the opponent's reach alone.
    """
    mover, kept, past = head[0], kept_everywhere(rules), set(outside[0])
    inside = {key: dict.fromkeys(kept[key], 0.0) for key in kept if key not in past}  # regrets
    way = actions_to(rules, head)
    gate, played = [0.0, 0.0], []

    def one(profile: Strategy, entering: float) -> Sums:
        play = Sums(rules)
        for before in outside:
            whole = {key: dict.fromkeys(kept[key], 0.0) | row for key, row in before.items()} | profile
            for key, chosen in way.items():
                whole[key] = {a: float(a == chosen) for a in kept[key]}
            whole[head] = {a: entering if a == action else 0.0 for a in kept[head]}
            play.iteration(whole, 1.0 / n)
        return play

    for k in range(1, n + 1):
        weight, entering = 2.0 * k / (n + 1), matched(gate)[1]
        for learning in (1 - mover, mover):
            profile = {key: dict(zip(row, matched(list(row.values())), strict=True)) for key, row in inside.items()}
            play = one(profile, entering)
            for key, row in inside.items():
                for a in row:
                    row[a] += weight * play.regret[(*key, a)] if key[0] == learning else 0.0
        played.append((weight, profile))
        values = [staying / n, play.value[(*head, action)]]
        expected = (1.0 - entering) * values[0] + entering * values[1]
        gate = [regret + weight * (value - expected) for regret, value in zip(gate, values, strict=True)]
    return played


def actions_to(rules: Any, head: Key) -> dict[Key, str]:
    """The mover's own actions on the way to an infoset."""
    stack: list[tuple[Any, dict[Key, str]]] = [(rules.root(), {})]
    while stack:
        history, way = stack.pop()
        mover = rules.mover(history)
        if mover == TERMINAL:
            continue
        key = (mover, rules.infoset(history)) if mover >= 0 else None
        if key == head:
            return way
        own = key is not None and mover == head[0]
        stack += [(rules.child(history, a), way | {key: a} if own else way) for a in rules.actions(history)]
    raise AssertionError(head)


def frontier(part: GrowingPart) -> list[tuple[int, int, int]]:
    """Player, infoset and sequence of every action that may be added."""
    return [
        (player, int(part.whole.owner[player][s - 1]), s)
        for player in (0, 1)
        for s in np.flatnonzero(~part.masks[player]).tolist()
        if part.behind.infosets[player][part.whole.owner[player][s - 1]]
    ]


def assert_theorem_1(rules: Any, seed: int, which: int, iterations: int = 3) -> int:
    """Grow by one action; every regret and average is that of an explicit sequence of |T| |T_S| profiles."""
    part = growing(rules, seed)
    options = frontier(part)
    assume(options)
    player, infoset, sequence = options[which % len(options)]
    outside = []
    for _ in range(iterations):
        outside.append(behaviour(part, part.engine.current(part.tables)))
        part.advance(1)
    past = Sums(Allowed(rules, kept_of(part)))
    for before in outside:
        past.iteration(before, 1.0)
    label = unpacked(part.whole.game.labels[player].infosets)[infoset]
    head, action = (player, label), part.whole.game.actions[part.whole.game.labels[player].actions[sequence]]
    (added,) = part.add([Candidate(infoset, player, sequence, 1.0, 1)])
    unit = part.whole.game.unit
    assert added.iterations == math.ceil(past.reach[head] - 1e-9)
    grown = Allowed(rules, kept_of(part))
    play = Play(grown)
    if added.iterations:
        played = recovery_game(grown, head, action, outside, past.earned[head], added.iterations)
        for weight, inside in played:
            for before in outside:
                whole = {key: dict.fromkeys(kept_everywhere(grown)[key], 0.0) | row for key, row in before.items()}
                play.iteration(whole | inside, weight / added.iterations)
    else:
        for before in outside:
            play.iteration({k: dict.fromkeys(r, 0.0) for k, r in kept_everywhere(grown).items()} | before, 1.0)
    regret, average = (
        behaviour(part, [learner.regret for learner in part.tables.learners]),
        behaviour(part, [learner.average for learner in part.tables.learners]),
    )
    for key, row in regret.items():
        for a, r in row.items():
            assert unit * r == pytest.approx(play.regret[(*key, a)], abs=1e-11), (key, a)
            assert average[key][a] == pytest.approx(play.average[(*key, a)], abs=1e-11), (key, a)
    return added.histories


@settings(max_examples=25, derandomize=True, phases=[Phase.generate])
@given(st.integers(0, 10_000), st.integers(0, 100))
def test_theorem_1_for_any_action_of_any_game(seed: int, which: int) -> None:
    assert_theorem_1(RandomTree(seed=seed, depth=5, chance=0.3), seed, which)
