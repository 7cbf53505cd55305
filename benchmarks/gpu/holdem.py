"""Hold'em on a GPU: is it right, and how long does it take?

    python benchmarks/gpu/holdem.py tests/holdem/spots.json                    # T and F1, then checks
    python benchmarks/gpu/holdem.py tests/holdem/spots.json --tuned F1 --parts tune
    python benchmarks/gpu/holdem.py tests/holdem/spots.json --spots large,gtopen --target 0.3
    python benchmarks/gpu/holdem.py tests/holdem/spots.json --spots huge --storage int16 --target 0.5 --limit 60

Parts: ``check`` (of ``--checked``: one player's half of an iteration from the CPU's state against the CPU, float64; the
same bits when repeated; the evaluation), ``time`` (building, transfer, compilation, milliseconds per iteration, seconds
to the target with evaluations as in a run, EVs), ``kernels`` (microseconds of each launch), ``tune`` (other
block sizes), ``cpu`` (evaluates what the GPU found on the CPU).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.engines.boards.arrays import BEST, UPDATE, VALUE, HandLearner, Playing, Sources
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.locks import fix
from treeplex.holdem import Spot, load_spot, make_spot, sizes_for
from treeplex.runs.schedule import next_evaluation

WIDE = "22+,A2s+,K2s+,Q2s+,J2s+,T4s+,95s+,84s+,74s+,63s+,53s+,43s,A2o+,K5o+,Q7o+,J8o+,T8o+,98o,87o"
OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
OWN = {
    "middle": lambda: Spot("Td 9d 6h", 200, 500, OOP, IP, sizes_for("50%, 100%", "45%, a")),
    "large": lambda: Spot("Td 9d 6h", 200, 900, OOP, IP, sizes_for("50%, a", "60%, a")),
    "gtopen": lambda: Spot("Qs Jh 2h", 90, 955, OOP, IP, sizes_for("50%, a", "60%, a")),
    "huge": lambda: Spot("Ks 9h 4d", 60, 970, WIDE, WIDE, sizes_for("33%, 75%, 150%", "60%")),
}
MOST = 1000  # iterations


class Row(NamedTuple):
    """What the schedule of evaluations asks for."""

    iteration: int
    nash_conv: float


CHECKED = {"R": range(50), "T": (0, 1, 2, 10), "F1": (0, 1)}


def spot_named(name: str, file: str) -> Any:
    return OWN[name]() if name in OWN else make_spot(json.loads(Path(file).read_text())["spots"][name])


def tried(what: str, part: Callable[[], None]) -> None:
    try:
        began = time.perf_counter()
        part()
        print(f"  [{what}: {time.perf_counter() - began:.1f} s]", flush=True)
    except Exception as error:
        words = traceback.format_exc().strip().splitlines()
        print(f"  {what} FAILED: {type(error).__name__}: {str(error)[:600]}")
        print("\n".join(line[:160] for line in words[-12:]), flush=True)


def solver_for(game: Any, storage: str, threads: int = 0, name: str = DEFAULT_SPOT_ALGORITHM) -> Any:
    return build(name).open(game, Execution(storage=storage, threads=threads))


def copies(learners: Any) -> Any:
    return tuple(HandLearner(*(array.copy() for array in learner)) for learner in learners)


def difference(host: Any, device: Any) -> tuple[float, str]:
    """The largest difference of any array, relative to its largest entry, and where."""
    worst, where = 0.0, ""
    for player in (0, 1):
        for field in ("regret", "average", "predicted", "last"):
            ours = getattr(host[player], field)
            if not len(ours):
                continue
            theirs = getattr(device[player], field).copy_to_host()[: len(ours)]
            off = float(np.abs(ours.astype(np.float64) - theirs).max()) / max(float(np.abs(ours).max()), 1e-300)
            if not off <= worst:
                worst, where = off, f"{field} of player {player}"
    return worst, where


def checked(name: str, spot: Any, moments: Any, algorithm: str) -> None:
    """One half of an iteration at a time, from the CPU's state."""
    from treeplex.engines.boards.cuda.engine import BoardsOnGPU

    game = load_spot(spot)
    solver = solver_for(game, "float64", name=algorithm)
    state, runner, gpu = solver.start(game), engine(game, "float64", 0), BoardsOnGPU(game, "float64")
    frozen, worst, place, same = fix(game, "float64"), 0.0, "", True
    for t in range(1, max(moments) + 2):
        playing = Playing(state.learners, solver.playing(state), frozen)
        for player in (0, 1):
            sent = []
            if t - 1 in moments:
                sent = [gpu.send(state.learners) for _ in range(2 if t - 1 in (0, 10) else 1)]
                for learners in sent:
                    gpu.half(learners, solver.rule, solver.schedules(t), player, t)
            runner.run(playing, solver.rule, [(player, UPDATE, t)], schedules=solver.schedules(t))
            if sent:
                off, where = difference(state.learners, sent[0])
                if not off <= worst:
                    worst, place = off, f"{where}, t = {t - 1}, half {player}"
            if len(sent) == 2:
                for one, two in zip(sent[0], sent[1], strict=True):
                    for a, b in zip(one, two, strict=True):
                        same &= a.copy_to_host().tobytes() == b.copy_to_host().tobytes()
        state = type(state)(state.learners, t)
    reader = solver.policy(game, solver.report(game, state, "average").arrays)
    expected = reader.evaluation()
    found = evaluated(game, gpu, Sources(*(each.average for each in gpu.send(state.learners))))
    off = max(abs(found[0] - expected.value), abs(found[1] - expected.nash_conv)) / spot.pot
    verdict = "ok" if worst <= 1e-12 and same and off < 1e-12 else "WRONG"
    print(
        f"  {name} {algorithm}: {verdict}; halves {worst:.1e} ({place}), same bits {same}, evaluation {off:.1e} of pot"
    )


def evaluated(game: Any, gpu: Any, sources: Any) -> tuple[float, float]:
    """Value of player 0 and NashConv, in chips."""
    passes = [(0, BEST), (1, BEST), (0, VALUE)]
    found = gpu.values(sources, passes)
    weights = [game.weights(player) for player, _ in passes]
    totals = [float(row[: len(held)] @ held) for row, held in zip(found, weights, strict=True)]
    first, second, value = (game.spot.pot / 2 + game.spot.chip * (total / game.combinations) for total in totals)
    return value, first + second - game.spot.pot


def _launched(launches: Any, stream: Any) -> None:
    for each in launches:
        each.on(stream)


class Solve:
    """One spot on the GPU."""

    blocks = 2112

    def __init__(self, spot: Any, storage: str, tuning: Any = None, game: Any = None) -> None:
        from treeplex.engines.boards.cuda import engine as room

        self.seconds: dict[str, float] = {}
        if game is None:
            game = self.timed("building", lambda: load_spot(spot))
        self.game, self.spot, self.storage = game, spot, storage
        self.solver = solver_for(game, storage)
        planned = self.timed("tables", lambda: room.plan(game, storage, tuning))
        self.bytes = planned.bytes + room.learner_bytes(game, storage, False)
        self.gpu = self.timed("transfer", lambda: room.BoardsOnGPU(game, storage, planned))
        self.learners = self.gpu.new_learners(False)
        self.schedules = self.solver.schedules(MOST)
        self.t = 0
        self.timed("compilation", lambda: (self.iterate(1), self.evaluate()))

    def timed(self, name: str, what: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        found = what()
        self.seconds[name] = time.perf_counter() - began
        return found

    def iterate(self, count: int) -> None:
        self.gpu.iterate(self.learners, self.solver.rule, self.schedules, self.t, count)
        self.t += count

    def evaluate(self) -> tuple[float, float]:
        return evaluated(self.game, self.gpu, Sources(*(each.average for each in self.learners)))

    def restart(self) -> None:
        from treeplex.engines.boards.cuda.kernels import clear
        from treeplex.kernels.cuda.kernels import cuda

        for learner in self.learners:
            for array in learner:
                clear[self.blocks, 32](array)
        cuda.synchronize()
        self.t = 0

    def milliseconds(self, rounds: int = 5, count: int = 10) -> float:
        found = []
        for _ in range(rounds):
            began = time.perf_counter()
            self.iterate(count)
            found.append((time.perf_counter() - began) / count * 1e3)
        return statistics.median(found)

    def by_kernel(self, count: int = 10) -> dict[str, list[float]]:
        """Microseconds of each launch, by name and player; what is learnt meanwhile is wrong."""
        self.iterate(1)
        found: dict[str, list[float]] = {}
        for player in (0, 1):
            phases = self.gpu.launches(self.gpu.learns(self.learners, self.solver.rule, player))
            launches = [each for phase in phases for these in phase for each in these]
            stream = self.gpu.stream
            for name in dict.fromkeys(each.name for each in launches):
                these = [each for each in launches if each.name == name] * count
                replay = stream.recorded(partial(_launched, these, stream.numba))
                spent = []
                for _ in range(4):
                    began = time.perf_counter()
                    replay()
                    self.gpu.stream.wait()
                    spent.append((time.perf_counter() - began) / count * 1e6)
                found.setdefault(f"{name} x {len(these)}", []).append(min(spent))
        return found


def timed(name: str, spot: Any, arguments: Any) -> None:
    solve = Solve(spot, arguments.storage)
    game, numbers = solve.game, sum(solve.game.elements(player) for player in (0, 1))
    size = {"float64": 8, "float32": 4, "int16": 2}[arguments.storage]
    boards = " x ".join(str(len(level.texture)) for level in game.boards)
    print(
        f"  {name}: {game.nodes:,} nodes, {numbers / 1e6:,.1f} M numbers, {solve.bytes / 2**30:,.2f} GiB,"
        f" boards {boards}"
    )
    for level in solve.gpu.plan.levels[0]:
        boards = [stretch.boards for stretch in level.stretches][:8]
        print(f"    roots {level.roots}, rows {level.rows}, groups {level.groups}, boards {boards}, {level.sums}")
    print("    seconds: " + ", ".join(f"{what} {spent:.2f}" for what, spent in solve.seconds.items()), flush=True)
    each = solve.milliseconds()
    moved = 5 * size * numbers / each / 1e9
    began = time.perf_counter()
    for _ in range(5):
        solve.evaluate()
    looked = (time.perf_counter() - began) / 5e-3
    print(
        f"    {each:.3f} ms per iteration ({moved:.2f} TB/s of 5 numbers each), {looked:.3f} ms per evaluation",
        flush=True,
    )
    if "kernels" in arguments.parts:
        for what, spent in solve.by_kernel().items():
            print(f"    {what:14s} " + " ".join(f"{each:8.1f}" for each in spent) + " us", flush=True)
    solve.restart()
    began = time.perf_counter()
    rows: list[Any] = []
    cost, target = solve.solver.cost(game), arguments.target * spot.pot / 50.0
    while True:
        solve.iterate(min(next_evaluation(rows, cost, target), MOST) - solve.t)
        value, nash_conv = solve.evaluate()
        rows.append(Row(solve.t, nash_conv))
        spent = time.perf_counter() - began
        if nash_conv <= target or spent > arguments.limit or solve.t == MOST:
            break
    print(
        f"    {50.0 * nash_conv / spot.pot:.4f} % of pot after {solve.t} iterations, {spent:.3f} s with {len(rows)}"
        f" evaluations; EV {value:.4f}",
        flush=True,
    )
    if name not in OWN:
        known = json.loads(Path(arguments.file).read_text())["spots"][name].get("postflop_solver", {}).get("runs", [{}])
        print(f"    EVs of postflop-solver: {[run.get('ev') for run in known]}")
    if "cpu" in arguments.parts:
        host = Sources(*(each.average.copy_to_host() for each in solve.learners))
        found = solve.solver.policy(game, host).evaluation()
        print(
            f"    the same strategies on the CPU: EV {found.value:.4f},"
            f" {50.0 * found.nash_conv / spot.pot:.4f} % of pot"
        )


def tuned(name: str, spot: Any, arguments: Any) -> None:
    from treeplex.engines.boards.cuda.tables import Tuning

    game = load_spot(spot)
    plain = Tuning()
    for change in (
        {}, {"beside": 1}, {"beside": 1, "run_bytes": 2**40}, {"beside": 4}, {"warps": 2},
    ):  # fmt: skip
        solve = Solve(spot, arguments.storage, plain._replace(**change), game)
        print(f"    {name} {change}: {solve.milliseconds():.3f} ms per iteration", flush=True)
        del solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="spots.json")
    parser.add_argument("--spots", default="T,F1")
    parser.add_argument("--tuned", default="T,F1")
    parser.add_argument("--checked", default="R,T,F1")
    parser.add_argument("--parts", default="check,time,kernels")
    parser.add_argument("--storage", default="float32")
    parser.add_argument("--target", type=float, default=0.1, help="per cent of the pot")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of a solve")
    arguments = parser.parse_args()
    for part, names, task in (("time", arguments.spots, timed), ("tune", arguments.tuned, tuned)):
        for name in names.split(",") if part in arguments.parts else ():
            tried(part, lambda n=name, do=task: do(n, spot_named(n, arguments.file), arguments))
    if "check" in arguments.parts:
        for name in arguments.checked.split(","):
            for algorithm in (DEFAULT_SPOT_ALGORITHM, "pcfr+") if name == "R" else (DEFAULT_SPOT_ALGORITHM,):
                spot = spot_named(name, arguments.file)
                tried("check", lambda n=name, s=spot, m=CHECKED[name], a=algorithm: checked(n, s, m, a))


if __name__ == "__main__":
    main()
