"""What work costs, in nanoseconds: the constants by which `auto` decides.

    make calibrate                                  # writes src/treeplex/algorithms/costs.json
    OMP_NUM_THREADS=1 python benchmarks/portfolio/calibrate.py --out costs.json

Processor time on one thread, less than a minute on a quiet core; of every kind of stretch the fastest of a few.
Constants are fitted so that relative errors are least. Those of a GPU are measured with ``--gpu``, else kept.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ARRAYS = (
    "leduc",
    "leduc(suits=true)",
    "continuous_leduc",
    "kuhn_ext(cards=3,bets=10,raises=5)",
    "liars_dice(sides=4)",
    "liars_dice",
    "goofspiel(cards=5)",
    "leduc_ext(cards=5,bets=3,raises=2)",
    "leduc5",
    "random_tree(depth=10)",
    "one_card_poker(deck=100)",
    "gaussian_matrix",
)
PROGRAMS = (  # not the smallest: what takes long must be right
    "continuous_leduc",
    "kuhn_ext(cards=3,bets=10,raises=5)",
    "liars_dice",
    "goofspiel(cards=4,order=random)",
    "leduc_ext(cards=5,bets=3,raises=2)",
    "random_tree(depth=12)",
    "gaussian_matrix(size=300)",
    "rhode_island(ranks=3,suits=2)",
    "goofspiel(cards=6)",
)
ROUNDS = 5
LONG = 3.0  # seconds: a linear program that takes longer is cut there, and measured once
STRETCH = 0.03  # seconds


def fitted(parts: list[list[float]], measured: list[float]) -> list[float]:
    """Constants, none negative, with the least squares of the logarithms of their errors; says how far off they are."""
    from scipy.optimize import least_squares

    rows, spent = np.array(parts), np.array(measured)
    scale = np.median(spent) / np.maximum(np.median(rows, axis=0), 1e-300)
    found = least_squares(lambda logs: np.log(rows @ (scale * np.exp(logs)) / spent), np.full(rows.shape[1], -1.0))
    constants = scale * np.exp(found.x)
    off = rows @ constants / spent
    print(f"    fitted over measured: {off.min():.2f} to {off.max():.2f}")
    return [float(number) for number in constants]


def stretch(action: Any) -> float:
    """Seconds per call of ``action(count)``, the fastest of a few."""
    action(2)
    count, best = 1, math.inf
    for _ in range(ROUNDS):
        while True:
            began = time.process_time()
            action(count)
            spent = time.process_time() - began
            if spent >= STRETCH:
                break
            count = max(2 * count, int(1.3 * count * STRETCH / max(spent, 1e-6)))
        best = min(best, spent / count)
    return best


def arrays(backend: str = "cpu") -> dict[str, list[list[float]] | list[float]]:
    """Iterations and evaluations over arrays."""
    import treeplex as tp
    from treeplex.algorithms.protocol import Execution
    from treeplex.algorithms.registry import build
    from treeplex.compile.game import operator_bytes

    sizes: list[list[float]] = []
    iterations: list[float] = []
    evaluations: list[float] = []
    for name in ARRAYS:
        game = tp.load(name)
        member: Any = build("dcfr").open(game, Execution(backend=backend, threads=1))
        box = [member.start(game)]

        def iterate(count: int, member: Any = member, game: Any = game, box: list[Any] = box) -> None:
            box[0] = member.advance(game, box[0], count)

        def evaluate(count: int, member: Any = member, game: Any = game, box: list[Any] = box) -> None:
            for _ in range(count):
                member.report(game, box[0], "average").evaluate(1)

        sequences = float(sum(treeplex.sequences for treeplex in game.treeplexes))
        if backend == "cpu":
            sizes.append([1.0, float(operator_bytes(game.operator)), sequences])
        else:
            sizes.append([1.0, 2.0 * game.operator.entries + 8.0 * sequences])
        iterations.append(1e9 * stretch(iterate))
        evaluations.append(1e9 * stretch(evaluate))
        print(
            f"  {name:36s} iteration {iterations[-1] / 1e3:9.2f} us, evaluation {evaluations[-1] / 1e3:9.2f} us",
            flush=True,
        )
    return {"sizes": sizes, "iterations": iterations, "evaluations": evaluations}


def program() -> tuple[list[list[float]], list[float], list[list[float]], list[float]]:
    """The linear program: until HiGHS first asks, and per iteration from then on."""
    import treeplex as tp
    from treeplex.algorithms.linear_program import LinearProgram
    from treeplex.algorithms.portfolio import prices
    from treeplex.errors import SolverError

    solver, nonzeros, first, sizes, each = LinearProgram(), [], [], [], []
    for name in PROGRAMS:
        game = tp.load(name)
        price = prices(game)
        setup, call = math.inf, math.inf
        for _ in range(ROUNDS):
            calls, times = [0], [0.0]

            def asked(calls: list[int] = calls, times: list[float] = times) -> bool:
                if not calls[0]:
                    times[0] = time.process_time()
                calls[0] += 1
                return time.process_time() - times[0] > LONG

            began = time.process_time()
            with suppress(SolverError):  # cut
                solver.advance(game, solver.start(game), 1, asked)
            ended = time.process_time()
            setup, call = min(setup, times[0] - began), min(call, (ended - times[0]) / calls[0])
            if ended - began > 0.3 * LONG:
                break
        nonzeros.append([price.nonzeros])
        first.append(1e9 * setup)
        sizes.append([1.0, price.nonzeros / price.rows * min(calls[0], price.rows)])
        each.append(1e9 * call)
        print(f"  {name:36s} setup {1e3 * setup:8.2f} ms, {calls[0]:7,} iterations of {1e6 * call:8.2f} us", flush=True)
    return nonzeros, first, sizes, each


def main() -> None:
    from treeplex.algorithms.portfolio import FILE

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--gpu", action="store_true", help="measure the GPU's constants, too")
    options = parser.parse_args()
    known: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))["nanoseconds"]
    print("iterations over arrays")
    on_cpu = arrays()
    known["iteration"], known["byte"], known["sequence"] = fitted(on_cpu["sizes"], on_cpu["iterations"])  # type: ignore
    swept = [[1.0, byte * known["byte"] + count * known["sequence"]] for _, byte, count in on_cpu["sizes"]]  # type: ignore
    known["evaluation"], known["evaluated"] = fitted(swept, on_cpu["evaluations"])  # type: ignore
    print("the linear program")
    nonzeros, first, sizes, each = program()
    (known["setup"],) = fitted(nonzeros, first)
    known["call"], known["touched"] = fitted(sizes, each)
    if options.gpu:
        print("iterations on the GPU")
        on_device = arrays("cuda")
        known["device_iteration"], known["device_number"] = fitted(on_device["sizes"], on_device["iterations"])  # type: ignore
    about = {"measured by": "make calibrate", "processor": platform.machine(), "python": platform.python_version()}
    told = {"about": about, "nanoseconds": {key: float(f"{value:.4g}") for key, value in known.items()}}
    options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
