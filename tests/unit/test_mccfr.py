"""Monte Carlo CFR as a user runs it: seeds, streams, resuming, forms of the tree, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR, cfr, cfr_plus
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.options import turn_order
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.algorithms.traversals import Reached
from treeplex.engines.sampling.arrays import MATCH
from treeplex.engines.sampling.tree import sample_tree, sampling
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.leduc_pots import leduc_pots
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree
from treeplex.papers.pmccfr_table1 import ALGORITHMS as PAPER
from treeplex.updates.schedules import uniform

SAMPLED = [name for name, entry in ALGORITHMS.items() if entry.build and isinstance(build(name), MonteCarlo)]
RANDOM = [*SAMPLED, "warm-start(warmup=50)"]


def rows(solution: Any) -> list[Any]:
    return list(solution.policy.rows())


def test_all_samplers_are_here() -> None:
    assert set(SAMPLED) == {
        "mccfr-external",
        "mccfr-outcome",
        "mccfr-average",
        "mccfr-chance",
        "mccfr-public",
        "gibson-pure-cfr",
        "pure-cfr",
        "pure-mccfr",
    }


@pytest.mark.parametrize("algorithm", RANDOM)
def test_a_seed_decides_everything(algorithm) -> None:
    one, same, other = (tp.solve("leduc", algorithm, iterations=100, seed=seed) for seed in (5, 5, 6))
    assert rows(one) == rows(same)
    assert one.nodes_touched == same.nodes_touched
    assert rows(one) != rows(other)
    assert one.seed == 5


@pytest.mark.parametrize("algorithm", [*RANDOM, "pure-mccfr(streams=2)", "mccfr-external(turns=simultaneous)"])
def test_a_run_resumes_to_the_same_bits(algorithm, tmp_path) -> None:
    whole = tp.solve("leduc", algorithm, iterations=90, seed=3)
    tp.solve("leduc", algorithm, iterations=37, seed=3, out=tmp_path / "run")
    resumed = tp.resume(tmp_path / "run", iterations=90)
    assert rows(resumed) == rows(whole)
    assert resumed.nodes_touched == whole.nodes_touched
    assert [row["nash_conv"] for row in resumed.log.to_pylist()] == [row["nash_conv"] for row in whole.log.to_pylist()]


@pytest.mark.parametrize("rules", [RandomTree(seed=4), leduc_pots()], ids=["plain", "dealt"])
def test_a_game_without_a_name_resumes_too(rules, tmp_path) -> None:
    """It is read from the folder, where it has no public tree any more."""
    whole = tp.solve(rules, "pure-mccfr", iterations=60, seed=3)
    tp.solve(rules, "pure-mccfr", iterations=20, seed=3, out=tmp_path / "run")
    assert rows(tp.resume(tmp_path / "run", iterations=60)) == rows(whole)


def test_streams_are_runs_of_their_own_merged_by_reach() -> None:
    """Deterministic; the first is the run of one stream; the answer is the sum of both averages."""
    game, algorithm = tp.load("leduc"), build("pure-mccfr(streams=2,average=same)")
    assert isinstance(algorithm, MonteCarlo)
    states = [algorithm.advance(game, algorithm.start(game), 500) for _ in range(2)]
    single = replace(algorithm, streams=1)
    alone = single.advance(game, single.start(game), 500)
    for player in (0, 1):
        parts = [[stream.tables[player].average for stream in state.streams] for state in states]
        np.testing.assert_array_equal(parts[0], parts[1])
        np.testing.assert_array_equal(parts[0][0], alone.streams[0].tables[player].average)
        assert not np.array_equal(parts[0][0], parts[0][1])
    assert algorithm.work(game, states[0]).nodes > single.work(game, alone).nodes
    both, form = algorithm.report(game, states[0], "average").arrays, sample_tree(game)
    for player, treeplex in enumerate(game.treeplexes):
        total = sum(form.of_player(player, stream.tables[player].average) for stream in states[0].streams)
        sums = np.add.reduceat(total, treeplex.first[:-1])
        visited = np.repeat(sums > 0, treeplex.actions)
        expected = total[1:][visited] / np.repeat(sums, treeplex.actions)[visited]
        np.testing.assert_allclose(both[player][1:][visited], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_that_share_the_streams_do_not_change_a_bit(threads) -> None:
    one, other = (tp.solve("leduc", "pure-mccfr(streams=3)", iterations=200, threads=count) for count in (0, threads))
    assert rows(one) == rows(other)
    assert one.nodes_touched == other.nodes_touched


def test_more_streams_are_stronger_on_average() -> None:
    """Eight streams against the mean of eight runs of one stream with as many iterations each."""
    alone = [tp.solve("leduc", "pure-mccfr", iterations=2000, seed=seed).nash_conv for seed in range(8)]
    together = tp.solve("leduc", "pure-mccfr(streams=8)", iterations=2000).nash_conv
    assert together < sum(alone) / 8


@pytest.mark.parametrize("name", ["kuhn", "leduc", "leduc(suits=true)", "liars_dice(sides=3)", "leduc_ext(4,2,2)"])
@pytest.mark.parametrize("algorithm", ["mccfr-chance", "pure-cfr"])
def test_public_trees_and_histories_are_the_same_game(algorithm, name) -> None:
    """Full walks enter the same number of nodes; sampled ones converge to the same value."""
    game, assembled = tp.load(name), build(algorithm)
    assert isinstance(assembled, MonteCarlo)
    plain = replace(game, dealt=None)
    assert sampling(plain).pre_deal_path == 0
    found = []
    for form in (game, plain):
        state = assembled.advance(form, assembled.start(form), 3000 if algorithm == "mccfr-chance" else 200)
        found.append(evaluate_strategies(form, assembled.report(form, state, "average").arrays))
    scale = game.largest_payoff
    assert all(one.nash_conv < 0.5 * scale for one in found)
    assert abs(found[0].value - found[1].value) < sum(one.nash_conv for one in found)


@pytest.mark.parametrize("name", ["kuhn", "leduc(suits=true)", "liars_dice(sides=3)", "goofspiel(cards=3)"])
def test_a_full_first_walk_enters_what_regret_matching_reaches(name) -> None:
    """From uniform strategies everything is reached: the walk of CFR enters every history once."""
    game = tp.load(name)
    for form in (game, replace(game, dealt=None)):
        state = PAPER["CFR"].advance(form, MonteCarlo.start(PAPER["CFR"], form), 1)  # from uniform ones
        assert state.streams[0].nodes.tolist() == [game.nodes, 0]


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("regret", ["plain", "plus"])
def test_full_walks_are_cfr(regret, turns) -> None:
    """With regret matching and nothing sampled: the strategies and the averages of the array solvers.

    Walks in turns add the opponent's strategy, so player 0's average starts with the second one: the order "faced".
    """
    game = tp.load(RandomTree(seed=1, depth=5))
    walks = MonteCarlo(Reached(MATCH), uniform(), turn_order(turns), regret == "plus", 1)
    arrays: CFR = replace((cfr_plus if regret == "plus" else cfr)(turns=turns, order="faced"), weight=uniform())
    one, two = walks.start(game), arrays.start(game)
    for _ in range(10):
        one, two = walks.advance(game, one, 1), arrays.advance(game, two, 1)
        for left, right in zip(
            walks.report(game, one, "current").arrays, arrays.report(game, two, "current").arrays, strict=True
        ):
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)
    for left, right in zip(
        walks.report(game, one, "average").arrays, arrays.report(game, two, "average").arrays, strict=True
    ):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("iterations", "since"), [(1, 0), (2, 1), (3, 1), (64, 32), (100, 32), (127, 32), (128, 64)])
def test_a_recent_average_leaves_the_beginning_out(iterations, since) -> None:
    """The plain average of what was added since the last power of two in the first half, where anything was."""
    game = tp.load("leduc")
    recent, plain = build("pure-mccfr"), build("pure-mccfr(average=uniform)")
    assert isinstance(recent, MonteCarlo)
    assert isinstance(plain, MonteCarlo)
    ours = recent.report(game, recent.advance(game, recent.start(game, 2), iterations), "average").arrays
    form, state = sample_tree(game), plain.advance(game, plain.start(game, 2), since)
    before = [form.of_player(player, table.average) for player, table in enumerate(state.streams[0].tables)]
    state = plain.advance(game, state, iterations - since)
    for player, treeplex in enumerate(game.treeplexes):
        total = form.of_player(player, state.streams[0].tables[player].average)
        for start, end in zip(treeplex.first[:-1].tolist(), treeplex.first[1:].tolist(), strict=True):
            counts = total[start:end] - before[player][start:end]
            counts = counts if counts.any() else total[start:end]
            expected = counts / counts.sum() if counts.any() else np.full(end - start, 1.0 / (end - start))
            np.testing.assert_allclose(ours[player][start:end], expected, rtol=0, atol=1e-15)


def test_weights_are_what_they_are_called() -> None:
    t = np.arange(1.0, 6.0)
    for name, expected in {"uniform": t**0, "linear": t, "square": t**2, "log": np.log(1 + t)}.items():
        algorithm = build(f"mccfr-external(weight={name})")
        assert isinstance(algorithm, MonteCarlo)
        np.testing.assert_allclose(algorithm.weight(t), expected)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mccfr-external(weight=cubic)", "'weight' parameter must be one of uniform, linear, square, log, got 'cubic'"),
        ("pure-mccfr(turns=both)", "'turns' parameter must be one of alternating, simultaneous"),
        ("pure-mccfr(regret=1)", "'regret' parameter must be one of plain, plus, discounted, got 1"),
        ("pure-mccfr(streams=0)", "'streams' parameter must be a whole number from 1 to 256, got 0"),
        ("mccfr-outcome(epsilon=0)", "'epsilon' parameter must be a number from 1e-06 to 1, got 0"),
        ("mccfr-outcome(baseline=2)", "'baseline' parameter must be a number from 0 to 1, got 2"),
        ("mccfr-average(epsilon=2)", "'epsilon' parameter must be a number"),
        ("mccfr-chance(fallback=never)", "'fallback' parameter must be one of uniform, random"),
        ("warm-start(warmup=0)", "'warmup' parameter must be a whole number from 1"),
        ("warm-start(mode=bold)", "'mode' parameter must be one of safe, unsafe"),
        (
            "warm-start(sampler=cfr)",
            "'sampler' parameter must be one of pure-mccfr, mccfr-external, mccfr-chance, got 'cfr'",
        ),
        (
            "pure-mccfr(average=cubic)",
            "'average' parameter must be one of same, recent, uniform, linear, square, log, got 'cubic'",
        ),
        ("mccfr-external(fallback=never)", "'fallback' parameter must be one of uniform, random"),
        ("cfr(weight=cubic)", "'weight' parameter must be one of uniform, linear, square, log, got 'cubic'"),
        ("cfr+(order=old)", "'order' parameter must be one of played, faced, next, got 'old'"),
        ("warm-start(elimination_threshold=-1)", "'elimination_threshold' parameter must be a number"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(spec, words) -> None:
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        tp.solve("kuhn", spec, iterations=1)


@pytest.mark.parametrize("seed", [-1, 1.5, True, 2**63, "a"])
def test_a_seed_is_a_whole_number(seed) -> None:
    with pytest.raises(ParameterError, match="'seed' parameter must be an integer >= 0"):
        tp.solve("kuhn", "pure-mccfr", iterations=1, seed=seed)


@pytest.mark.slow
def test_the_leduc_of_the_paper_has_the_papers_nodes(check_rules) -> None:
    assert tp.load(leduc_pots()).nodes == 245_336
    check_rules(leduc_pots())


def test_nothing_of_the_size_of_the_game_is_stored() -> None:
    """A public tree for thirty deals."""
    game = tp.load("kuhn_ext(cards=6,bets=12,raises=4)")
    form = sample_tree(game)
    assert len(form.tree.packed) * 30 + 1 == game.nodes  # thirty deals
    assert form.tree.packed.nbytes + form.tree.outcome.nbytes < game.nodes


@pytest.mark.parametrize("algorithm", ["pure-cfr", "pure-mccfr"])
def test_in_a_matrix_game_pure_strategies_are_fictitious_play(algorithm) -> None:
    """Ju et al., "Fictitious Play achieves Blackwell approachability": best responses to what was played so far."""
    table = np.random.default_rng(4).standard_normal((5, 7))
    game = tp.load(MatrixGame(table))
    assembled = build(f"{algorithm}(weight=uniform,average=same,turns=simultaneous)")
    assert isinstance(assembled, MonteCarlo)
    state = assembled.start(game)
    row, column = (int(np.argmax(strategy[1:])) for strategy in assembled.report(game, state, "current").arrays)
    counts = np.zeros(5), np.zeros(7)
    for _ in range(200):
        counts[0][row] += 1
        counts[1][column] += 1
        row, column = int(np.argmax(table @ counts[1])), int(np.argmax(-counts[0] @ table))
        state = assembled.advance(game, state, 1)
        played = [int(np.argmax(strategy[1:])) for strategy in assembled.report(game, state, "current").arrays]
        assert played == [row, column]
        for strategy, count in zip(assembled.report(game, state, "average").arrays, counts, strict=True):
            np.testing.assert_allclose(strategy[1:], count / count.sum(), rtol=0, atol=1e-15)
