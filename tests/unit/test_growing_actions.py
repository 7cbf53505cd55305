"""Growth of compiled games by actions: parts, starts, checks, runs, folders, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.arrow import unpacked
from treeplex.compile.build import compile_game
from treeplex.compile.part import WholeGame
from treeplex.errors import ParameterError
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree
from treeplex.growth.check import Candidate, check, needed
from treeplex.growth.discount import AddedRegret, Bounds, joint, recommended
from treeplex.growth.options import Growth
from treeplex.growth.part_algorithm import SOLVERS, GrowingActions
from treeplex.growth.parts import GrowingPart
from treeplex.growth.rates import Balance, Rates
from treeplex.growth.start import masks_of, recorded

TREES = st.integers(0, 10_000).map(lambda seed: RandomTree(seed=seed, depth=5, chance=0.3))


class Fewer:
    """Rules with some of their actions, and all else as it is."""

    def __init__(self, rules: Any, kept: dict[tuple[int, str], list[str]]) -> None:
        self.rules, self.kept, self.name = rules, kept, "fewer"
        self.root, self.mover, self.child = rules.root, rules.mover, rules.child
        self.infoset, self.payoff, self.probabilities = rules.infoset, rules.payoff, rules.probabilities

    def actions(self, history: Any) -> list[str]:
        mover, legal = self.rules.mover(history), list(self.rules.actions(history))
        return legal if mover < 0 else [a for a in legal if a in self.kept[mover, self.rules.infoset(history)]]


def random_masks(game: Any, seed: int) -> Any:
    rng, masks = np.random.default_rng(seed), []
    for treeplex in game.treeplexes:
        mask = rng.random(treeplex.sequences) < 0.5
        for first, end in zip(treeplex.first[:-1], treeplex.first[1:], strict=True):
            mask[first + rng.integers(end - first)] = True
        mask[0] = True
        masks.append(mask)
    return tuple(masks)


def names(game: Any, masks: Any = None) -> dict[tuple[int, str], list[str]]:
    out = {}
    for player, labels in enumerate(game.labels):
        for infoset, label in enumerate(unpacked(labels.infosets)):
            first = game.treeplexes[player].first[infoset]
            legal = game.actions_at(player, infoset)
            out[player, label] = [a for k, a in enumerate(legal) if masks is None or masks[player][first + k]]
    return out


@settings(max_examples=25, derandomize=True)
@given(TREES, st.integers(0, 1000))
def test_a_part_is_the_game_of_rules_with_fewer_actions(rules: RandomTree, seed: int) -> None:
    game = compile_game(rules)
    whole, masks = WholeGame(game), random_masks(game, seed)
    behind = whole.behind(masks)
    part = whole.part(masks, behind, "part").game
    expected = compile_game(Fewer(rules, names(game, masks)))
    assert (part.nodes, part.terminals) == (expected.nodes, expected.terminals)
    assert names(part) == names(expected)
    policy = tp.Policy.uniform(expected)
    ours, theirs = tp.evaluate(part, policy), tp.evaluate(expected, policy)
    np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=1e-12)
    assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    ours, theirs = part.tree, expected.tree  # the same histories, in the same order
    for name in ("mover", "parent", "size", "probability", "payoff"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for player in (0, 1):  # histories behind an action are those that its addition adds
        counts = behind.counts(player, len(masks[player]))
        for s in np.flatnonzero(~masks[player])[:6].tolist():
            more = [mask.copy() for mask in masks]
            more[player][s] = True
            assert counts[s] == whole.behind((more[0], more[1])).present.sum() - part.nodes


@settings(max_examples=15, derandomize=True)
@given(TREES, st.integers(0, 1000), st.sampled_from(["cfr", "cfr+"]))
def test_values_earned_are_sums_over_the_run(rules: RandomTree, seed: int, name: str) -> None:
    """By CFR exactly; by CFR+ at most, since regrets that are cut off only bound what they stand for."""
    game = compile_game(rules)
    part = GrowingPart(WholeGame(game), SOLVERS[name], random_masks(game, seed), name == "cfr+")
    earned = [np.zeros(treeplex.infosets) for treeplex in part.part.game.treeplexes]
    for t in range(1, 8):
        before = part.engine.current(part.tables)
        part.advance(1)
        faced = part.engine.current(part.tables) if name == "cfr+" else before
        for player, opponent in ((0, before[1]), (1, faced[0])):
            values = values_of(part.part.game, player, before[player], opponent)
            earned[player] += (t if name == "cfr+" else 1) * values
    past = part.pasts()
    for player in (0, 1):
        ours = part.earned(player, past)
        inside = ours[part.part.infosets[player]]
        if name == "cfr":
            np.testing.assert_allclose(inside, earned[player], atol=1e-12)
        else:
            assert (inside <= earned[player] + 1e-12).all()
            assert (inside >= earned[player] - 7 * 4.0 * game.largest_payoff).all()  # within T times a few payoffs


def values_of(game: Any, player: int, own: Any, opponent: Any) -> Any:
    """[I] counterfactual values by plain loops."""
    plan = opponent.copy()
    plan[0] = 1.0
    other = game.treeplexes[1 - player]
    for infoset in range(other.infosets):
        plan[other.first[infoset] : other.first[infoset + 1]] *= plan[other.parent[infoset]]
    side = game.payoffs[player]
    values = np.array(
        [
            (1 - 2 * player) * side.data[begin:end] @ plan[side.column[begin:end]]
            for begin, end in zip(side.start[:-1], side.start[1:], strict=True)
        ]
    )
    treeplex = game.treeplexes[player]
    out = np.zeros(treeplex.infosets)
    for infoset in range(treeplex.infosets - 1, -1, -1):
        here = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
        out[infoset] = own[here] @ values[here]
        values[treeplex.parent[infoset]] += out[infoset]
    return out


@settings(max_examples=10, derandomize=True)
@given(TREES, st.integers(0, 1000), st.sampled_from(["cfr", "cfr+"]))
def test_growth_goes_to_an_equilibrium_of_the_whole_game_from_any_start(
    rules: RandomTree, seed: int, name: str
) -> None:
    """Section 5: however bad the start is, weak points of the abstraction are included in time."""
    game = compile_game(rules)
    growth, masks = Growth(actions="first", algorithm=name), random_masks(game, seed)
    part = GrowingPart(WholeGame(game), SOLVERS[name], masks, name == "cfr+")
    algorithm = GrowingActions(growth)
    run = algorithm.start(game)
    run.game = part
    gaps = []
    for iterations in (400, 3600):
        algorithm.advance(game, run, iterations)
        gaps.append(part.measure()[0].nash_conv / max(game.largest_payoff, 1e-9))
    assert gaps[1] <= max(0.05, 0.7 * gaps[0])
    assert gaps[1] < 0.12
    assert part.part.game.nodes <= game.nodes
    whole, inside = part.measure()  # the certificate bounds the value of the game, which lp knows
    value = tp.solve(game, "lp").value
    assert -whole.best_response_values[1] - 1e-9 <= value <= whole.best_response_values[0] + 1e-9
    assert inside.nash_conv <= whole.nash_conv + 1e-9
    assert part.measure()[0].nash_conv == tp.evaluate(game, tp.Policy.of(game, part.averages())).nash_conv


def test_the_gain_of_an_action_is_its_excess_over_the_best_known_one() -> None:
    """In a matrix game: T times the average payoff of a missing row, less that of the best row so far."""
    matrix = np.random.default_rng(4).normal(size=(5, 4))
    game = compile_game(MatrixGame(matrix.tolist(), name="matrix"))
    part = GrowingPart(WholeGame(game), SOLVERS["cfr"], masks_of("2", game), False)
    part.advance(30)
    own, other = part.averages()
    columns = other[1:5]
    for candidate in part.candidates(part.balance(), 1.0):
        if candidate.player == 0:
            paid = game.unit * (matrix @ columns)
            missing = max(range(2, 5), key=lambda row: paid[row])
            assert candidate.size == 1 + missing
            assert game.unit * candidate.gain == pytest.approx(30 * (paid[missing] - paid[:2].max()), rel=1e-9)
            assert candidate.histories == 3  # its own, and one per column of the start
            break
    else:
        pytest.fail("no row pays")
    assert not own[3:6].any()


def test_outside_of_the_part_players_choose_among_the_actions_of_the_start() -> None:
    game = tp.load("kuhn")
    part = GrowingPart(WholeGame(game), SOLVERS["cfr"], masks_of({"*": "first", "0b": 2}, game), False)
    part.advance(3)
    policy = dict(tp.Policy.of(game, part.averages()).items())
    assert policy[1, "2b"] == {"p": 1.0, "b": 0.0}
    assert policy[1, "0b"] == {"p": 0.5, "b": 0.5}
    assert not part.behind.infosets[1][game.infoset_index[1]["0b"]]


def test_growth_passes_an_abstraction_whose_equilibrium_is_further_away() -> None:
    """Waugh et al. (2009b): more actions for one player can make an abstract equilibrium worse in the full game."""
    game = tp.load(MatrixGame([[3, -9, 0], [-1, 2, 1], [-2, -2, 2], [1, -3, -1]], name="pathology"))
    columns = {"*": 9}
    gaps = []
    for rows in (["r2"], ["r0", "r2"]):
        start = dict.fromkeys(unpacked(game.labels[0].infosets), rows)
        start |= {label: ["c0", "c2"] for label in unpacked(game.labels[1].infosets)} | columns
        fixed = tp.grow(game, growth=Growth(actions=start, factor=float("inf")), iterations=3000)
        gaps.append(fixed.nash_conv)
        assert fixed.nash_conv > 1.0
        grown = tp.grow(game, growth=Growth(actions=start), nash_conv=0.02, iterations=20_000)
        assert grown.status == "solved"
        assert {(one.player, one.action) for one in grown.additions}
    assert gaps[1] > gaps[0] + 1.0


def test_all_that_pays_is_the_sum_of_what_proposition_1_says() -> None:
    """Without additions nothing pays, and each addition had more gain than it needed."""
    game = compile_game(RandomTree(seed=11, depth=6))
    solution = tp.grow(game, growth=Growth(actions="first", algorithm="cfr+"), iterations=500)
    assert solution.additions
    assert all(one.gain > one.needed for one in solution.additions)
    assert solution.grown.nodes <= solution.game.nodes
    assert solution.nodes_touched > 0
    rows = [row.extra["histories"] for row in solution.rows]
    assert rows == sorted(rows)
    part = solution.run.game
    growth = Growth(actions="first", algorithm="cfr+")
    for candidate in part.candidates(part.balance(), growth.factor):
        assert candidate.histories == len(part.behind.nodes(candidate.player, candidate.size))


# --- one weight per check ----------------------------------------------------------------------------------------


class Fake:
    """A growable whose regrets are given."""

    effective = 10.0

    def __init__(self, added: list[AddedRegret], players: list[int]) -> None:
        self.added, self.players, self.weights = added, players, list[float]()

    def balance(self) -> Balance:
        return Balance(np.array([1.0, 1.0]), np.array([4.0, 8.0]), 100)

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        return [Candidate(k, player, "a", 9.0, 5) for k, player in enumerate(self.players)]

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        return self.added[: len(candidates)]

    def discount(self, weight: float) -> None:
        self.weights.append(weight)

    def bounds(self, player: int) -> Bounds:
        return Bounds(3, 2.0, 2, 10.0)


def test_one_weight_serves_all_additions_of_a_check() -> None:
    """(22) of all together, not the product of each (22): 4 + 1 + 2 over 4 + 1 + 2 + 3 + 1 for player 0."""
    added = [AddedRegret(1.0, 3.0, 2.0, 5, 4), AddedRegret(2.0, 1.0, 1.0, 5, 4), AddedRegret(0.0, 2.0, 1.0, 5, 4)]
    game = Fake(added, [0, 0, 1])
    expansions = check(game, 1.0, "recommended", 9)
    assert game.weights == [7.0 / 11.0]  # player 1's alone would be 8 / 10
    assert [expansion.weight for expansion in expansions] == [7.0 / 11.0] * 3
    product = recommended(4.0, added[0]) * recommended(4.0, added[1])
    assert product < 7.0 / 11.0
    one = Fake(added, [1, 0])
    check(one, 1.0, "recommended", 1)
    assert one.weights == [9.0 / 12.0]


@settings(max_examples=50, derandomize=True)
@given(st.lists(st.tuples(*[st.floats(0, 1e6)] * 3), min_size=1, max_size=5), st.floats(1e-3, 1e6))
def test_the_joint_weight_lies_between_the_product_and_the_smallest(rows: list[Any], before: float) -> None:
    added = [AddedRegret(inside, head, regret, 1, 1) for inside, head, regret in rows]
    own = [recommended(before, one) for one in added]
    together = recommended(before, joint(added))
    assert np.prod(own) * (1 - 1e-12) <= together


# --- rates of recent checks --------------------------------------------------------------------------------------


def test_rates_give_the_papers_proposition_for_the_papers_growth() -> None:
    """Squared regret that grows by the same amount gives R itself; linear growth gives 0, no growth 2 R."""
    cases = {"root": lambda t: t**0.5, "linear": lambda t: t, "none": lambda t: 1.0}
    expected = {"root": 1.0, "linear": 0.0, "none": 2.0}
    for name, regret in cases.items():
        rates = Rates(1)
        rates.add(Balance(np.array([regret(1e6), 1.0]), np.zeros(2), 1), 1e6)
        largest = np.array([regret(1e6 + 1), 1.0])
        growth = rates.growth(Balance(largest, np.zeros(2), 1), 1e6 + 1)
        assert growth[0] == pytest.approx(expected[name] * largest[0], rel=1e-3, abs=1e-3), name
        assert growth[1] == pytest.approx(2.0)


def test_rates_remember_as_many_checks_as_they_are_told_and_forget_after_additions() -> None:
    rates, regrets = Rates(3), iter(range(1, 99))
    for t in range(1, 8):
        rates.add(Balance(np.full(2, float(next(regrets))), np.zeros(2), 1), float(t))
    assert [seen.effective for seen in rates.seen] == [5.0, 6.0, 7.0]
    state = Balance(np.array([8.0, 2.0]), np.zeros(2), 1)
    np.testing.assert_allclose(rates.growth(state, 8.0), [2 * (8 - 8 * 1.0), 2 * (2 - 8 * -1.0)])
    rates.restart()
    np.testing.assert_array_equal(rates.growth(state, 8.0), state.largest)
    rates.restore([[1.0, 2.0, 3.0]])
    assert rates.seen[0].second == 3.0
    with pytest.raises(ValueError, match="more checks"):
        rates.restore([[1.0, 2.0, 3.0]] * 4)
    none = Rates(0)
    none.add(state, 1.0)
    np.testing.assert_array_equal(none.growth(state, 8.0), state.largest)


def test_recent_growth_decides_when_to_add() -> None:
    """Regret that has stopped growing makes the run add later than the paper's rate does."""
    flat = [Balance(np.array([10.0, 10.0]), np.array([4.0, 8.0]), 100)] * 2
    gains = []
    for recent in (0, 1):
        rates = Rates(recent)
        rates.add(flat[0], 5.0)

        class Flat(Fake):
            def balance(self) -> Balance:
                return flat[1]

            def candidates(self, state: Balance, factor: float) -> list[Candidate]:
                least = float(needed(10.0, 100, 5, 10.0, 1.0))
                return [Candidate(0, 0, "a", 1.5 * least, 5)]

        gains.append(len(check(Flat([AddedRegret(0.0, 0.0, 0.0, 5, 1)], [0]), 1.0, "bound", 9, rates)))
    assert gains == [1, 0]


# --- starts ----------------------------------------------------------------------------------------------------------


def test_starts() -> None:
    game = tp.load("kuhn")
    by_start = {
        "first": masks_of("first", game),
        "1": masks_of("1", game),
        "labels": masks_of("p, q", game),
        "list": masks_of(recorded(["p"], game), game),
        "function": masks_of(recorded(lambda label: ["p"] if len(label) == 1 else 1, game), game),
        "mapping": masks_of({"2": ["b"], "*": "first"}, game),
    }
    first = names(game, by_start["first"])
    assert first == names(game, by_start["1"]) == names(game, by_start["labels"]) == names(game, by_start["list"])
    assert all(len(actions) == 1 for actions in first.values())
    assert names(game, by_start["function"]) == first
    assert names(game, by_start["mapping"]) == first | {(0, "2"): ["b"]}
    assert names(game, masks_of({"2": ["b"]}, game)) == names(game) | {(0, "2"): ["b"]}


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ("", "Only a game with bet sizes, such as continuous_leduc, can grow without the 'actions' parameter"),
        ("0", "must keep one action or more, got 0"),
        (2, "must leave out an action of kuhn, got 2, which keeps all"),
        ("jump", "which keeps all"),
        ({"X": ["bet"]}, "must name infosets of kuhn, got 'X'"),
        ({"2": ["jump"]}, "must list actions of p, b at infoset '2', got 'jump'"),
        ({"2": 0}, "must keep one action or more at infoset '2', got 0"),
        ({"2": [3]}, "at infoset '2', got"),
        ("none.json", "names 'none.json', which cannot be read"),
        (3.5, 'must be "first", a number of actions'),
    ],
)
def test_wrong_starts(start: Any, sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        tp.grow("kuhn", growth=Growth(actions=start, algorithm="cfr+"), iterations=1)
    assert sentence in str(error.value)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"estimate": "transfer"}, "The 'estimate' parameter must be 'best-response'"),
        ({"archive": 3}, "The 'archive' parameter must be 0 where 'actions' is given"),
        ({"remove": "current"}, "The 'remove' parameter must be 'never' where 'actions' is given"),
        ({"algorithm": "dcfr"}, "The 'algorithm' parameter must be one of cfr, cfr+ for games other than hold'em"),
        ({"bets": "50%"}, "The 'bets' parameter is for hold'em spots; other games grow by the actions"),
        ({"recent": -1}, "The 'recent' parameter must be a whole number from 0 up"),
    ],
)
def test_wrong_options(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        tp.grow("kuhn", growth=Growth(**{"actions": "first", "algorithm": "cfr+"} | options), iterations=1)
    assert sentence in str(error.value)


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"algorithm": "cfr"}, {"recent": 2, "factor": 1.2}], ids=str)
def test_a_stopped_run_continues_to_the_same_bits(tmp_path: Path, options: dict[str, Any]) -> None:
    growth = Growth(**{"actions": "first", "algorithm": "cfr+"} | options)
    rules = RandomTree(seed=5, depth=6)
    whole = tp.grow(rules, growth=growth, iterations=300)
    for cut in (7, 25, 41):
        folder = tmp_path / str(cut)
        tp.grow(rules, growth=growth, iterations=cut, out=folder)
        resumed = tp.resume(folder, iterations=300)
        assert resumed.policy == whole.policy
        assert resumed.nash_conv == whole.nash_conv
        assert resumed.nodes_touched == whole.nodes_touched
        ours, theirs = ([one._replace(seconds=0.0) for one in run.additions] for run in (resumed, whole))
        assert ours == theirs
        assert resumed.state.rates.seen == whole.state.rates.seen
    actions = json.loads((tmp_path / "7" / "actions.json").read_text())
    assert actions == whole.actions
    again = tp.grow(rules, growth=Growth(actions=actions or "first", factor=float("inf")), iterations=1)
    assert again.grown.nodes == whole.grown.nodes


def test_a_checkpoint_of_another_start_is_rejected(tmp_path: Path) -> None:
    game = compile_game(RandomTree(seed=5, depth=6))
    algorithm = GrowingActions(Growth(actions="first", algorithm="cfr")).open(game, Execution())
    state = algorithm.advance(game, algorithm.start(game), 30)
    tensors = algorithm.save(state)
    again = algorithm.restore(game, tensors)
    assert algorithm.save(again).keys() == tensors.keys()
    for name, array in algorithm.save(again).items():
        np.testing.assert_array_equal(array, tensors[name])
    for name in ("masks.0", "masks.1"):
        wrong = tensors | {name: np.zeros_like(tensors[name])}
        with pytest.raises(ValueError, match="actions are not those"):
            algorithm.restore(game, wrong)
    with pytest.raises((ValueError, KeyError)):
        algorithm.restore(game, tensors | {"masks.0": np.ones_like(tensors["masks.0"])})


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_an_openspiel_game_grows(name: str) -> None:
    pytest.importorskip("pyspiel")
    target, start = (0.02, "first") if name == "kuhn_poker" else (0.2, "Fold, Call")
    solution = tp.grow(f"openspiel:{name}", growth=Growth(actions=start, algorithm="cfr+"), nash_conv=target)
    assert solution.status == "solved"
    whole = tp.load(f"openspiel:{name}")
    assert tp.evaluate(whole, solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-12)
    assert solution.nash_conv <= target < solution.rows[0].nash_conv
    assert solution.rows[0].extra["histories"] < solution.grown.nodes < whole.nodes
    value = tp.solve(whole, "lp").value
    assert -solution.best_response_values[1] - 1e-9 <= value <= solution.best_response_values[0] + 1e-9
    inside = tp.solve(solution.grown, "lp").value  # neither game has a value outside of the certificate
    assert solution.rows[-1].extra["nash_conv_in_abstraction"] <= solution.nash_conv + 1e-12
    assert abs(inside - value) <= solution.nash_conv
