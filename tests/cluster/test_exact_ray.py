"""The same over Ray: bits of one machine on two nodes, whatever is killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from cluster_helpers import parent
from cut_games import FLOP, alone, same, spot
from treeplex.cluster.shards import MESSAGE, PIECES, RayShards, bytes_of, pieces, whole
from treeplex.engines.sharded.shards import LEARN, Message, Stamp, payload
from treeplex.errors import Note, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::treeplex.errors.Note")
kill_9 = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")


class Watched(RayShards):
    """Shards that somebody interferes with, when some pass has been sent to all of them and none has answered."""

    at: tuple[int, int] = (3, 1)
    interfere: Any = None
    known: list[Watched] = []  # noqa: RUF012

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.known.append(self)
        self.stamps: list[Stamp] = []
        self.armed = False

    def ask(self, stamp: Stamp, messages: Any) -> list[Message]:
        self.stamps.append(stamp)
        first = [s for s in self.stamps if s[1:] == stamp[1:]] == [stamp]
        self.armed = first and stamp.phase == LEARN and (stamp.iteration, stamp.player) == self.at
        self.armed &= type(self).interfere is not None
        return super().ask(stamp, messages)

    def _answer(self, k: int, reference: Any) -> Any:
        if self.armed:
            self.armed = False
            type(self).interfere(self)
        return super()._answer(k, reference)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> type[Watched]:
    monkeypatch.setattr("treeplex.cluster.shards.RayShards", Watched)
    Watched.known, Watched.interfere = [], None
    return Watched


def repeated(shards: Watched) -> int:
    """Passes that were asked for again."""
    learnt = [(stamp.iteration, stamp.player) for stamp in shards.stamps if stamp.phase == LEARN]
    return len(learnt) - len(set(learnt))


def test_two_nodes_have_the_bits_of_one_machine(cluster: str, tmp_path: Path) -> None:
    one = alone("leduc", "dcfr", 6)
    with pytest.warns(Note, match=r"on each of 2 workers .* on the wire per iteration"):
        cut = tp.solve("leduc", "dcfr", iterations=6, cluster=cluster, workers=2, out=tmp_path / "a")
    same(one, cut, tmp_path / "a")
    assert cut.policy.to_pandas().equals(one.policy.to_pandas())
    told = cut.summary()
    assert told["workers"] == 2
    assert told["bytes_per_iteration"] == pytest.approx(told["bytes_per_iteration_predicted"], rel=0.05)


@kill_9
def test_an_actor_killed_in_mid_iteration_is_replaced(cluster: str, watched: type[Watched], tmp_path: Path) -> None:
    watched.interfere = lambda shards: os.kill(shards.processes[1], signal.SIGKILL)
    one = alone("leduc", "cfr+", 6)
    with pytest.warns(Note, match="Worker 1 is lost .* Continuing from the last checkpoint"):
        cut = tp.solve(
            "leduc", "cfr+", iterations=6, cluster=cluster, workers=2, out=tmp_path / "a", checkpoint_seconds=0
        )
    same(one, cut, tmp_path / "a")
    assert 0 < repeated(watched.known[0]) <= 2  # there is a checkpoint of every iteration here


def test_what_a_cluster_cannot_carry_is_refused(cluster: str) -> None:
    with pytest.raises(ParameterError, match=r"has 2 CPUs, but 3 workers with 1 thread each take 3"):
        tp.solve("leduc", "cfr+", iterations=1, cluster=cluster, workers=3)
    with pytest.raises(ParameterError, match=r"takes 3 workers of 0\.52 GB, but there are 2"):
        tp.solve(spot("F1"), "cfr+", iterations=1, cluster=cluster, workers=2, worker_memory="520MB")
    for wrong in ("much", "0GB", "-3GB", "3XB"):
        with pytest.raises(ParameterError, match="worker_memory"):
            bytes_of(wrong)


@pytest.mark.parametrize(("rows", "used"), [(0, 1), (5, 1), (6, PIECES), (20, PIECES), (23, 1)])
def test_answers_come_in_pieces_that_fit_messages(rows: int, used: int) -> None:
    rng = np.random.default_rng(rows)  # 16,120 bytes per row
    answer = {"found": rng.random((rows, 2000)), "shown": rng.random(30 * rows).astype(np.float32)}
    sent = pieces(answer)
    assert len(sent) == PIECES
    assert sum(map(bool, sent)) == used
    assert used == 1 or max(map(payload, sent)) <= MESSAGE
    back = whole(sent)
    assert back.keys() == answer.keys()
    assert all(np.array_equal(back[name], answer[name]) and back[name].dtype == answer[name].dtype for name in answer)


# --- longer -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "algorithm", "iterations"), [("leduc5", "cfr+", 30), (spot("T"), "cfr+", 5), (spot("F1"), "dcfr", 3)]
)
def test_large_games_have_the_bits_of_one_machine(
    cluster: str, game: Any, algorithm: str, iterations: int, tmp_path: Path
) -> None:
    one = alone(game, algorithm, iterations)
    cut = tp.solve(game, algorithm, iterations=iterations, cluster=cluster, workers=2, out=tmp_path / "a")
    same(one, cut, tmp_path / "a")


@pytest.mark.slow
@kill_9
@pytest.mark.parametrize("game", ["leduc5", FLOP])
def test_a_worker_killed_between_two_passes(cluster: str, watched: type[Watched], game: Any, tmp_path: Path) -> None:
    one, killed = alone(game, "cfr+", 20), []

    def watch(moment: Any) -> None:
        if moment.iteration >= 9 and not killed:
            killed.append(os.kill(watched.known[0].processes[0], signal.SIGKILL))

    asked: dict[str, Any] = {"cluster": cluster, "workers": 2, "out": tmp_path / "a", "checkpoint_seconds": 0}
    cut = tp.solve(game, "cfr+", iterations=20, watch=watch, **asked)
    assert killed
    same(one, cut, tmp_path / "a")


@pytest.mark.slow
@kill_9
def test_a_node_that_goes(cluster: str, nodes: Any, watched: type[Watched], tmp_path: Path) -> None:
    more, gone = [nodes.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2)], []

    def raylet(node: Any) -> int:
        return int(node.all_processes["raylet"][0].process.pid)

    def interfere(shards: Watched) -> None:
        parents = {parent(process) for process in shards.processes.values()}
        gone.extend(node for node in nodes.worker_nodes if raylet(node) in parents)
        nodes.remove_node(gone[0], allow_graceful=False)

    watched.interfere = interfere
    one = alone("leduc5", "cfr+", 8)
    asked: dict[str, Any] = {"cluster": cluster, "workers": 3, "out": tmp_path / "a", "checkpoint_seconds": 0}
    cut = tp.solve("leduc5", "cfr+", iterations=8, **asked)
    same(one, cut, tmp_path / "a")
    for node in more:
        if node is not gone[0]:
            nodes.remove_node(node)
    if gone[0] not in more:  # one of those that all tests share
        nodes.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    tp.solve("leduc", "cfr+", iterations=1, cluster=cluster, workers=1)  # Ray lists those that have gone for a while


@pytest.mark.slow
@kill_9
def test_a_killed_driver_goes_on_when_the_command_is_given_again(cluster: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "treeplex", "solve", "leduc5", "--algorithm", "cfr+", "--iterations", "150"]
    command += ["--cluster", cluster, "--workers", "2", "--out", str(tmp_path / "a"), "--checkpoint-seconds", "0"]
    checkpoint, said = tmp_path / "a/checkpoint.safetensors", tmp_path / "said.txt"
    with said.open("w") as errors:
        first = subprocess.Popen(command, stderr=errors, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not checkpoint.exists() and first.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert checkpoint.exists(), said.read_text()
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (tmp_path / "a/result.json").exists()
    done = subprocess.run([*command, "--json"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    one = alone("leduc5", "cfr+", 150)
    cut = tp.resume(tmp_path / "a", iterations=150)
    assert cut.evaluation == one.evaluation
    for mine, theirs in zip(one.state.learners, cut.state.learners, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.slow
def test_a_full_object_store(cluster: str, tmp_path: Path) -> None:
    import ray  # noqa: PLC0415

    one = alone(spot("T"), "cfr+", 4)
    held = [ray.put(np.full(10 * 2**20, k, np.uint8)) for k in range(7)]  # of 80 MB
    cut = tp.solve(spot("T"), "cfr+", iterations=4, cluster=cluster, workers=2, out=tmp_path / "a")
    same(one, cut, tmp_path / "a")
    assert len(held) == 7


@pytest.mark.slow
@kill_9
def test_a_worker_that_is_ten_times_slower(cluster: str, watched: type[Watched], tmp_path: Path) -> None:
    watched.interfere = lambda shards: stack.append(_slow(shards.processes[0]))
    stack: list[Any] = []
    one = alone(FLOP, "cfr+", 30)
    cut = tp.solve(FLOP, "cfr+", iterations=30, cluster=cluster, workers=2, out=tmp_path / "a")
    stack[0].set()
    same(one, cut, tmp_path / "a")
    assert repeated(watched.known[0]) == 0


def _slow(process: int) -> threading.Event:
    """Let a process run for a tenth of the time only."""
    done = threading.Event()

    def work() -> None:
        with _tolerant():
            while not done.is_set():
                os.kill(process, signal.SIGSTOP)
                time.sleep(0.045)
                os.kill(process, signal.SIGCONT)
                time.sleep(0.005)

    threading.Thread(target=work, daemon=True).start()
    return done


@contextmanager
def _tolerant() -> Iterator[None]:
    try:
        yield
    except ProcessLookupError:
        return
