"""Regret transfer between actions whose payoffs are affine functions of a vector, against the rules."""

from __future__ import annotations

from hashlib import blake2b
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from explicit_play import Allowed, Play, Strategy, behaviour, kept_everywhere, kept_of
from treeplex.arrow import unpacked
from treeplex.compile.build import compile_game
from treeplex.compile.part import WholeGame
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.growth.check import Candidate
from treeplex.growth.options import Growth
from treeplex.growth.part_algorithm import SOLVERS
from treeplex.growth.parts import GrowingPart
from treeplex.growth.start import masks_of
from treeplex.growth.twins import thetas

SIZES = ("a0", "a1", "a2", "a3", "a4")


class Vector:
    """Each player has one of three cards; player 0 checks or chooses a size, and payoffs are affine in two numbers.

    Player 1 folds, calls or pushes, and after a push player 0 answers. After sizes in ``rich`` either may do more.
    After those in ``poor`` player 1 cannot call. With ``hidden`` player 1 does not see the size.
    """

    name = "vector"

    def __init__(self, rich: tuple[str, ...] = (), poor: tuple[str, ...] = (), hidden: bool = False) -> None:
        self.rich, self.poor, self.hidden = rich, poor, hidden

    def root(self) -> tuple[str, ...]:
        return ()

    def child(self, history: tuple[str, ...], action: str) -> tuple[str, ...]:
        return (*history, action)

    def mover(self, history: tuple[str, ...]) -> int:
        if not history:
            return CHANCE
        if len(history) == 1:
            return 0
        if len(history) == 2:
            return TERMINAL if history[1] == "check" else 1
        return 0 if len(history) == 3 and history[2] == "push" else TERMINAL

    def actions(self, history: tuple[str, ...]) -> list[str]:
        more = [] if len(history) < 2 or history[1] not in self.rich else ["more"]
        if not history:
            return ["".join(pair) for pair in permutations("123", 2)]
        if len(history) == 1:
            return ["check", *SIZES]
        if len(history) == 2:
            return ["fold", *([] if history[1] in self.poor else ["call"]), "push", *more]
        return ["yes", "no", *more]

    def probabilities(self, history: tuple[str, ...]) -> list[float]:
        return [0.1, 0.25, 0.15, 0.2, 0.12, 0.18]

    def infoset(self, history: tuple[str, ...]) -> str:
        if len(history) == 2:
            return f"{history[0][1]} {'?' if self.hidden else history[1]}"
        return " ".join((history[0][0], *history[1:]))

    def payoff(self, history: tuple[str, ...]) -> float:
        cards, action, *rest = history
        draw = blake2b(" ".join((cards, *rest)).encode(), digest_size=12).digest()
        beta, one, two = (int.from_bytes(draw[4 * k : 4 * k + 4], "little") / 2**31 - 1.0 for k in range(3))
        if action == "check":
            return beta
        size = SIZES.index(action)
        return beta + one * (0.4 + 0.3 * size) + two * (size - 1.7) ** 2


def growing(rules: Vector, name: str = "cfr", start: str = "check, a0, fold, call, push, yes, no, more") -> GrowingPart:
    game = compile_game(rules)
    return GrowingPart(WholeGame(game), SOLVERS[name], masks_of(start, game), name == "cfr+", 1, True)


def sequence_of(part: GrowingPart, card: str, action: str) -> tuple[int, int]:
    game = part.whole.game
    infoset = game.infoset_index[0][card]
    return infoset, int(game.treeplexes[0].first[infoset]) + game.actions_at(0, infoset).index(action)


@pytest.mark.parametrize("rich", [(), ("a3",)], ids=["alike", "more actions"])
def test_transfer_repeats_what_was_played_behind_the_neighbour(rich: tuple[str, ...]) -> None:
    """Every regret and average, for payoffs with a vector of two numbers.

    Where the new action leads to more actions than the neighbour, these are added as if they had never been chosen.
    """
    rules = Vector(rich)
    part = growing(rules)
    outside: list[Strategy] = []
    for _ in range(7):
        outside.append(behaviour(part, part.engine.current(part.tables)))
        part.advance(1)
    assert part.transfers is not None
    assert {len(layers[0].matrices) for layers in part.transfers.layers.values()} == {3}  # two numbers and a constant
    infoset, sequence = sequence_of(part, "2", "a3")
    (added,) = part.add([Candidate(infoset, 0, sequence, 1.0, 1)])
    assert added.histories == 2 * (8 if rich else 6)  # two cards of the opponent
    grown = Allowed(rules, kept_of(part))
    legal, play = kept_everywhere(grown), Play(grown)
    assert ("more" in legal[0, "2 a3 push"]) == bool(rich)
    for before in outside:
        copies = {}
        for key, actions in legal.items():
            like = key if key in before else (key[0], key[1].replace("a3", "a0"))
            copies[key] = dict.fromkeys(actions, 0.0) | before[like]
        play.iteration(copies, 1.0)
    regret = behaviour(part, [learner.regret for learner in part.tables.learners])
    average = behaviour(part, [learner.average for learner in part.tables.learners])
    compared = 0
    for key, row in regret.items():
        for action, number in row.items():
            assert number == pytest.approx(play.regret[(*key, action)], abs=1e-11), (key, action)
            assert average[key][action] == pytest.approx(play.average[(*key, action)], abs=1e-11), (key, action)
            compared += 1
    assert compared == (33 if rich else 30)
    others = part.transfers.layers[0, part.whole.game.infoset_index[0]["1"]]
    assert all(one.valid for one in others)


def test_a_subgame_with_fewer_actions_is_not_transferred() -> None:
    """It would repeat illegal actions, so a recovery game fills it in."""
    part = growing(Vector(poor=("a3",)))
    part.advance(5)
    assert part.transfers is not None
    for action, iterations in (("a3", False), ("a2", True)):
        infoset, sequence = sequence_of(part, "2", action)
        (added,) = part.add([Candidate(infoset, 0, sequence, 1.0, 1)])
        assert (added.iterations == 0) == iterations


def test_a_subgame_in_which_the_opponent_has_another_past_is_not_transferred() -> None:
    """Player 1 does not see who made the size: after one addition its infoset there has a past of its own."""
    part = growing(Vector())
    part.advance(5)
    for card, transferred in (("2", True), ("1", False)):
        infoset, sequence = sequence_of(part, card, "a3")
        (added,) = part.add([Candidate(infoset, 0, sequence, 1.0, 1)])
        assert (added.iterations == 0) == transferred


def test_hidden_sizes_share_the_opponents_past() -> None:
    """Player 1 plays on as it did, so that the regret of the new action is the sum of what it would have earned."""
    rules = Vector(hidden=True)
    part = growing(rules)
    part.advance(6)
    infoset, sequence = sequence_of(part, "3", "a1")
    (added,) = part.add([Candidate(infoset, 0, sequence, 1.0, 1)])
    assert added.iterations == 0
    assert added.histories == 2 * 6


def test_sums_are_given_up_where_their_subgame_grows() -> None:
    part = growing(Vector(), start="check, a0, fold, call, yes, no")
    part.advance(4)
    transfers = part.transfers
    assert transfers is not None
    assert len(transfers.all) == 3
    game = part.whole.game
    infoset = game.infoset_index[1]["2 a0"]
    push = int(game.treeplexes[1].first[infoset]) + game.actions_at(1, infoset).index("push")
    part.add([Candidate(infoset, 1, push, 1.0, 1)])
    assert len(transfers.all) == 1  # the other two cards of player 0 can meet card 2


def test_payoffs_that_are_affine_in_k_numbers_need_k_plus_one_sums() -> None:
    rng = np.random.default_rng(0)
    for numbers in (1, 2, 3):
        alpha, beta, theta = rng.normal(size=(numbers, 20)), rng.normal(size=20), rng.normal(size=(9, numbers))
        vectors = theta @ alpha + beta
        chosen, coefficients = thetas(vectors)
        assert len(chosen) == numbers + 1
        np.testing.assert_allclose(coefficients @ vectors[chosen], vectors, atol=1e-10)
    assert thetas(np.zeros((3, 4)))[0] == []


@pytest.mark.parametrize("name", ["cfr", "cfr+"])
def test_a_run_by_transfer_solves_the_game_and_resumes_to_the_same_bits(name: str, tmp_path: Any) -> None:
    growth = Growth("transfer", actions="check, a0, fold, call, push, yes, no", algorithm=name)
    rules = Vector(rich=("a4",))
    whole = tp.grow(rules, growth=growth, iterations=1000)
    assert any(one.recovery == 0 for one in whole.additions)
    assert whole.nash_conv < (0.1 if name == "cfr" else 0.01)
    value = tp.solve(rules, "lp").value
    assert abs(value - whole.value) <= whole.nash_conv + 1e-9
    tp.grow(rules, growth=growth, iterations=17, out=tmp_path / "run")
    resumed = tp.resume(tmp_path / "run", game=rules, iterations=1000)
    assert resumed.policy == whole.policy
    assert resumed.nodes_touched == whole.nodes_touched
    assert unpacked(whole.game.labels[0].infosets)
