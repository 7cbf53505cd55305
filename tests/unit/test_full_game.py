"""Best responses over a whole interval of sizes: closed forms against grids, and against games in which the opponent's
reading of a bet is a chance move."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.api import best_response, load
from treeplex.engines.public.cpu import sizes as cpu
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.engines.public.reference.sizes import pseudo_harmonic, value_between
from treeplex.evaluation import Policy
from treeplex.games.continuous import ContinuousPoker, continuous_leduc_rules
from treeplex.games.poker import Card
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.sized import Menu, sized_label
from treeplex.growth.algorithm import check_and_add
from treeplex.growth.options import Growth

STRETCH = (1.0, 2.0)
number = st.floats(-10.0, 10.0)
interval = st.tuples(st.floats(0.01, 0.9), st.floats(0.02, 0.99)).map(
    lambda pair: (pair[0], min(pair[0] + pair[1], 1.0))
)


def poker(streets: int, ranks: int, copies: int) -> ContinuousPoker:
    deck = tuple(Card(str(rank), rank, copies) for rank in range(ranks))
    return ContinuousPoker("small", deck, streets)


def grown(rules: ContinuousPoker, sizes: tuple[float, ...], looks: int) -> GrowingGame:
    game = GrowingGame(rules, Menu(everywhere=sizes), RULES["cfr"])
    for _ in range(looks):
        game.advance(4)
        check_and_add(game, Growth(factor=1.0))
    game.advance(3)
    return game


# --- translation and curves ------------------------------------------------------------------------------------------


def test_the_pseudo_harmonic_mapping() -> None:
    assert pseudo_harmonic(0.5, 1.0, 0.5) == 1.0
    assert pseudo_harmonic(0.5, 1.0, 1.0) == 0.0
    middle = (0.01 + 1.0 + 2 * 0.01) / (0.01 + 1.0 + 2)  # (A + B + 2AB) / (A + B + 2), the paper's median
    assert pseudo_harmonic(0.01, 1.0, middle) == pytest.approx(0.5)
    assert round(middle, 2) == 0.34  # which is how Branch-3 came by its third of the pot


@settings(deadline=None)
@given(interval, number, number, number, number, st.floats(0.0, 1.0))
def test_between_two_sizes_the_closed_form_is_the_mixture(ends, fixed, slope, other_fixed, other_slope, share) -> None:
    low, high = ends
    size = low + share * (high - low)
    rise, level, fall = cpu.between(low, high, fixed, slope, other_fixed, other_slope, STRETCH)
    u = 1.0 + size
    expected = value_between(low, high, fixed, slope, other_fixed, other_slope, STRETCH, size)
    scale = max(abs(rise), abs(level), abs(fall), 1.0)
    assert rise * u + level + fall / u == pytest.approx(expected, abs=1e-12 * scale)


@settings(deadline=None)
@given(interval, st.floats(0.001, 0.999))
def test_the_likelier_reading(ends, share) -> None:
    low, high = ends
    size = low + share * (high - low)
    likely = pseudo_harmonic(low, high, size)
    if abs(likely - 0.5) > 1e-9:
        assert cpu.nearest(np.array(ends), 0, 1, 1.0 + size) == (0 if likely > 0.5 else 1)
    assert cpu.nearest(np.array(ends), -1, 0, 1.0 + low / 2) == 0


@settings(deadline=None)
@given(number, number, number, interval)
def test_a_peak_is_never_below_a_fine_grid_and_is_reached(rise, level, fall, ends) -> None:
    low, high = 1.0 + ends[0], 1.0 + ends[1]
    best, at = cpu.peak(rise, level, fall, low, high)
    grid = np.linspace(low, high, 10_000)
    values = rise * grid + level + fall / grid
    assert best >= values.max() - 1e-12
    assert best <= values.max() + np.abs(np.diff(values, 2)).max() / 8 + 1e-12  # a smooth maximum between two points
    assert low <= at <= high
    assert rise * at + level + fall / at == pytest.approx(best, abs=1e-12)


@settings(max_examples=60)
@given(st.lists(st.tuples(number, number, number), min_size=1, max_size=4), interval)
def test_the_peak_of_a_sum_of_positive_parts_is_never_below_a_fine_grid(curves, ends) -> None:
    low, high = 1.0 + ends[0], 1.0 + ends[1]
    table = np.array(curves)
    best, at = cpu.peak_of_sum(table, low, high, np.empty(2 * len(table) + 2))

    def total(u: Any) -> Any:
        return sum(np.maximum(rise * u + level + fall / u, 0.0) for rise, level, fall in curves)

    values = total(np.linspace(low, high, 10_000))
    steepest = sum(abs(rise) + abs(fall) for rise, _, fall in curves)
    assert best >= values.max() - 1e-9
    assert best <= values.max() + steepest * (high - low) / 9_999  # kinks: no more than one step of the grid
    assert float(total(at)) == pytest.approx(best, abs=1e-9)


# --- the whole game against a grid of sizes, asking the rules --------------------------------------------------------


class Grid:
    """A best response by recursion over the rules. Where the responder chooses a size, 10,000 of each gap are tried.

    What a size is worth when it is read as an offered one is found at three sizes, by the rules' own payoffs, and must
    lie on a straight line in theta. Returns values and, beside them, by how much the grid can miss the maximum.
    """

    def __init__(self, game: GrowingGame, player: int, points: int = 10_000) -> None:
        self.game, self.player, self.points = game, player, points
        self.behaviour = game.averages()
        self.lines = {game.line(n): n for n in range(game.tree.count)}

    def value(self) -> tuple[float, float]:
        hands = self.game.tree.hands
        rules = self.game.rules
        values, slack = self.visit(rules.start(), 0, rules.deal(), np.ones(hands))
        return float(values.sum()), float(slack.sum())

    def visit(self, state: Any, node: int, deal: Any, opponent: Any) -> tuple[Any, Any]:
        rules, tree = self.game.rules, self.game.tree
        mover = rules.mover(state)
        if mover == TERMINAL:
            amount, outcome = rules.settle(state)
            pays = amount * rules.outcome(outcome) * deal
            values = pays @ opponent if self.player == 0 else -(opponent @ pays)
            return values, np.zeros_like(values)
        names = [(c, tree.nodes.size[c], self.game.line(c)[-1]) for c in tree.children(node)]
        if mover == CHANCE:
            parts = [
                self.visit(rules.next(state, label), c, deal * odds, opponent)
                for (c, _, label), odds in zip(names, rules.odds(state), strict=True)
            ]
        elif mover != self.player:
            parts = [
                self.visit(
                    rules.sized(state, size) if size > 0 else rules.next(state, label),
                    c,
                    deal,
                    opponent * self.behaviour[c],
                )
                for c, size, label in names
            ]
        else:
            return self.choose(state, names, deal, opponent)
        return sum(values for values, _ in parts), sum(slack for _, slack in parts)

    def choose(self, state: Any, names: Any, deal: Any, opponent: Any) -> tuple[Any, Any]:
        rules = self.game.rules
        options = [self.visit(rules.next(state, label), c, deal, opponent) for c, size, label in names if size < 0]
        best = np.max([values for values, _ in options], axis=0)
        slack = np.max([missed for _, missed in options], axis=0)
        offered = [(c, float(size)) for c, size, _ in names if size > 0]
        if not offered:
            return best, slack
        low, high = rules.interval(state)  # pyright: ignore
        lines = {}
        for c, size in offered:
            tried = (low, 0.5 * (low + high), high)
            three = [self.visit(rules.sized(state, x), c, deal, opponent) for x in tried]
            thetas = np.array([rules.payoff_scale[0] + rules.payoff_scale[1] * x for x in tried])
            slope = (three[2][0] - three[0][0]) / (thetas[2] - thetas[0])
            fixed = three[0][0] - slope * thetas[0]
            np.testing.assert_allclose(fixed + slope * thetas[1], three[1][0], atol=1e-11)
            lines[c] = (size, fixed, slope)
            slack = np.maximum(slack, three[2][1])
        reads = [lines[c] for c, _ in offered]
        gaps = list(pairwise(reads))
        gaps += [((low, *reads[0][1:]), reads[0])] if low < reads[0][0] else []
        gaps += [(reads[-1], (high, *reads[-1][1:]))] if reads[-1][0] < high else []
        bend = np.zeros_like(best)
        for (below, fixed, slope), (above, other_fixed, other_slope) in gaps:
            x = np.linspace(below, above, self.points)[:, None]
            share = (above - x) * (1 + below) / ((above - below) * (1 + x))
            theta = rules.payoff_scale[0] + rules.payoff_scale[1] * x
            values = share * (fixed + slope * theta) + (1 - share) * (other_fixed + other_slope * theta)
            best = np.maximum(best, values.max(axis=0))
            bend = np.maximum(bend, np.abs(np.diff(values, 2, axis=0)).max(axis=0) / 8)
        return best, slack + bend


GAMES = [
    (poker(1, 3, 1), (0.01, 1.0), 6),
    (poker(1, 3, 1), (0.1, 0.5), 4),  # sizes beyond the offered ones are read as the nearest
    (poker(2, 3, 1), (0.01, 1.0), 5),
]


@pytest.mark.parametrize(("rules", "sizes", "looks"), GAMES, ids=["one street", "not to the ends", "two streets"])
@pytest.mark.parametrize("player", [0, 1])
def test_the_exact_best_response_is_never_below_the_grid_and_within_its_error(rules, sizes, looks, player) -> None:
    game = grown(rules, sizes, looks)
    exact = float(game.respond(player).values[0].sum())
    coarse, slack = Grid(game, player).value()
    assert exact >= coarse - 1e-11
    assert exact <= coarse + slack + 1e-11
    assert slack < 1e-5  # the grid is fine
    inside = float(game.respond(player, whole=False).values[0].sum())
    assert exact >= inside
    assert exact > inside or looks > 5  # sizes that are not offered pay, unless those that do have been found


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_the_exact_best_response_in_continuous_leduc(player) -> None:
    game = grown(continuous_leduc_rules(), (0.01, 1.0), 30)
    exact = float(game.respond(player).values[0].sum())
    coarse, slack = Grid(game, player).value()
    assert coarse - 1e-11 <= exact <= coarse + slack + 1e-11


# --- against a game in which reading a bet is a chance move ----------------------------------------------------------


class Reading(NamedTuple):
    hands: tuple[int, ...]
    state: Any
    node: int  # where the reader believes to be
    size: float  # of a bet that has not been read yet, or -1
    seen: tuple[str, ...]  # by the one who bets


class Misread:
    """The full game with a few sizes for one player, whose bets the other reads as an offered size, at random.

    ``told``: whether the one who bets learns how the bet was read.
    """

    def __init__(self, game: GrowingGame, player: int, sizes: dict[Any, set[float]], told: bool) -> None:
        self.game, self.player, self.sizes, self.told = game, player, sizes, told

    def root(self) -> Reading:
        return Reading((), self.game.rules.start(), 0, -1.0, ())

    def mover(self, h: Reading) -> int:
        if not h.hands or h.size > 0.0:
            return CHANCE
        return self.game.rules.mover(h.state)

    def actions(self, h: Reading) -> list[str]:
        if not h.hands:
            return [f"{a},{b}" for a, b in np.argwhere(self.game.rules.deal() > 0).tolist()]
        if h.size > 0.0:
            return [str(c) for c in self._readings(h)]
        rules = self.game.rules
        if rules.mover(h.state) == CHANCE:
            odds = rules.odds(h.state)[:, h.hands[0], h.hands[1]]
            return [a for a, share in zip(rules.actions(h.state), odds, strict=True) if share > 0.0]
        if rules.mover(h.state) != self.player:
            return [self.game.line(c)[-1] for c in self.game.tree.children(h.node)]
        sized = sorted(self.sizes[h.state.street, h.state.bets, h.state.checked]) if rules.interval(h.state) else []
        return [*rules.actions(h.state), *(f"bet {size!r}" for size in sized)]

    def probabilities(self, h: Reading) -> list[float]:
        if not h.hands:
            deal = self.game.rules.deal()
            return deal[deal > 0].tolist()
        if h.size > 0.0:
            return list(self._readings(h).values())
        odds = self.game.rules.odds(h.state)[:, h.hands[0], h.hands[1]]
        return odds[odds > 0].tolist()

    def child(self, h: Reading, action: str) -> Reading:
        rules, tree = self.game.rules, self.game.tree
        if not h.hands:
            first, second = action.split(",")
            return h._replace(hands=(int(first), int(second)))
        if h.size > 0.0:
            seen = (*h.seen, action) if self.told else h.seen
            return h._replace(state=rules.sized(h.state, h.size), node=int(action), size=-1.0, seen=seen)
        if action.startswith("bet ") or action.startswith("raise "):
            return h._replace(size=float(action.split()[1]), seen=(*h.seen, action))
        below = {self.game.line(c)[-1]: c for c in tree.children(h.node)}
        c = below[action]
        size = float(tree.nodes.size[c])
        state = rules.sized(h.state, size) if size > 0.0 else rules.next(h.state, action)
        return h._replace(state=state, node=c, seen=(*h.seen, action))

    def infoset(self, h: Reading) -> str:
        mover = self.game.rules.mover(h.state)
        line = h.seen if mover == self.player else self.game.line(h.node)
        return " ".join((str(h.hands[mover]), *line))

    def payoff(self, h: Reading) -> float:
        amount, outcome = self.game.rules.settle(h.state)
        return amount * float(self.game.rules.outcome(outcome)[h.hands[0], h.hands[1]])

    def _readings(self, h: Reading) -> dict[int, float]:
        offered = {c: float(self.game.tree.nodes.size[c]) for c in self.game.tree.children(h.node)}
        offered = {c: size for c, size in offered.items() if size > 0.0}
        below = max((c for c in offered if offered[c] <= h.size), key=offered.__getitem__, default=None)
        above = min((c for c in offered if offered[c] >= h.size), key=offered.__getitem__, default=None)
        if below is None or above is None or below == above:
            return {below if below is not None else above: 1.0}  # pyright: ignore
        share = pseudo_harmonic(offered[below], offered[above], h.size)
        return {c: p for c, p in ((below, share), (above, 1.0 - share)) if p > 0.0}


@pytest.mark.parametrize(
    ("rules", "sizes", "looks"),
    [GAMES[0], pytest.param(poker(2, 3, 1), (0.01, 1.0), 1, marks=pytest.mark.slow)],
    ids=["one street", "two streets"],
)
@pytest.mark.parametrize("player", [0, 1])
def test_the_exact_value_is_that_of_a_game_whose_reader_tells(rules, sizes, looks, player) -> None:
    """With just the sizes that the exact response chooses, an ordinary best response in an ordinary game earns as much.

    So the exact value is the value against an opponent who tells how each bet was read. One who keeps it secret loses
    no more: that is why ours is an upper bound.
    """
    game = grown(rules, sizes, looks)
    response = game.respond(player)
    wanted: dict[Any, set[float]] = defaultdict(set)  # the same wherever the player cannot tell apart how it was read
    states = {0: rules.start()}
    for n in range(1, game.tree.count):
        above, label, size = states[int(game.tree.nodes.parent[n])], game.line(n)[-1], float(game.tree.nodes.size[n])
        states[n] = rules.sized(above, size) if size > 0.0 else rules.next(above, label)
    for n in np.flatnonzero(game.tree.nodes.mover == player).tolist():
        place = (states[n].street, states[n].bets, states[n].checked)
        wanted[place] |= {float(size) for size in response.choice[n] if size > 0.0}
    earned = {}
    for told in (True, False):
        misread = Misread(game, player, wanted, told)
        compiled = load(misread)
        behaviour = game.averages()
        rows = []
        for who, label in ((p, label) for p in (0, 1) for label in compiled.infoset_index[p]):
            actions = compiled.actions_at(who, compiled.infoset_index[who][label])
            if who == player:
                shares = [1.0 / len(actions)] * len(actions)
            else:
                hand, *line = label.split(" ")
                node = next(n for n in range(game.tree.count) if game.line(n) == tuple(line))
                by_name = {game.line(c)[-1]: float(behaviour[c, int(hand)]) for c in game.tree.children(node)}
                shares = [by_name[action] for action in actions]
            rows += [(who, label, action, share) for action, share in zip(actions, shares, strict=True)]
        earned[told], _ = best_response(compiled, Policy.from_rows(rows), player)
    exact = float(response.values[0].sum())
    assert earned[True] == pytest.approx(exact, abs=1e-11)
    assert earned[False] <= exact + 1e-11


def test_labels_of_sizes() -> None:
    assert sized_label("bet", 1 / 3) == "bet0.333333"
    assert not math.isclose(1 / 3, float(sized_label("bet", 1 / 3)[3:]), rel_tol=1e-9)
