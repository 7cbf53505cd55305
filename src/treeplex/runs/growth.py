"""Solve a game while its abstraction grows: iterate, look what is missing, add it, measure in the full game."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treeplex.algorithms.growth.add import METHODS
from treeplex.algorithms.growth.discount import DISCOUNTS
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.algorithms.growth.options import LOOK_EVERY, Growth
from treeplex.algorithms.growth.where import Balance, Candidate, balance, candidates, needed
from treeplex.games.sized import Abstraction
from treeplex.runs.limits import Limits
from treeplex.runs.run import INTERRUPTED, SOLVED, ctrl_c, next_row


class GrowthRow(NamedTuple):
    """How things stood after ``iteration``; quality is measured in the full game, where every size is legal."""

    iteration: int
    nodes_touched: int  # histories visited, by iterations, recovery games and looks
    seconds: float
    growing_seconds: float  # of these, spent on looking and adding
    evaluation_seconds: float  # and on measuring
    value: float  # player 0's, of the average strategies
    nash_conv: float
    exploitability: float  # nash_conv / 2
    inside: float  # NashConv if only the sizes offered were legal
    histories: int  # of the abstraction, without what is archived
    archived: int  # histories on disk
    sizes: int  # sizes added so far
    weight: float  # how much more an iteration counts now than the first one
    bytes: int  # memory of the tree


class Addition(NamedTuple):
    """A size that was added: when, where, which, and why."""

    iteration: int
    player: int
    decision: str  # the line of public moves
    word: str  # "bet" or "raise"
    size: float
    method: str
    gain: float  # what was regretted an iteration for not having it, in chips a hand: why it was added
    needed: float  # what proposition 1 asked for
    regret: float  # an iteration, of the new move once it was added, over all hands
    histories: int  # that it added
    recovery: int  # iterations of the recovery game
    discount: float  # weight of the past since then
    seconds: float  # that adding took


class Grown(NamedTuple):
    """How a run ended."""

    game: GrowingGame
    status: str  # "solved", or what stopped it: "iterations", "seconds", "nodes", "interrupted"
    rows: list[GrowthRow]
    additions: list[Addition]


class Progress(NamedTuple):
    """What a progress line shows."""

    iteration: int
    seconds: float
    rows: list[GrowthRow]
    additions: list[Addition]


class Run:
    """A run that can be looked at, saved and gone on with."""

    def __init__(self, abstraction: Abstraction, growth: Growth, folder: Path | None = None) -> None:
        self.abstraction, self.growth = abstraction, growth
        self.game = GrowingGame(abstraction.rules, abstraction.menu, RULES[growth.algorithm], folder)
        self.rows: list[GrowthRow] = []
        self.additions: list[Addition] = []
        self.seconds = self.growing = self.evaluating = 0.0  # in earlier processes

    def go(
        self,
        limits: Limits,
        watch: Callable[[Progress], None] | None = None,
        keep: Callable[[Run], None] | None = None,
        keep_every: float = 30.0,
    ) -> Grown:
        """Run until a limit is reached; the first Ctrl-C ends it with the answer so far.

        Limits on seconds count from now; the others from the very start of the run.
        """
        began, before = time.perf_counter(), self.seconds
        game, kept = self.game, began
        status, log = self._already(limits), self.rows
        with ctrl_c() as pressed:
            while not status:
                due = next_row(game.iteration)
                while game.iteration < due and not status:
                    self._step(min(due, limits.iterations or due))
                    self.seconds = before + time.perf_counter() - began
                    status = limits.reason(self.seconds - before, game.iteration, game.touched)
                    if pressed.is_set():
                        status = INTERRUPTED
                row = self._measure(before + time.perf_counter() - began)
                log = [*self.rows, row]
                if game.iteration == due:  # what is measured only because the run stops must not show when resumed
                    self.rows = log
                self.seconds = before + time.perf_counter() - began
                if limits.nash_conv is not None and row.nash_conv <= limits.nash_conv:
                    status = SOLVED
                if watch:
                    watch(Progress(game.iteration, self.seconds, log, self.additions))
                if keep and (status or time.perf_counter() - kept >= keep_every):
                    keep(self)
                    kept = time.perf_counter()
        return Grown(game, status, log, self.additions)

    def _already(self, limits: Limits) -> str:
        if not self.rows or self.rows[-1].iteration != self.game.iteration:
            return ""
        if limits.nash_conv is not None and self.rows[-1].nash_conv <= limits.nash_conv:
            return SOLVED
        return limits.reason(0.0, self.game.iteration, self.game.touched)

    def _step(self, upto: int) -> None:
        """Iterate up to the next look, and look."""
        game, every = self.game, self.growth.every
        look = (game.iteration // every + 1) * every
        game.advance(min(look, upto) - game.iteration)
        if game.iteration % every:
            return
        began = time.perf_counter()
        if self.growth.factor < np.inf:
            addition = look_and_add(game, self.growth)
            self.additions += [addition] if addition else []
        if self.growth.archive and game.iteration % (every * LOOK_EVERY) == 0:
            game.archive.look(game.tree, self.growth.archive)
        self.growing += time.perf_counter() - began

    def _measure(self, seconds: float) -> GrowthRow:
        began = time.perf_counter()
        game = self.game
        full, inside = game.measure(), game.measure(whole=False)
        took = time.perf_counter() - began
        self.evaluating += took
        return GrowthRow(
            iteration=game.iteration,
            nodes_touched=game.touched,
            seconds=seconds + took,
            growing_seconds=self.growing,
            evaluation_seconds=self.evaluating,
            value=full.value,
            nash_conv=full.nash_conv,
            exploitability=full.nash_conv / 2.0,
            inside=inside.nash_conv,
            histories=game.tree.histories,
            archived=game.archive.histories,
            sizes=len(self.additions),
            weight=game.weight,
            bytes=game.tree.nbytes,
        )


def look_and_add(game: GrowingGame, growth: Growth) -> Addition | None:
    """Add the size with the most regret a history, if proposition 1 says that it pays."""
    state = balance(game)
    game.touched += int(game.tree.nodes.deals[game.tree.nodes.key >= 0].sum())
    for candidate in candidates(game, state, growth.estimate, growth.factor):
        least = _needed(game, state, candidate, growth)
        offered = game.tree.nodes.size[game.tree.children(candidate.node)]
        if candidate.gain > least and candidate.size not in offered:
            return _add(game, state, candidate, least, growth)
    return None


def _needed(game: GrowingGame, state: Balance, candidate: Candidate, growth: Growth) -> float:
    player = int(game.tree.nodes.mover[candidate.node])
    return float(needed(state.largest[player], state.histories, candidate.histories, game.effective, growth.factor))


def _add(game: GrowingGame, state: Balance, candidate: Candidate, least: float, growth: Growth) -> Addition:
    began = time.perf_counter()
    node, player = candidate.node, int(game.tree.nodes.mover[candidate.node])
    scale = game.weight * game.effective  # of sums, to an average iteration
    added = METHODS[growth.method](game, node, candidate.size)
    discount = DISCOUNTS[growth.discount](game, state, added, player)  # the opponent's regrets are as before
    game.discount(discount)
    return Addition(
        iteration=game.iteration,
        player=player,
        decision=game.rules.separator.join(game.line(node)),
        word=game.builder.words[int(game.tree.nodes.word[added.root])],
        size=candidate.size,
        method=growth.method,
        gain=candidate.gain / scale,
        needed=least / scale,
        regret=float(np.maximum(added.regret, 0.0).sum()) / scale,
        histories=added.histories,
        recovery=added.iterations,
        discount=discount,
        seconds=time.perf_counter() - began,
    )
