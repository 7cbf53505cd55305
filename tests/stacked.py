"""Poker with one card and stacks, which tests of growth share: a size is whole chips on top of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treeplex.games.continuous import ContinuousPoker, ContinuousState


@dataclass(frozen=True)
class Stacks(ContinuousPoker):
    """Whole chips on top of a call, up to all-in: payoffs behind a size are proportional to nothing."""

    payoff_scale: Any = None
    stack: int = 5

    def candidates(self, public: ContinuousState) -> Any:
        return range(1, self.stack - int(public.height) + 1) if public.bets < self.limit else ()

    def sized(self, public: ContinuousState, size: float) -> ContinuousState:
        height = public.height + size
        return public._replace(player=1 - public.player, paid=public.height, height=height, bets=public.bets + 1)

    def unit(self, public: ContinuousState) -> float:
        return 2 * public.height

    def default(self, public: ContinuousState) -> str:
        return self.actions(public)[-1]
