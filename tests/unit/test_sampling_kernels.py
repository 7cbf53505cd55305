"""Sampling kernels against the recursions of the NumPy reference: the same random numbers, the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo, State, Stream
from treeplex.algorithms.registry import build
from treeplex.algorithms.traversals import AverageStrategy, Chance, External, Outcome, PureExternal, Reached
from treeplex.engines.sampling.arrays import BOTH, MATCH_OR_PICK, PURE
from treeplex.engines.sampling.cpu.random import uniform
from treeplex.engines.sampling.reference import random
from treeplex.engines.sampling.reference import sampling as book
from treeplex.engines.sampling.tree import nodes_per_walk, sampling
from treeplex.updates.turns import SIMULTANEOUS

SEED = 11
POWERS = [2**k for k in range(12)]
GAMES = ["kuhn", "leduc", "leduc(suits=true)", "random_tree(seed=3,depth=5)", "goofspiel(cards=3)"]

VARIANTS = [
    f"{name}({options})"
    for name in ("mccfr-external", "mccfr-outcome", "mccfr-average", "mccfr-chance", "pure-cfr", "pure-mccfr")
    for options in (
        "",
        "turns=simultaneous",
        "regret=plus,weight=square",
        "turns=simultaneous,regret=plus,weight=linear",
    )
] + [
    f"{name}(weight=uniform,average=square{turns})"
    for name in ("mccfr-external", "mccfr-outcome", "mccfr-average", "mccfr-chance", "pure-cfr", "pure-mccfr")
    for turns in ("", ",turns=simultaneous")
]
VARIANTS += ["mccfr-external(average=recent)", "pure-mccfr(weight=log,average=same)"]
VARIANTS += ["mccfr-external(fallback=random)", "mccfr-external(fallback=random,turns=simultaneous,regret=plus)"]
VARIANTS += ["mccfr-outcome(baseline=0)", "mccfr-average(epsilon=0.3,tau=1,beta=2)", "mccfr-chance(fallback=random)"]


def iterates(algorithm: MonteCarlo, game: Any, seed: int, stream: int = 0) -> Iterator[Stream]:
    """One stream of the whole algorithm by the recursions, after every iteration; tests/golden uses it, too."""
    form = sampling(game)
    learnt = algorithm._initial(form, seed, stream)  # the arrays, before anything is drawn
    draws, tables = random.Draws(random.start(seed, stream)), learnt.tables
    for table in tables:
        table.pick[:] = 0
    if len(tables[0].pick) > 1:
        held = form.tree.hands.max(axis=1) + 1
        book.scatter(form.tree, tables, (int(held[0]), int(held[1])), draws)
    nodes = np.zeros(2, dtype=np.int64)
    for t in count(1.0):
        schedules = (algorithm.weight, algorithm.average_weight or algorithm.weight)
        weights = [schedule(np.array([t])).item() for schedule in schedules]
        one(algorithm, form, tables, weights, draws, nodes)
        if algorithm.recent and t in POWERS:
            for marks, table in zip(learnt.marks, tables, strict=True):
                marks[:] = [table.average.copy(), marks[0].copy()]
        yield learnt._replace(counter=np.array([draws.counter], dtype=np.uint64), nodes=nodes)


def iterate(algorithm: MonteCarlo, game: Any, seed: int, iterations: int) -> State:
    """The state of one stream after so many iterations."""
    return State((next(islice(iterates(algorithm, game, seed), iterations - 1, None)),), iterations)


def one(algorithm: MonteCarlo, form: Any, tables: Any, weights: Any, draws: random.Draws, nodes: Any) -> None:
    at_once, tree = algorithm.turns == SIMULTANEOUS, form.tree
    sampler, late = algorithm.sampler, []
    joint = isinstance(sampler, Chance | Reached) or (isinstance(sampler, PureExternal) and at_once)
    for who in (BOTH,) if joint and at_once else (0, 1):
        full = isinstance(sampler, Reached)
        nodes[0] += form.pre_deal_nodes if full else form.pre_deal_path
        regrets: dict[Any, list[float]] = {}
        for deal in range(tree.hands.shape[1]) if full else (book.deal(tree, draws),):
            walk = book.Walk(tree, deal, tables, weights[0], algorithm.plus, draws, regrets=regrets)
            walk.average_weight = weights[1]
            walk.later = late if at_once else None
            match sampler:
                case External(rule):
                    book.external(walk, who, 1.0, 0.0, 0.0, rule=rule)
                case AverageStrategy(epsilon, tau, beta):
                    book.external(walk, who, epsilon, tau, beta)
                case Outcome(epsilon, rate):
                    book.outcome(walk, who, epsilon, rate)
                case PureExternal() if not joint:
                    book.pure(walk, who)
                case _:
                    rule = PURE if isinstance(sampler, PureExternal) else sampler.rule
                    chance = float(tree.chances.probability[deal]) if full else 1.0
                    book.joint(walk, who, rule, not full, chance=chance)
            nodes += (walk.nodes, walk.refused)
        if joint:
            for player in (0, 1) if who == BOTH else (who,):
                book.settle(walk, player, PURE if isinstance(sampler, PureExternal) else sampler.rule)
    for player, start, regrets in late:
        book.add(tables[player], start, regrets, algorithm.plus)
        if sampler == External(MATCH_OR_PICK) and not any(book.positive(tables[player], start, len(regrets))):
            tables[player].pick[start] = draws.any_of(len(regrets))


def leaves(state: Any) -> list[Any]:
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else [np.asarray(state)]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_follow_the_recursions_to_the_bit(variant, name) -> None:
    game, algorithm = tp.load(name), build(variant)
    assert isinstance(algorithm, MonteCarlo)
    iterations = 30 if isinstance(algorithm.sampler, Reached) else 200
    ours = algorithm.advance(game, algorithm.start(game, SEED), iterations)
    expected = iterate(algorithm, game, SEED, iterations)
    for left, right in zip(leaves(ours), leaves(expected), strict=True):
        np.testing.assert_array_equal(left, right)
    assert ours.streams[0].nodes[0] > 0
    assert any(table.average.any() for table in ours.streams[0].tables)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_random_numbers_are_those_of_splitmix(seed) -> None:
    draws, state = random.Draws(random.start(seed, 3)), random.counter(seed, 3)
    assert [uniform(state) for _ in range(1000)] == [draws.uniform() for _ in range(1000)]
    assert int(state[0]) == draws.counter


def test_splitmix_gives_the_published_numbers() -> None:
    """The first outputs for seed 1234567, as the generator's reference implementation in C prints them."""
    state, found = 1234567, []
    for _ in range(5):
        state = (state + random.GOLDEN) & random.MASK
        found.append(random.mixed(state))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_streams_differ_and_numbers_are_even() -> None:
    starts = {random.start(seed, stream) for seed in range(50) for stream in range(50)}
    assert len(starts) == 2500
    state = random.counter(7, 0)
    numbers = np.array([uniform(state) for _ in range(20_000)])
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    counts = np.bincount((numbers * 20).astype(int), minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 50.0  # chi squared with 19 degrees: above 50 once in 7,000
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.03  # four standard errors


@pytest.mark.parametrize("check", [lambda c: c.probability, lambda c: c.threshold])
def test_alias_tables_hold_the_probabilities(check: Callable[[Any], Any]) -> None:
    """Every draw of a slot and a fraction, integrated: what comes out is the distribution itself."""
    for name in (*GAMES, "liars_dice(sides=3)", "leduc_ext(4,2,1)"):
        form = sampling(tp.load(name))
        chances, packed = form.tree.chances, form.tree.packed
        deals = form.tree.hands.shape[1]
        places = {(0, deals)}
        for node in np.flatnonzero((packed[:, 0] & 3) == 2).tolist():
            width = (int(packed[node, 0]) >> 2) & (2**24 - 1)
            places |= {(int(packed[node, 1]) + deal * width, width) for deal in range(deals)}
        assert len(check(chances)) == len(chances.alias)
        for start, width in places:
            p, keep, alias = (part[start : start + width] for part in chances)
            drawn = (keep + np.bincount(alias, weights=1.0 - keep, minlength=width)) / width
            np.testing.assert_allclose(drawn, p, rtol=0, atol=1e-14)
            assert (drawn[p == 0.0] == 0.0).all()


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("powers", [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 1.0, 0.0)])
def test_nodes_per_walk_are_those_of_a_recursion(name, powers) -> None:
    """One for the node, and of each of w children as much as the share w**power / w of walks that enter it."""
    tree = sampling(tp.load(name)).tree

    def entered(node: int) -> float:
        here = book.unpack(tree, node, 0)
        tried = len(here.moves) ** (powers[here.actor] - 1.0) if here.moves else 0.0
        return 1.0 + tried * sum(entered(child) for child in here.moves)

    assert nodes_per_walk(tree, powers) == pytest.approx(entered(0), rel=1e-12)
    if powers == (1.0, 1.0, 1.0):
        assert nodes_per_walk(tree, powers) == len(tree.packed)
