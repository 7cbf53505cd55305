"""Microseconds per iteration of a user's rules on Leduc, one thread: the table of ``docs/how-to/own-minimizer.md``."""

from __future__ import annotations

import time

import numpy as np

import treeplex as tp
from treeplex.algorithms.cfr import CFR, cfr_plus
from treeplex.algorithms.protocol import Execution

ROUNDS, ITERATIONS = 100, 500


def plus(t, values, strategy, memory):
    """Regret matching+."""
    expected, total = 0.0, 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    for a in range(len(values)):
        memory[0, a] = max(memory[0, a] + (values[a] - expected), 0.0)
        total += memory[0, a]
    for a in range(len(values)):
        strategy[a] = memory[0, a] / total if total > 0.0 else 1.0 / len(values)


def own_hedge(t, values, strategy, memory):
    """Hedge with a temperature that adapts."""
    earned, seen = memory[0], memory[1]
    seen[0] += (values.max() - values.min()) ** 2
    scale = np.sqrt(seen[0])
    for a in range(len(values)):
        earned[a] += values[a]
    if scale == 0.0:
        return
    best, total = earned.max(), 0.0
    for a in range(len(values)):
        strategy[a] = np.exp(2.0 * (earned[a] - best) / scale)
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] /= total


def microseconds(algorithm: CFR) -> float:
    """Best of ``ROUNDS``."""
    game = tp.load("leduc")
    solver = algorithm.open(game, Execution(threads=1))
    state = solver.advance(game, solver.start(game), ITERATIONS)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        state = solver.advance(game, state, ITERATIONS)
        best = min(best, time.perf_counter() - began)
    return 1e6 * best / ITERATIONS


if __name__ == "__main__":
    for rule, rows in ((plus, 1), (own_hedge, 2)):
        for checked in (True, False):
            made = tp.minimizer(memory=rows, checked=checked)(rule)
            print(f"{rule.__name__}, {'checked' if checked else 'unchecked'}: {microseconds(made):.2f} us")
    print(f"cfr+: {microseconds(cfr_plus()):.2f} us")
