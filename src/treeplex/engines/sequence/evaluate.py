"""Exact evaluation of strategies in a compiled game: one gradient and one bottom-up pass per player."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.sequence.cpu.evaluate import evaluate
from treeplex.engines.sequence.cpu.operators import gradient as take_gradient
from treeplex.engines.sequence.cpu.tiled_evaluate import Plans, evaluate_tiles
from treeplex.engines.sequence.learners import InTiles
from treeplex.engines.sequence.partition import partitions
from treeplex.kernels.threads.team import run_threads

KEPT: Final = 2**23  # numbers of scratch that stay: 64 MiB


def evaluate_strategies(game: CompiledGame, strategies: tuple[Floats, Floats], threads: int = 0) -> Evaluation:
    """Value, best-response values and NashConv of strategies in the game's own order of sequences.

    ``threads``: 0 for all cores in large games; no bit depends on it.
    """
    pieces, found = partitions(game, threads), np.empty(3)
    first, second, third, fourth = _kept.scratch([treeplex.sequences for treeplex in game.treeplexes] * 2)
    told = game.treeplexes, game.operator, pieces, strategies, (first, second, third, fourth), found
    run_threads(1 if pieces[0] is None else len(pieces[0].runs) - 1, lambda worker: evaluate(*told, worker))
    value, first, second = found.tolist()
    return in_payoffs(game, value, first, second)


def evaluate_in_tiles(game: CompiledGame, given: InTiles) -> Evaluation:
    """As ``evaluate_strategies``, to the same bits, by the threads that iterations have: two to four times as fast."""
    (first, second), form, found = given.strategies, given.form, np.empty(3)
    plan_0, plan_1, paid = _kept.scratch([len(first), len(second), len(first)])
    told = form, given.strategies, given.places[0], Plans((plan_0, plan_1), paid), found
    run_threads(form.threads, lambda worker: evaluate_tiles(*told, worker))
    return in_payoffs(game, *found.tolist())


def in_payoffs(game: CompiledGame, value: float, first: float, second: float) -> Evaluation:
    """Player 0's value and both best responses', as payoffs are stored, in payoffs of the rules."""
    gain, rounding, unit = first + second, 1e-12 * game.largest_payoff, game.unit
    if -rounding < gain < 0.0:
        gain = 0.0
    return Evaluation(value * unit, gain * unit, (first * unit, game.constant + second * unit))


def gradient(game: CompiledGame, player: int, opponent: Floats) -> Floats:
    """[S] the value of each sequence of ``player`` against the opponent's realization plan: A y, or -A'x, as stored."""
    out = np.empty(game.treeplexes[player].sequences)
    take_gradient(game.operator[player], 1.0 if player == 0 else -1.0, opponent, out)
    return out


class _Kept(threading.local):
    """Scratch of the last evaluation in this thread: pages that are new to a process cost as much as a pass."""

    arrays: tuple[Floats, ...] = ()

    def scratch(self, sizes: list[int]) -> tuple[Floats, ...]:
        if [len(array) for array in self.arrays] != sizes:
            made = tuple(np.empty(size) for size in sizes)
            if sum(sizes) > KEPT:
                return made
            self.arrays = made
        return self.arrays


_kept = _Kept()
