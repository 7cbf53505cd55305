"""Exact evaluation of policies in a compiled game: one gradient and one bottom-up pass per player."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex import arrow
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu import treeplex as kernels
from treeplex.engines.sequence.cpu.evaluate import evaluate
from treeplex.engines.sequence.cpu.operators import gradient as take_gradient
from treeplex.engines.sequence.cpu.tiled_evaluate import Plans, evaluate_tiles
from treeplex.engines.sequence.learners import InTiles
from treeplex.engines.sequence.partition import partitions
from treeplex.html import html_table
from treeplex.kernels.threads.crew import share
from treeplex.policies.policy import Policy, policy_of

KEPT: Final = 2**23  # numbers of scratch that stay: 64 MiB


class Evaluation(NamedTuple):
    """The value of a pair of strategies, and how far from equilibrium it is. Payoffs are those of the rules."""

    value: float
    """Player 0's expected payoff."""

    nash_conv: float
    """Sum over both players of what a best response would gain; 0 exactly at a Nash equilibrium."""

    best_response_values: tuple[float, float]
    """Each player's own payoff when best responding to the other."""

    extra: Mapping[str, float] = {}
    """What else was measured, by name; empty for most games."""

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``: the average gain per player."""
        return self.nash_conv / 2.0

    def to_pandas(self) -> Any:
        """One row as a pandas data frame; needs the ``pandas`` extra."""
        return arrow.frame(arrow.table({name: [number] for name, number in self._numbers().items()}, {}))

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{number:.6g}") for name, number in self._numbers().items()]
        return html_table("Evaluation", ("", ""), rows)

    def _numbers(self) -> dict[str, float]:
        first, second = self.best_response_values
        return {
            "value": self.value,
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "best_response_value_0": first,
            "best_response_value_1": second,
            **self.extra,
        }


def evaluate_policy(game: CompiledGame, policy: Policy | Any) -> Evaluation:
    """Value, best-response values and NashConv of ``policy``, exact up to rounding."""
    return evaluate_strategies(game, policy_of(policy, game).aligned(game))


def evaluate_strategies(game: CompiledGame, strategies: tuple[Floats, Floats], threads: int = 0) -> Evaluation:
    """As ``evaluate_policy``, for strategies given in the game's own order of sequences.

    ``threads``: 0 for all cores in large games; no bit depends on it.
    """
    pieces, found = partitions(game, threads), np.empty(3)
    first, second, third, fourth = _kept.scratch([treeplex.sequences for treeplex in game.treeplexes] * 2)
    told = game.treeplexes, game.operator, pieces, strategies, (first, second, third, fourth), found
    share(1 if pieces[0] is None else len(pieces[0].runs) - 1, lambda worker: evaluate(*told, worker))
    value, first, second = found.tolist()
    return in_payoffs(game, value, first, second)


def evaluate_in_tiles(game: CompiledGame, given: InTiles) -> Evaluation:
    """As ``evaluate_strategies``, to the same bits, by the threads that iterations have: two to four times as fast."""
    (first, second), form, found = given.strategies, given.form, np.empty(3)
    plan_0, plan_1, paid = _kept.scratch([len(first), len(second), len(first)])
    told = form, given.strategies, given.places[0], Plans((plan_0, plan_1), paid), found
    share(form.threads, lambda worker: evaluate_tiles(*told, worker))
    return in_payoffs(game, *found.tolist())


def in_payoffs(game: CompiledGame, value: float, first: float, second: float) -> Evaluation:
    """Player 0's value and both best responses', as payoffs are stored, in payoffs of the rules."""
    gain, rounding, unit = first + second, 1e-12 * game.largest_payoff, game.unit
    if -rounding < gain < 0.0:
        gain = 0.0
    return Evaluation(value * unit, gain * unit, (first * unit, game.constant + second * unit))


def best_response(game: CompiledGame, policy: Policy | Any, player: int) -> tuple[float, Policy]:
    """The most ``player`` can earn against the other's strategy, and ``policy`` with that best response in it.

    Ties go to the first action; infosets the response never reaches get a best response too.
    """
    strategies = policy_of(policy, game).aligned(game)
    plan, choice = _scratch(game, 1 - player), _scratch(game, player)
    kernels.realization_plan(game.treeplexes[1 - player], strategies[1 - player], plan)
    values = gradient(game, player, plan)
    kernels.best_response(game.treeplexes[player], values, choice)
    pair = (choice, strategies[1]) if player == 0 else (strategies[0], choice)
    return float(values[0]) * game.unit + (game.constant if player == 1 else 0.0), Policy.of(game, pair)


def gradient(game: CompiledGame, player: int, opponent: Floats) -> Floats:
    """[S] the value of each sequence of ``player`` against the opponent's realization plan: A y, or -A'x, as stored."""
    out = _scratch(game, player)
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


def _scratch(game: CompiledGame, player: int) -> Floats:
    return np.empty(game.treeplexes[player].sequences)
