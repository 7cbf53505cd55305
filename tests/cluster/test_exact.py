"""A game that is cut has the bits of the whole one, whatever is lost on the way: the local form of the transport."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from cut_games import FLOP, Flaky, LocalShards, alone, over, same, spot
from treeplex.algorithms.cfr import CFR, cfr_plus
from treeplex.engines.boards.cut import ELEMENTS, FIRST_STREET, BoardRun, board_work, part_of, pieces, whole
from treeplex.engines.boards.game import load_spot
from treeplex.engines.sequence.cut import cut_at
from treeplex.engines.sharded.shards import LEARN, START, LostError, Order, OutOfStepError, Stamp, payload
from treeplex.errors import ParameterError
from treeplex.games.holdem.locks import Lock
from treeplex.runs import transport
from treeplex.runs.transport import ShardProxy
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import linear

GAMES = [
    ("leduc5", "cfr+", None),
    ("leduc5", "dcfr", "float32"),
    ("leduc", "cfr+", "int16"),
    ("leduc", "pcfr+", None),
    ("leduc_ext", "cfr", None),
    ("kuhn_ext", "lcfr", None),
    ("leduc", "hs-pcfr+(horizon=20)", None),
    ("leduc", "apcfr+", None),
    ("kuhn_ext", "smooth-pcfr+", "float32"),
    ("leduc", "hedge(d=2)", None),
    ("kuhn_ext", "hedge", "float32"),
]
SPOTS = [
    ("cfr+", "float32"),
    ("dcfr", "int16"),
    ("pcfr+", "float64"),
    ("hs-dcfr(horizon=20)", "float32"),
    ("apcfr+", "float32"),
    ("hedge", "float64"),
    ("smooth-pcfr+", "float64"),  # whose memory is not zero at first
]


@pytest.mark.parametrize(("game", "algorithm", "storage"), GAMES)
def test_compiled_games_have_the_bits_of_one_machine(
    game: str, algorithm: str, storage: str | None, tmp_path: Path
) -> None:
    one = alone(game, algorithm, 7, storage=storage)
    cut = over(LocalShards(), game, algorithm, 7, tmp_path / "a", storage=storage)
    same(one, cut, tmp_path / "a")
    assert cut.policy.to_pandas().equals(one.policy.to_pandas())


@tp.minimizer(memory=2)
def two_rows(t, values, strategy, memory):
    memory[0] += values
    memory[1] += memory[0] ** 2
    strategy[:] = np.exp((memory[0] - memory[0].max()) / np.sqrt(1.0 + memory[1].sum()))
    strategy /= strategy.sum()


def failing(t, values, strategy, memory):
    if t > 2.0:
        memory[1, 0] = 1.0


@pytest.mark.parametrize("game", ["leduc", FLOP], ids=["leduc", "flop"])
def test_a_rule_of_ones_own_travels_to_shards(game: object, tmp_path: Path) -> None:
    one, cut = alone(game, two_rows, 7), over(LocalShards(), game, two_rows, 7, tmp_path / "a")
    same(one, cut, tmp_path / "a")


@pytest.mark.parametrize("game", ["leduc", FLOP], ids=["leduc", "flop"])
def test_a_rule_that_fails_on_shards_is_named(game: object, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"'failing' uses an index that is out of bounds in iteration"):
        over(LocalShards(), game, CFR(Rule("failing", failing), linear(), "alternating"), 7, tmp_path / "a")


@pytest.mark.parametrize(("algorithm", "storage"), SPOTS)
def test_flops_have_the_bits_of_one_machine(algorithm: str, storage: str, tmp_path: Path) -> None:
    one = alone(FLOP, algorithm, 5, storage=storage)
    cut = over(LocalShards(), FLOP, algorithm, 5, tmp_path / "a", storage=storage)
    same(one, cut, tmp_path / "a")
    told, expected = cut.summary(), one.summary()
    assert told["root_strategy"] == pytest.approx(expected["root_strategy"], abs=1e-12)
    assert {key: told[key] for key in ("ev", "gains", "nodes")} == {
        key: expected[key] for key in ("ev", "gains", "nodes")
    }


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("name", ["T", "F1"])
def test_known_spots_have_the_bits_of_one_machine(name: str, workers: int, tmp_path: Path) -> None:
    one = alone(spot(name), "cfr+", 3, threads=2)
    same(one, over(LocalShards(), spot(name), "cfr+", 3, tmp_path / "a", workers), tmp_path / "a")


def test_sizes_by_class_of_boards_have_the_bits_of_one_machine(tmp_path: Path) -> None:
    by_class = replace(FLOP, oop_range="AA,QJs", ip_range="JJ,AQs", board_classes=True)
    one = alone(by_class, "dcfr", 3)
    same(one, over(LocalShards(), by_class, "dcfr", 3, tmp_path / "a"), tmp_path / "a")


def test_locked_decisions_stay_locked(tmp_path: Path) -> None:
    locks = [Lock("check, check, 2c", {"AA": {"check": 1.0}}), Lock("", {"AA": {"all-in": 1.0}})]
    one = alone(FLOP, "cfr+", 4, locks=locks)
    same(one, over(LocalShards(), FLOP, "cfr+", 4, tmp_path / "a", locks=locks), tmp_path / "a")


def test_rake_is_measured_over_shards(tmp_path: Path) -> None:
    raked = spot("T").summary() | {"rake_rate": 0.05, "rake_cap": 30.0, "oop_range": "AA,KQs", "ip_range": "QQ,AKs"}
    one, cut = alone(raked, "cfr+", 3), over(LocalShards(), raked, "cfr+", 3, tmp_path / "a")
    same(one, cut, tmp_path / "a")
    assert cut.summary()["ev"] == one.summary()["ev"]


@pytest.mark.parametrize(("game", "rule"), [("leduc", "dcfr"), (FLOP, "dcfr"), ("leduc", "apcfr+"), (FLOP, "apcfr+")])
def test_a_run_goes_on_on_one_machine_or_cut_another_way(game: object, rule: str, tmp_path: Path) -> None:
    one = alone(game, rule, 9)
    over(LocalShards(), game, rule, 3, tmp_path / "a", workers=3)
    tp.resume(tmp_path / "a", iterations=5, backend="cpu")
    over(LocalShards(), game, rule, 7, tmp_path / "a", workers=2)
    same(one, over(LocalShards(), game, rule, 9, tmp_path / "a", workers=4), tmp_path / "a")


# --- what is lost on the way ------------------------------------------------------------


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("game", ["leduc", FLOP])
def test_a_lost_shard_costs_nothing_since_the_last_checkpoint(game: object, after: bool, tmp_path: Path) -> None:
    one, shards = alone(game, "cfr+", 6), Flaky([5, 6, 19], after)
    cut = over(shards, game, "cfr+", 6, tmp_path / "a", checkpoint_seconds=0.0)
    same(one, cut, tmp_path / "a")
    assert shards.lost == 3
    learnt = [(stamp.iteration, stamp.player) for stamp in shards.stamps if stamp.phase == LEARN]
    again = len(learnt) - len(set(learnt))
    assert 0 < again <= 6  # a checkpoint is written after every evaluation here: no more than two iterations are lost


def test_without_a_folder_a_run_begins_anew() -> None:
    one, shards = alone("leduc", "cfr+", 6), Flaky([7])
    assert over(shards, "leduc", "cfr+", 6).evaluation == one.evaluation
    assert len({stamp.run for stamp in shards.stamps}) == 2


def test_a_run_gives_up_when_nothing_works() -> None:
    shards = Flaky(range(3, 1000))
    with pytest.raises(LostError, match="lost"):
        over(shards, "leduc", "cfr+", 6)
    assert shards.lost == 6


def test_a_checkpoint_is_that_of_all_shards_or_the_one_before(tmp_path: Path) -> None:
    one, folder = alone("leduc", "cfr+", 6), tmp_path / "a"
    over(LocalShards(), "leduc", "cfr+", 3, folder)
    before = {path.name for path in (folder / "shards").iterdir()}
    (folder / "shards/4-0.safetensors").write_bytes(b"half of a checkpoint that was never ended")
    cut = over(LocalShards(), "leduc", "cfr+", 6, folder)
    same(one, cut, folder)
    left = {path.name for path in (folder / "shards").iterdir()}
    assert {"6-0.safetensors", "6-1.safetensors", "6-2.safetensors"} <= left <= before | left
    assert "4-0.safetensors" not in left


def test_a_damaged_shard_is_refused(tmp_path: Path) -> None:
    over(LocalShards(), "leduc", "cfr+", 3, tmp_path / "a")
    path = tmp_path / "a/shards/3-1.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(tp.errors.FormatError, match="checkpoint"):
        tp.resume(tmp_path / "a", iterations=4)


# --- the protocol ------------------------------------------------------------


def _keeper() -> tuple[ShardProxy, dict[str, object]]:
    class Counting:
        def __init__(self, order: Order) -> None:
            self.done: list[Stamp] = []

        def do(self, stamp: Stamp, given: object) -> dict[str, object]:
            if stamp.iteration == 13:
                raise ValueError("bad luck")
            self.done.append(stamp)
            return {"count": np.array(len(self.done))}

    found: dict[str, object] = {}
    old = transport.open_shard
    transport.open_shard = lambda order: found.setdefault("shard", Counting(order))  # type: ignore[assignment,return-value]
    try:
        return ShardProxy(Order("boards", {}, {}, cfr_plus().scheme)), found
    finally:
        transport.open_shard = old


def test_a_call_is_carried_out_once() -> None:
    keeper, _ = _keeper()
    keeper.call(Stamp("a/1", 0, 0, START), {})
    first = keeper.call(Stamp("a/1", 1, 0, LEARN), {})
    assert keeper.call(Stamp("a/1", 1, 0, LEARN), {}) is first
    assert int(keeper.call(Stamp("a/1", 1, 1, LEARN), {})["count"]) == 3


def test_calls_of_another_attempt_are_refused() -> None:
    keeper, _ = _keeper()
    with pytest.raises(OutOfStepError):
        keeper.call(Stamp("a/1", 1, 0, LEARN), {})
    keeper.call(Stamp("a/1", 0, 0, START), {})
    keeper.call(Stamp("a/2", 0, 0, START), {})
    with pytest.raises(OutOfStepError):
        keeper.call(Stamp("a/1", 1, 0, LEARN), {})


def test_whoever_fails_has_to_begin_anew() -> None:
    keeper, _ = _keeper()
    keeper.call(Stamp("a/1", 0, 0, START), {})
    with pytest.raises(ValueError, match="luck"):
        keeper.call(Stamp("a/1", 13, 0, LEARN), {})
    with pytest.raises(OutOfStepError):
        keeper.call(Stamp("a/1", 13, 0, LEARN), {})


def test_passes_come_in_their_order(tmp_path: Path) -> None:
    shards = LocalShards()
    cut = over(shards, "leduc", "cfr+", 2, tmp_path / "a")
    session = cut.solver.engine.session
    with pytest.raises(LostError, match="next pass is that of player 0 in iteration 3"):
        session.ask(4, 0, LEARN, [{}] * 3)


def test_another_version_is_refused() -> None:
    with pytest.raises(OutOfStepError, match=r"not 0\.0\.1; install the same version"):
        ShardProxy(Order("boards", {}, {}, cfr_plus().scheme), "0.0.1")


# --- what is cut where ------------------------------------------------------------


def test_parts_of_a_spot_have_every_number_once() -> None:
    game = load_spot(FLOP)
    count = len(game.boards[1].texture)
    runs = [BoardRun(0, 5), BoardRun(5, 6), BoardRun(6, count)]
    for player in (0, 1):
        seen = np.zeros(game.elements(player), dtype=int)
        for run in runs:
            size = part_of(game, run).elements(player)
            listed = list(pieces(game, player, ELEMENTS, whole(game), run))
            assert sum(piece.size for piece in listed) == size
            for piece in listed[1:]:
                seen[piece.source : piece.source + piece.size] += 1
        top = part_of(game, FIRST_STREET).elements(player)
        assert (seen[:top] == 0).all()
        assert (seen[top:] == 1).all()
    assert board_work(game).sum() == sum(
        game.elements(player) - part_of(game, FIRST_STREET).elements(player) for player in (0, 1)
    )


@pytest.mark.parametrize("name", ["kuhn_ext", "leduc", "goofspiel", "liars_dice", "random_tree"])
def test_shards_of_a_game_have_every_sequence_once(name: str) -> None:
    game = tp.load(name)
    found = cut_at(game, 3)
    assert found is not None
    for player in (0, 1):
        sides = [found.trunk[player], *(pair[player] for pair in found.shards)]
        owned = np.concatenate([side.places[side.own[0] : side.own[1]] for side in sides])
        assert np.array_equal(np.sort(owned), np.arange(game.treeplexes[player].sequences))
        assert sum(len(side.data) for side in sides) == len(game.payoffs.rows.data)


@pytest.mark.parametrize("game", ["leduc5", FLOP])
def test_bytes_on_the_wire_are_as_counted(game: object) -> None:
    class Counted(LocalShards):
        bytes = 0

        def ask(self, stamp: Stamp, given: object) -> list[object]:
            answers = super().ask(stamp, given)  # type: ignore[arg-type]
            if stamp.phase == LEARN:
                self.bytes += sum(map(payload, given)) + sum(map(payload, answers))  # type: ignore[call-overload]
            return answers  # type: ignore[return-value]

    shards = Counted()
    told = over(shards, game, "cfr+", 4).summary()
    assert told["bytes_per_iteration"] == shards.bytes // 4
    assert told["bytes_per_iteration_predicted"] == pytest.approx(shards.bytes / 4, rel=0.05)


# --- what is refused ------------------------------------------------------------


def test_a_tree_for_three_workers_is_refused_on_two() -> None:
    memory = 350_000_000 + 170_000_000
    game = load_spot(spot("F1"))
    with pytest.raises(ParameterError, match=r"takes 3 workers of 0\.52 GB, but there are 2; give more workers"):
        over(LocalShards(), game, "cfr+", 1, workers=2, memory=memory)
    with pytest.raises(ParameterError, match=r"One board .* takes a worker of 0\.37 GB, but workers have 0\.36 GB"):
        over(LocalShards(), game, "cfr+", 1, workers=2, memory=360_000_000)


@pytest.mark.parametrize(
    ("game", "algorithm", "more", "words"),
    [
        (spot("R"), "cfr+", {}, "after the river there is nothing to cut"),
        ("leduc", "cfr+", {"iterate": "best"}, "must be average or current on a cluster"),
        ("leduc", "cfr+(turns=simultaneous)", {}, "leave out 'turns' and 'order'"),
        ("leduc", "cfr-br", {}, r"must have streams, .* one of cfr, cfr\+"),
        ("leduc", None, {}, r"must have streams, .* one of cfr, cfr\+"),
        ("one_card_poker(deck=30)", "cfr+", {}, "are not a sparse matrix"),
        ("matrix([[1,-1],[-1,1]])", "cfr+", {}, "nothing below its first decisions"),
    ],
)
def test_what_cannot_be_cut_is_refused(game: object, algorithm: str, more: dict[str, str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        over(LocalShards(), game, algorithm, 1, **more)


def test_workers_need_a_cluster() -> None:
    with pytest.raises(ParameterError, match="'workers' parameter is only for runs on a cluster"):
        tp.solve("leduc", "cfr+", workers=2)


def test_a_cut_run_is_kept_where_it_was_started(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="saved in the folder it was started with"):
        over(LocalShards(), "leduc", "cfr+", 2).save(tmp_path / "b")
