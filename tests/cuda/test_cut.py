"""A spot that is cut over GPUs has the bits of one GPU; under Numba's simulator with a few cards to come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cut_games import LocalShards
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards import boards
from treeplex.engines.sharded.boards import join_spot
from treeplex.engines.sharded.session import Cutting
from treeplex.engines.sharded.shards import LEARN, LostError
from treeplex.holdem import Lock, Spot, load_spot, sizes_for
from treeplex.kernels.cuda.device import SIMULATED, find_device
from treeplex.updates import blocks
from treeplex.updates.rule import Rule

pytestmark = pytest.mark.skipif(not SIMULATED and find_device() is None, reason="needs a GPU or NUMBA_ENABLE_CUDASIM=1")
ONE = sizes_for("a", "a")
TURN = Spot("Ks 9s 8s 7s", 100, 60, "AA", "22,32s,32o,42s,42o", ONE)
"""With the deuces and a three to come: a deuce leaves so few hands that a warp alone would add them up another way."""
TINY = Spot("Ks 9s 8s 7s", 100, 60, "AsAc,7h6h", "2c2d,3c2s", ONE)
FLOP = Spot("Ks 9s 4s", 100, 20, "AA", "QQ", ONE)


@pytest.fixture(autouse=True)
def few_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these may come."""
    monkeypatch.setattr(boards, "CARDS", 5)


class Both:
    """A spot on one GPU, and cut over two."""

    def __init__(self, spot: Spot, algorithm: str, storage: str, folder: Path, locks: Any = ()) -> None:
        self.game, self.algorithm, self.storage, self.folder = load_spot(spot, locks=locks), algorithm, storage, folder
        self.one: Any = build(algorithm).open(self.game, Execution("cuda", storage))

    def cut(self) -> Any:
        """New shards."""
        cutting = Cutting(LocalShards(), 2, run="a")
        execution = Execution("cuda", self.storage, folder=str(self.folder), shards=cutting)
        solver: Any = build(self.algorithm).open(self.game, execution)
        assert len(solver.engine.runs) == 2
        return solver

    def same(self, state: Any, cut: Any, tensors: Any) -> None:
        """Everything that is learnt."""
        expected = self.one.save(state)
        found = join_spot(self.game, self.storage, self.one.scheme, tensors, self.folder)
        assert expected.keys() == found.keys()
        for name, array in expected.items():
            assert np.array_equal(array, found[name]), name

    def agree(self, counts: tuple[int, ...], iterates: tuple[str, ...] = ("average",)) -> None:
        """One after the other, with new shards from a checkpoint each time; then evaluate."""
        cut, state = self.cut(), self.one.start(self.game)
        over = cut.start(self.game)
        for n, count in enumerate(counts):
            state, over = self.one.advance(self.game, state, count), cut.advance(self.game, over, count)
            tensors = cut.save(over)
            self.same(state, cut, tensors)
            if n + 1 < len(counts):
                cut = self.cut()
                over = cut.restore(self.game, tensors)
        assert cut.engine.counters["bytes_per_iteration"] == cut.engine.predicted_bytes
        decisions = [self.one.save(state)[f"state.learners.{player}.last"] for player in (0, 1)]
        apart = isinstance(self.one.rule, Rule) or self.one.rule.predict  # every hand learns in every iteration
        assert apart or min(map(np.min, decisions)) < state.iteration  # some were pruned
        for iterate in iterates:
            ours = cut.report(self.game, over, iterate).evaluate()
            assert ours == self.one.report(self.game, state, iterate).evaluate()


def test_rows_are_added_up_as_if_all_boards_were_there() -> None:
    from treeplex.engines.boards.cuda.engine import part_plan, plan  # noqa: PLC0415 - not without a GPU
    from treeplex.engines.boards.cut import BoardRun, part_of  # noqa: PLC0415

    game = load_spot(TURN)
    wanted = plan(game, "float32").levels[0][1].sums.each
    assert [part_plan(game, "float32", run).levels[0][0].sums.each for run in (BoardRun(0, 2), BoardRun(2, 3))] == [
        wanted
    ] * 2
    few = part_of(game, BoardRun(0, 2)).boards[1].hands[1]
    assert -(-int(np.diff(few.start).max()) // 32) | 1 < wanted


def test_a_turn_has_the_bits_of_one_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(boards, "CARDS", 2)
    Both(TINY, "dcfr", "float32", tmp_path).agree((1, 1))


@pytest.mark.slow
def test_blocks_of_averages_end_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(boards, "CARDS", 2)
    monkeypatch.setattr(blocks, "BEGIN", 1)
    monkeypatch.setattr(blocks, "LENGTH", 2)
    Both(TINY, "hs-dcfr(horizon=4)", "float32", tmp_path).agree((1, 2, 2), ("average", "current"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spot", "algorithm", "storage"),
    [
        (TURN, "dcfr", "float64"),
        (TURN, "cfr+", "float32"),
        (TURN, "dcfr", "int16"),
        (TINY, "pcfr+", "float32"),
        (TINY, "hs-dcfr(horizon=4)", "int16"),
        (replace(TINY, board_classes=True), "dcfr", "float64"),
        (FLOP, "dcfr", "float32"),
        (TINY, "apcfr+", "float32"),
    ],
)
def test_spots_have_the_bits_of_one_gpu(spot: Spot, algorithm: str, storage: str, tmp_path: Path) -> None:
    Both(spot, algorithm, storage, tmp_path).agree((2, 2), ("average", "current"))


@pytest.mark.slow
@pytest.mark.parametrize(("storage", "hands"), [("float64", "AsAc"), ("int16", "all")])
def test_locked_decisions_stay_locked(storage: str, hands: str, tmp_path: Path) -> None:
    """In 16 bits all hands: the simulator does not let numbers of locked hands overflow, which nobody reads."""
    locks = (
        Lock("check, check, 2s", {hands: {"check": 0.25, "all-in": 0.75}}),
        Lock("", {hands: {"check": 0.5, "all-in": 0.5}}),
        Lock("check, check, 3c, check", {"all": {"check": 0.5, "all-in": 0.5}}),
    )
    Both(TINY, "dcfr", storage, tmp_path, locks).agree((1, 2), ("average", "current"))


@pytest.mark.slow
def test_a_pass_that_does_not_come_next_is_refused(tmp_path: Path) -> None:
    cut = Both(TINY, "dcfr", "float32", tmp_path).cut()
    cut.start(load_spot(TINY))
    with pytest.raises(LostError, match="next pass is that of player 0 in iteration 1"):
        cut.engine.session.ask(2, 0, LEARN, [{}] * 2)
