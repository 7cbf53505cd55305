"""Regret minimizers for any problem in which the same choice is repeated.

Call ``strategy``, act, then ``observe`` the utility of every action:

>>> import numpy as np
>>> learner = Thresholded(Hedge(3, span=2.0), d=1.0)
>>> for utilities in np.array([[1.0, -1.0, 0.0], [1.0, 0.5, -1.0], [0.0, -1.0, 1.0]]):
...     strategy = learner.strategy()
...     learner.observe(utilities)
>>> learner.strategy().round(3)
array([0.847, 0.   , 0.153])
>>> round(learner.regret(), 3)  # how much more the best single action would have earned
1.438
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError
from treeplex.updates.reference import matched
from treeplex.updates.thresholds import cut, hedge_threshold, matching_threshold


class OnlineMinimizer(Protocol):
    """A minimizer that learns from utilities, one round at a time."""

    @property
    def actions(self) -> int:
        """Number of actions to choose from."""
        ...

    @property
    def rounds(self) -> int:
        """Number of rounds observed so far."""
        ...

    def strategy(self) -> Floats:
        """Return the [A] probabilities to act by in the next round, as a new array."""
        ...

    def observe(self, utilities: Floats, played: Floats | None = None) -> None:
        """Learn from a round. ``played``: the probabilities used, if they differ from ``strategy()``."""
        ...

    def regret(self) -> float:
        """Return how much more the best single action would have earned so far."""
        ...

    def threshold(self, d: float) -> float:
        """Return the probability below which an action may be dropped in the next round; see ``Thresholded``."""
        ...


class _Regrets(ABC):
    """Base class that stores R(a), the sum of u(a) - <sigma, u>."""

    def __init__(self, actions: int) -> None:
        if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ParameterError(f"The 'actions' parameter must be an integer >= 1, got {actions!r}.")
        self.actions, self.rounds = actions, 0
        self.regrets: Floats = np.zeros(actions)

    @abstractmethod
    def strategy(self) -> Floats:
        """As ``OnlineMinimizer``."""

    def observe(self, utilities: Floats, played: Floats | None = None) -> None:
        """As ``OnlineMinimizer``."""
        strategy = self.strategy() if played is None else played
        if np.shape(utilities) != (self.actions,) or not np.isfinite(utilities).all():
            raise ParameterError(
                f"The 'utilities' parameter must be {self.actions} finite numbers, one per action, got {utilities!r}."
            )
        if np.shape(strategy) != (self.actions,):
            raise ParameterError(f"The 'played' parameter must be {self.actions} probabilities, got {strategy!r}.")
        self.regrets += utilities - strategy @ utilities
        self.rounds += 1

    def regret(self) -> float:
        """As ``OnlineMinimizer``."""
        return float(self.regrets.max())


class Hedge(_Regrets):
    """sigma(a) ~ exp(eta R(a)) with eta = sqrt(8 ln |A| / t) / span: the exponentially weighted forecaster.

    ``span``: the largest minus the smallest utility of an action. ``rounds``: if the number of rounds is known, eta =
    sqrt(2 ln |A| / rounds) / span throughout, as in the proof of Theorem 1 of Brown, Kroer & Sandholm (2017). Regret
    after T rounds is at most span sqrt(2 T ln |A|); without ``rounds``, span sqrt(ln |A| / 8) more (Cesa-Bianchi &
    Lugosi 2006, Theorem 2.3).
    """

    def __init__(self, actions: int, span: float, rounds: int | None = None) -> None:
        if not span > 0.0 or not np.isfinite(span):
            raise ParameterError(f"The 'span' parameter must be a positive number, got {span!r}.")
        if rounds is not None and rounds < 1:
            raise ParameterError(f"The 'rounds' parameter must be an integer >= 1, got {rounds!r}.")
        super().__init__(actions)
        self._span, self._planned = span, rounds

    def strategy(self) -> Floats:
        """As ``OnlineMinimizer``; does not overflow for regrets of any size."""
        log_actions = np.log(self.actions)
        if self._planned is None:
            eta = np.sqrt(8.0 * log_actions / max(self.rounds, 1)) / self._span
        else:
            eta = np.sqrt(2.0 * log_actions / self._planned) / self._span
        weights = np.exp(eta * (self.regrets - self.regrets.max()))
        return weights / weights.sum()

    def threshold(self, d: float) -> float:
        """Return d sqrt(ln |A|) / (sqrt(2) |A|^2 sqrt(t)): Theorem 1, C = 1 + d."""
        return float(hedge_threshold(self.actions, d)) / np.sqrt(self.rounds + 1.0)


class RegretMatching(_Regrets):
    """sigma(a) ~ max(R(a), 0), uniform if that is zero for every a (Hart & Mas-Colell 2000).

    Regret after T rounds is at most the range of utilities times sqrt(|A| T).
    """

    def strategy(self) -> Floats:
        """As ``OnlineMinimizer``."""
        return matched(self.regrets)

    def threshold(self, d: float) -> float:
        """Return (C^2 - 1) / (2 C |A|^2 sqrt(t)): Theorem 2, C = 1 + d."""
        return float(matching_threshold(self.actions, d)) / np.sqrt(self.rounds + 1.0)


class Thresholded:
    """Any minimizer with dynamic thresholding (Brown, Kroer & Sandholm 2017, section 3).

    An action that the minimizer would play with a probability below a threshold is not played, and the others get its
    probability in proportion to their own. The threshold falls like 1 / sqrt(t). Regret is at most C = 1 + d times the
    minimizer's bound. ``threshold``: a function of d and the round, counted from 1, that replaces the minimizer's own.
    """

    def __init__(
        self, minimizer: OnlineMinimizer, d: float, threshold: Callable[[float, int], float] | None = None
    ) -> None:
        if not d >= 0.0 or not np.isfinite(d):
            raise ParameterError(f"The 'd' parameter must be a number >= 0, got {d!r}.")
        self._minimizer, self._d, self._own = minimizer, d, threshold

    @property
    def actions(self) -> int:
        """As ``OnlineMinimizer``."""
        return self._minimizer.actions

    @property
    def rounds(self) -> int:
        """As ``OnlineMinimizer``."""
        return self._minimizer.rounds

    def strategy(self) -> Floats:
        """As ``OnlineMinimizer``."""
        return cut(self._minimizer.strategy(), self.threshold(self._d))

    def observe(self, utilities: Floats, played: Floats | None = None) -> None:
        """As ``OnlineMinimizer``."""
        self._minimizer.observe(utilities, self.strategy() if played is None else played)

    def regret(self) -> float:
        """As ``OnlineMinimizer``."""
        return self._minimizer.regret()

    def threshold(self, d: float) -> float:
        """As ``OnlineMinimizer``."""
        return self._minimizer.threshold(d) if self._own is None else self._own(d, self.rounds + 1)
