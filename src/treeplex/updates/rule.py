"""A rule: what one infoset learns from the values of its actions, as a function that every engine calls.

    update(t, values, strategy, memory[, constants])

``t``: the iteration, counted from 1. ``values`` [A]: counterfactual values of the actions, from the seat of the player
who moves. ``strategy`` [A]: the strategy just played, to be overwritten by the next one. ``memory`` [rows, A]: numbers
of the rule, kept between iterations. ``constants`` [C]: the same in every infoset. All float64 and contiguous.

The function is written once, in Python, and is its own specification. On the CPU it is compiled into a C function that
engines call by its address (``kernels.calls``), so that no engine is compiled anew for a rule. On a GPU it is compiled
into the engine's kernels.

Rules of the regret matching family are data instead (``updates.protocol``): engines inline them in loops of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.calls import compile_update

Update = Callable[..., None]
"""(iteration, values [A], strategy [A], memory [rows, A][, constants [C]]): changes ``strategy`` and ``memory``."""


def zero_memory(actions: int, rows: int, constants: Floats) -> Floats:
    """[rows, A] Zeros: a rule that begins with nothing learned."""
    return np.zeros((rows, actions))


@dataclass(frozen=True)
class Rule:
    """A rule that is a function. ``minimizer`` makes one of a user's function; ``updates`` has the named ones."""

    name: str
    update: Update  # plain Python; may call functions compiled by Numba
    memory: int = 1  # rows of numbers per action
    constants: Callable[[float], tuple[float, ...]] | None = None  # from the range of payoffs; None: takes none
    start: Callable[[int, int, Floats], Floats] = zero_memory  # (actions, rows, constants): memory before iteration 1
    checked: bool = True  # is every index checked?
    own: bool = False  # was it handed in by a user, so that it must be tried before it is trusted?

    def constants_of(self, payoff_range: float) -> Floats:
        """[C] The constants in a game whose payoffs differ by at most ``payoff_range``."""
        return np.array(() if self.constants is None else self.constants(payoff_range), dtype=np.float64)

    @property
    def entry(self) -> Any:
        """The rule as a C function, compiled when first asked for; its ``address`` is what engines are handed."""
        return compile_update(self.update, self.checked, self.constants is not None)

    def initial(self, actions: int, constants: Floats) -> Floats:
        """[rows, A] The memory of an infoset before the first iteration."""
        return self.start(actions, self.memory, constants)

    def apply(self, t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
        """Update one infoset by plain Python: the specification of every engine."""
        arguments: tuple[Any, ...] = (t, values, strategy, memory)
        self.update(*arguments, *(() if self.constants is None else (constants,)))
