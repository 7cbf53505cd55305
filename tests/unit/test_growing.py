"""Trees that grow: kernels against their twins, against the compiled game, and what adding and taking away leave."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.algorithms.cfr import cfr
from treeplex.api import grow, load, resume, solve
from treeplex.compile import CompiledGame
from treeplex.engines.public.arrays import GrowingStep, Rows
from treeplex.engines.public.cpu import growing as cpu
from treeplex.engines.public.game import RULES, GrowingGame, GrowingRule
from treeplex.engines.public.reference import growing as reference
from treeplex.engines.public.tree import fresh_rows, fresh_scratch
from treeplex.engines.sequence.engine import SequenceTables
from treeplex.errors import FormatError, GameError, ParameterError
from treeplex.evaluation import evaluate_policy
from treeplex.games.continuous import ContinuousPoker, continuous_leduc_rules, menu_of
from treeplex.games.dealt import Settlement
from treeplex.games.protocol import TERMINAL
from treeplex.games.sized import ActionMenu, Menu
from treeplex.growth import add
from treeplex.growth.add import summed
from treeplex.growth.algorithm import check_and_add
from treeplex.growth.answer import abstraction, discovered_sizes, everything, loss_if_unknown, policy
from treeplex.growth.check import needed
from treeplex.growth.dealt import GrowingDealt, balance, candidates
from treeplex.growth.discount import bound, recommended, root
from treeplex.growth.options import Growth

LEDUC = continuous_leduc_rules()


def leduc(sizes: Any = "branch-2", rule: str = "cfr") -> GrowingGame:
    return GrowingGame(LEDUC, menu_of(LEDUC, sizes), RULES[rule])


def spot(game: GrowingGame, line: str) -> int:
    return next(n for n in range(game.tree.count) if " ".join(game.line(n)) == line and game.tree.nodes.mover[n] >= 0)


def by_label(game: CompiledGame, player: int, array: Any) -> dict[tuple[str, str], float]:
    treeplex, found = game.treeplexes[player], {}
    for label, infoset in game.infoset_index[player].items():
        first = int(treeplex.first[infoset])
        for place, action in enumerate(game.actions_at(player, infoset)):
            found[label, action] = float(array[first + place])
    return found


def rows_by_label(game: GrowingGame, player: int, array: Any) -> dict[tuple[str, str], float]:
    out = {}
    for n in np.flatnonzero(game.tree.nodes.mover == player).tolist():
        for h, hand in enumerate(game.rules.hands()[player]):
            for c in game.tree.children(n):
                out[" ".join((hand, *game.line(n))), game.line(c)[-1]] = float(array[c, h])
    return out


# --- kernels and their twins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [*RULES.values(), GrowingRule(True, True, True), GrowingRule(False, False, False)])
def test_iterations_are_those_of_the_specification(rule) -> None:
    game = GrowingGame(LEDUC, menu_of(LEDUC, [0.01, 0.4, 1]), rule)
    nodes, tables = game.tree.nodes, game.tables
    rows = Rows(*(array.copy() for array in game.tree.rows))
    scratch = fresh_scratch(game.tree.count, 3)
    for half in range(6):
        step = GrowingStep(1.0, half // 2 + 1.0 if rule.linear else 1.0, rule.floor)
        if rule.simultaneous and half % 2:
            continue
        for player in (0, 1):
            reference.reach(nodes, rows.strategy, player, scratch.reach[player])
        for player in (0, 1) if rule.simultaneous else (half % 2,):
            reference.learn(nodes, tables, rows, player, scratch, step)
    game.advance(3)
    for name, ours, theirs in zip(Rows._fields, game.tree.rows, rows, strict=True):
        np.testing.assert_allclose(ours[1:], theirs[1:], rtol=1e-12, atol=1e-13, err_msg=name)


def test_the_recovery_game_is_that_of_the_specification() -> None:
    game = leduc()
    game.advance(20)
    for line, player in (("", 0), ("check", 1), ("bet1 call K", 0), ("check bet1", 0)):
        node = spot(game, line)
        assert game.tree.nodes.mover[node] == player
        block = game.tree.copy_out(add.closest_move(game, node, 0.37))
        uniform = np.empty_like(block.rows.strategy)
        cpu.rematch(block.nodes, np.zeros_like(uniform), uniform, 0, len(uniform))
        heads, alternative = add.opponent_reach(game, node), game.tree.rows.earned[node].copy()
        results = []
        for recover in (cpu.recover, reference.recover):
            rows = fresh_rows(len(block.nodes.parent), 3)._replace(strategy=uniform.copy())
            scratch = fresh_scratch(len(block.nodes.parent), 3)
            recover(block.nodes, game.tables, rows, scratch, player, heads, alternative, 7)
            results.append(rows)
        for name, ours, theirs in zip(Rows._fields, *results, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12, err_msg=name)


# --- the same game, compiled -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["branch-2", [[0.01, 1], [0.2, 0.5]], {"*": [0.01, 1], "check": [0.1, 0.7, 1]}])
def test_a_tree_that_does_not_grow_is_solved_like_the_compiled_game(sizes) -> None:
    game, algorithm = leduc(sizes), cfr(turns="simultaneous")
    compiled = load(abstraction(game, "same"))
    assert game.tree.histories + 4 == compiled.nodes  # the deal itself is a chance node and three more
    state = algorithm.start(compiled)
    for _ in range(8):
        game.advance(1)
        state = algorithm.advance(compiled, state, 1)
        for player in (0, 1):
            ours = rows_by_label(game, player, game.tree.rows.regret)
            theirs = by_label(compiled, player, state.learners[player].regret)
            assert ours.keys() == theirs.keys()
            np.testing.assert_allclose([ours[k] for k in theirs], list(theirs.values()), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("method", ["recovery", "transfer"])
def test_a_grown_game_goes_on_like_one_rebuilt_with_its_regrets(method) -> None:
    """The generic compiler makes the larger game anew; from the same regrets on, iterates are the same."""
    game, algorithm = leduc(), cfr(turns="simultaneous")
    game.advance(13)
    for line, size in (("", 0.5), ("check bet1", 0.25), ("bet0.5 call J", 0.61), ("bet0.5", 0.33), ("", 0.2)):
        add.METHODS[method](game, spot(game, line), size)
        game.advance(2)
    compiled = load(abstraction(game, "rebuilt"))
    fresh = algorithm.start(compiled)
    for player in (0, 1):
        learner, treeplex = fresh.learners[player], compiled.treeplexes[player]
        for name, ours in (("regret", "regret"), ("strategy", "strategy"), ("average", "average")):
            grown = rows_by_label(game, player, getattr(game.tree.rows, ours))
            for (label, action), value in grown.items():
                infoset = compiled.infoset_index[player][label]
                place = compiled.actions_at(player, infoset).index(action)
                getattr(learner, name)[treeplex.first[infoset] + place] = value
        for infoset in range(treeplex.infosets):
            own = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
            learner.plan[own] = learner.plan[treeplex.parent[infoset]] * learner.strategy[own]
    state = algorithm.advance(compiled, SequenceTables(fresh.learners, 0), 4)
    game.advance(4)
    for player in (0, 1):
        for name in ("regret", "average"):
            ours = rows_by_label(game, player, getattr(game.tree.rows, name))
            theirs = by_label(compiled, player, getattr(state.learners[player], name))
            np.testing.assert_allclose([ours[k] for k in theirs], list(theirs.values()), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("method", ["recovery", "transfer"])
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
def test_what_a_grown_game_says_of_itself_is_what_the_compiled_game_says(method, algorithm) -> None:
    solution = grow("continuous_leduc", iterations=300, growth=Growth(method, algorithm=algorithm))
    assert len(solution.additions) > 15
    compiled = load(solution.abstraction)
    judged = evaluate_policy(compiled, solution.policy)
    assert solution.rows[-1].extra["nash_conv_in_abstraction"] == pytest.approx(judged.nash_conv, abs=1e-12)
    assert solution.value == pytest.approx(judged.value, abs=1e-12)
    assert solution.nash_conv >= solution.rows[-1].extra["nash_conv_in_abstraction"]
    assert compiled.nodes == solution.rows[-1].extra["histories"] + 4


# --- how it counts ---------------------------------------------------------------------------------------------------


def test_later_iterations_that_weigh_more_discount_the_past() -> None:
    """Theorem 2 multiplies the past by w; we multiply the future by 1 / w. Strategies are the same."""
    ours, theirs = leduc(), leduc()
    for game in (ours, theirs):
        game.advance(10)
    ours.weight /= 0.4
    for name in set(Rows._fields) - {"strategy"}:
        getattr(theirs.tree.rows, name)[:] *= 0.4
    for game in (ours, theirs):
        game.advance(5)
    np.testing.assert_allclose(ours.tree.rows.strategy, theirs.tree.rows.strategy, atol=1e-9)
    np.testing.assert_allclose(ours.averages(), theirs.averages(), atol=1e-9)
    assert ours.effective == pytest.approx(0.4 * 10 + 5)


def test_weights_are_brought_down_before_numbers_run_out(monkeypatch) -> None:
    ours, theirs = leduc(), leduc()
    for game in (ours, theirs):
        game.advance(10)
    ours.discount(0.125)
    monkeypatch.setattr("treeplex.engines.public.game.HEAVY", 7.0)
    theirs.discount(0.125)
    assert (ours.weight, theirs.weight) == (8.0, 1.0)
    for game in (ours, theirs):
        game.advance(4)
    np.testing.assert_allclose(ours.averages(), theirs.averages(), atol=1e-9)
    assert ours.effective == theirs.effective == 10 / 8 + 4


@given(
    regret=st.floats(0.01, 1e6),
    inside=st.integers(100, 10**6),
    added=st.integers(1, 10**5),
    effective=st.floats(1.0, 1e6),
    factor=st.floats(1.0, 2.0),
)
def test_what_is_needed_is_where_proposition_1_holds(regret, inside, added, effective, factor) -> None:
    least = float(needed(regret, inside, added, effective, factor))

    def pays(outside: float) -> bool:
        return factor * regret / inside < (regret + 2 * outside - outside / effective) / (inside + added)

    assert pays(least * (1 + 1e-6) + 1e-6 * regret)
    assert not pays(least * (1 - 1e-6) - 1e-6 * regret)


def test_discounts_follow_their_equations() -> None:
    game = leduc()
    game.advance(40)
    node = spot(game, "check")
    before = balance(game)
    by_hand = [np.zeros(2), np.zeros(2)]
    for n in np.flatnonzero(game.tree.nodes.mover >= 0).tolist():
        hope = np.maximum(game.tree.rows.regret[game.tree.children(n)], 0.0)
        by_hand[0][game.tree.nodes.mover[n]] += hope.max(axis=0).sum()
        by_hand[1][game.tree.nodes.mover[n]] += (hope**2).sum()
    np.testing.assert_allclose(before.largest, by_hand[0])
    np.testing.assert_allclose(before.squares, by_hand[1])
    added = add.by_transfer(game, node, 0.5)
    head = float((np.maximum(added.regret, 0.0) ** 2).sum())
    after = balance(game).squares[1]
    assert head > 0.0
    growable, sums = GrowingDealt(game, "transfer", "transfer"), summed(added, 1)
    assert recommended(before.squares[1], sums) == pytest.approx((after - head) / after)
    assert root(before.squares[1], sums) == pytest.approx(((after - head) / after) ** 0.5)
    infosets = 3 * int(np.count_nonzero(game.tree.nodes.mover == 1))
    widest = max(len(game.tree.children(n)) for n in np.flatnonzero(game.tree.nodes.mover == 1).tolist())
    spread = 2.0 * 3.0**4  # all in four times
    allowed = infosets * spread**2 * widest * 40 / after
    assert bound(before.squares[1], sums, growable.bounds(1)) == pytest.approx(min(1.0, allowed))
    game.weight *= 1e-9  # as if regrets were that much larger
    assert bound(before.squares[1], sums, growable.bounds(1)) == pytest.approx(
        allowed * 1e-9
    )  # more effective iterations, too


def test_a_look_adds_the_size_with_most_regret_a_history_or_nothing() -> None:
    game = leduc()
    game.advance(30)
    state = balance(game)
    listed = candidates(game, state, "transfer", 1.01)
    ratios = [candidate.gain / candidate.histories for candidate in listed]
    assert ratios == sorted(ratios, reverse=True)
    touched, histories = game.touched, game.tree.histories
    addition = check_and_add(game, Growth())
    assert addition is not None
    assert addition.size == listed[0].size
    assert addition.decision == " ".join(game.line(listed[0].decision))
    assert addition.gain > addition.needed > 0.0
    assert game.tree.histories == histories + addition.histories
    assert game.touched >= touched + addition.recovery * addition.histories
    assert check_and_add(game, Growth(factor=1e9)) is None


def test_the_best_response_estimate_is_no_less_than_transfer() -> None:
    """A best response behind the new move earns at least what was played there."""
    game = leduc()
    game.advance(60)
    state = balance(game)
    quick = {c.decision: c.gain for c in candidates(game, state, "transfer", 1.0)}
    upper = {c.decision: c.gain for c in candidates(game, state, "best-response", 1.0)}
    assert len(quick) > 20
    assert set(quick) <= set(upper)
    assert all(upper[node] >= gain * (1.0 - 1e-9) for node, gain in quick.items())


# --- taking away and bringing back -----------------------------------------------------------------------------------


def same_rows(one: GrowingGame, other: GrowingGame) -> bool:
    """Every bit, whatever the numbers of the nodes."""
    first, second = ({game.line(n): n for n in range(game.tree.count)} for game in (one, other))
    assert first.keys() == second.keys()
    mine, theirs = list(first.values()), [second[line] for line in first]
    return all(np.array_equal(a[mine], b[theirs]) for a, b in zip(one.tree.rows, other.tree.rows, strict=True))


def test_what_was_archived_and_came_back_has_the_same_bits() -> None:
    plain, thrifty = leduc(), leduc()
    trips = returned = 0
    for _ in range(60):
        plain.advance(20)
        aside = len(thrifty.archive.entries)
        thrifty.advance(20)
        returned += aside - len(thrifty.archive.entries)
        trips += thrifty.archive.check(thrifty.tree, 1)
    assert trips > 20
    assert returned > 10
    assert thrifty.archive.histories > 100
    assert thrifty.tree.histories + thrifty.archive.histories == plain.tree.histories
    assert thrifty.touched < plain.touched
    for whole in (True, False):  # measured with what is on disk
        ours, theirs = thrifty.measure(whole), plain.measure(whole)
        assert ours.best_response_values == theirs.best_response_values
        assert ours.value == pytest.approx(theirs.value, abs=1e-13)
    np.testing.assert_allclose(balance(thrifty).squares, balance(plain).squares)
    assert thrifty.tree.count < plain.tree.count
    thrifty.archive.bring_back_below(thrifty.tree, 0)
    assert same_rows(thrifty, plain)
    plain.advance(10)
    thrifty.advance(10)
    assert same_rows(thrifty, plain)


def test_a_damaged_archive_is_refused(tmp_path) -> None:
    game = GrowingGame(LEDUC, menu_of(LEDUC, "branch-3"), RULES["cfr"], tmp_path)
    while not game.archive.entries:
        game.advance(20)
        game.archive.check(game.tree, 1)
    file = tmp_path / "archive.bin"
    content = bytearray(file.read_bytes())
    content[game.archive.entries[0].place.offset] ^= 1
    file.write_bytes(content)
    with pytest.raises(FormatError, match=r"archive\.bin: a subgame in it is damaged"):
        game.measure()
    file.unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        game.measure()


# --- runs ------------------------------------------------------------------------------------------------------------

WAYS = [
    pytest.param(Growth(), marks=pytest.mark.slow),
    pytest.param(Growth("transfer", discount="bound"), marks=pytest.mark.slow),
    pytest.param(Growth(estimate="best-response", algorithm="cfr+"), marks=pytest.mark.slow),
    Growth(archive=1),
]


def timeless(rows: list[Any]) -> list[Any]:
    clocks = ("seconds", "growing_seconds", "evaluation_seconds")
    fields = [row._asdict() for row in rows]
    return [{k: v for k, v in (row | row.get("extra", {})).items() if k not in (*clocks, "extra")} for row in fields]


@pytest.mark.parametrize("growth", WAYS, ids=str)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(growth, tmp_path) -> None:
    whole = grow("continuous_leduc", iterations=700, growth=growth)
    grow("continuous_leduc", iterations=333, growth=growth, out=tmp_path / "run")
    resumed = resume(tmp_path / "run", iterations=700)
    assert timeless(resumed.rows) == timeless(whole.rows)
    assert timeless(resumed.additions) == timeless(whole.additions)
    everything(whole.grown)
    assert same_rows(resumed.grown, whole.grown)
    assert resumed.rows[-1].iteration == 700


def test_rows_of_the_log_stand_where_those_of_other_runs_do() -> None:
    """The first fifty iterations are measured at the same ones in every run."""
    solution = grow("continuous_leduc", iterations=100, growth=Growth(factor=float("inf")))
    rows, others = ([row.iteration for row in found.rows] for found in (solution, solve("kuhn", iterations=100)))
    assert [row for row in rows if row <= 50] == [row for row in others if row <= 50] == [1, 2, 3, 5, 8, 12, 18, 27, 41]
    assert rows[-1] == 100
    assert not solution.additions
    assert all(row.nodes_touched == 12519 * row.iteration for row in solution.rows)


def test_growing_beats_what_it_started_from() -> None:
    grown = grow("continuous_leduc", nodes=20_000_000)
    fixed = grow("continuous_leduc", nodes=20_000_000, growth=Growth(factor=float("inf")))
    assert grown.nash_conv < 0.75 * fixed.nash_conv
    assert grown.status == fixed.status == "nodes"


def test_found_sizes_are_told_with_their_use() -> None:
    solution = grow("continuous_leduc", iterations=400)
    assert len(solution.found) == len(solution.additions)
    for one in solution.found:
        assert 0.0 <= one.frequency <= 1.0
        infoset = " ".join(("K", *one.addition.decision.split()))
        label = f"{one.addition.word}{one.addition.size:g}"
        assert solution.policy[one.addition.player, infoset][label] == pytest.approx(one.by_hand["K"])
    worths = [one.worth for one in solution.found]
    assert worths == sorted(worths, reverse=True)
    assert worths[0] > 0.0
    assert discovered_sizes(solution.grown, []) == []
    assert len(policy(solution.grown, "x")) == len(solution.policy)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"method": "magic"}, """The 'method' parameter must be one of "recovery", "transfer", got 'magic'."""),
        ({"factor": 0.9}, "The 'factor' parameter must be a number from 1 up, got 0.9."),
        ({"factor": float("nan")}, "The 'factor' parameter must be a number from 1 up, got nan."),
        ({"every": -1}, "The 'every' parameter must be a whole number from 0 up, got -1."),
        ({"archive": -1}, "The 'archive' parameter must be a whole number from 0 up, got -1."),
        ({"algorithm": "egt"}, "The 'algorithm' parameter must be one of cfr, cfr+, lcfr, dcfr, got 'egt'."),
    ],
)
def test_refusals(wrong, sentence) -> None:
    with pytest.raises(ParameterError) as error:
        Growth(**wrong)
    assert str(error.value) == sentence


def test_only_games_with_sizes_grow() -> None:
    with pytest.raises(ParameterError, match="Only a game with bet sizes, such as continuous_leduc, can grow without the 'actions'"):
        grow("kuhn", iterations=1)


class Tilted(ContinuousPoker):
    """Payoffs that are not proportional to the payoff scale."""

    def settle(self, public: Any) -> Any:
        amount, table = super().settle(public)
        return amount + 0.1, table


def test_rules_whose_payoffs_do_not_stretch_are_refused() -> None:
    rules = Tilted("tilted", LEDUC.deck)
    with pytest.raises(GameError, match="not proportional to its payoff scale"):
        GrowingGame(rules, Menu(everywhere=(0.01, 1.0)), RULES["cfr"])


@pytest.mark.slow
@settings(max_examples=8)
@given(
    sizes=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=3),
    line=st.sampled_from(["", "check"]),
    size=st.floats(0.02, 0.99),
)
def test_grown_trees_pay_what_the_rules_pay(sizes, line, size) -> None:
    """Amounts of every terminal, copied from one subgame and stretched, against the rules asked one by one."""
    game = leduc(sizes)
    size = float(f"{size:.6g}")
    node = spot(game, line)
    if size in set(game.tree.nodes.size.tolist()):
        return
    game.advance(2)
    for method in ("recovery", "transfer"):
        other = leduc(sizes)
        other.advance(2)
        add.METHODS[method](other, node, size)
        rules = abstraction(other, "grown")
        states = {0: rules.start()}
        for n in range(1, other.tree.count):
            states[n] = rules.next(states[int(other.tree.nodes.parent[n])], other.line(n)[-1])
            if other.tree.nodes.mover[n] == -2:
                assert other.tree.nodes.amount[n] == pytest.approx(rules.settle(states[n]).amount, rel=1e-12)


def test_the_worth_of_a_size_is_its_gain_before_anybody_knew_it() -> None:
    """Seen right after it was added, a size is worth just what was the reason to add it."""
    game = leduc()
    game.advance(25)
    addition = check_and_add(game, Growth("transfer", discount="bound"))
    assert addition is not None
    node = spot(game, addition.decision)
    child = next(c for c in game.tree.children(node) if game.tree.nodes.size[c] == addition.size)
    assert loss_if_unknown(game, node, child) == pytest.approx(addition.gain, rel=1e-4)  # the size was rounded


class Offers(NamedTuple):
    """Who offers, at which price, and how it ended."""

    turn: int
    price: float
    end: str


class Bargain:
    """No poker: a seller who knows the quality names a price for a share of it, a buyer takes it or passes.

    Player 0 holds a good or a bad thing; player 1 has one kind of hand. A price of size x stretches what is at stake by
    1 + x; passing pays a fixed amount.
    """

    name, together, separator, ranked, payoff_scale = "bargain", False, " ", False, (1.0, 1.0)

    def hands(self):
        return ("good", "bad"), ("buyer",)

    def deal(self):
        return np.array([[0.4], [0.6]])

    def start(self):
        return Offers(0, 1.0, "")

    def mover(self, public):
        return TERMINAL if public.end else public.turn

    def actions(self, public):
        return ("keep",) if public.turn == 0 else ("pass", "take")

    def next(self, public, action):
        return public._replace(end=action)

    def interval(self, public):
        return (0.1, 3.0) if public.turn == 0 else None

    def sized(self, public, size):
        return Offers(1, 1.0 + size, "")

    def word(self, public):
        return "ask"

    def street(self, public):
        return 0

    def odds(self, public):
        raise AssertionError("no cards")

    def settle(self, public):
        return Settlement({"keep": 0.3, "pass": 0.2, "take": public.price}[public.end], public.end)

    def outcome(self, table):
        return np.array([[-0.9], [0.5]]) if table == "take" else np.ones((2, 1))


@pytest.mark.parametrize("method", ["recovery", "transfer"])
def test_any_game_with_sizes_grows(method) -> None:
    """Hands of unequal numbers, one street, nothing of poker."""
    rules: Any = Bargain()
    assert isinstance(rules, ActionMenu)
    game = GrowingGame(rules, Menu(everywhere=(0.1, 3.0)), RULES["cfr"])
    game.advance(50)
    for size in (1.0, 0.5, 2.0):
        add.METHODS[method](game, 0, size)
        game.advance(50)
    game.advance(2000)
    compiled = load(abstraction(game, "bargain"))
    judged = evaluate_policy(compiled, policy(game, "bargain"))
    inside, full = game.measure(whole=False), game.measure()
    assert inside.nash_conv == pytest.approx(judged.nash_conv, abs=1e-12)
    assert full.nash_conv >= inside.nash_conv
    assert inside.nash_conv < 0.01
    assert inside.value == pytest.approx(solve(compiled, "lp").value, abs=0.01)


def test_a_run_can_be_watched() -> None:
    seen: list[int] = []
    grow("continuous_leduc", iterations=30, watch=lambda progress: seen.append(progress.iteration))
    assert seen == sorted(seen)
    assert seen[-1] == 30
