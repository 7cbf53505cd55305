"""The vector form equals the sparse history form: a spot written out as a game of its own, iterate by iterate."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.engines.boards.strength import strengths
from treeplex.engines.sequence.reference.treeplex import normalise
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.cards import HAND_CARDS, card_name, hand_name
from treeplex.holdem import load_spot, solve

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm, all_rows, discounted, schedules, undiscounted
from twin import RIVER


class WrittenOut:
    """A spot as histories: (deal, cards, node); payoffs are player 0's, beside half the pot."""

    def __init__(self, spot):
        self.spot, self.tree = spot, betting_tree(spot)
        hands = [np.flatnonzero(spot.weights(player) > 0) for player in (0, 1)]
        self.deals = [
            (int(a), int(b))
            for a, b in product(*hands)
            if not set(HAND_CARDS[a].tolist()) & set(HAND_CARDS[b].tolist())
        ]
        chances = np.array([spot.weights(0)[a] * spot.weights(1)[b] for a, b in self.deals])
        self.chances = chances / chances.sum()

    def root(self):
        return None

    def _free(self, history):
        held = {*HAND_CARDS[history[0][0]].tolist(), *HAND_CARDS[history[0][1]].tolist(), *history[1]}
        return [card for card in range(52) if card not in held]

    def mover(self, history):
        if history is None or history[2].kind == "chance":
            return tp.CHANCE
        return history[2].player if history[2].kind == "decision" else tp.TERMINAL

    def actions(self, history):
        if history is None:
            return tuple(map(str, range(len(self.deals))))
        if history[2].kind == "chance":
            return tuple(map(str, self._free(history)))
        return tuple(action.name for action in history[2].actions)

    def probabilities(self, history):
        if history is None:
            return tuple(self.chances)
        free = self._free(history)
        return (1 / len(free),) * len(free)

    def child(self, history, action):
        if history is None:
            return (self.deals[int(action)], self.spot.cards, self.tree, "")
        deal, cards, node, line = history
        if node.kind == "chance":
            return (deal, (*cards, int(action)), node.children[0], f"{line}/{card_name(int(action))}")
        place = [a.name for a in node.actions].index(action)
        return (deal, cards, node.children[place], f"{line}/{action}")

    def infoset(self, history):
        deal, _, node, line = history
        return f"{hand_name(deal[node.player])}{line}"

    def payoff(self, history):
        deal, cards, node, _ = history
        half = self.spot.pot / 2 + node.paid
        if node.kind == "fold":
            return -half if node.player == 0 else half
        sevens = np.array([[*cards, *HAND_CARDS[hand]] for hand in deal], dtype=np.uint8)
        found = strengths(sevens)
        return half * int(np.sign(int(found[0]) - int(found[1])))


def labels_of(game, rows):
    """Infosets of the rows' hands, as the written-out game names them: cards stand where they are dealt."""
    node = rows.decision.node
    found = {id(game.streets[0].decisions[0].node): ""}
    waiting = [game.streets[0].decisions[0].node]
    while waiting:
        above = waiting.pop()
        for k, child in enumerate(above.children):
            step = "{}" if above.kind == "chance" else above.actions[k].name
            found[id(child)] = f"{found[id(above)]}/{step}"
            waiting.append(child)
    cards = [card_name(card) for card in rows.cards[len(game.spot.cards) :]]
    line = found[id(node)].format(*cards)
    return [f"{hand_name(int(hand))}{line}" for hand in rows.hands]


@pytest.mark.parametrize(
    ("which", "name"),
    [
        ("small_river", "cfr"),
        ("small_river", "cfr+"),
        ("small_river", "dcfr(gamma=4)"),
        pytest.param("small_turn", "dcfr(gamma=4)", marks=pytest.mark.slow),
        pytest.param("small_turn", "cfr", marks=pytest.mark.slow),
        pytest.param("small_turn", "cfr+", marks=pytest.mark.slow),
    ],
)
def test_vector_form_equals_history_form(request, which, name):
    """Regrets and averages of every infoset; regrets differ by the weight of the own hand alone.

    The vector form goes on from the history form's regrets, lest rounding decide between equal actions.
    """
    spot = request.getfixturevalue(which)
    written, game = tp.load(WrittenOut(spot)), load_spot(spot, isomorphic=False)
    sparse, vector = build(name), algorithm(name, game)
    ours, theirs = vector.start(game), sparse.start(written)
    place = [{str(label): i for i, label in enumerate(side.infosets)} for side in written.labels]
    labels = {}
    average = [np.zeros(treeplex.sequences) for treeplex in written.treeplexes]
    for t in range(1, 7):
        rule = schedules(vector, t)
        average[1] += rule.weight[t] * theirs.learners[1].plan
        theirs = sparse.advance(written, theirs, 1)
        ours = vector.advance(game, ours, 1)
        average[0] += rule.weight[t] * theirs.learners[0].plan  # Algorithm 1: after the update
        compared = 0
        for kind in ("regret", "average"):
            for number, rows in enumerate(all_rows(game, [getattr(learner, kind) for learner in ours.learners])):
                player = rows.decision.player
                if number not in labels:
                    labels[number] = labels_of(game, rows)
                first = written.treeplexes[player].first
                last = max(int(ours.learners[player].last[rows.place]), 1)
                for k, label in enumerate(labels[number]):
                    if label not in place[player]:
                        continue  # the other player cannot hold anything against this hand
                    i = place[player][label]
                    here = slice(first[i], first[i + 1])
                    if kind == "average":
                        mine, yours = rows.numbers[:, k], average[player][here]
                        if yours.sum() > 1e-12 and mine.sum() > 0.0:
                            gap = mine / mine.sum() - yours / yours.sum()
                            assert np.abs(gap).max() < 1e-9, (t, player, label)
                        continue
                    weight = spot.weights(player)[rows.hands[k]] / game.combinations
                    yours = theirs.learners[player].regret[here] / weight
                    mine = discounted(rows.numbers[:, k], rule, last, t)
                    assert np.abs(mine - yours).max() < 1e-10 * spot.pot * 100, (t, player, label)
                    rows.numbers[:, k] = undiscounted(yours, rule, last, t)
                    compared += 1
        assert compared > 50


@pytest.mark.parametrize("name", ["cfr", "cfr+", "cfr+(delay=20)", "lcfr", "dcfr", "dcfr(gamma=4)", "pcfr+", "pdcfr+"])
def test_hundred_iterations_end_where_those_of_the_history_form_do(name):
    """Value and NashConv, each by its own evaluation; no two actions are worth the same here."""
    written, game = tp.load(WrittenOut(RIVER)), load_spot(RIVER)
    sparse, vector = build(name), algorithm(name, game)
    theirs, weight = sparse.start(written), schedules(vector, 100).weight
    average = [np.zeros(treeplex.sequences) for treeplex in written.treeplexes]
    for t in range(1, 101):
        average[1] += weight[t] * theirs.learners[1].plan
        theirs = sparse.advance(written, theirs, 1)
        average[0] += weight[t] * theirs.learners[0].plan  # Algorithm 1: after the update
    behaviour = [np.empty(len(weights)) for weights in average]
    for treeplex, weights, out in zip(written.treeplexes, average, behaviour, strict=True):
        normalise(treeplex, weights, out)
    expected = evaluate_strategies(written, (behaviour[0], behaviour[1]))
    found = vector.report(game, vector.advance(game, vector.start(game), 100), "average").evaluate()
    assert found.nash_conv == pytest.approx(expected.nash_conv, rel=1e-6)
    assert found.value == pytest.approx(expected.value + RIVER.pot / 2, abs=1e-9 * RIVER.pot)


def test_river_value_against_the_linear_program(small_river):
    """The written-out game's exact value is half the pot below our EV."""
    exact = tp.solve(WrittenOut(small_river), "lp").value
    found = solve(small_river, percent_of_pot=0.001, storage="float64", iterations=20000)
    assert found.status == "solved"
    assert found.ev[0] - small_river.pot / 2 == pytest.approx(exact, abs=found.nash_conv)
