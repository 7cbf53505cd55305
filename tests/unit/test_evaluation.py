"""Values, best responses, NashConv and the exact linear program, against slow ways to the same numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import treeplex as tp
from treeplex.algorithms import linear_program
from treeplex.compile import CompiledGame, Csr, Payoffs, compile_game
from treeplex.engines.sequence.learners import normalised
from treeplex.errors import SolverError
from treeplex.evaluation import Policy, best_response, evaluate_policy
from treeplex.evaluation.exact import Evaluation
from treeplex.games.matrix import MatrixGame
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree

seeds = st.integers(0, 2**63 - 1)
small = st.builds(RandomTree, seed=seeds, depth=st.integers(1, 5), width=st.just(2), chance=st.sampled_from([0.0, 0.3]))
trees = st.builds(
    RandomTree,
    seed=seeds,
    depth=st.integers(1, 7),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
)


class Swapped:
    """The same game with the seats exchanged."""

    name = "swapped"

    def __init__(self, game: Game) -> None:
        self.game = game
        self.root, self.actions, self.child = game.root, game.actions, game.child
        self.probabilities, self.infoset = game.probabilities, game.infoset

    def mover(self, history: Any) -> int:
        mover = self.game.mover(history)
        return 1 - mover if mover in (0, 1) else mover

    def payoff(self, history: Any) -> float:
        return -self.game.payoff(history)  # pyright: ignore[reportOperatorIssue]


def random_policy(game: CompiledGame, seed: int, pure: float = 0.2) -> Policy:
    rng = np.random.default_rng(seed)
    behaviour = []
    for treeplex in game.treeplexes:
        shares = [np.ones(1)]
        for count in treeplex.actions.tolist():
            point = np.eye(count)[rng.integers(count)]
            shares.append(point if rng.random() < pure else rng.dirichlet(np.ones(count)))
        behaviour.append(np.concatenate(shares))
    return Policy.of(game, (behaviour[0], behaviour[1]))


def mixed(game: CompiledGame, first: Policy, second: Policy, share: float, player: int) -> Policy:
    """Player ``player`` plays the mixture of its two strategies in sequence form, the other as in ``first``."""
    treeplex = game.treeplexes[player]
    weights = []
    for policy in (first, second):
        own = policy.aligned(game)[player]
        weight = np.ones(treeplex.sequences)
        for infoset, above in enumerate(treeplex.parent.tolist()):
            run = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
            weight[run] = weight[above] * own[run]
        weights.append(weight)
    blend = (1 - share) * weights[0] + share * weights[1]
    behaviour = np.ones(treeplex.sequences)
    for infoset in range(treeplex.infosets):
        run = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
        total = blend[run].sum()
        behaviour[run] = blend[run] / total if total > 0 else 1 / treeplex.actions[infoset]
    pair = list(first.aligned(game))
    pair[player] = behaviour
    return Policy.of(game, (pair[0], pair[1]))


def ends(game: Game, policy: Policy) -> list[tuple[dict[tuple[int, str], str], tuple[float, float], float]]:
    """Every terminal: the moves that lead to it, each player's probability of making theirs, chance times payoff."""
    found = []
    stack: list[Any] = [(game.root(), {}, (1.0, 1.0), 1.0)]
    while stack:
        history, moves, reach, chance = stack.pop()
        mover = game.mover(history)
        if mover == TERMINAL:
            found.append((moves, reach, chance * game.payoff(history)))
        elif mover == CHANCE:
            for action, odds in zip(game.actions(history), game.probabilities(history), strict=True):
                stack.append((game.child(history, action), moves, reach, chance * odds))
        else:
            key = mover, game.infoset(history)
            for action, share in policy[key].items():
                after = (reach[0] * share, reach[1]) if mover == 0 else (reach[0], reach[1] * share)
                stack.append((game.child(history, action), {**moves, key: action}, after, chance))
    return found


# --- value and best responses ----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(small, st.integers(0, 999))
def test_best_responses_by_trying_every_pure_strategy(rules, seed) -> None:
    game = compile_game(rules)
    policy = random_policy(game, seed)
    terminals = ends(rules, policy)
    evaluation = evaluate_policy(game, policy)
    assert evaluation.value == pytest.approx(sum(r[0] * r[1] * worth for _, r, worth in terminals), abs=1e-13)
    for player in (0, 1):
        own = [key for key in policy if key[0] == player]
        choices = [list(policy[key]) for key in own]
        assume(np.prod([float(len(actions)) for actions in choices]) <= 600)
        sign = 1 - 2 * player
        best = max(
            sum(
                sign * worth * reach[1 - player]
                for moves, reach, worth in terminals
                if all(strategy[key] == action for key, action in moves.items() if key[0] == player)
            )
            for strategy in (dict(zip(own, chosen, strict=True)) for chosen in product(*choices))
        )
        assert evaluation.best_response_values[player] == pytest.approx(best, abs=1e-13)


@settings(max_examples=60)
@given(trees, st.integers(0, 999))
def test_the_best_response_earns_what_it_promises(rules, seed) -> None:
    game = compile_game(rules)
    policy = random_policy(game, seed)
    bests = evaluate_policy(game, policy).best_response_values
    for player in (0, 1):
        promised, improved = best_response(game, policy, player)
        assert promised == bests[player]
        earned = evaluate_policy(game, improved).value
        assert (earned if player == 0 else -earned) == pytest.approx(promised, abs=1e-12)
        for label, actions in improved.items():
            if label[0] == player:
                assert sorted(actions.values()) == [0.0] * (len(actions) - 1) + [1.0]
            else:
                assert actions == policy[label]


def test_ties_go_to_the_first_action() -> None:
    game = compile_game(MatrixGame([[1, 0], [1, 0], [0, 1]]))
    _, improved = best_response(game, Policy.uniform(game), 0)
    assert improved["row"] == {"r0": 1.0, "r1": 0.0, "r2": 0.0}


@settings(max_examples=80)
@given(trees, st.integers(0, 999))
def test_nash_conv_is_the_sum_of_gains_and_never_negative(rules, seed) -> None:
    game = compile_game(rules)
    value, nash_conv, (first, second), _ = evaluation = evaluate_policy(game, random_policy(game, seed, pure=0.5))
    assert nash_conv >= 0
    assert nash_conv == pytest.approx((first - value) + (second + value), abs=1e-12)
    assert first >= value - 1e-12
    assert second >= -value - 1e-12
    assert evaluation.exploitability == nash_conv / 2


class Forced:
    """Chance deals a card that each player sees only in part, and neither has a choice: NashConv is 0."""

    name = "forced"

    def __init__(self, payoffs: list[float]) -> None:
        self.payoffs = payoffs

    def root(self) -> Any:
        return ()

    def mover(self, history: Any) -> int:
        return (CHANCE, 0, 1, TERMINAL)[len(history)]

    def actions(self, history: Any) -> Any:
        return ("go",) if history else tuple(map(str, range(len(self.payoffs))))

    def probabilities(self, history: Any) -> Any:
        return [1 / len(self.payoffs)] * len(self.payoffs)

    def child(self, history: Any, action: str) -> Any:
        return (*history, action)

    def infoset(self, history: Any) -> str:
        return str(int(history[0]) % (3 if len(history) == 1 else 5))

    def payoff(self, history: Any) -> float:
        return self.payoffs[int(history[0])]


def test_rounding_of_large_payoffs_does_not_show_as_a_negative_nash_conv() -> None:
    for seed in range(20):
        payoffs = np.random.default_rng(seed).standard_normal(15) * 1e6
        game = compile_game(Forced((payoffs - payoffs.mean()).tolist()))
        assert evaluate_policy(game, Policy.uniform(game)).nash_conv >= 0


@settings(max_examples=60)
@given(trees, st.integers(0, 999), st.floats(0, 1))
def test_the_value_is_linear_in_each_players_sequence_form(rules, seed, share) -> None:
    game = compile_game(rules)
    first, second = random_policy(game, seed), random_policy(game, seed + 1)
    for player in (0, 1):
        ends_of = [evaluate_policy(game, mixed(game, first, second, at, player)).value for at in (0.0, share, 1.0)]
        assert ends_of[1] == pytest.approx((1 - share) * ends_of[0] + share * ends_of[2], abs=1e-12)


@settings(max_examples=50)
@given(trees, st.integers(0, 999), st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
def test_everything_scales_with_the_payoffs(rules, seed, scale) -> None:
    game, scaled = compile_game(rules), compile_game(replace(rules, scale=scale))
    policy = random_policy(game, seed)
    ours, theirs = evaluate_policy(scaled, policy), evaluate_policy(game, policy)
    assert ours.value == pytest.approx(scale * theirs.value, rel=1e-12, abs=1e-13 * scale)
    assert ours.nash_conv == pytest.approx(scale * theirs.nash_conv, rel=1e-12, abs=1e-13 * scale)


@settings(max_examples=50)
@given(trees, st.integers(0, 999))
def test_exchanging_the_seats_exchanges_the_values(rules, seed) -> None:
    game, swapped = compile_game(rules), compile_game(Swapped(rules))
    policy = random_policy(game, seed)
    exchanged = Policy.from_rows((1 - player, *rest) for player, *rest in policy.rows())
    ours, theirs = evaluate_policy(swapped, exchanged), evaluate_policy(game, policy)
    assert ours.value == pytest.approx(-theirs.value, abs=1e-13)
    assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=1e-13)
    assert ours.best_response_values == pytest.approx(theirs.best_response_values[::-1], abs=1e-13)


@pytest.mark.parametrize(
    "rules", [MatrixGame([[5]]), RandomTree(seed=3, depth=1, chance=1.0)], ids=["forced", "chance"]
)
def test_games_without_choices_are_evaluated(rules) -> None:
    game = compile_game(rules)
    value, nash_conv, bests, _ = evaluate_policy(game, Policy.uniform(game))
    assert nash_conv == pytest.approx(0, abs=1e-15)
    assert bests == pytest.approx((value, -value))
    assert value == pytest.approx(5) if isinstance(rules, MatrixGame) else abs(value) < 1


# --- the linear program ----------------------------------------------------------------------------------------------


def matrix_value(table: Any) -> float:
    """max_x min_j (x'A)_j, by scipy."""
    rows, columns = table.shape
    found = linprog(
        c=[0.0] * rows + [-1.0],
        A_ub=np.hstack([-table.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("seed", range(20))
def test_values_of_random_matrices_are_scipys(seed) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12, size=2)
    table = rng.standard_normal(shape) if seed % 2 else rng.integers(-3, 4, size=shape).astype(float)
    solution = tp.solve(MatrixGame(table), "lp")
    behaviour, evaluation = solution.strategies, solution.evaluation
    assert evaluation.value == pytest.approx(matrix_value(table), abs=1e-9)
    assert (behaviour[0][1:] @ table).min() == pytest.approx(evaluation.value, abs=1e-9)  # sure of the value
    assert (table @ behaviour[1][1:]).max() == pytest.approx(evaluation.value, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(50))
def test_the_program_solves_random_trees_exactly(seed, scale) -> None:
    rules = RandomTree(seed=seed, depth=4 + seed % 5, width=2 + seed % 3, visible=(seed % 4) / 4, scale=scale)
    game = compile_game(rules)
    solution = tp.solve(game, "lp")
    behaviour, evaluation = solution.strategies, solution.evaluation
    assert 0 <= evaluation.nash_conv < 1e-9 * scale
    for treeplex, own in zip(game.treeplexes, behaviour, strict=True):
        sums = np.add.reduceat(own, treeplex.first[:-1]) if treeplex.infosets else np.empty(0)
        np.testing.assert_allclose(sums, 1, rtol=0, atol=1e-12)
        assert (own >= 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_values_scale_with_the_payoffs(seed) -> None:
    values = [tp.solve(RandomTree(seed=seed, depth=7, scale=scale), "lp").value / scale for scale in (1e-6, 1.0, 1e6)]
    assert values == pytest.approx([values[1]] * 3, abs=1e-11)


@pytest.mark.parametrize("seed", range(12))
def test_fair_games_are_worth_nothing_and_nash_conv_is_never_negative(seed) -> None:
    """Antisymmetric tables, at every scale: rounding must not show as a negative NashConv."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((9, 9)) * 10.0 ** rng.integers(-6, 7)
    table -= table.T
    solution = tp.solve(MatrixGame(table), "lp")
    size = np.abs(table).max()
    assert solution.value == pytest.approx(0, abs=1e-10 * size)
    assert 0 <= solution.nash_conv < 1e-9 * size
    assert tp.evaluate(MatrixGame(table), solution.policy).nash_conv >= 0


def test_games_that_pay_nothing_are_solved() -> None:
    solution = tp.solve(MatrixGame([[0, 0], [0, 0]]), "lp")
    assert (solution.value, solution.nash_conv, solution.status) == (0, 0, "solved")


# --- never silent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "random_tree"])
def test_no_time_is_an_error(name) -> None:
    with pytest.raises(SolverError) as error:
        tp.solve(name, "lp", seconds=0)
    assert str(error.value) == f"The linear program of {name} was not solved: out of time, or stopped by Ctrl-C."


@pytest.mark.parametrize("status", ["kInfeasible", "kUnbounded", "kSolveError", "kUnknown", "kIterationLimit"])
def test_any_other_end_of_the_solver_is_an_error(status, monkeypatch) -> None:
    class Stopped(highspy.Highs):
        def getModelStatus(self) -> Any:  # noqa: N802 - HiGHS's name
            return getattr(highspy.HighsModelStatus, status)

    monkeypatch.setattr(linear_program.highspy, "Highs", Stopped)
    with pytest.raises(SolverError, match=r"The linear program of kuhn was not solved: HiGHS says '[a-z /-]+'"):
        tp.solve("kuhn", "lp")


def careless(game: CompiledGame, *rest: Any) -> Any:
    """Uniform play as what a linear program found."""
    return normalised(game, (np.ones(game.treeplexes[0].sequences), np.ones(game.treeplexes[1].sequences))), 7


def test_an_answer_that_is_no_equilibrium_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(linear_program, "_solve", careless)
    with pytest.raises(SolverError) as error:
        tp.solve("kuhn", "lp")
    assert str(error.value) == (
        "The linear program of kuhn came back with NashConv 0.916667, more than rounding explains; use an iterative"
        " algorithm such as cfr+."
    )


@pytest.mark.parametrize("target", [{"nash_conv": 1e-6}, {"exploitability": "0.1"}])
def test_an_answer_above_the_target_is_there_and_said_to_miss_it(target, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(linear_program, "_solve", careless)
    solution = tp.solve("kuhn", "lp", out=tmp_path / "run", **target)
    assert (solution.status, solution.nash_conv) == ("missed", pytest.approx(11 / 12))
    assert tp.evaluate("kuhn", solution.policy).nash_conv == solution.nash_conv
    written = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (written["status"], written["nash_conv"]) == ("missed", solution.nash_conv)
    assert (tmp_path / "run" / "policy.parquet").exists()
    assert tp.solve("kuhn", "lp", nash_conv=1.0).status == "solved"


@pytest.mark.parametrize("target", [{}, {"nash_conv": 1e-6}])
def test_a_nash_conv_that_is_not_a_number_is_an_error(target, monkeypatch) -> None:
    def unknown(*_: Any) -> Evaluation:
        return Evaluation(0.0, np.nan, (np.nan, np.nan))

    monkeypatch.setattr(linear_program, "evaluate_strategies", unknown)
    with pytest.raises(SolverError, match="NashConv nan"):
        tp.solve("kuhn", "lp", **target)


def test_an_answer_is_not_lost_when_time_runs_out_while_it_is_made_better(monkeypatch) -> None:
    programs = iter([careless, interrupted])

    def one_after_the_other(*arguments: Any) -> Any:
        program = next(programs)
        return program(*arguments)

    monkeypatch.setattr(linear_program, "_solve", one_after_the_other)
    solution = tp.solve("kuhn", "lp", nash_conv=1e-6)
    assert (solution.status, solution.iterations) == ("missed", 7)


def interrupted(*_: Any) -> Any:
    raise linear_program._InterruptedError("out of time")


def test_a_program_that_fails_is_tried_otherwise(monkeypatch) -> None:
    solve, players = linear_program._solve, []

    def first_fails(game: CompiledGame, payoffs: Payoffs, scale: float, player: int, stop: Any) -> Any:
        players.append(player)
        if len(players) == 1:
            raise SolverError("HiGHS says 'unknown'")
        return solve(game, payoffs, scale, player, stop)

    monkeypatch.setattr(linear_program, "_solve", first_fails)
    assert tp.solve("kuhn", "lp").value == pytest.approx(-1 / 18)
    assert players == [0, 1]


# --- payoffs of several sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [{"nash_conv": 1e-6}, {"exploitability": 1e-9}])
@pytest.mark.parametrize(("small", "large"), [(1e-3, 1e6), (1e-3, 1e8), (1e-3, 1e10), (1e-6, 1e12)])
def test_small_payoffs_count_beside_large_ones(small, large, target) -> None:
    """Matching pennies for a small stake, which nobody leaves for the third action."""
    table = [[small, -small, large], [-small, small, large], [-large, -large, 0.0]]
    solution = tp.solve(MatrixGame(table), "lp", **target)
    assert (solution.status, solution.nash_conv) == ("solved", pytest.approx(0.0, abs=1e-12))
    for own in solution.strategies:
        np.testing.assert_allclose(own[1:], [0.5, 0.5, 0.0], atol=1e-9)


@pytest.mark.parametrize("large", [1e6, 1e8])
def test_payoffs_of_two_sizes_take_one_program(large, monkeypatch) -> None:
    solve, scales = linear_program._solve, []

    def counted(game: CompiledGame, payoffs: Payoffs, scale: float, player: int, stop: Any) -> Any:
        scales.append(scale * large)
        return solve(game, payoffs, scale, player, stop)

    monkeypatch.setattr(linear_program, "_solve", counted)
    table = [[1e-3, -1e-3, large], [-1e-3, 1e-3, large], [-large, -large, 0.0]]
    assert tp.solve(MatrixGame(table), "lp", nash_conv=1e-6).status == "solved"
    assert scales == pytest.approx([1.0])


@pytest.mark.parametrize("target", [{}, {"nash_conv": 1e-6}])
@pytest.mark.parametrize("constant", [1e6, 1e9, 1e12, -1e12])
def test_a_constant_does_not_hide_the_payoffs(constant, target) -> None:
    solution = tp.solve(MatrixGame(np.array([[3.0, -1.0], [-2.0, 4.0]]) + constant), "lp", **target)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.strategies[0][1:], [0.6, 0.4], atol=1e-9)
    np.testing.assert_allclose(solution.strategies[1][1:], [0.5, 0.5], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_constant_does_not_hide_the_payoffs_of_a_tree_with_chance(seed) -> None:
    class Shifted(RandomTree):
        def payoff(self, history: Any) -> float:
            return super().payoff(history) + 2.0**36

    plain = tp.load(RandomTree(seed=seed, depth=6))
    policy = tp.solve(Shifted(seed=seed, depth=6), "lp").policy
    assert tp.evaluate(plain, policy).nash_conv < 1e-4  # payoffs are rounded when the constant is added


def exact_nash_conv(table: Any, strategies: Any) -> Fraction:
    """In rational numbers."""
    row, column = ([Fraction(x) for x in own[1:].tolist()] for own in strategies)
    row, column = ([x / sum(own) for x in own] for own in (row, column))
    entries = [[Fraction(x) for x in line] for line in table]
    above = max(sum(a * y for a, y in zip(line, column, strict=True)) for line in entries)
    below = min(sum(x * line[j] for x, line in zip(row, entries, strict=True)) for j in range(len(column)))
    return above - below


sizes = st.builds(lambda digits, power: digits * 10.0**power, st.integers(-99, 99), st.integers(-5, 9))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(sizes, min_size=n, max_size=n), min_size=1, max_size=5)),
    st.sampled_from([0.0, 1e-15, 1e-9, 1e-6, 1e-3, 1.0]),
)
def test_solved_means_that_the_target_is_met(table, target) -> None:
    solution = tp.solve(MatrixGame(table), "lp", nash_conv=target)
    assert solution.status == ("solved" if solution.nash_conv <= target else "missed")
    rounding = 1e-15 * max(abs(x) for line in table for x in line)
    assert float(exact_nash_conv(table, solution.strategies)) == pytest.approx(solution.nash_conv, abs=4 * rounding)
    assert solution.status == "solved" or target < 100 * rounding


@pytest.mark.parametrize("power", range(-6, 7))
def test_matrices_with_payoffs_of_many_orders_of_magnitude_are_solved_or_reported(power) -> None:
    """Ten random matrices whose payoffs are spread over ``power`` orders, judged in rational numbers."""
    rng = np.random.default_rng(100 + power)
    for _ in range(10):
        table = rng.standard_normal((6, 7)) * 10.0 ** (power * rng.random((6, 7)))
        largest = float(np.abs(table).max())
        solution = tp.solve(MatrixGame(table), "lp", nash_conv=1e-9 * largest)
        exact = float(exact_nash_conv(table, solution.strategies))
        assert exact == pytest.approx(solution.nash_conv, abs=1e-14 * largest)
        assert solution.status == ("solved" if solution.nash_conv <= 1e-9 * largest else "missed")
        assert exact <= 1e-9 * largest


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_payoffs_that_are_not_finite_are_an_error(bad) -> None:
    """Compiled games have none, but files of compiled games and arrays of one's own may."""
    game = compile_game(MatrixGame([[1, -1], [-1, 1]]))
    rows, columns = (Csr(csr.start, csr.column, np.where(csr.data > 0, bad, csr.data)) for csr in game.payoffs)
    with pytest.raises(SolverError):
        tp.solve(replace(game, make_payoffs=lambda: Payoffs(rows, columns)), "lp")
