"""The CFR family on a GPU: is it right, and how fast?

    python benchmarks/gpu/check.py [--no-check] [--no-times] [--games NAME ...] [--timed NAME ...] [--phases]
                                   [--variants NAME ...]

First half-iterations from the CPU's state after each of 0 to 49 iterations (and whole ones with simultaneous updates):
the largest difference of regrets and averages, relative to the largest number of the array, and whether a repetition
gives the same bits; NashConv of average and current strategies, relative to the largest payoff. Then microseconds per
iteration of CFR+, bytes that must move, and the share of the copy's speed.
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
from treeplex.compile.game import CompiledGame
from treeplex.compile.source import compiled
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.engine import SequenceTables
from treeplex.engines.sequence.learners import initial_learners, steps
from treeplex.kernels.cuda.device import SIMULATED, require

CHECKED = (
    *("kuhn", "leduc", "leduc(suits=true)", "leduc5", "liars_dice", "goofspiel(cards=5)", "princess_and_monster"),
    *("random_tree(seed=3,depth=8)", "gaussian_matrix(size=100)", "kuhn_ext(cards=3,bets=9,raises=7)"),
)
LARGE = "kuhn_ext(3,20,7)"  # checked, too: tiles of every form and bundles as they are in large games
FORCED = ("leduc", "liars_dice", "random_tree(seed=3,depth=8)", "kuhn_ext(cards=3,bets=9,raises=7)")
TIMED = (
    *("leduc(suits=true)", "goofspiel(cards=5)", "leduc5", "liars_dice"),
    *("kuhn_ext(3,20,7)", "kuhn_ext(3,25,7)", "kuhn_ext(3,30,7)"),
)
LIMIT = {"float64": 1e-12, "float32": 1e-4}


@lru_cache(maxsize=2)
def loaded(name: str) -> Any:
    """A game; the largest ones have only what solving needs."""
    if not name.startswith("kuhn_ext(") or "=" in name:
        return compiled(name)
    from kuhn_ext import kuhn_ext

    bare = kuhn_ext(*(int(x) for x in name[9:-1].split(",")))
    game = object.__new__(CompiledGame)
    for key in ("operator", "treeplexes"):
        object.__setattr__(game, key, getattr(bare, key))
    object.__setattr__(game, "name", name)
    return game


def attempt(what: str, work: Callable[[], Any]) -> Any:
    """One failure does not end the rest."""
    try:
        return work()
    except Exception:
        lines = traceback.format_exc().strip().splitlines()
        print(f"FAILED {what}:\n  " + "\n  ".join(lines[-6:]), flush=True)
        return None


@contextmanager
def changed(**values: Any) -> Generator[None]:
    """Other constants for a while: names of ``engine``, ``layout`` or ``plan``."""
    from treeplex.engines.sequence.cuda import engine, layout, plan

    modules = {key: next(each for each in (layout, plan, engine) if hasattr(each, key)) for key in values}
    kept = {key: getattr(module, key) for key, module in modules.items()}
    for key, module in modules.items():
        setattr(module, key, values[key])
    try:
        yield
    finally:
        for key, module in modules.items():
            setattr(module, key, kept[key])


# --- right? -----------------------------------------------------------------------------------------------------------


def copied(learners: Any) -> tuple[Learner, Learner]:
    first, second = (Learner(*(array.copy() for array in learner)) for learner in learners)
    return first, second


def distance(got: Learner, wanted: Learner) -> float:
    return max(
        float(np.abs(a[1:].astype(float) - b[1:]).max(initial=0.0) / max(np.abs(b[1:]).max(initial=0.0), 1e-30))
        for a, b in ((got.regret, wanted.regret), (got.average, wanted.average))
    )


def load(engine: Any, learners: tuple[Learner, Learner]) -> None:
    """Overwrite what a run keeps on the device."""
    from treeplex.kernels.cuda.memory import fetch, put

    engine.stream.wait()
    fresh = engine._sent(learners)
    for name in ("regret", "average", "plan", "reached", *(("played",) if engine.apart else ())):
        put(fetch(getattr(fresh, name)), getattr(engine.learning, name))
    engine._shares = False
    if engine.earlier is not None:
        engine.earlier, engine._evaluator = None, None


def moved(layout: Any, storage: str) -> int:
    """Bytes that an iteration of CFR+ reads and writes at least, if nothing is skipped; entries as they are filled."""
    from treeplex.engines.sequence.cuda.engine import LANES

    size = np.dtype(storage).itemsize
    sequences = sum(len(side.place) for side in layout.sides)
    infosets = sum(len(side.home) for side in layout.sides)
    bundled = sum(bundle.tiles for side in layout.sides for bundle in side.bundles) * LANES
    state = 7 * size * sequences + (3 * size + 8) * infosets + 3 * size * (infosets - bundled)
    if layout.dealt is not None:
        hands = sum(array.nbytes for side in layout.dealt for array in side)
        return state + hands + 3 * size * sequences + layout.tiles.nbytes * 2
    return state + len(layout.column) * (4 + layout.value.itemsize) + layout.tiles.nbytes * 2


def half(gpu: Any, state: Any, learners: Any, t: int, players: tuple[int, ...]) -> tuple[Learner, Learner]:
    """Iteration ``t`` of ``players`` alone, from ``learners``."""
    from treeplex.engines.sequence.cuda.engine import BLOCK

    engine, scheme = state.device, gpu.scheme
    load(engine, learners)
    now = steps(t, 1, scheme.weight, scheme.rule)
    engine.tell(np.stack((now.positive, now.negative, np.zeros(1), np.zeros(1)), axis=1))
    weight = [float(now.weight[0]) if player in players else 0.0 for player in (0, 1)]
    blocks = -(-engine.layout.places // BLOCK)
    turn = int(engine.layout.sides[1].place[0])
    engine.kernels.enter[blocks, BLOCK, engine.stream.numba](engine.learning, turn, *weight)
    if engine.plan.alone:
        rows = np.flatnonzero(np.isin(engine.plan.table[:, 3], players))
        engine._launch_block(int(rows[0]), int(rows[-1]) + 1, 0, 1, engine.stream.numba)
    else:
        for phase in engine.plan.phases:
            if phase[0].player in players:
                engine.launch(phase)
    engine.stream.wait()
    return state.learners


def check(name: str, algorithm: str, iterations: int, storage: str = "float64") -> None:
    game, began = loaded(name), time.perf_counter()
    row, looks = f"{name:34s} {algorithm:6s} {storage}", 0.0
    for turns, count in (("alternating", iterations), ("simultaneous", min(iterations, 10))):
        member = build(f"{algorithm}(turns={turns})")
        cpu = member.open(game, Execution("cpu", threads=1, storage=storage))
        gpu = member.open(game, Execution("cuda", storage=storage))
        state = cpu.start(game)
        device = gpu.start(game)
        worst, same = 0.0, True
        for t in range(count):
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
        engine = device.device
        if name != LARGE:
            load(engine, state.learners)
            for iterate in ("average", "current"):
                got = gpu.report(game, device, iterate).evaluate()
                wanted = cpu.report(game, state, iterate).evaluate()
                off = np.abs(np.array(got.best_response_values) - wanted.best_response_values).max()
                off = max(off, abs(got.value - wanted.value), abs(got.nash_conv - wanted.nash_conv))
                looks = max(looks, float(off) / (game.largest_payoff * game.unit))
        right = "ok" if worst <= LIMIT[storage] else "WRONG"
        row += f"  {turns[:3]} {worst:.0e} {right}{'' if same else ' BITS DIFFER'}"
    row += f"  NashConv {looks:.0e} {'ok' if looks <= LIMIT[storage] else 'WRONG'}"
    print(f"{row}  {described(engine)}, {time.perf_counter() - began:.1f} s", flush=True)


def described(engine: Any) -> str:
    bundles = sum(len(side.bundles) for side in engine.layout.sides)
    where = "one block" if engine.plan.alone else f"{len(engine.plan.phases)} phases"
    return f"{where}, {len(engine.layout.tiles)} tiles" + (f", {bundles} bundles" if bundles else "")


def checks(games: list[str], iterations: int) -> None:
    print(f"half-iterations from the CPU's state after 0 to {iterations - 1} iterations (simultaneous: 0 to 9)")
    for name in games:
        attempt(name, lambda name=name: check(name, "cfr+", iterations))
    for algorithm in ("lcfr", "dcfr", "pdcfr+") if len(games) > 1 else ():
        attempt(algorithm, lambda a=algorithm: check(games[1], a, min(iterations, 10)))
    attempt("float32", lambda: check(games[-1], "cfr+", min(iterations, 10), "float32"))
    print("the same with bundles, tiles of several steps and phases of their own in small games")
    with changed(BUNDLE=100, TOGETHER=30, SMALL=0, CROWN=2, APART=0, FEW=0, STEP=0.0):
        for name in [each for each in FORCED if each in games]:
            attempt(name, lambda name=name: check(name, "cfr+", min(iterations, 10)))
        attempt("pdcfr+", lambda: check(games[min(1, len(games) - 1)], "pdcfr+", min(iterations, 10)))
    if not SIMULATED:
        attempt(LARGE, lambda: check(LARGE, "cfr+", 3))


# --- fast? ------------------------------------------------------------------------------------------------------------


def copy_speed() -> float:
    """Bytes per second of the driver's copy, read and written."""
    from treeplex.kernels.cuda.kernels import cuda

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


@contextmanager
def layouts_kept() -> Generator[None]:
    """A game in tiles is made once for both storages, if payoffs are whole numbers of units."""
    from treeplex.engines.sequence.cuda import engine, layout

    made, known = engine.laid_out, {}

    def laid_out(game: Any, storage: str) -> Any:
        key = id(game), *(getattr(layout, name) for name in dir(layout) if name.isupper())
        if key not in known or (known[key].value.dtype != np.int16 and known[key].value.dtype != storage):
            known.clear()
            known[key] = made(game, storage)
        return known[key]

    with changed(laid_out=laid_out):
        yield


class Timer:
    """CFR+ on one game, as runs carry it out."""

    def __init__(self, game: Any, storage: str, algorithm: str = "cfr+") -> None:
        self.game, self.gpu = game, build(algorithm).open(game, Execution("cuda", storage=storage))
        self.learners = initial_learners(game, np.dtype(storage))
        began = time.perf_counter()
        self.state = self.gpu.engine.send(SequenceTables(self.learners, 0), self.gpu.scheme)
        self.setup = time.perf_counter() - began
        self.engine = self.state.device

    def run(self, count: int) -> float:
        """Microseconds per iteration."""
        began = time.perf_counter()
        self.state = self.gpu.advance(self.game, self.state, count)
        return 1e6 * (time.perf_counter() - began) / count

    def measured(self) -> tuple[float, float]:
        """Early in a run, and later: medians."""
        count = 100 if self.engine.layout.places > 2_000_000 else 480
        self.run(count)
        early: list[float] = []
        for _ in range(3):
            load(self.engine, self.learners)
            self.state = self.state._replace(iteration=0)
            early.append(self.run(count))
        return float(np.median(early)), float(np.median([self.run(2 * count) for _ in range(3)]))


def timing(name: str, storage: str, speed: float, phases: bool) -> None:
    timer = Timer(loaded(name), storage)
    early, later = timer.measured()
    bytes_moved, looks = moved(timer.engine.layout, storage), []
    for _ in range(4):
        began = time.perf_counter()
        timer.engine.evaluated("average")
        looks.append(time.perf_counter() - began)
    print(
        f"{name:20s} {storage} {early:8.1f} us, later {later:8.1f};"
        f" {bytes_moved / 1e6:7.1f} MB, {bytes_moved / early / 1e6:5.2f} TB/s,"
        f" {100 * bytes_moved / early * 1e6 / speed:3.0f} % of the"
        f" copy; {described(timer.engine)}; NashConv {1e6 * min(looks):.0f} us; set up in {timer.setup:.1f} s",
        flush=True,
    )
    if phases and not timer.engine.plan.alone:
        attempt("phases", lambda: by_part(timer.engine))


def by_part(engine: Any) -> None:
    """Microseconds of each part of a phase, replayed by itself and added up; the numbers it leaves are of no use."""
    kinds = ("UP", "DOWN", "FALL", "block")
    forms = ("bottom", "one step", "several steps", "any")
    times: dict[str, list[float]] = {}
    for part in [part for phase in engine.plan.phases for part in phase]:
        replay = engine.stream.recorded(lambda part=part: [engine.launch((part,)) for _ in range(10)] and None)
        best = np.inf
        for _ in range(4):
            engine.stream.wait()
            began = time.perf_counter()
            replay()
            engine.stream.wait()
            best = min(best, (time.perf_counter() - began) / 10)
        form = f" {forms[part.form]}" if part.kind == 0 else ""
        if part.bundle >= 0:
            form = f" {engine.layout.sides[part.player].bundles[part.bundle].lengths}"
        times.setdefault(kinds[part.kind] + form, []).append(1e6 * best)
    text = "; ".join(f"{key} " + "+".join(f"{each:.1f}" for each in own) for key, own in times.items())
    print(f"      {text}; {sum(sum(own) for own in times.values()):.1f} in all")


VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "parts one after the other": {"SIDE_BY_SIDE": False},
    "no crown": {"CROWN": 0},
    "crown of 8": {"CROWN": 8},
    "crown of 24": {"CROWN": 24},
    "forms together": {"APART": 2**40},
    "blocks of 64": {"BLOCK": 64},
    "blocks of 256": {"BLOCK": 256},
    "no bundles": {"BUNDLE": 2**40},
    "bundles up to 8 actions": {"BUNDLED": 8, "LONGEST": 40},
    "few steps": {"MANY": 2**40},
    "small kinds like others": {"FEW": 0},
    "many steps": {"MANY": 100_000},
    "more together": {"TOGETHER": 200_000},
    "one block": {"SMALL": 400},
}


def variants(name: str) -> None:
    """The same with other choices, to learn what pays: early and later microseconds, float64 and float32."""
    game = loaded(name)
    for what, values in VARIANTS.items():
        if "kuhn_ext" not in name and ("bundle" in what or "steps" in what or "forms" in what):
            continue
        with changed(**values):
            row = f"      {name} {what:28s}"
            for storage in ("float64", "float32"):
                times = attempt(what, lambda storage=storage: Timer(game, storage).measured())
                row += f" {storage} " + (f"{times[0]:8.1f} later {times[1]:8.1f}" if times else "-")
            print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", nargs="*", default=list(CHECKED))
    parser.add_argument("--timed", nargs="*", default=list(TIMED))
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--phases", action="store_true", help="microseconds of each launch of the large games")
    parser.add_argument("--variants", nargs="*", default=[], help="games to try other choices on")
    given = parser.parse_args()
    began = time.perf_counter()
    print(require(0), flush=True)
    if not given.no_check:
        checks(given.games, given.iterations)
        print(f"checked in {time.perf_counter() - began:.0f} s", flush=True)
    if SIMULATED or given.no_times:
        return
    speed = attempt("copy", copy_speed) or 4.28e12
    print(f"the driver's copy: {speed / 1e12:.2f} TB/s; CFR+, alternating")
    with layouts_kept():
        for name in given.timed:
            for storage in ("float64", "float32"):
                attempt(name, lambda name=name, s=storage: timing(name, s, speed, given.phases))
        for name in given.variants:
            attempt(name, lambda name=name: variants(name))
    print(f"all in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
