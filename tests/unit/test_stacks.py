"""Rules that list their sizes: growth with stacks, and best responses in the full game against an ordinary game in
which the reading of a size is a private chance move."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import treeplex as tp
from stacked import Stacks
from treeplex.api import best_response, load, solve
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.engines.public.reference.sizes import pseudo_harmonic
from treeplex.errors import GameError, ParameterError
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.games.continuous import ContinuousPoker, ContinuousState
from treeplex.games.dealt import DealtGame, Settlement
from treeplex.games.poker import Card
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.sized import Abstraction, ActionMenu, FiniteMenu, IntervalMenu, Menu, interval_of
from treeplex.growth import add
from treeplex.growth.algorithm import Growing, check_and_add
from treeplex.growth.answer import abstraction, loss_if_unknown, policy
from treeplex.growth.dealt import balance, candidates
from treeplex.growth.options import Growth
from treeplex.growth.remove import take_out

EXAMPLES = Path(__file__).parents[2] / "examples"


class Uneven(Stacks):
    """Payoffs that no size is proportional to, such that no strategy is safe from sizes off the menu."""

    def settle(self, public: ContinuousState) -> Settlement:
        amount, table = super().settle(public)
        return Settlement(amount * (1 + int(3 * public.height) % 4), table)


class Runout(Uneven):
    """All-in ends the betting: the abstraction may be at its end where the real game is not."""

    def next(self, public: ContinuousState, action: str) -> ContinuousState:
        after = super().next(public, action)
        over = public.status == "dealing" and after.height >= self.stack
        return after._replace(status="showdown") if over else after


def poker(streets: int, ranks: int, stack: int, limit: int, copies: int = 1, kind: Any = Stacks) -> Any:
    deck = tuple(Card(str(rank), rank, copies) for rank in range(ranks))
    return kind("stacks", deck, streets, limit=limit, stack=stack)


ONE = poker(1, 4, 6, 9)  # as many raises as there are chips
TWO = poker(2, 3, 5, 2)


def every_size(rules: Any) -> Menu:
    return Menu(everywhere=tuple(float(size) for size in range(1, rules.stack)))


def grown(rules: Any, sizes: tuple[float, ...], checks: int, rule: str = "cfr") -> GrowingGame:
    game = GrowingGame(rules, Menu(everywhere=sizes), RULES[rule])
    for _ in range(checks):
        game.advance(4)
        check_and_add(game, Growth(factor=1.0))
    game.advance(3)
    return game


# --- the full game against a game in which reading a size is a private chance move -----------------------------------


class Sight(NamedTuple):
    hands: tuple[int, ...] = ()
    state: Any = None
    node: int = 0  # where the translator believes to be; -1: nowhere
    size: float = -1.0  # that has not been read yet
    seen: tuple[str, ...] = ()  # the real line, which both players see
    thought: tuple[str, ...] = ()  # what the translator read and did, which it alone knows


class Secret:
    """The full game for one player; the other has the actions of the abstraction, which become what is legal."""

    name = "secret"

    def __init__(self, game: GrowingGame, player: int) -> None:
        self.game, self.player, self.rules = game, player, game.rules
        self.compiled = load(self)

    def root(self) -> Sight:
        return Sight(state=self.rules.start())

    def mover(self, h: Sight) -> int:
        return CHANCE if not h.hands or h.size > 0.0 else self.rules.mover(h.state)

    def actions(self, h: Sight) -> list[str]:
        if not h.hands:
            return [f"{a},{b}" for a, b in np.argwhere(self.rules.deal() > 0).tolist()]
        if h.size > 0.0:
            return [str(c) for c in self._readings(h)]
        if self.rules.mover(h.state) == CHANCE:
            odds = self.rules.odds(h.state)[:, h.hands[0], h.hands[1]]
            return [a for a, share in zip(self.rules.actions(h.state), odds, strict=True) if share > 0.0]
        if self.rules.mover(h.state) == self.player:
            return [*self.rules.actions(h.state), *(f"size {size}" for size in self.rules.candidates(h.state))]
        return [self.game.line(c)[-1] for c in self._children(h)] or ["lost"]

    def probabilities(self, h: Sight) -> list[float]:
        if not h.hands:
            deal = self.rules.deal()
            return deal[deal > 0].tolist()
        if h.size > 0.0:
            return list(self._readings(h).values())
        odds = self.rules.odds(h.state)[:, h.hands[0], h.hands[1]]
        return odds[odds > 0].tolist()

    def child(self, h: Sight, action: str) -> Sight:
        rules = self.rules
        if not h.hands:
            first, second = action.split(",")
            return h._replace(hands=(int(first), int(second)))
        if h.size > 0.0:
            return h._replace(
                state=rules.sized(h.state, h.size), node=int(action), size=-1.0, thought=(*h.thought, f"read {action}")
            )
        if action.startswith("size "):
            return h._replace(size=float(action.split()[1]), seen=(*h.seen, action))
        mover = rules.mover(h.state)
        node = next((c for c in self._children(h) if self.game.line(c)[-1] == action), -1)
        if mover in (CHANCE, self.player):
            return h._replace(state=rules.next(h.state, action), node=node, seen=(*h.seen, action))
        legal, wanted = list(rules.candidates(h.state)), -1.0 if node < 0 else float(self.game.tree.nodes.size[node])
        thought = (*h.thought, action)
        if wanted > 0.0 and legal:
            size = wanted if wanted in legal else min(legal, key=lambda each: abs(each - wanted))
            return h._replace(
                state=rules.sized(h.state, size), node=node, seen=(*h.seen, f"size {int(size)}"), thought=thought
            )
        done = action if action in rules.actions(h.state) else {True: "call", False: "check"}[h.state.bets > 0]
        return h._replace(state=rules.next(h.state, done), node=node, seen=(*h.seen, done), thought=thought)

    def infoset(self, h: Sight) -> str:
        mover = self.rules.mover(h.state)
        thought = () if mover == self.player else ("|", *h.thought, "|", str(self._decision(h)))
        return " ".join((str(h.hands[mover]), *h.seen, *thought))

    def payoff(self, h: Sight) -> float:
        amount, outcome = self.rules.settle(h.state)
        return amount * float(self.rules.outcome(outcome)[h.hands[0], h.hands[1]])

    def _decision(self, h: Sight) -> int:
        """The abstract node, if whoever moves moves there, too."""
        mover = self.game.tree.nodes.mover
        return h.node if h.node >= 0 and mover[h.node] == self.rules.mover(h.state) else -1

    def _children(self, h: Sight) -> list[int]:
        node = self._decision(h)
        return [] if node < 0 else self.game.tree.children(node)

    def _readings(self, h: Sight) -> dict[int, float]:
        sizes = {c: float(self.game.tree.nodes.size[c]) for c in self._children(h)}
        known = {c: size for c, size in sizes.items() if size > 0.0}
        if not known:
            return {-1: 1.0}
        below = max((c for c in known if known[c] <= h.size), key=known.__getitem__, default=None)
        above = min((c for c in known if known[c] >= h.size), key=known.__getitem__, default=None)
        if below is None or above is None or below == above:
            return {below if below is not None else above: 1.0}  # pyright: ignore
        unit = 2 * h.state.height
        share = pseudo_harmonic(known[below] / unit, known[above] / unit, h.size / unit)
        return {below: share, above: 1.0 - share}

    def earned(self) -> float:
        """What an ordinary best response earns in the ordinary game."""
        compiled, behaviour, rows = self.compiled, self.game.answer(), []
        for who in (0, 1):
            for label, infoset in compiled.infoset_index[who].items():
                actions = compiled.actions_at(who, infoset)
                shares = [1.0 / len(actions)] * len(actions)
                node = int(label.split()[-1]) if who != self.player else -1
                if node >= 0:
                    hand = int(label.split()[0])
                    by_name = {self.game.line(c)[-1]: behaviour[c, hand] for c in self.game.tree.children(node)}
                    shares = [float(by_name[action]) for action in actions]
                rows += [(who, label, action, share) for action, share in zip(actions, shares, strict=True)]
        return best_response(compiled, Policy.from_rows(rows), self.player)[0]


FULL = {
    "one street": (ONE, (1.0, 3.0), 0),
    "not to the ends": (ONE, (2.0, 3.0), 1),
    "one size": (ONE, (2.0,), 0),
    "two streets": (poker(2, 3, 5, 2, kind=Uneven), (1.0, 4.0), 2),
    "two streets, pairs": (poker(2, 3, 4, 3, 2, kind=Uneven), (2.0,), 1),
    "all-in ends the betting": (poker(2, 3, 5, 2, kind=Runout), (1.0, 4.0), 1),
    "uneven": (poker(1, 4, 6, 9, kind=Uneven), (1.0, 5.0), 2),
}


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("rules", "sizes", "checks"), FULL.values(), ids=FULL)
def test_a_best_response_in_the_full_game_is_that_of_a_game_with_private_readings(rules, sizes, checks, player) -> None:
    game = grown(rules, sizes, checks)
    secret, gains = Secret(game, player), []
    assert game.measure().best_response_values[player] == pytest.approx(secret.earned(), abs=1e-9)
    for seed in range(6):
        random = np.random.default_rng(seed).random((game.tree.count - 1, game.tree.hands))
        game.tree.rows.average[1:] = random**8
        full = game.measure().best_response_values[player]
        assert full == pytest.approx(secret.earned(), abs=1e-9)
        gains.append(full - game.measure(whole=False).best_response_values[player])
    assert min(gains) >= -1e-12
    assert max(gains) > 1e-4  # sizes off the menu pay
    assert game.reading == "secret"


@pytest.mark.parametrize("rules", [ONE, TWO], ids=["one street", "two streets"])
def test_with_all_candidates_nothing_is_read_as_another_size(rules) -> None:
    game = GrowingGame(rules, every_size(rules), RULES["cfr+"])
    game.advance(30)
    inside, full = game.measure(whole=False), game.measure()
    assert full.nash_conv == pytest.approx(inside.nash_conv, abs=1e-12)
    assert full.value == inside.value
    compiled = load(Abstraction(rules, every_size(rules), "all"))
    judged = evaluate_policy(compiled, policy(game, "all"))
    assert judged.nash_conv == pytest.approx(full.nash_conv, abs=1e-12)
    assert not candidates(game, balance(game), "best-response", 1.0)


# --- growth ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "close"), [("cfr", 0.05), ("cfr+", 0.005)])
def test_growth_gets_to_the_value_of_the_full_game(algorithm, close) -> None:
    rules = ONE
    start = Abstraction(rules, Menu(everywhere=(1.0, 5.0)), "two sizes")
    exact = solve(Abstraction(rules, every_size(rules), "all"), "lp").value
    few = solve(start, "lp").value
    solution = tp.grow(start, iterations=600, growth=Growth(algorithm=algorithm, factor=1.0))
    assert abs(few - exact) > 0.02
    assert solution.additions
    assert solution.nash_conv < close
    assert abs(solution.value - exact) <= solution.nash_conv
    assert solution.reading == solution.summary()["reading"] == "secret"
    assert solution.summary()["growth"]["estimate"] == "best-response"


def test_a_new_subgame_is_what_the_rules_say_with_the_sizes_found_beside_it() -> None:
    game = GrowingGame(ONE, Menu(everywhere=(1.0, 5.0)), RULES["cfr"])
    game.advance(5)
    behind_one = next(c for c in game.tree.children(0) if game.tree.nodes.size[c] == 1.0)
    add.by_recovery(game, behind_one, 2.0)
    root = add.by_recovery(game, 0, 2.0).root  # most likely read as 1, where a raise by 2 was found
    sizes = [float(game.tree.nodes.size[c]) for c in game.tree.children(root) if game.tree.nodes.size[c] > 0.0]
    assert sizes == [1.0, 2.0, 3.0]  # 5 is not legal any more: 3 is all-in
    add.by_recovery(game, 0, 4.0)
    rules = abstraction(game, "grown")
    states = {0: rules.start()}
    for n in range(1, game.tree.count):
        states[n] = rules.next(states[int(game.tree.nodes.parent[n])], game.line(n)[-1])
        assert game.tree.nodes.mover[n] == rules.mover(states[n])
        if game.tree.nodes.mover[n] == TERMINAL:
            amount, table = rules.settle(states[n])
            ours = game.tree.nodes.amount[n] * game.tables[0][game.tree.nodes.table[n]]
            np.testing.assert_allclose(ours, amount * ONE.outcome(table) * ONE.deal(), atol=1e-15)
    assert game.tree.histories + 5 == load(rules).nodes  # the deal itself is a chance node and four more
    judged = evaluate_policy(load(rules), policy(game, "grown"))
    assert judged.nash_conv == pytest.approx(game.measure(whole=False).nash_conv, abs=1e-12)


def test_the_gain_of_a_size_is_what_it_wins_once_from_an_opponent_who_reads_it() -> None:
    game = grown(TWO, (1.0, 4.0), 0)
    for found in candidates(game, balance(game), "best-response", 1.0):
        hands, node = game.tree.hands, found.decision
        player, at = int(game.tree.nodes.mover[node]), game.numbers(game.tree, game.tree.path(node))[node]
        arriving = np.ones(hands)
        for n in game.tree.path(node):
            if game.tree.nodes.mover[game.tree.nodes.parent[n]] == 1 - player:
                arriving *= game.averages()[n]
        once, often = (game.translation(player, most).value_of_size(node, at, found.size, arriving) for most in (1, 9))
        assert (often >= once - 1e-12).all()  # leaving the menu again can only pay
        base = np.maximum(game.tree.rows.regret[game.tree.children(node)].max(axis=0), 0.0)
        won = game.tree.rows.average[0, 0] * once - game.tree.rows.earned[node]
        assert found.gain == pytest.approx(float(np.maximum(won - base, 0.0).sum()), abs=1e-12)
        assert found.size in game.state(node).sizes


def test_the_worth_of_a_size_is_its_gain_before_anybody_knew_it() -> None:
    game = GrowingGame(ONE, Menu(everywhere=(1.0, 5.0)), RULES["cfr"])
    addition = None
    while addition is None:
        game.advance(25)
        addition = check_and_add(game, Growth(discount="bound"))
    node = next(n for n in range(game.tree.count) if " ".join(game.line(n)) == addition.decision)
    child = next(c for c in game.tree.children(node) if game.tree.nodes.size[c] == addition.size)
    assert loss_if_unknown(game, node, child) == pytest.approx(addition.gain, rel=1e-9)


@pytest.mark.parametrize(
    "growth",
    [
        pytest.param(Growth(factor=1.0, every=5, archive=1), marks=pytest.mark.slow),
        Growth(algorithm="cfr+", every=5),
        pytest.param(Growth(factor=1.0, every=5, remove="discard"), marks=pytest.mark.slow),
    ],
    ids=["archive", "cfr+", "discard"],
)
def test_stopped_and_resumed_is_the_same_to_the_bit(growth, tmp_path) -> None:
    start = Abstraction(ONE, Menu(everywhere=(1.0, 5.0)), "two sizes")
    whole = tp.grow(start, iterations=260, growth=growth)
    tp.grow(start, iterations=125, growth=growth, out=tmp_path / "run")
    resumed = tp.resume(tmp_path / "run", iterations=260, game=start)
    assert {addition.iteration <= 125 for addition in whole.additions} == {True, False}
    assert resumed.nash_conv == whole.nash_conv
    assert resumed.policy == whole.policy
    for ours, theirs in zip(resumed.grown.tree.nodes, whole.grown.tree.nodes, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(resumed.grown.tree.rows, whole.grown.tree.rows, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_on_disk_takes_part_in_the_full_game() -> None:
    plain, other = grown(TWO, (1.0, 4.0), 6), grown(TWO, (1.0, 4.0), 6)
    for game in (plain, other):
        game.tree.rows.strategy[game.tree.children(0)[1]] = 0.0  # as if nobody chose it now
        bet = game.tree.children(0)[1]
        for n in game.tree.children(bet):
            game.tree.rows.strategy[n] = 0.0
    other.archive.check(other.tree, 1)
    assert other.archive.entries
    assert other.measure().best_response_values == pytest.approx(plain.measure().best_response_values, abs=1e-12)
    assert other.archive.entries  # it is still there


def test_a_size_that_was_taken_out_can_come_back() -> None:
    game = grown(ONE, (1.0, 5.0), 0)
    root = add.by_recovery(game, 0, 3.0).root
    removed = take_out(game, [root])
    assert [one.size for one in removed] == [3.0]
    assert add.by_recovery(game, 0, 3.0).histories == removed[0].histories


# --- what the rules may say ------------------------------------------------------------------------------------------


def test_two_kinds_of_rules() -> None:
    assert isinstance(ONE, FiniteMenu)
    assert isinstance(ONE, ActionMenu)
    plain = ContinuousPoker("plain", ONE.deck)
    assert isinstance(plain, IntervalMenu)
    assert not isinstance(plain, FiniteMenu)
    assert interval_of(ONE, ONE.start()) == (1.0, 5.0)
    all_in = ONE.sized(ONE.start(), 5.0)
    assert interval_of(ONE, all_in) is None
    assert Menu(everywhere=(1.0, 5.0)).at(ONE, ONE.sized(ONE.start(), 2.0), None) == (1.0, 3.0)
    assert DealtGame(Abstraction(ONE, Menu(everywhere=(9.0,)), "all-in")).rules.actions(
        Abstraction(ONE, Menu(everywhere=(9.0,)), "all-in").start()
    ) == ["check", "bet5"]  # a size that is not legal becomes the nearest one that is


class Wrong(Stacks):
    def candidates(self, public: ContinuousState) -> Any:
        return self.low

    def unit(self, public: ContinuousState) -> Any:
        return self.ante

    def default(self, public: ContinuousState) -> Any:
        return self.high


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"low": "1, 2"}, "candidates at public state"),
        ({"low": (1.0, 1.0)}, "it must return positive numbers of 6 significant digits at most, all different."),
        ({"low": (0.0, 1.0)}, "it must return positive numbers of 6 significant digits at most, all different."),
        ({"low": (1 / 3,)}, "it must return positive numbers of 6 significant digits at most, all different."),
        ({"low": (), "high": "pass"}, "it must return one of the actions without a size (check)."),
        ({"low": (), "ante": 0.0, "high": "check"}, "it must return a positive number."),
    ],
)
def test_rules_that_break_their_promise_are_refused(fields, sentence) -> None:
    with pytest.raises(GameError) as error:
        GrowingGame(Wrong("wrong", ONE.deck, 1, **fields), Menu(everywhere=(1.0,)), RULES["cfr"])
    assert sentence in str(error.value)


def test_refusals() -> None:
    with pytest.raises(GameError, match="has no payoff_scale and must then have the methods candidates, unit and defa"):
        GrowingGame(ContinuousPoker("bare", ONE.deck, payoff_scale=None), Menu(everywhere=(1.0,)), RULES["cfr"])  # pyright: ignore
    with pytest.raises(ParameterError, match="has no size at public state"):
        GrowingGame(ONE, Menu(), RULES["cfr"])
    with pytest.raises(GameError, match="let it be None and list the 'candidates'"):
        GrowingGame(Stacks("liar", ONE.deck, 1, payoff_scale=(1.0, 2.0)), Menu(everywhere=(1.0, 2.0)), RULES["cfr"])
    start = Abstraction(ONE, Menu(everywhere=(1.0, 5.0)), "two sizes")
    for growth, name in ((Growth("transfer"), "method"), (Growth(estimate="transfer"), "estimate")):
        with pytest.raises(ParameterError) as error:
            tp.grow(start, iterations=5, growth=growth)
        assert str(error.value).startswith(f"The '{name}' parameter must be")
        assert "because its payoffs do not scale with the size, got 'transfer'." in str(error.value)
        with pytest.raises(ParameterError):
            Growing(growth).start(start)


def test_other_rules_are_another_run(tmp_path) -> None:
    start = Abstraction(ONE, Menu(everywhere=(1.0, 5.0)), "two sizes")
    tp.grow(start, iterations=5, out=tmp_path / "run")
    with pytest.raises(ParameterError):
        tp.resume(tmp_path / "run", iterations=9, game=Abstraction(poker(1, 4, 6, 3), start.menu, start.name))


def test_the_example_runs(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["own_sizes.py"])  # not those of pytest
    runpy.run_path(str(EXAMPLES / "own_sizes.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "with all sizes -0.0833" in said
    assert "kept secret" in said
