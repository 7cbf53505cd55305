"""How fast the regret of an abstraction grows, over the last checks instead of over the whole run (section 5)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.tensors import number_of


class Balance(NamedTuple):
    """Quantities of proposition 1: the game's regret, and the histories that an iteration visits."""

    largest: Floats  # [2] each player's regret: the sum over infosets of the largest positive one, or the overall one
    squares: Floats  # [2] sum of all squared positive regrets
    histories: int


class Seen(NamedTuple):
    """Regrets at an earlier check, for an average iteration."""

    effective: float  # iterations that regrets counted for, in present weights
    first: float  # player 0's regret
    second: float


class Rates:
    """Regrets at the last ``checks`` checks.

    Proposition 1 knows the regret R of the abstraction and assumes that R^2 grows by the same amount every iteration.
    So R grows by R / (2 T) now, and T^2 times the decrease of R / T is R / 2. With a growth of d per iteration instead,
    that is R - T d. So R in the proposition becomes 2 (R - T d), with

        d = (R(T) - R(T0)) / (T - T0)

    T0 is the oldest check that is remembered. After an addition nothing before it is, since R is a sum over other
    infosets then. A regret that falls makes additions pay later. One that grows in proportion to T makes them pay at
    once. Regrets of missing actions are taken to grow with T, as in the paper.
    """

    def __init__(self, checks: int) -> None:
        self.checks = checks
        self.seen: list[Seen] = []

    def growth(self, state: Balance, effective: float) -> Floats:
        """[2] what each player's regret is replaced by in proposition 1."""
        if not self.seen or effective <= self.seen[0].effective:
            return state.largest
        before, *regrets = self.seen[0]
        rise = (state.largest - np.array(regrets)) / (effective - before)
        return np.maximum(2.0 * (state.largest - effective * rise), 0.0)

    def add(self, state: Balance, effective: float) -> None:
        """Remember the regrets of a check."""
        if self.checks and not (self.seen and self.seen[-1].effective >= effective):
            first, second = state.largest.tolist()
            self.seen = [*self.seen, Seen(effective, first, second)][-self.checks :]

    def restart(self) -> None:
        """Forget what was before an addition."""
        self.seen = []

    def restore(self, saved: Any) -> None:
        """Set the checks that a checkpoint has; raise ValueError or TypeError if it is not one of such a run."""
        self.seen = [Seen(*(number_of(number) for number in check)) for check in saved]
        if len(self.seen) > self.checks:
            raise ValueError("it remembers more checks than its options allow")
