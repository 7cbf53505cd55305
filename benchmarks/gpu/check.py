"""Is the GPU backend right, and how fast is it? General games. One command:

    python benchmarks/gpu/check.py [--games NAME ...] [--timed NAME ...] [--no-check] [--phases] [--variants]

First half-iterations from the CPU's state after each of 0 to 49 iterations (and whole ones with simultaneous updates):
the largest difference of regrets and averages, relative to the largest number of the array, and whether a repetition
gives the same bits. Then microseconds per iteration of CFR+, bytes that must move, and the share of the copy's speed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.compile.source import compiled
from treeplex.cuda.found import SIMULATED, require
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.learners import initial_learners, steps

CHECKED = (
    *("kuhn", "leduc", "leduc(suits=true)", "leduc5", "liars_dice", "goofspiel(cards=5)", "princess_and_monster"),
    *("random_tree(seed=3,depth=8)", "gaussian_matrix(size=100)", "kuhn_ext(cards=3,bets=9,raises=7)"),
)
ALGORITHMS = ("cfr", "lcfr", "dcfr", "pcfr+", "pdcfr+")
TIMED = (
    *("leduc(suits=true)", "goofspiel(cards=5)", "leduc5", "liars_dice"),
    *("kuhn_ext(3,20,7)", "kuhn_ext(3,25,7)", "kuhn_ext(3,30,7)"),
)
LIMIT = 1e-12


@lru_cache(maxsize=1)
def loaded(name: str) -> Any:
    if name.startswith("kuhn_ext(") and "=" not in name:
        from kuhn_ext import kuhn_ext

        return kuhn_ext(*(int(x) for x in name[9:-1].split(",")))
    return compiled(name)


def attempt(what: str, work: Callable[[], Any]) -> Any:
    """One failure does not end the rest."""
    try:
        return work()
    except Exception:
        lines = traceback.format_exc().strip().splitlines()
        print(f"FAILED {what}:\n  " + "\n  ".join(lines[-8:]), flush=True)
        return None


# --- right? -----------------------------------------------------------------------------------------------------------


def copied(learners: Any) -> tuple[Learner, Learner]:
    first, second = (Learner(*(array.copy() for array in learner)) for learner in learners)
    return first, second


def distance(got: Learner, wanted: Learner) -> float:
    return max(
        float(np.abs(a[1:].astype(float) - b[1:]).max(initial=0.0) / max(np.abs(b[1:]).max(initial=0.0), 1e-30))
        for a, b in ((got.regret, wanted.regret), (got.average, wanted.average))
    )


def half(gpu: Any, state: Any, learners: Any, t: int, players: tuple[int, ...]) -> tuple[Learner, Learner]:
    """Iteration ``t`` of ``players`` alone, from ``learners``."""
    from treeplex.cuda.memory import put, send
    from treeplex.engines.sequence.cuda.engine import BLOCK, THREADS

    engine, member = state.engine, gpu.member
    engine.load(learners)
    now = steps(t, 1, member.weight, member.minimizer)
    put(now.positive.astype(engine.storage), engine.steps.positive)
    put(now.negative.astype(engine.storage), engine.steps.negative)
    put(np.zeros(2, engine.storage), engine.steps.after)
    put(np.zeros(1, np.int32), engine.steps.clock)
    engine._launch_shares()
    weight = [float(now.weight[0]) if player in players else 0.0 for player in (0, 1)]
    blocks = -(-engine.layout.places // BLOCK)
    engine.kernels.enter[blocks, BLOCK, engine.stream.numba](
        engine.learning, int(engine.layout.sides[1].place[0]), *weight
    )
    phases = [phase for phase in engine._order() if phase.player in players]
    if engine.alone:
        table = send(np.array([phase[:4] for phase in phases], dtype=np.int32).reshape(-1, 4))
        engine.kernels.block[1, THREADS, engine.stream.numba](
            engine.shape, engine.learning, engine.steps, table, 1, engine.layout.unit, engine.predict
        )
    else:
        for phase in phases:
            engine.launch(phase)
    engine.stream.wait()
    return state.learners


@contextmanager
def forced() -> Generator[None]:
    """Bundles, single phases and several launches also in small games."""
    import treeplex.engines.sequence.cuda.engine as engine
    import treeplex.engines.sequence.cuda.layout as layout

    kept = layout.BUNDLE, layout.TOGETHER, engine.SMALL
    layout.BUNDLE, layout.TOGETHER, engine.SMALL = 30, 30, 0
    try:
        yield
    finally:
        layout.BUNDLE, layout.TOGETHER, engine.SMALL = kept


def check(name: str, algorithm: str, iterations: int) -> None:
    game, began = compiled(name), time.perf_counter()
    row = f"{name:36s} {algorithm:6s}"
    for turns in ("alternating", "simultaneous"):
        member = build(f"{algorithm}(turns={turns})")
        cpu = member.prepared(game, Execution("cpu", threads=1))
        gpu = member.prepared(game, Execution("cuda"))
        state = cpu.start(game)
        device = gpu.start(game)
        worst, same = 0.0, True
        for t in range(iterations):
            before = copied(state.learners)
            state = cpu.advance(game, state, 1)
            after = copied(state.learners)
            halves = [((0,), before), ((1,), (after[0], before[1]))] if turns == "alternating" else [((0, 1), before)]
            for players, start in halves:
                got = half(gpu, device, start, t, players)
                again = half(gpu, device, start, t, players) if t % 7 == 0 else got
                for player in players:
                    worst = max(worst, distance(got[player], after[player]))
                    same &= all(np.array_equal(a, b) for a, b in zip(got[player], again[player], strict=True))
        engine = device.engine
        row += f"  {turns[:3]} {worst:.1e} {'ok' if worst <= LIMIT else 'WRONG'} {'same' if same else 'BITS DIFFER'}"
    bundles = sum(len(side.bundles) for side in engine.layout.sides)
    where = "block" if engine.alone else f"{len(list(engine._order()))} phases, {bundles} bundles"
    print(f"{row}  {where}, {len(engine.layout.tiles)} tiles, {time.perf_counter() - began:.1f} s", flush=True)


# --- fast? ------------------------------------------------------------------------------------------------------------


def copy_speed() -> float:
    """Bytes per second of the driver's copy, read and written."""
    from treeplex.cuda.kernels import cuda

    a, b = (cuda.device_array(2**28, np.float64) for _ in range(2))
    best = np.inf
    for _ in range(5):
        cuda.synchronize()
        began = time.perf_counter()
        for _ in range(4):
            b.copy_to_device(a)
        cuda.synchronize()
        best = min(best, (time.perf_counter() - began) / 4)
    return 2 * a.nbytes / best


class Timer:
    """CFR+ on one game, as runs carry it out."""

    def __init__(self, game: Any, storage: str, algorithm: str = "cfr+") -> None:
        member = build(algorithm)
        self.game, self.gpu = game, member.prepared(_Sized(game), Execution("cuda", storage=storage))
        self.learners = initial_learners(game, np.dtype(storage))
        from treeplex.algorithms.full_width import LearnerState

        began = time.perf_counter()
        self.state = self.gpu.sent(game, LearnerState(self.learners, 0))
        self.setup = time.perf_counter() - began
        self.engine = self.state.engine

    def reload(self) -> None:
        self.engine.load(self.learners)
        self.state = self.state._replace(iteration=0)

    def run(self, count: int) -> float:
        """Seconds per iteration."""
        began = time.perf_counter()
        self.state = self.gpu.advance(self.game, self.state, count)
        return (time.perf_counter() - began) / count


class _Sized:
    """Enough of a game for ``prepared``; it is never small."""

    def __new__(cls, game: Any) -> Any:
        from treeplex.compile.game import CompiledGame

        if isinstance(game, CompiledGame):
            return game
        shell = object.__new__(CompiledGame)
        object.__setattr__(shell, "operator", game.operator)
        object.__setattr__(shell, "treeplexes", game.treeplexes)
        return shell


def timing(name: str, storage: str, speed: float, phases: bool) -> None:
    game = loaded(name)
    timer = Timer(game, storage)
    engine, moved = timer.engine, timer.engine.bytes
    large = engine.layout.places > 2_000_000
    count = 20 if large else 500
    timer.run(2 if large else 50)
    early: list[float] = []
    for _ in range(3):
        timer.reload()
        timer.run(1)
        early.append(timer.run(count))
    later = [timer.run(count) for _ in range(5)]
    us, us_later = 1e6 * float(np.median(early)), 1e6 * float(np.median(later))
    print(
        f"{name:20s} {storage} {us:9.1f} us from the start, {us_later:9.1f} after {int(timer.state.iteration):5d};"
        f" {moved / 1e6:8.1f} MB, {moved / us / 1e6:5.2f} TB/s, {100 * moved / us * 1e6 / speed:3.0f} % of the copy;"
        f" {'block' if engine.alone else len(list(engine._order()))} phases, {len(engine.layout.tiles)} tiles,"
        f" set up and compiled in {timer.setup:.1f} s",
        flush=True,
    )
    if phases and not engine.alone:
        attempt("phases", lambda: by_phase(engine))


def by_phase(engine: Any) -> None:
    """Microseconds of each launch, replayed by itself; the numbers it leaves are of no use."""
    kinds = ("UP", "DOWN", "FALL")
    for phase in engine._order():
        own = engine.layout.sides[phase.player]
        parts = [("tiles", phase, own._replace(bundles=()))]
        if own.bundles and (phase.begin, phase.end) == own.heights[0] and phase.kind != 2:
            parts += [(f"bundle {b.lengths} x {b.tiles}", phase, own._replace(bundles=(b,))) for b in own.bundles]
        sides = list(engine.layout.sides)
        for what, part, side in parts:
            trial = list(sides)
            trial[phase.player] = side
            layout, engine.layout = engine.layout, engine.layout._replace(sides=tuple(trial))
            replay = engine.stream.recorded(lambda part=part: [engine.launch(part) for _ in range(10)] and None)
            engine.layout = layout
            best = np.inf
            for _ in range(5):
                engine.stream.wait()
                began = time.perf_counter()
                replay()
                engine.stream.wait()
                best = min(best, (time.perf_counter() - began) / 10)
            tiles = phase.end - phase.begin
            print(
                f"      player {phase.player} {kinds[phase.kind]:4s} form {phase.form} {tiles:8d} tiles"
                f" {'' if what == 'tiles' else '+ ' + what:28s} {1e6 * best:8.1f} us"
            )


def registers() -> None:
    """Registers of everything that has been compiled."""
    from treeplex.engines.sequence.cuda import kernels as made

    found: list[str] = []
    for storage in ("float64", "float32"):
        for predict in (False, True):
            kernels = made.kernels(storage, predict)
            for label, each in (
                *((f"up{k}", up) for k, up in enumerate(kernels.up)),
                *zip(("down", "fall", "block"), kernels[1:4], strict=True),
            ):
                if each.overloads:
                    found.append(f"{storage} {label} {max(each.get_regs_per_thread().values())}")
    print("registers: " + "; ".join(found))


def variants(name: str, speed: float) -> None:
    """The same with other choices, to learn what pays."""
    import treeplex.engines.sequence.cuda.engine as engine
    import treeplex.engines.sequence.cuda.layout as layout

    tried = {
        "as it is": {},
        "no bundles": {"BUNDLE": 2**40},
        "bundles of 2 actions only": {"BUNDLED": 2},
        "few steps": {"LARGE_STEP": 0.3},
        "more together": {"TOGETHER": 200_000},
        "less together": {"TOGETHER": 5_000},
    }
    blocks = {"blocks of 64": 64, "blocks of 256": 256}
    game = loaded(name)
    for what, values in (tried | {key: {} for key in blocks}).items():
        kept, block = {key: getattr(layout, key) for key in values}, engine.BLOCK
        for key, value in values.items():
            setattr(layout, key, value)
        engine.BLOCK = blocks.get(what, block)
        try:
            for storage in ("float64", "float32"):
                timer = Timer(game, storage)
                timer.run(3)
                timer.reload()
                timer.run(1)
                first = timer.run(15)
                later = timer.run(30)
                print(f"      {name} {storage} {what:28s} {1e6 * first:8.1f} us, later {1e6 * later:8.1f}", flush=True)
        finally:
            for key, value in kept.items():
                setattr(layout, key, value)
            engine.BLOCK = block


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", nargs="*", default=list(CHECKED))
    parser.add_argument("--timed", nargs="*", default=list(TIMED))
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--phases", action="store_true", help="microseconds of each launch of the large games")
    parser.add_argument("--variants", nargs="*", default=[], help="games to try other choices on")
    given = parser.parse_args()
    began = time.perf_counter()
    print(require(0), flush=True)
    if not given.no_check:
        print(f"half-iterations from the CPU's state after 0 to {given.iterations - 1} iterations; float64")
        for name in given.games:
            attempt(name, lambda name=name: check(name, "cfr+", given.iterations))
        for algorithm in ALGORITHMS:
            for name in given.games[1:2]:
                attempt(algorithm, lambda name=name, a=algorithm: check(name, a, min(given.iterations, 20)))
        with forced():
            print("the same with bundles and phases of their own in all games")
            for name in given.games:
                attempt(name, lambda name=name: check(name, "cfr+", min(given.iterations, 10)))
            for algorithm in ("dcfr", "pdcfr+"):
                for name in given.games[1:2]:
                    attempt(algorithm, lambda name=name, a=algorithm: check(name, a, min(given.iterations, 10)))
        print(f"checked in {time.perf_counter() - began:.0f} s", flush=True)
    if SIMULATED:
        return
    speed = attempt("copy", copy_speed) or 4.28e12
    print(f"the driver's copy: {speed / 1e12:.2f} TB/s; CFR+, alternating")
    for name in given.timed:
        for storage in ("float64", "float32"):
            attempt(name, lambda name=name, s=storage: timing(name, s, speed, given.phases and "kuhn_ext" in name))
    attempt("registers", registers)
    for name in given.variants:
        attempt(name, lambda name=name: variants(name, speed))
    print(f"all in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
