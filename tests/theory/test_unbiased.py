"""Samplers are unbiased: what a walk adds to regrets and averages, expected over every possible run of its dice.

The dice of ``engines.sampling.reference.sampling`` are replaced by a script that answers every question in every
possible way and multiplies the probabilities. Kernels give the bits of that reference
(tests/unit/test_sampling_kernels.py). The truth comes from a recursion over the rules of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.compile import CompiledGame
from treeplex.engines.sampling.arrays import BOTH, MATCH, MATCH_OR_PICK, PURE, LearnerTable, table
from treeplex.engines.sampling.reference import drawn, public
from treeplex.engines.sampling.reference import sampling as book
from treeplex.engines.sampling.reference.random import Draws
from treeplex.engines.sampling.tree import Chances, Sampling, sampling
from treeplex.games.catalog import make
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.random_tree import RandomTree

RULES = {
    "kuhn": make("kuhn"),
    "random_tree": RandomTree(seed=6, depth=5, width=2, chance=0.3, visible=0.3),
    "wide_tree": RandomTree(seed=1, depth=4, width=3, chance=0.3, visible=0.2),
}

Tables = tuple[LearnerTable, LearnerTable]


class Script(Draws):
    """Dice that fall as told, and know how likely that was."""

    def __init__(self, choices: list[int]) -> None:
        super().__init__(0)
        self.choices, self.options, self.at, self.probability = choices, [], 0, 1.0

    def branch(self, odds: list[float]) -> int:
        ways = [k for k, p in enumerate(odds) if p > 0.0]
        if self.at == len(self.choices):
            self.choices.append(0)
        self.options.append(len(ways))
        way = ways[self.choices[self.at]]
        self.at += 1
        self.probability *= odds[way] / sum(odds)
        return way

    def chance(self, chances: Chances, begin: int, width: int) -> int:
        return self.branch([float(p) for p in chances.probability[begin : begin + width]])

    def move(self, weights: Any) -> int:
        return self.branch(list(weights) if sum(weights) > 0.0 else [1.0] * len(weights))

    def odds(self, probabilities: Any) -> int:
        return self.branch(list(probabilities))

    def any_of(self, count: int) -> int:
        return self.branch([1.0] * count)

    def coin(self, p: float) -> bool:
        return self.branch([p, 1.0 - p]) == 0

    def one_of(self, count: int) -> bool:
        return self.branch([1.0, count - 1.0]) == 0


def scripts() -> Iterator[Script]:
    """Every way the dice can fall, each run to its end by the caller before the next is asked for."""
    choices: list[int] = []
    while True:
        script = Script(choices)
        yield script
        choices, options = script.choices, script.options
        while choices and choices[-1] + 1 == options[len(choices) - 1]:
            choices.pop()
        if not choices:
            return
        choices[-1] += 1


def stirred(form: Sampling, rng: np.random.Generator, *, pick: bool) -> Tables:
    """Tables in the middle of nowhere, some regrets negative, some infosets without a positive one."""
    made = []
    for player, size in enumerate(form.sequences):
        learnt = table(size, pick=True, baseline=True)
        learnt.regret[:] = rng.standard_normal(size)
        learnt.average[:] = 5.0 * rng.random(size)
        learnt.baseline[:] = rng.standard_normal(size)
        for start, width in infosets(form, player):
            learnt.pick[start] = rng.integers(width) if pick else 0
            if rng.random() < 0.2:
                learnt.regret[start : start + width] = -1.0
        made.append(learnt)
    return made[0], made[1]


def infosets(form: Sampling, player: int) -> set[tuple[int, int]]:
    found = set()
    for node in range(len(form.tree.packed)):
        for deal in range(form.tree.hands.shape[1]):
            here = book.unpack(form.tree, node, deal)
            if here.actor == player:
                found.add((here.start, len(here.moves)))
    return found


class Truth:
    """Counterfactual values and reaches of a pair of strategies, by recursion over the rules."""

    def __init__(self, rules: Any, game: CompiledGame, behaviour: list[Any]) -> None:
        self.rules, self.game, self.behaviour = rules, game, behaviour
        self.values = [np.zeros(treeplex.sequences) for treeplex in game.treeplexes]  # sum of pi_-i(h) u(h a)
        self.expected = [np.zeros(treeplex.infosets) for treeplex in game.treeplexes]
        self.natural = [np.zeros(treeplex.infosets) for treeplex in game.treeplexes]  # sum of pi_c(h)
        self.reach = [np.zeros(treeplex.infosets) for treeplex in game.treeplexes]  # own
        self.value = self._below(rules.root(), (1.0, 1.0, 1.0))

    def _below(self, history: Any, reach: tuple[float, float, float]) -> float:
        rules = self.rules
        mover = rules.mover(history)
        if mover == TERMINAL:
            return float(rules.payoff(history))
        actions = list(rules.actions(history))
        if mover == CHANCE:
            return sum(
                p * self._below(rules.child(history, a), (reach[0], reach[1], reach[2] * p))
                for a, p in zip(actions, rules.probabilities(history), strict=True)
            )
        infoset = self.game.infoset_index[mover][rules.infoset(history)]
        first = int(self.game.treeplexes[mover].first[infoset])
        sigma = self.behaviour[mover][first : first + len(actions)]
        values = []
        for a, p in zip(actions, sigma, strict=True):
            after = [reach[0], reach[1], reach[2]]
            after[mover] *= p
            values.append(self._below(rules.child(history, a), (after[0], after[1], after[2])))
        value = float(np.dot(sigma, values))
        others = reach[1 - mover] * reach[2] * (1.0 if mover == 0 else -1.0)
        self.values[mover][first : first + len(actions)] += others * np.array(values)
        self.expected[mover][infoset] += others * value
        self.natural[mover][infoset] += reach[2]
        self.reach[mover][infoset] = reach[mover]
        return value

    def gains(self, player: int) -> Any:
        return self.values[player] - np.concatenate(([0.0], self._spread(player, self.expected[player])))

    def average(self, player: int) -> Any:
        """pi_c(I) pi_i(I) sigma(I, a): the average by reach, up to a factor that an infoset keeps for ever."""
        share = self._spread(player, self.natural[player] * self.reach[player])
        return np.concatenate(([0.0], share * self.behaviour[player][1:]))

    def _spread(self, player: int, numbers: Any) -> Any:
        return np.repeat(numbers, self.game.treeplexes[player].actions)


def played(game: CompiledGame, form: Sampling, tables: Tables, rule: int) -> list[Any]:
    """Both strategies in the order of the game's sequences."""
    out = []
    for player, treeplex in enumerate(game.treeplexes):
        behaviour = np.ones(treeplex.sequences)
        for start, end in zip(treeplex.first[:-1].tolist(), treeplex.first[1:].tolist(), strict=True):
            local = int(form.sequence_index[player][start])
            behaviour[start:end] = book.played(tables[player], local, end - start, rule)
        out.append(behaviour)
    return out


def expectation(form: Sampling, tables: Tables, run: Callable[[Tables, Script], None]) -> dict[str, list[Any]]:
    """Mean change of regrets and averages over all runs, in the order of the game's sequences."""
    change: dict[str, list[Any]] = {"regret": [0.0, 0.0], "average": [0.0, 0.0]}
    likely = 0.0
    for script in scripts():
        after = book.copied(tables)
        run(after, script)
        likely += script.probability
        for name, sums in change.items():
            for player in (0, 1):
                moved = getattr(after[player], name) - getattr(tables[player], name)
                sums[player] = sums[player] + script.probability * form.of_player(player, moved)
    assert likely == pytest.approx(1.0, abs=1e-12)
    return change


def walk_of(form: Sampling, tables: Tables, script: Script) -> book.SampleWalk:
    return book.SampleWalk(
        form.tree, book.deal(form.tree, script), tables, 2.0, False, script
    )  # weight 2: it must show


def sampled(kind: str, player: int) -> Callable[[Sampling], Callable[[Tables, Script], None]]:
    def of(form: Sampling) -> Callable[[Tables, Script], None]:
        def run(tables: Tables, script: Script) -> None:
            walk = walk_of(form, tables, script)
            match kind:
                case "external":
                    book.external(walk, player, 1.0, 0.0, 0.0)
                case "average":
                    book.external(walk, player, 0.3, 0.5, 1.0)
                case "outcome":
                    book.outcome(walk, player, 0.4, 0.5)
                case "outcome without baselines":
                    book.outcome(walk, player, 0.4, 0.0)
                case "pure":
                    book.pure(walk, player)
                case "drawn":
                    drawn.drawn(walk, player)
                case "public":
                    odds, counts = public.start(walk)
                    public.public(walk, player, odds, counts, [1.0] * counts[1 - player])
                    book.settle(walk, player, MATCH)
                case "chance":
                    book.joint(walk, player, MATCH, True)
                    book.settle(walk, player, MATCH)

        return run

    return of


@pytest.fixture(params=RULES, scope="module")
def case(request) -> tuple[Any, CompiledGame, Sampling]:
    rules = RULES[request.param]
    game = tp.load(rules)
    return rules, game, sampling(game)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    "kind",
    ["external", "average", "outcome", "outcome without baselines", "pure", "chance", "drawn", "public"],
)
def test_expected_gains_are_counterfactual_regrets(kind, player, case) -> None:
    rules, game, form = case
    rule, told = PURE if kind == "pure" else MATCH, False
    for seed in range(2):
        tables = stirred(form, np.random.default_rng(seed), pick=kind == "pure")
        truth = Truth(rules, game, played(game, form, tables, rule))
        change = expectation(form, tables, sampled(kind, player)(form))
        expected = truth.values[player] if kind == "pure" else truth.gains(player)
        told |= bool(expected.any())
        np.testing.assert_allclose(change["regret"][player], 2.0 * expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(change["regret"][1 - player], 0.0)
        np.testing.assert_allclose(change["average"][1 - player], 2.0 * truth.average(1 - player), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(change["average"][player], 0.0)
    assert told


@pytest.mark.parametrize("rule", [MATCH, MATCH_OR_PICK, PURE])
def test_both_learn_from_one_walk(rule, case) -> None:
    rules, game, form = case
    tables = stirred(form, np.random.default_rng(0), pick=True)
    truth = Truth(rules, game, played(game, form, tables, rule))

    def run(copied: Tables, script: Script) -> None:
        walk = walk_of(form, copied, script)
        book.joint(walk, BOTH, rule, True)
        for player in (0, 1):
            for (owner, start), regrets in walk.regrets.items():
                if owner == player:
                    book.add(copied[player], start, [2.0 * r for r in regrets], False)

    change = expectation(form, tables, run)
    for player in (0, 1):
        expected = truth.values[player] if rule == PURE else truth.gains(player)
        np.testing.assert_allclose(change["regret"][player], 2.0 * expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(change["average"][player], 2.0 * truth.average(player), rtol=0, atol=1e-12)


def test_pure_cfr_samples_nothing(case) -> None:
    """All deals and all of nature's moves: one walk gives the very values, without expectation."""
    rules, game, form = case
    tables = stirred(form, np.random.default_rng(0), pick=True)
    truth = Truth(rules, game, played(game, form, tables, PURE))
    after, value = book.copied(tables), 0.0
    kept: dict[tuple[int, int], list[float]] = {}
    for deal in range(form.tree.hands.shape[1]):
        walk = book.SampleWalk(form.tree, deal, after, 1.0, False, Script([]), regrets=kept)
        chance = float(form.tree.chances.probability[deal])
        value += chance * book.joint(walk, BOTH, PURE, False, chance=chance)
    assert value == pytest.approx(truth.value, abs=1e-13)
    for player in (0, 1):
        found = np.zeros(form.sequences[player])
        for (owner, start), numbers in kept.items():
            if owner == player:
                found[start : start + len(numbers)] = numbers
        np.testing.assert_allclose(form.of_player(player, found), truth.values[player], rtol=0, atol=1e-13)
        moved = form.of_player(player, after[player].average - tables[player].average)
        np.testing.assert_allclose(moved, truth.average(player), rtol=0, atol=1e-13)


def test_baselines_make_outcome_sampling_vary_less(case) -> None:
    """With baselines at the true values of the moves, Schmid et al. (2019), section 4; and the mean stays."""
    rules, game, form = case
    tables = stirred(form, np.random.default_rng(1), pick=False)
    truth = Truth(rules, game, played(game, form, tables, MATCH))
    for player in (0, 1):  # the mean value of a move over the histories of its infoset
        sign = 1.0 if player == 0 else -1.0
        mass = truth._spread(player, np.maximum(truth.natural[player], 1e-9))
        tables[player].baseline[form.sequence_index[player][1:]] = sign * truth.values[player][1:] / mass

    def spread(rate: float) -> float:
        squares = 0.0
        for script in scripts():
            after = book.copied(tables)
            book.outcome(walk_of(form, after, script), 0, 0.4, rate)
            squares += script.probability * float(((after[0].regret - tables[0].regret) ** 2).sum())
        return squares

    assert spread(0.5) < spread(0.0)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc_ext(2,1,1)", "leduc_ext(3,1,1)"])
def test_public_draws_leave_every_hand_its_counterfactual_regret(name, player) -> None:
    """Hands make public cards likelier or not: the card is drawn as all deals make it, and each deal is weighed."""
    rules, game = make(name), tp.load(name)
    form = sampling(game)
    tables = stirred(form, np.random.default_rng(player), pick=False)
    truth = Truth(rules, game, played(game, form, tables, MATCH))
    change = expectation(form, tables, sampled("public", player)(form))
    assert truth.gains(player).any()
    np.testing.assert_allclose(change["regret"][player], 2.0 * truth.gains(player), rtol=0, atol=1e-12)
    np.testing.assert_allclose(change["average"][1 - player], 2.0 * truth.average(1 - player), rtol=0, atol=1e-12)


def test_a_public_walk_visits_every_hand() -> None:
    """One walk teaches all hands that the cards drawn allow, where an external one teaches one."""
    form = sampling(tp.load("leduc_ext(3,1,1)"))
    changed = []
    for kind in ("external", "public"):
        tables = stirred(form, np.random.default_rng(0), pick=False)
        after = book.copied(tables)
        sampled(kind, 0)(form)(after, Script([]))
        changed.append(len({start for start, width in infosets(form, 0)
                            if (after[0].regret != tables[0].regret)[start : start + width].any()}))  # fmt: skip
    assert changed[1] >= 2 * changed[0]
