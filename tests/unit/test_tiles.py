"""Tiles: 16 infosets side by side give the bits of walks over the game's own arrays, and the reference's numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.cfr import CFR, cfr, cfr_plus, dcfr, pcfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.compile import CompiledGame, compile_game
from treeplex.compile.blocks import BlockRows, ClassRows, RankedRows
from treeplex.compile.dealt import compile_dealt
from treeplex.engines.sequence import partition
from treeplex.engines.sequence import tiles as layout_module
from treeplex.engines.sequence.arrays import Learner, Matching
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.cpu.tiled import iterate_tiles
from treeplex.engines.sequence.engine import SequenceTables, TiledTables
from treeplex.engines.sequence.learners import in_places, sequence_form, steps, tiled_form
from treeplex.engines.sequence.partition import passes, paying, runs
from treeplex.engines.sequence.reference import iterations as reference
from treeplex.engines.sequence.tiles import NOWHERE, TiledGame, common_unit, lay_out, tiled
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.catalog import make
from treeplex.games.random_tree import RandomTree
from treeplex.kernels.threads.team import run_threads
from treeplex.kernels.vectors import LANES

RULES = {"cfr": cfr, "cfr+": cfr_plus, "dcfr": dcfr, "pcfr+": pcfr_plus}
TURNS = ["alternating", "simultaneous"]
DEALT = {BlockRows: "kuhn_ext(9,2,2)", RankedRows: "one_card_poker(20)", ClassRows: "rhode_island(ranks=3,suits=2)"}

trees = st.builds(
    RandomTree,
    seed=st.integers(0, 2**63 - 1),
    depth=st.integers(1, 6),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
)


@pytest.fixture(autouse=True)
def _tiles_however_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "FILLED", np.inf)


def walk(*given: Any) -> None:
    iterate(*given, None)


def walked(algorithm: CFR, game: CompiledGame, counts: list[int], using: Any = walk) -> SequenceTables:
    """Without tiles: by walks, or by the reference."""
    state, rule = algorithm.start(game), Matching(algorithm.rule.predict)
    assert isinstance(state, SequenceTables)
    for count in counts:
        now = steps(state.iteration, count, algorithm.weight, algorithm.rule)
        form = sequence_form(game, 1, algorithm.storage)
        using(form, state.learners, (rule, rule), now, algorithm.turns)
        state = state._replace(iteration=state.iteration + count)
    return state


def in_tiles(algorithm: CFR, game: CompiledGame, counts: list[int]) -> TiledTables:
    state: Any = algorithm.start(game)
    for count in counts:
        state = algorithm.advance(game, state, count)
    assert isinstance(state, TiledTables)
    return state


def same(one: Any, other: Any) -> None:
    for mine, theirs in zip(one.learners, other.learners, strict=True):
        for name in ("regret", "average", "strategy", "plan"):
            ours, yours = getattr(mine, name), getattr(theirs, name)
            assert ours.dtype == yours.dtype
            assert ours.tobytes() == yours.tobytes(), name


def alone(algorithm: CFR, game: CompiledGame, storage: str = "float64") -> Any:
    return algorithm.open(game, Execution(storage=storage, threads=1))


def by_blocks(name: str) -> CompiledGame:
    """A game with the operator that larger ones of its kind have."""
    game = replace(tp.load(name))
    if game.blocks is not None:
        game.__dict__["operator"] = game.blocks
    return game


# --- layout ----------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(trees)
def test_every_sequence_has_a_place_of_its_own_among_its_like(tree) -> None:
    game = compile_game(tree)
    for treeplex, side in zip(game.treeplexes, game.payoffs, strict=True):
        entries = np.diff(side.start)
        (first, parent, start, child), bounds, place = lay_out(treeplex, entries)
        assert place[0] == 0
        assert len(set(place.tolist())) == treeplex.sequences
        tile = np.searchsorted(first, place // LANES, side="right") - 1
        lanes = set()
        for infoset in range(treeplex.infosets):
            own = np.arange(treeplex.first[infoset], treeplex.first[infoset + 1])
            t, lane = int(tile[own[0]]), int(place[own[0]] % LANES)
            assert (place[own] == LANES * (first[t] + np.arange(len(own))) + lane).all()
            assert first[t + 1] - first[t] == len(own)
            assert parent[LANES * t + lane] == place[treeplex.parent[infoset]]
            lanes.add(LANES * t + lane)
        idle = sorted(set(range(len(parent))) - lanes)
        assert (parent[idle] == NOWHERE).all()
        height = np.searchsorted(bounds, np.arange(len(first) - 1), side="right") - 1
        for s in range(1, treeplex.sequences):
            b, lane = divmod(int(place[s]), LANES)
            found = [int(child[LANES * k + lane]) for k in range(start[b], start[b + 1])]
            below = np.flatnonzero(treeplex.parent == s)[::-1]  # the last first, as walks add them up
            homes = [LANES * int(tile[treeplex.first[i]]) + int(place[treeplex.first[i]] % LANES) for i in below]
            assert found == homes + [len(parent)] * (len(found) - len(homes))
            assert all(height[home // LANES] < height[tile[s]] for home in homes)


@pytest.mark.parametrize("name", ["goofspiel(cards=4)", "leduc", "random_tree(seed=5,depth=6)"])
def test_slices_hold_the_rows_of_the_matrix_to_the_last_bit(name) -> None:
    game = tp.load(name)
    found = tiled(game)
    assert found is not None
    for player, side in enumerate(game.payoffs):
        start, column, data, unit = found.rows[player]
        own, other = found.layouts[player], found.layouts[1 - player]
        for s in range(1, game.treeplexes[player].sequences):
            b, lane = divmod(int(own.place[s]), LANES)
            at = LANES * np.arange(start[b], start[b + 1]) + lane
            entries = slice(side.start[s], side.start[s + 1])
            count = entries.stop - entries.start
            assert (column[at] == [*other.place[side.column[entries]], *[NOWHERE] * (len(at) - count)]).all()
            paid = data[at] * unit * (1 - 2 * player)
            assert paid[:count].tobytes() == side.data[entries].tobytes()
            assert not paid[count:].any()


@settings(max_examples=200)
@given(st.lists(st.integers(-40_000, 40_000), min_size=1, max_size=30), st.floats(1e-6, 1e3), st.booleans())
def test_a_common_unit_is_one_to_the_last_bit(wholes, unit, spoiled) -> None:
    numbers = np.array(wholes, dtype=float) * unit
    if spoiled:
        numbers[-1] = np.nextafter(numbers[-1], np.inf)
    found = common_unit(numbers)
    if found is not None:
        counted = np.rint(numbers / found).astype(np.int16)
        assert (counted * found == numbers).all()
    elif not spoiled and 0 < np.abs(wholes).max() <= 32_767 and 1 in np.abs(wholes):
        raise AssertionError("the least of them is a unit")


def test_what_has_no_common_unit_is_kept_as_it_is() -> None:
    assert common_unit(np.array([1.0, 1.0 / 7.0, 0.123456])) is None
    assert common_unit(np.array([1.0, 40_000.0])) is None
    assert common_unit(np.array([0.0])) is None
    assert common_unit(np.zeros(0)) is None
    assert common_unit(np.array([2.0, 3.0, -5.0, 0.0])) == 1.0


def test_tiles_are_used_where_they_are_full(monkeypatch) -> None:
    monkeypatch.setattr(layout_module, "FILLED", 3.0)
    assert tiled(tp.load("kuhn")) is None
    assert tiled(tp.load("leduc")) is not None
    assert isinstance(cfr().advance(tp.load("kuhn"), cfr().start(tp.load("kuhn")), 1), SequenceTables)


# --- iterations ------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(trees, st.sampled_from(sorted(RULES)), st.sampled_from(TURNS), st.sampled_from(["float64", "float32"]))
def test_random_trees_give_the_bits_of_walks(tree, rule, turns, storage) -> None:
    game = compile_game(tree)
    algorithm = alone(RULES[rule](turns=turns), game, storage)
    same(in_tiles(algorithm, game, [1, 4, 2]), walked(algorithm, game, [7]))


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("rule", sorted(RULES))
def test_first_iterations_are_the_references(rule, turns) -> None:
    game = compile_game(RandomTree(seed=8, depth=6, width=3))
    algorithm = alone(RULES[rule](turns=turns), game)
    ours, theirs = in_tiles(algorithm, game, [5]), walked(algorithm, game, [5], reference.iterate)
    for mine, other in zip(ours.learners, theirs.learners, strict=True):
        for array, wanted in zip(mine, other, strict=True):
            np.testing.assert_allclose(array, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("kind", [BlockRows, RankedRows, ClassRows], ids=lambda kind: kind.__name__)
def test_operators_of_blocks_give_the_bits_of_walks(kind, turns) -> None:
    game = compile_dealt(make(DEALT[kind]).rules, ranked_from=99) if kind is BlockRows else by_blocks(DEALT[kind])  # pyright: ignore
    assert isinstance(game.operator.rows, kind)
    algorithm = alone(cfr_plus(turns=turns), game)
    same(in_tiles(algorithm, game, [1, 9]), walked(algorithm, game, [10]))


@pytest.mark.parametrize("storage", ["float64", "float32"])
@pytest.mark.parametrize("name", ["leduc", "goofspiel(cards=4)", "liars_dice(sides=3)"])
def test_whole_units_give_the_bits_of_walks(name, storage) -> None:
    game = tp.load(name)
    algorithm = alone(cfr_plus(), game, storage)
    state = in_tiles(algorithm, game, [1, 59])
    same(state, walked(algorithm, game, [60]))
    for learner, place in zip(state.tiled, state.place, strict=True):
        assert not np.delete(learner.average, place).any()  # idle lanes are never reached


def test_many_places_need_32_bits_and_give_the_same_bits(monkeypatch) -> None:
    algorithm, game = alone(cfr_plus(), tp.load("leduc")), replace(tp.load("leduc"))
    monkeypatch.setattr(layout_module, "SMALL", 16)
    found = tiled(game)
    assert found is not None
    assert [rows.column.dtype for rows in found.rows] == [np.int32, np.int32]
    same(in_tiles(algorithm, game, [1, 9]), walked(algorithm, game, [10]))


@pytest.mark.parametrize(
    "matrix",
    ["matrix(rows=[[1]])", "matrix(rows=[[1,2,3]])", "gaussian_matrix(100,1)"],
)
def test_one_action_and_a_hundred(matrix) -> None:
    game = tp.load(matrix)
    algorithm = alone(pcfr_plus(), game)
    same(in_tiles(algorithm, game, [6]), walked(algorithm, game, [6]))


def test_a_player_who_never_moves() -> None:
    """Depth 1: one of them has the empty sequence alone."""
    games = [compile_game(RandomTree(seed=seed, depth=1, width=3, chance=0.0)) for seed in range(8)]
    assert any(0 in (treeplex.infosets for treeplex in game.treeplexes) for game in games)
    for game in games:
        algorithm = alone(cfr_plus(), game)
        same(in_tiles(algorithm, game, [3]), walked(algorithm, game, [3]))


def test_a_delay_leaves_the_first_plans_out_of_the_average() -> None:
    game = tp.load("leduc")
    algorithm = alone(cfr_plus(delay=3), game)
    same(in_tiles(algorithm, game, [2, 4]), walked(algorithm, game, [6]))


# --- threads ---------------------------------------------------------------------------------------------------------


def by(game: CompiledGame, found: TiledGame, threads: int, turns: int) -> tuple[Learner, Learner]:
    """A few iterations with every height that can be cut into ``threads`` pieces."""
    algorithm = alone(pcfr_plus(), game)
    learners = in_places(found.layouts, algorithm.start(game).learners)
    form = tiled_form(game, found, 1)
    if threads > 1:
        shared = passes(found, threads, 1)
        assert all((table[:, 1] < table[:, -1]).any() for table in shared[0])
        form = form._replace(runs=shared, scratch=np.zeros((threads, form.scratch.shape[1])))
    told = learners, (Matching(1.0),) * 2, steps(0, 8, algorithm.weight, algorithm.rule), turns
    run_threads(threads, lambda worker: iterate_tiles(form, *told, worker))
    return learners


@pytest.mark.parametrize("turns", [0, 1])
def test_any_number_of_threads_gives_the_same_bits(turns) -> None:
    game = tp.load("goofspiel(cards=4)")
    found = tiled(game)
    assert found is not None
    wanted = [array.tobytes() for learner in by(game, found, 1, turns) for array in learner]
    assert len(set(wanted)) > 6
    for threads in (2, 3, 7):
        assert [array.tobytes() for learner in by(game, found, threads, turns) for array in learner] == wanted


@settings(max_examples=40)
@given(trees, st.integers(1, 9), st.integers(1, 40))
def test_stretches_hold_every_tile_once_and_no_height_twice(tree, threads, least) -> None:
    game = compile_game(tree)
    found = tiled(game)
    assert found is not None
    for layout, table in [
        (layout, table)
        for layout, own in zip(found.layouts, passes(found, threads, least), strict=True)
        for table in own
    ]:
        assert table.shape[1] == threads + 1
        assert (np.diff(table.ravel()) >= 0).all()
        assert table[0, 0] == 0
        assert table[-1, -1] == len(layout.tiles.first) - 1
        assert (table[1:, 0] == table[:-1, -1]).all()
        for row in table[table[:, 1] < table[:, -1]]:
            assert [row[0], row[-1]] in [list(pair) for pair in zip(layout.bounds, layout.bounds[1:], strict=False)]


def test_a_thread_has_enough_to_do(monkeypatch) -> None:
    monkeypatch.setattr(partition, "cores", lambda: 4)
    assert paying(100, 8) == 1
    assert paying(10**9, 1) == 1
    assert paying(10**9, 2) == 2
    assert paying(10**9, 8) == paying(10**9, 0) == 4
    assert paying(3 * partition.NUMBERS, 4) == 3
    assert paying(3 * partition.NUMBERS, 0) == 1
    monkeypatch.setattr(partition, "cores", lambda: 16)
    assert paying(10**9, 0) == 14  # other programs need some too


def test_threads_are_used_where_they_are_faster_by_count(monkeypatch) -> None:
    monkeypatch.setattr(partition, "cores", lambda: 16)
    used = {}
    for name in ("leduc", "goofspiel(cards=5)", "leduc5"):
        found = tiled(tp.load(name))
        assert found is not None
        tables = [runs(found, threads)[0] for threads in (1, 2, 16, 0)]
        used[name] = [1 if table is None else table.up.shape[1] - 1 for table in tables]
    assert used == {"leduc": [1, 1, 1, 1], "goofspiel(cards=5)": [1, 1, 1, 1], "leduc5": [1, 2, 16, 14]}


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", ["leduc", "one_card_poker(40)", "rhode_island(ranks=3,suits=2)"])
def test_runs_by_threads_have_the_bits_of_one(name, turns, monkeypatch) -> None:
    """Tiles, gradients by blocks and evaluation; for as many threads as nobody would use."""
    monkeypatch.setattr(partition, "cores", lambda: 5)
    monkeypatch.setattr(partition, "PIECE", 1)
    monkeypatch.setattr(partition, "BARRIER", 0)
    monkeypatch.setattr(partition, "NUMBERS", 1)
    game = by_blocks(name)
    found = tiled(game)
    assert found is not None
    for threads in (2, 5):
        assert tiled_form(game, found, threads).threads == threads
    states, values = [], []
    for threads in (1, 2, 5):
        algorithm = cast(CFR, cfr_plus(turns=turns).open(game, Execution(threads=threads)))
        states.append(in_tiles(algorithm, game, [1, 7]))
        values.append(evaluate_strategies(game, algorithm.report(game, states[-1], "average").arrays, threads))
    same(states[0], states[1])
    same(states[0], states[2])
    assert values[0] == values[1] == values[2]


# --- states ----------------------------------------------------------------------------------------------------------


def test_states_are_saved_in_the_games_order_and_resumed_to_the_same_bits() -> None:
    game = tp.load("leduc")
    algorithm = alone(dcfr(), game)
    halfway = walked(algorithm, game, [10])
    saved = algorithm.save(in_tiles(algorithm, game, [10]))
    for player in (0, 1):
        for name in ("regret", "average", "strategy", "plan"):
            array = saved[f"state.learners.{player}.{name}"]
            assert array.tobytes() == getattr(halfway.learners[player], name).tobytes()
    resumed = algorithm.advance(game, algorithm.restore(game, saved), 10)
    same(resumed, walked(algorithm, game, [20]))
    for one, other in zip(
        algorithm.report(game, resumed, "average").arrays,
        algorithm.report(game, SequenceTables(resumed.learners, 20), "average").arrays,
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()
    for one, other in zip(
        algorithm.report(game, resumed, "current").arrays, (own.strategy for own in resumed.learners), strict=True
    ):
        assert one.tobytes() == other.tobytes()


def test_sixteen_bits_stay_with_walks(monkeypatch) -> None:
    game = tp.load("leduc")
    monkeypatch.setattr("treeplex.engines.sequence.engine.tiled", None)  # not to be called
    algorithm: Any = cfr().open(game, Execution(storage="int16", threads=1))
    assert isinstance(algorithm.advance(game, algorithm.start(game), 2), SequenceTables)
