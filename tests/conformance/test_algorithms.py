"""Every registered algorithm, by the same rules: it finds equilibria, and it says the truth about them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex import engines
from treeplex.algorithms.best_response import BestResponseCFR, FictitiousPlay
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.excessive_gap import ExcessiveGap
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.mirror import MirrorProx
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.compile import CompiledGame
from treeplex.compile.blocks import RankedBlocks
from treeplex.engines.sequence.reference import treeplex as walks
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.random_tree import RandomTree
from treeplex.limits import Limits
from treeplex.spec import parameters

ITERATIVE = [name for name, entry in ALGORITHMS.items() if not entry.build().ends]
ON_ARRAYS = CFR | BestResponseCFR | FictitiousPlay
LEARNERS = [name for name in ITERATIVE if isinstance(build(name), ON_ARRAYS)]
FIRST_ORDER = [
    name for name in ITERATIVE if isinstance(build(name), ExcessiveGap | MirrorProx) and not name.endswith("-dt")
]
FULL_WIDTH = [*LEARNERS, *FIRST_ORDER]  # on arrays
RESTARTED = [name for name in ITERATIVE if name.endswith("-restarted")]
SAMPLED = [name for name in ITERATIVE if isinstance(build(name), MonteCarlo)]
ITERATES = ["average", "current", "best"]

# What every algorithm must reach: NashConv of a thousandth of the range of payoffs. It is the brief's number, not a
# measured one. CFR-BR, fictitious play and CFR converge like 1 / sqrt(t): from a NashConv of about the range that takes
# a million iterations; the others need far fewer. Iterations of games this small take microseconds.
TARGET, MOST = 1e-3, 1_000_000

# Samplers converge like 1 / sqrt(t) too, with a constant that is larger by the noise of a sample: several times what a
# full iteration has (Lanctot et al. 2009, theorems 4 and 5), so a hundred times the iterations for the same NashConv.
# With a million iterations that is a hundredth of the range.
SAMPLED_TARGET = 1e-2

# In the slow run games have up to 10,000 nodes, and the rate's constant grows with the infosets.
SLOW_MOST = 10_000_000


def trees(count: int, low: int, high: int) -> list[RandomTree]:
    """The first random trees with ``low`` to ``high`` nodes: with and without chance, all shapes of information."""
    found, seed = [], 0
    while len(found) < count:
        rules = RandomTree(
            seed=seed,
            depth=4 + seed % 6,
            width=2 + seed % 3,
            chance=(0.0, 0.2, 0.4)[seed % 3],
            visible=(0.0, 0.3, 0.6, 1.0)[seed % 4],
            scale=10.0 ** (seed % 5 - 2),
        )
        seed += 1
        if low <= size(rules, high) <= high:
            found.append(rules)
    return found


def size(rules: RandomTree, most: int) -> int:
    """The number of nodes, counted no further than needed."""
    stack, nodes = [rules.root()], 0
    while stack and nodes <= most:
        history = stack.pop()
        nodes += 1
        if rules.mover(history) != TERMINAL:
            stack.extend(rules.child(history, action) for action in rules.actions(history))
    return nodes


def payoff_range(game: CompiledGame) -> float:
    ends = game.tree.payoff[game.tree.mover == TERMINAL]
    return float(ends.max() - ends.min()) or 1.0


def target_of(algorithm: str) -> float:
    return SAMPLED_TARGET if algorithm in SAMPLED else TARGET


def check_solved(game: CompiledGame, algorithm: str, target: float, most: int, storage: str | None = None) -> None:
    scale = payoff_range(game)
    limit = None if algorithm == "lp" else most  # which heeds none
    solution = tp.solve(game, algorithm, nash_conv=target * scale, iterations=limit, storage=storage)
    assert solution.status == "solved", f"NashConv {solution.nash_conv / scale:g} of the range"
    exact = tp.solve(game, "lp").value
    rounding = 1e-7 * scale  # the linear program's tolerance
    first, second = solution.best_response_values
    assert solution.nash_conv <= target * scale
    assert abs(solution.value - exact) <= solution.nash_conv + rounding
    assert -second - rounding <= exact <= first + rounding  # best responses bracket the value
    judged = tp.evaluate(game, solution.policy)
    assert judged.nash_conv == pytest.approx(solution.nash_conv, abs=1e-12 * scale)
    assert judged.value == pytest.approx(solution.value, abs=1e-12 * scale)


@pytest.fixture(scope="module", params=trees(6, 100, 1_000), ids=lambda rules: rules.name)
def small(request) -> CompiledGame:
    return tp.load(request.param)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equilibria_of_random_games(algorithm, small) -> None:
    check_solved(small, algorithm, target_of(algorithm), MOST)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equilibria_of_many_larger_games(algorithm) -> None:
    for rules in trees(200, 100, 10_000):
        check_solved(tp.load(rules), algorithm, target_of(algorithm), SLOW_MOST)


@pytest.mark.parametrize(
    "game", ["kuhn", "goofspiel(cards=3)", "liars_dice(sides=2)", "matrix([[0,2,-1],[-1,0,1],[1,-1,0]])"]
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equilibria_of_structured_games(algorithm, game) -> None:
    """With ties, dominated actions and pure equilibria, which random trees lack."""
    check_solved(tp.load(game), algorithm, target_of(algorithm), MOST)


# --- small print -----------------------------------------------------------------------------------------------------


class Tiny:
    """Games at the edge: a list of moves that happen whatever happens, then a payoff that adds up the choices."""

    def __init__(self, *movers: int) -> None:
        self.movers = movers

    def root(self) -> tuple[str, ...]:
        return ()

    def mover(self, history: Any) -> int:
        return self.movers[len(history)] if len(history) < len(self.movers) else TERMINAL

    def actions(self, history: Any) -> tuple[str, ...]:
        return ("0", "1")

    def probabilities(self, history: Any) -> tuple[float, ...]:
        return (0.25, 0.75)

    def child(self, history: Any, action: str) -> tuple[str, ...]:
        return (*history, action)

    def infoset(self, history: Any) -> str:
        return "".join(history) or "start"

    def payoff(self, history: Any) -> float:
        return 1.0 + sum(int(choice) for choice in history)


@pytest.mark.parametrize(
    ("movers", "value"),
    [
        ((), 1.0),
        ((CHANCE,), 1.75),
        ((0,), 2.0),
        ((1,), 1.0),
        ((CHANCE, 0), 2.75),
        ((0, 1), 2.0),
        ((1, CHANCE, 1), 1.75),
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_games_in_which_somebody_never_moves(algorithm, movers, value) -> None:
    game = tp.load(Tiny(*movers))
    solution = tp.solve(game, algorithm, nash_conv=1e-3, iterations=None if algorithm == "lp" else MOST)
    assert solution.status == "solved"
    assert solution.value == pytest.approx(value, abs=1e-3)
    assert len(solution.policy) == sum(treeplex.infosets for treeplex in game.treeplexes)


@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_what_is_reported_is_not_changed_by_going_on(algorithm) -> None:
    game, assembled = tp.load(RandomTree(seed=3)), build(algorithm)
    state = assembled.advance(game, assembled.start(game), 3)
    reported = (*assembled.report(game, state, "average").arrays, *assembled.report(game, state, "current").arrays)
    kept = [array.copy() for array in reported]
    state = assembled.advance(game, state, 5)
    for array, copy in zip(reported, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    later = (*assembled.report(game, state, "average").arrays, *assembled.report(game, state, "current").arrays)
    assert not all(np.array_equal(left, right) for left, right in zip(kept, later, strict=True))


@pytest.mark.parametrize("algorithm", [*FULL_WIDTH, *RESTARTED, *SAMPLED, "warm-start(warmup=20)"])
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 40), min_size=1, max_size=6), seed=st.integers(0, 50))
def test_pieces_give_the_bits_of_the_whole(algorithm, cuts, seed) -> None:
    game, assembled = tp.load(RandomTree(seed=seed, depth=5)), build(algorithm)
    whole = assembled.advance(game, assembled.start(game), sum(cuts))
    state = assembled.start(game)
    for count in cuts:
        state = assembled.advance(game, state, count)
    assert state.iteration == whole.iteration == sum(cuts)
    for left, right in zip(leaves(state), leaves(whole), strict=True):
        np.testing.assert_array_equal(left, right)


def leaves(state: Any) -> list[Any]:
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else [np.asarray(state)]


# Passes over the tree per iteration: one for each player; in CFR-BR another for each best response; one for both
# players if they update at once (xfp answers each old average by a pass of its own).
PASSES = {name: 4 if name == "cfr-br" else 2 for name in LEARNERS} | {
    f"{name}(turns=simultaneous)": 1 for name in LEARNERS if "turns" in parameters(ALGORITHMS[name].build)
}


@pytest.mark.parametrize("algorithm", PASSES)
def test_nodes_touched_count_whole_passes(algorithm) -> None:
    """One history entered per node and pass."""
    game = tp.load("kuhn")
    solution = tp.solve(game, algorithm, iterations=7)
    assert solution.nodes_touched == 7 * game.nodes * PASSES[algorithm]
    log = solution.log.to_pylist()
    assert [row["nodes_touched"] * 7 for row in log] == [row["iteration"] * solution.nodes_touched for row in log]


@pytest.mark.parametrize("iterate", ITERATES)
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_every_iterate_is_measured_as_what_it_is(algorithm, iterate) -> None:
    """The reported NashConv is that of the reported policy, not of another iterate."""
    game = tp.load(RandomTree(seed=10, depth=7))
    solution = tp.solve(game, algorithm, iterations=100, iterate=iterate)
    assert solution.iterate == iterate
    assert tp.evaluate(game, solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-13)
    assert solution.log["nash_conv"][-1].as_py() == solution.nash_conv
    counted = Execution(limits=Limits(iterations=1), iterate=iterate)  # which auto decides by
    assembled: Any = build(solution.record.algorithm).open(game, counted)  # with its horizon
    state = assembled.advance(game, assembled.start(game), 100)
    pair = (
        assembled.report(game, state, "current").arrays
        if iterate == "current"
        else assembled.report(game, state, "average").arrays
    )
    if iterate != "best":
        for ours, theirs in zip(solution.policy.aligned(game), pair, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("algorithm", FULL_WIDTH)
def test_the_best_so_far_never_gets_worse(algorithm) -> None:
    """For 50 iterations, in which all iterates have the same rows; later the best ones have fewer: they cost twice."""
    game = tp.load(RandomTree(seed=10, depth=7))
    average, current, best = (
        tp.solve(game, algorithm, iterations=50, iterate=iterate).log.to_pydict() for iterate in ITERATES
    )
    assert len(best["iteration"]) > 8
    assert best["iteration"] == average["iteration"] == current["iteration"]
    lowest = np.minimum.accumulate(np.minimum(average["nash_conv"], current["nash_conv"]))
    np.testing.assert_array_equal(best["nash_conv"], lowest)


def test_current_strategies_do_get_worse() -> None:
    """So that the test above is not about something that never happens: CFR's current strategies go round."""
    log = tp.solve("kuhn", "cfr", iterations=300, iterate="current").log["nash_conv"].to_numpy()
    assert (np.diff(log) > 0).any()


# --- forms of the payoff operator ------------------------------------------------------------------------------------


def forced(game: CompiledGame, operator: Any) -> CompiledGame:
    """The game with another form of its payoff operator."""
    copy = replace(game)
    copy.__dict__["operator"] = operator
    assert copy.operator is operator
    return copy


@pytest.mark.parametrize("name", ["kuhn", "kuhn_ext(4,2,2)", "leduc", "leduc(suits=true)", "liars_dice(sides=3)"])
@pytest.mark.parametrize("algorithm", FULL_WIDTH)
def test_blocks_of_hands_give_the_bits_of_the_sparse_matrix(algorithm, name) -> None:
    game, assembled = tp.load(name), build(algorithm)
    assert game.blocks is not None
    sparse, blocks = replace(game, blocks=None), forced(game, game.blocks)
    assert type(sparse.operator) is not type(blocks.operator)
    one, two = (assembled.advance(form, assembled.start(form), 60) for form in (sparse, blocks))
    saved, other = assembled.save(one), assembled.save(two)  # in the game's order, whatever that of the kernels
    assert saved.keys() == other.keys()
    for key, array in saved.items():
        np.testing.assert_array_equal(array, other[key])
    judged = [evaluate_strategies(form, assembled.report(form, one, "average").arrays) for form in (sparse, blocks)]
    assert judged[0].nash_conv == pytest.approx(judged[1].nash_conv, abs=1e-14 * game.largest_payoff)


def stirred(game: CompiledGame, assembled: Any, seed: int) -> Any:
    """A state in the middle of nowhere: random strategies and regrets, so that nothing ties."""
    state, rng = assembled.start(game), np.random.default_rng(seed)
    for player, treeplex in enumerate(game.treeplexes):
        behaviour = np.concatenate([np.ones(1), *(rng.dirichlet(np.ones(n)) for n in treeplex.actions.tolist())])
        weights = np.empty(treeplex.sequences)
        walks.realization_plan(treeplex, behaviour, weights)
        if hasattr(state, "averages"):
            state.averages[player][:] = weights
        else:
            learner = state.learners[player]
            if hasattr(learner, "regret"):
                learner.regret[:] = 0.1 * rng.standard_normal(treeplex.sequences)
            else:  # what a rule remembers: regrets or sums of squares, none of them negative
                learner.memory[:] = 0.1 * np.abs(rng.standard_normal(len(learner.memory)))
            learner.average[:], learner.strategy[:], learner.plan[:] = 10.0 * weights, behaviour, weights
    return state


@pytest.mark.parametrize("name", ["one_card_poker(16)", "one_card_poker(41)"])
@pytest.mark.parametrize("algorithm", LEARNERS)
def test_sums_over_ranks_follow_the_sparse_matrix(algorithm, name) -> None:
    """Their sums run in another order, so bits differ, and only those: five iterations agree to 1e-12.

    Not from the start, where the game is full of ties that rounding breaks, such as what to do with the middle card.
    """
    game, assembled = tp.load(name), build(algorithm)
    assert isinstance(game.operator, RankedBlocks)
    sparse = replace(game, blocks=None)
    assert not isinstance(sparse.operator, RankedBlocks)
    one, two = stirred(sparse, assembled, 5), stirred(game, assembled, 5)
    for _ in range(5):
        one, two = assembled.advance(sparse, one, 1), assembled.advance(game, two, 1)
        for left, right in zip(
            assembled.report(sparse, one, "average").arrays, assembled.report(game, two, "average").arrays, strict=True
        ):
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)
        for left, right in zip(
            assembled.report(sparse, one, "current").arrays, assembled.report(game, two, "current").arrays, strict=True
        ):
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)


# --- parameters ------------------------------------------------------------------------------------------------------

# What is done if nobody says otherwise, and whose choice it is. How numbers are stored and who shares the work is not
# part of an algorithm but of a run.
IN_TURN = {"turns": "alternating"}
SAMPLING = {
    "weight": "uniform",
    "turns": "alternating",
    "regret": "plain",
    "streams": 1,
    "average": "same",
}  # Lanctot 2009
DRAWN = SAMPLING | {"chance": "independent"}
PLAYED = {"order": "played"}
AFTER = {"discount": "after"}
HS = {"gamma": 30.0, "horizon": 0, "weight": "product"}
PURE = SAMPLING | {"weight": "log"}  # Ju et al. 2023: weights log(1 + t); turns are ours
RBP = {"threshold": 25.0, "bound": "payoff"}  # Brown & Sandholm 2015: 25 in (10), and U(I, a) a payoff
LASTING = {"length": "bound", "longest": 0}  # section 4: while (9) holds
DEFAULTS: dict[str, dict[str, Any]] = {
    "auto": {
        "members": "hs-pcfr+;dcfr;sapcfr+;cfr+-restarted;lp",
        "spots": "dcfr(alpha=1.4,beta=0.5,gamma=4,rise=100)",
    },  # ours, measured
    "lp": {},
    "cfr": IN_TURN | PLAYED | {"weight": "uniform", "average": "same"},  # turns are ours; the paper updates at once
    "cfr+": IN_TURN | PLAYED | {"delay": 0},  # Tammelin 2014; d = 0: weights 1, 2, 3, ...; order is ours
    "lcfr": IN_TURN | PLAYED | AFTER,  # Brown & Sandholm 2019
    "dcfr": IN_TURN | PLAYED | AFTER | {"alpha": 1.5, "beta": 0.0, "gamma": 2.0, "rise": 0.0},  # the same
    "pcfr+": IN_TURN | PLAYED,  # Farina, Kroer & Sandholm 2021
    "pdcfr+": IN_TURN | PLAYED | AFTER | {"alpha": 2.3, "gamma": 5.0},  # Xu et al. 2024
    "hs-dcfr": IN_TURN | PLAYED | AFTER | HS,  # Zhang, McAleer & Sandholm 2024
    "hs-pcfr+": IN_TURN | PLAYED | AFTER | HS,  # the same
    "sapcfr+": IN_TURN | PLAYED | {"predict": 1.0 / 3.0},  # Meng et al. 2025
    "apcfr+": IN_TURN | PLAYED | {"most": 5.0},  # the same
    "stable-pcfr+": IN_TURN | PLAYED | {"floor": 1.0},  # Farina et al. 2023
    "smooth-pcfr+": IN_TURN | PLAYED | {"floor": 1.0},  # the same
    "cfr+-restarted": IN_TURN | PLAYED | {"every": 32},  # ours; when to restart is PDLP's
    "pcfr+-restarted": IN_TURN | PLAYED | {"every": 32},
    "cfr-br": {},
    "cfr-full": IN_TURN,  # walks take the turns of what they are named after; Brown & Sandholm 2015: at once
    "cfr+-full": IN_TURN,
    "cfr-partial": IN_TURN | {"least": 0.0},
    "cfr+-partial": IN_TURN | {"least": 0.0},
    "cfr-rbp": IN_TURN | RBP | LASTING | {"stretch": 1.0},
    "cfr+-rbp": IN_TURN | RBP | LASTING | {"stretch": 1.0},
    "cfr-nested-rbp": IN_TURN | RBP | LASTING | {"threshold": 3.0},  # chosen by benchmarks/nested_pruning.py
    "cfr+-nested-rbp": IN_TURN | RBP | LASTING | {"threshold": 3.0},
    "cfr-hybrid": IN_TURN | RBP | {"threshold": 3.0},  # as cfr-nested-rbp
    "cfr+-hybrid": IN_TURN | RBP | {"threshold": 3.0},
    "cfr-zero-reach-br": IN_TURN | {"spread": "payoff"},  # section 3
    "cfr+-zero-reach-br": IN_TURN | {"spread": "payoff"},
    "mccfr-external": DRAWN | {"fallback": "uniform"},
    "mccfr-outcome": DRAWN | {"epsilon": 0.6, "baseline": 0.5},  # Lanctot et al. 2009; Schmid et al. 2019
    "mccfr-average": DRAWN | {"epsilon": 0.05, "tau": 1000.0, "beta": 1e6},  # Gibson et al. 2012
    "mccfr-chance": DRAWN | {"fallback": "uniform"},  # Zinkevich et al. 2007
    "mccfr-public": DRAWN,  # Johanson et al. 2012
    "gibson-pure-cfr": DRAWN,  # Gibson 2014
    "lazy-cfr": IN_TURN | {"threshold": 0.1, "regret": "plain"},  # the threshold is the authors' for larger games
    "pure-cfr": PURE | {"predict": 0.0},
    "pure-mccfr": DRAWN | {"weight": "square", "average": "recent", "predict": 0.0},  # ours: benchmarks choose it
    "warm-start": {  # Ju et al. 2023: 10 / T
        "warmup": 10_000,
        "elimination_threshold": 10.0,
        "mode": "safe",
        "sampler": "pure-mccfr",
        "streams": 1,
        "switch": "fixed",
    },
    "hedge": IN_TURN
    | {
        "rate": "variance",
        "d": 0.0,
        "order": "played",
        "rounds": 0,
    },  # Brown, Kroer & Sandholm 2017, section 5; turns are ours
    "hedge-dt": IN_TURN | {"d": 1.0, "rate": "variance"},  # the same; C = 1 + d = 2 is ours
    "hedge-dt-rbp": IN_TURN | RBP | {"d": 1.0, "rate": "variance"},
    "hedge-dt-hybrid": IN_TURN | RBP | {"d": 1.0, "rate": "variance"},
    "rm-dt": IN_TURN | {"d": 1.0},
    "rm-dt-rbp": IN_TURN | RBP | {"d": 1.0},
    "egt": {"weights": "kroer2015", "steps": "adaptive"},  # Kroer et al. 2015; Hoda et al. 2010
    "egt-dt": {"c": 0.01, "weights": "kroer2015", "steps": "adaptive"},  # c: Brown, Kroer & Sandholm 2017, Figure 2
    "rm+-dt": IN_TURN | {"d": 1.0},
    "pcfr+-dt": IN_TURN | {"d": 1.0},
    "egt-restarted": {"every": 32, "weights": "farina2021"},  # ours
    "mirror-prox": {"weights": "kroer2015"},
    "mirror-prox-dt": {"c": 0.01, "weights": "kroer2015"},  # as egt-dt
    "omd-dt": {"c": 0.01, "weights": "kroer2015"},
    "mirror-prox-restarted": {"every": 32, "weights": "kroer2015"},
    "omd": {"weights": "kroer2015"},
    "fp": {"step": "harmonic"},
    "xfp": {"step": "harmonic"},
}


def test_defaults_are_those_of_the_papers() -> None:
    assert {name: parameters(entry.build) for name, entry in ALGORITHMS.items()} == DEFAULTS


@pytest.mark.parametrize("algorithm", [name for name in DEFAULTS if DEFAULTS[name]])
def test_a_default_is_what_is_done_without_a_word(algorithm) -> None:
    """Naming every default changes no bit of ten iterations."""
    said = ",".join(f"{name}={value}" for name, value in DEFAULTS[algorithm].items())
    one, two = (tp.solve("kuhn", spec, iterations=10) for spec in (algorithm, f"{algorithm}({said})"))
    assert one.nodes_touched == two.nodes_touched
    for left, right in zip(one.policy.aligned(one.game), two.policy.aligned(one.game), strict=True):
        np.testing.assert_array_equal(left, right)


# --- suffixes: which nodes are visited, and nothing else --------------------------------------------------------------


SEEDS = range(8)


def strategies_of(game: CompiledGame, algorithm: str, iterations: int = 10) -> list[Any]:
    """Average and current strategies after iterations 1, 2, ..."""
    assembled: Any = build(algorithm)
    state, found = assembled.start(game), []
    for _ in range(iterations):
        state = assembled.advance(game, state, 1)
        found.append(
            np.concatenate(
                [*assembled.report(game, state, "average").arrays, *assembled.report(game, state, "current").arrays]
            )
        )
    return found


@pytest.mark.parametrize("turns", ["", "(turns=simultaneous)"])
@pytest.mark.parametrize(
    ("walk", "arrays"),
    [(f"{name}-{suffix}", name) for name in ("cfr", "cfr+") for suffix in ("full", "partial")],
)
def test_walks_give_the_iterates_of_the_algorithm_they_are_named_after(walk, arrays, turns) -> None:
    """CFR+ by walks keeps negative regret and forgets it when regret rises (Brown & Sandholm 2015, section 4.2), where
    CFR+ on arrays keeps zero: their positive parts, and so all strategies, are equal."""
    for seed in SEEDS:
        game = tp.load(RandomTree(seed=seed, depth=6))
        ours, theirs = (strategies_of(game, f"{name}{turns}") for name in (walk, arrays))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        assert np.abs(ours[-1] - ours[0]).max() > 0.1


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize(
    ("walk", "arrays"), [("hedge-dt(d=0,rate=theory,", "hedge(rate=theory,"), ("rm-dt(d=0,", "cfr(")]
)
def test_a_threshold_of_zero_gives_the_iterates_of_the_algorithm_on_arrays(walk, arrays, turns) -> None:
    """Hedge by the rate of theory: by that of variance probabilities underflow, and walks leave a strategy as it is
    where nobody comes, while arrays go on weighing its regrets by the falling rate."""
    for seed in SEEDS:
        game = tp.load(RandomTree(seed=seed, depth=6))
        ours, theirs = (strategies_of(game, f"{name}turns={turns})") for name in (walk, arrays))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_the_orders_of_turns_are_told_apart() -> None:
    """Otherwise the two tests above would say nothing of them."""
    for seed in SEEDS:
        game = tp.load(RandomTree(seed=seed, depth=6))
        for name in ("cfr-full", "cfr+-partial", "hedge-dt", "rm-dt"):
            one, two = (strategies_of(game, f"{name}(turns={turns})") for turns in ("alternating", "simultaneous"))
            assert np.abs(one[-1] - two[-1]).max() > 1e-3


# --- parameters that must not matter, or little ----------------------------------------------------------------------

FAMILY = [name for name in ITERATIVE if isinstance(build(name), CFR)]  # has storage and threads


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("name", ["kuhn", "leduc", "one_card_poker(20)"])
@pytest.mark.parametrize("algorithm", FAMILY)
def test_threads_do_not_change_a_bit(algorithm, name, turns) -> None:
    states = []
    for threads in (1, 2):
        game = tp.load(name)
        assembled: Any = build(f"{algorithm}(turns={turns})").open(game, Execution(threads=threads))
        assert assembled.engine.threads == threads
        states.append(assembled.advance(game, stirred(game, assembled, 5), 5))  # threads meet slowly on a busy machine
    for left, right in zip(leaves(states[0]), leaves(states[1]), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("algorithm", FAMILY)
def test_single_precision_is_enough_for_the_target(algorithm, small) -> None:
    """float32 has 24 bits: its rounding, 6e-8 of a number, is far below a thousandth."""
    check_solved(small, algorithm, TARGET, MOST, "float32")


@pytest.mark.parametrize("algorithm", [name for name in FAMILY if getattr(build(name).rule, "predict", 1.0) == 0.0])
def test_sixteen_bits_are_enough_for_the_target(algorithm, small) -> None:
    """A regret is rounded to a 65,534th of the largest of its infoset, far below a thousandth.

    What an iteration does to the bit is in tests/unit/test_compact.py. Predictive rules offer no 16 bits, nor do
    rules that are functions.
    """
    check_solved(small, algorithm, TARGET, MOST, "int16")


@pytest.mark.parametrize("algorithm", [*FULL_WIDTH, *RESTARTED])
def test_the_seed_of_an_algorithm_without_chance_does_not_matter(algorithm) -> None:
    one, two = (tp.solve("kuhn", algorithm, iterations=20, seed=seed) for seed in (0, 1))
    for left, right in zip(one.policy.aligned(one.game), two.policy.aligned(one.game), strict=True):
        np.testing.assert_array_equal(left, right)


# --- compilation -----------------------------------------------------------------------------------------------------


def dispatchers() -> list[Any]:
    """Every compiled function of the CPU kernels."""
    names = [found.name for found in walk_packages(engines.__path__, "treeplex.engines.")]
    modules = [import_module(name) for name in names if ".cuda" not in name]
    kernels = {id(part): part for module in modules for part in vars(module).values() if hasattr(part, "signatures")}
    return list(kernels.values())


def compiled() -> int:
    return sum(len(kernel.signatures) for kernel in dispatchers())


@pytest.fixture
def nothing_new() -> Callable[..., None]:
    def check(*calls: Callable[[], object]) -> None:
        before = compiled()
        for call in calls:
            call()
        assert compiled() == before

    return check


@pytest.mark.parametrize(
    "iterate",
    ["average", pytest.param("current", marks=pytest.mark.slow), pytest.param("best", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_a_second_solve_compiles_nothing(algorithm, iterate, nothing_new, tmp_path) -> None:
    """Nor does one of another game, with another number of iterations, or one that goes on from a file."""
    tp.solve("kuhn", algorithm, iterations=3)
    if algorithm == "warm-start":
        tp.solve("kuhn", "warm-start(warmup=2)", iterations=500)  # its second part, which a fast machine gets to below
    if algorithm == "egt-restarted":
        tp.solve("kuhn", "egt-restarted(every=1)", iterations=100)  # with a restart, as some of those below
    assert compiled() > 0
    nothing_new(
        lambda: tp.solve("kuhn", algorithm, iterations=9, iterate=iterate),
        lambda: tp.solve(RandomTree(seed=2), algorithm, iterations=5, iterate=iterate),
        lambda: tp.solve("goofspiel(cards=3)", algorithm, seconds=0.01, iterate=iterate, out=tmp_path / "run"),
        lambda: tp.resume(tmp_path / "run", iterations=10**9, seconds=0.01),
    )


def test_a_second_process_compiles_nothing() -> None:
    """It finds machine code on disk: first this process makes sure that it is there, then another one counts misses."""
    for algorithm in ITERATIVE:
        tp.solve("kuhn", algorithm, iterations=1)
    script = """
from treeplex.limits import Limits
import treeplex as tp
from importlib import import_module
from pkgutil import walk_packages
import treeplex.engines as engines
for algorithm in {algorithms!r}:
    tp.solve("kuhn", algorithm, iterations=2)
names = [found.name for found in walk_packages(engines.__path__, "treeplex.engines.")]
kernels = [part for name in names if ".cuda" not in name
           for part in vars(import_module(name)).values() if hasattr(part, "stats")]
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels),
      [kernel.__name__ for kernel in kernels if sum(kernel.stats.cache_misses.values())])
"""
    done = subprocess.run(
        [sys.executable, "-c", script.format(algorithms=ITERATIVE)], capture_output=True, text=True, check=True
    )
    hits, _, misses = done.stdout.partition(" ")
    assert int(hits) >= 3
    assert misses.strip() == "[]"
