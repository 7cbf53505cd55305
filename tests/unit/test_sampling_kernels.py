"""Sampling kernels against the recursions of the NumPy reference: the same random numbers, the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo, SamplingState, SamplingStream
from treeplex.algorithms.registry import build
from treeplex.algorithms.traversals import (
    AverageStrategy,
    Chance,
    Drawn,
    External,
    Outcome,
    Public,
    PureExternal,
    Reached,
)
from treeplex.engines.sampling.arrays import BOTH, MATCH, MATCH_OR_PICK, PURE
from treeplex.engines.sampling.cpu.random import draw_move, uniform
from treeplex.engines.sampling.reference import drawn, public, random
from treeplex.engines.sampling.reference import sampling as book
from treeplex.engines.sampling.reference.discount import Discount
from treeplex.engines.sampling.tree import nodes_per_walk, sampling
from treeplex.engines.sequence.rules import payoff_range
from treeplex.updates.lazy_discounts import logarithms
from treeplex.updates.rule import Rule
from treeplex.updates.turns import SIMULTANEOUS

SEED = 11
POWERS = [2**k for k in range(12)]
GAMES = ["kuhn", "leduc", "leduc(suits=true)", "random_tree(seed=3,depth=5)", "goofspiel(cards=3)"]

ALL = ["mccfr-external", "mccfr-outcome", "mccfr-average", "mccfr-chance", "mccfr-public", "gibson-pure-cfr"]
ALL += ["pure-cfr", "pure-mccfr"]
VARIANTS = [
    f"{name}({options})"
    for name in ALL
    for options in (
        "",
        "turns=simultaneous",
        "regret=plus,weight=square",
        "turns=simultaneous,regret=plus,weight=linear",
    )
] + [f"{name}(weight=uniform,average=square{turns})" for name in ALL for turns in ("", ",turns=simultaneous")]
CORRELATED = [
    f"{name}(chance=correlated{options})"
    for name in ALL
    if name != "pure-cfr"
    for options in ("", ",turns=simultaneous,regret=plus")
]
VARIANTS += CORRELATED
VARIANTS += [f"{name}(regret=discounted{turns})" for name in ALL for turns in ("", ",turns=simultaneous")]
VARIANTS += [
    f"{name}(predict=0.5{options})"
    for name in ("pure-cfr", "pure-mccfr")
    for options in ("", ",turns=simultaneous", ",regret=plus,weight=linear")
]
VARIANTS += ["mccfr-external(average=recent)", "pure-mccfr(weight=log,average=same)"]
VARIANTS += ["mccfr-external(fallback=random)", "mccfr-external(fallback=random,turns=simultaneous,regret=plus)"]
VARIANTS += ["mccfr-outcome(baseline=0)", "mccfr-average(epsilon=0.3,tau=1,beta=2)", "mccfr-chance(fallback=random)"]


def iterates(algorithm: MonteCarlo, game: Any, seed: int, stream: int = 0) -> Iterator[SamplingStream]:
    """One stream of the whole algorithm by the recursions, after every iteration; tests/golden uses it, too."""
    form = sampling(game, correlated=algorithm.correlated)
    learnt = algorithm._initial(form, seed, stream)  # the arrays, before anything is drawn
    functions = None
    if algorithm.discounts is not None:
        learnt = learnt._replace(memory=tuple(np.zeros(2 * size) for size in form.sequences))
    if algorithm.rule is not None:
        learnt = algorithm._with_memory(game, form, learnt, algorithm.rule)
        functions = tuple(function(algorithm.rule, game, form, learnt, player) for player in (0, 1))
    draws, tables = random.Draws(random.start(seed, stream)), learnt.tables
    if algorithm.correlated:
        draws = random.CorrelatedDraws(draws.counter, learnt.counter[1:].tolist())
    for table in tables:
        table.pick[:] = 0
    if len(tables[0].pick) > 1:
        held = form.tree.hands.max(axis=1) + 1
        book.scatter(form.tree, tables, (int(held[0]), int(held[1])), draws)
    nodes = np.zeros(2, dtype=np.int64)
    discounts = (Discount(), Discount()) if algorithm.discounts else None
    for t in count(1.0):
        if discounts:
            for own in discounts:
                own.now = tuple(logarithms(algorithm.discounts, int(t) - 1, 1)[0].tolist())
        schedules = (algorithm.weight, algorithm.average_weight or algorithm.weight)
        weights = [schedule(np.array([t])).item() for schedule in schedules]
        for own in functions or ():
            own.iteration = int(t)
        one(algorithm, form, tables, weights, draws, nodes, functions, discounts)
        for own, memory in zip(discounts or (), learnt.memory, strict=False):
            for start, last in own.last.items():
                memory[start], memory[len(memory) // 2 + start] = last
        if algorithm.recent and t in POWERS:
            for marks, table in zip(learnt.marks, tables, strict=True):
                marks[:] = [table.average.copy(), marks[0].copy()]
        fractions = draws.fractions if isinstance(draws, random.CorrelatedDraws) else []
        yield learnt._replace(counter=np.array([draws.counter, *fractions], dtype=np.uint64), nodes=nodes)


def iterate(algorithm: MonteCarlo, game: Any, seed: int, iterations: int) -> SamplingState:
    """The state of one stream after so many iterations."""
    return SamplingState((next(islice(iterates(algorithm, game, seed), iterations - 1, None)),), iterations)


def function(rule: Rule, game: Any, form: Any, learnt: SamplingStream, player: int) -> book.Function:
    """A player's rule by the recursions, on views of the memory."""
    treeplex, memory = game.treeplexes[player], dict[int, Any]()
    for first, actions in zip(
        form.sequence_index[player][treeplex.first[:-1]].tolist(), treeplex.actions.tolist(), strict=True
    ):
        own = learnt.memory[player][rule.memory * first : rule.memory * (first + actions)]
        memory[first] = own.reshape(rule.memory, actions)
    return book.Function(rule, memory, rule.constants_of(payoff_range(game)))


def one(
    algorithm: MonteCarlo,
    form: Any,
    tables: Any,
    weights: Any,
    draws: random.Draws,
    nodes: Any,
    functions: Any = None,
    discounts: Any = None,
) -> None:
    at_once, tree = algorithm.turns == SIMULTANEOUS, form.tree
    sampler, late, waiting = algorithm.sampler, [], {}
    joint = isinstance(sampler, Chance | Reached) or (isinstance(sampler, PureExternal) and at_once)
    for who in (BOTH,) if joint and at_once else (0, 1):
        full = isinstance(sampler, Reached)
        nodes[0] += form.pre_deal_nodes if full or sampler == Public() else form.pre_deal_path
        regrets: dict[Any, list[float]] = waiting if sampler == Public() and at_once else {}
        for deal in range(tree.hands.shape[1]) if full else (book.deal(tree, draws),):
            walk = book.SampleWalk(tree, deal, tables, weights[0], algorithm.plus, draws, regrets=regrets)
            walk.average_weight, walk.functions, walk.discounts = weights[1], functions, discounts
            walk.predict = getattr(sampler, "predict", 0.0)
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
                case Drawn():
                    drawn.drawn(walk, who)
                case Public():
                    odds, counts = public.start(walk)
                    public.public(walk, who, odds, counts, [1.0] * counts[1 - who])
                case _:
                    rule = PURE if isinstance(sampler, PureExternal) else sampler.rule
                    chance = float(tree.chances.probability[deal]) if full else 1.0
                    book.joint(walk, who, rule, not full, chance=chance)
            nodes += (walk.nodes, walk.skipped)
        if sampler == Public() and (who == 1 or not at_once):
            for player in (0, 1) if at_once else (who,):
                book.settle(walk, player, MATCH)
        if joint:
            for player in (0, 1) if who == BOTH else (who,):
                book.settle(walk, player, PURE if isinstance(sampler, PureExternal) else sampler.rule)
    for player, start, regrets in late:
        walk.add(player, start, regrets)
        if sampler == External(MATCH_OR_PICK) and not any(book.positive(tables[player], start, len(regrets))):
            tables[player].pick[start] = draws.any_of(len(regrets))


def test_samplers_of_two_kinds_differ() -> None:
    """Algorithms ask for kinds by comparing them; equal numbers are not enough."""
    assert len({External(PURE), Chance(PURE), Reached(PURE)}) == 3


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


# --- correlated chance draws -----------------------------------------------------------------------------------------


def chance_nodes(form: Any) -> list[tuple[int, int]]:
    """First place and width of every chance node and deal; the deal itself first."""
    packed, deals = form.tree.packed, form.tree.hands.shape[1]
    found = [(0, deals)] if deals > 1 else []
    for node in np.flatnonzero((packed[:, 0] & 3) == 2).tolist():
        width = (int(packed[node, 0]) >> 2) & (2**24 - 1)
        found += [(int(packed[node, 1]) + deal * width, width) for deal in range(deals)]
    return found


@pytest.mark.parametrize("name", [*GAMES, "liars_dice(sides=3)", "leduc_ext(4,2,1)"])
def test_every_chance_node_has_a_place_of_its_own(name) -> None:
    game = tp.load(name)
    form, plain = sampling(game, correlated=True), sampling(game)
    places = chance_nodes(form)
    assert len({start for start, _ in places}) == len(places)
    for (start, width), (other, _) in zip(places, chance_nodes(plain), strict=True):
        p = plain.tree.chances.probability[other : other + width]
        np.testing.assert_array_equal(form.tree.chances.probability[start : start + width], p)
        np.testing.assert_array_equal(form.tree.chances.threshold[start : start + width], np.cumsum(p))


@pytest.mark.parametrize("name", ["leduc", "random_tree(seed=3,depth=5)", "kuhn"])
def test_draws_are_multiples_of_the_golden_section_through_the_distribution(name) -> None:
    """u_k = frac(phi + k (sqrt(5) - 1) / 2), in floating point; a draw is where u_k lies among the sums."""
    form, golden = sampling(tp.load(name), correlated=True), (np.sqrt(5.0) - 1.0) / 2.0
    chances = form.tree.chances
    counter = random.counter(5, 0, len(chances.probability))
    for start, width in chance_nodes(form)[:50]:
        phi = int(counter[1 + start]) / 2.0**64
        u = (phi + np.arange(300) * golden) % 1.0
        sums = np.cumsum(chances.probability[start : start + width])
        expected = np.searchsorted(sums, u * sums[-1], side="right")
        found = [
            int(draw_move(chances.threshold, chances.alias, np.uint64(start), np.uint64(width), counter)) for _ in u
        ]
        clear = np.abs(sums[None, :] - (u * sums[-1])[:, None]).min(axis=1) > 1e-9  # of rounding in u
        assert clear.mean() > 0.99
        np.testing.assert_array_equal(np.array(found)[clear], expected[clear])
    assert abs(random.GOLDEN / 2.0**64 - golden) < 2.0**-52
    own = random.start(5, random.FRACTIONS)
    assert random.counter(5, 0, 3).tolist() == [
        random.start(5, 0),
        *(random.mixed((own + k * random.GOLDEN) & random.MASK) for k in (1, 2, 3)),
    ]


@pytest.mark.parametrize("name", ["leduc", "kuhn_ext(4,2,2)"])
def test_correlated_draws_come_as_often_as_they_should(name) -> None:
    """After N draws every move has come N p times up to a few: an independent draw is off by sqrt(N p (1 - p))."""
    form, count = sampling(tp.load(name), correlated=True), 20_000
    chances, worst = form.tree.chances, 0.0
    counter = random.counter(3, 0, len(chances.probability))
    for start, width in chance_nodes(form)[:4]:
        found = [
            int(draw_move(chances.threshold, chances.alias, np.uint64(start), np.uint64(width), counter))
            for _ in range(count)
        ]
        p = chances.probability[start : start + width] / chances.probability[start : start + width].sum()
        times = np.bincount(found, minlength=width)
        assert (times[p == 0.0] == 0).all()
        worst = max(worst, float(np.abs(times - count * p).max()))
    assert worst < 8.0  # sqrt(20,000 / 6) is 58


def test_phases_are_evenly_spread_so_every_draw_has_its_distribution() -> None:
    """Over seeds the k-th draw is that of the distribution, whatever k: what is unbiased one by one stays so."""
    form = sampling(tp.load("leduc"), correlated=True)
    chances, (start, width) = form.tree.chances, chance_nodes(form)[0]
    found = np.empty((4000, 3), dtype=int)
    for seed in range(len(found)):
        counter = random.counter(seed, 0, 1)  # of the deal alone
        for k in range(3):
            found[seed, k] = draw_move(chances.threshold, chances.alias, np.uint64(start), np.uint64(width), counter)
    for k in range(3):
        expected = len(found) * chances.probability[:width]
        times = np.bincount(found[:, k], minlength=width)
        assert ((times - expected) ** 2 / expected).sum() < width + 6.0 * np.sqrt(2.0 * width)


@pytest.mark.parametrize("variant", CORRELATED)
def test_fractions_are_part_of_a_checkpoint(variant) -> None:
    game, algorithm = tp.load("leduc"), build(variant)
    whole = algorithm.advance(game, algorithm.start(game, SEED), 300)
    part = algorithm.advance(game, algorithm.start(game, SEED), 120)
    later = algorithm.advance(game, algorithm.restore(game, algorithm.save(part), 0), 180)
    for left, right in zip(leaves(whole), leaves(later), strict=True):
        np.testing.assert_array_equal(left, right)
    assert any(key.endswith("counter") and len(array) > 1 for key, array in algorithm.save(part).items())
