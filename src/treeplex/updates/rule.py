"""A rule: how one infoset learns from the values of its actions, as a function that every engine calls.

    update(t, values, strategy, memory[, constants])

``t``: the iteration, counted from 1. ``values`` [A]: counterfactual values of the actions, for the player who moves.
``strategy`` [A]: the strategy just played, to be overwritten by the next one. ``memory`` [rows, A]: numbers of the
rule, which persist between iterations. ``constants`` [C]: the same in every infoset. All are float64 and contiguous.

The function is written once, in Python, and is its own specification. On the CPU it is compiled into a C function
that engines call by its address (``kernels.calls``), so no engine is recompiled for a rule. On a GPU it is compiled
into the engine's kernels.

Rules of the regret matching family are data instead (``updates.protocol``): engines inline them in their own loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, brief
from treeplex.kernels.calls import RuleCall, compile_update

Update = Callable[..., None]
"""(iteration, values [A], strategy [A], memory [rows, A][, constants [C]]): changes ``strategy`` and ``memory``."""


UNCOMPILED: Final = (NumbaError, UnsupportedBytecodeError)
TOLERANCE: Final = 1e-6  # largest deviation from one of the sum of an infoset's probabilities


class Fixed(NamedTuple):
    """Constants that are the same in every game."""

    numbers: tuple[float, ...]

    def __call__(self, payoff_range: float) -> tuple[float, ...]:
        """Return the numbers themselves."""
        return self.numbers


class InRanges(NamedTuple):
    """Constants in units of the range of payoffs."""

    numbers: tuple[float, ...]

    def __call__(self, payoff_range: float) -> tuple[float, ...]:
        """Return the numbers in the game's payoffs."""
        return tuple(number * payoff_range for number in self.numbers)


def zero_memory(actions: int, rows: int, constants: Floats) -> Floats:
    """[rows, A] zeros: a rule that starts with nothing learned."""
    return np.zeros((rows, actions))


@dataclass(frozen=True)
class Rule:
    """A rule that is a function. ``minimizer`` makes one from a user's function; ``updates`` has the named ones."""

    name: str
    update: Update  # plain Python; may call functions compiled by Numba
    memory: int = 1  # rows of numbers per action
    constants: Callable[[float], tuple[float, ...]] | None = None  # takes the range of payoffs; None: no constants
    start: Callable[[int, int, Floats], Floats] = zero_memory  # (actions, rows, constants): memory before iteration 1
    checked: bool = True  # True: every index is checked
    own: bool = False  # True: a user's rule, which must be tried before it is trusted
    ranged: bool = False  # True: its last row of memory begins with the range of payoffs below the infoset
    inner: Rule | None = None  # the rule that this one is put around, which is tried in its place
    form: Any = None  # identifies the rule to engines that have their own loop for it, with the same bits

    def constants_of(self, payoff_range: float) -> Floats:
        """[C] the constants in a game whose payoffs differ by at most ``payoff_range``."""
        return np.array(() if self.constants is None else self.constants(payoff_range), dtype=np.float64)

    @property
    def entry(self) -> Any:
        """The rule as a C function, compiled on first use; engines receive its ``address``."""
        try:
            return compile_update(self.update, self.checked, self.constants is not None)
        except UNCOMPILED as error:
            cause = _cause(self, error)
            raise ParameterError(f"The rule '{self.name}' is not one that Numba can compile: {cause}.") from error

    def call(self, payoff_range: float, widest: int, threads: int = 1) -> RuleCall:
        """Return the arguments with which kernels call it at infosets with at most ``widest`` actions."""
        constants, numbers = self.constants_of(payoff_range), np.zeros((2 + self.memory) * widest)
        address, rows = np.uint64(self.entry.address), np.uint64(self.memory)
        room = np.zeros((threads, len(numbers)))
        return RuleCall(address, rows, constants, np.full(3, -1, np.int64), numbers, room)

    def check(self, calls: Iterable[RuleCall], during: str) -> None:
        """Raise the ``failure`` of the first of these calls that has one."""
        for call in calls:
            if call.failed[0] >= 0:
                raise self.failure(call, during)

    def failure(self, call: RuleCall, during: str) -> ParameterError:
        """Return the error of a call that has raised; the rule is called once more to find the cause.

        ``during``: the time of the call, such as "in iterations 1 to 9".
        """
        _, t, actions = call.failed.tolist()
        rows = call.arguments[: (2 + self.memory) * actions].reshape(-1, actions)
        more = () if self.constants is None else (call.constants,)
        try:
            _compiled(self)(float(t), rows[0], rows[1], rows[2:], *more)
        except IndexError:
            return ParameterError(
                f"The rule '{self.name}' uses an index that is out of bounds {during}: 'values', 'strategy' and each"
                f" row of 'memory' have one number per action, and memory={self.memory}."
            )
        except Exception as error:
            return ParameterError(
                f"The rule '{self.name}' fails {during}: {type(error).__name__}: {brief(str(error))}."
            )
        return ParameterError(f"The rule '{self.name}' fails {during}, with an error that does not occur again.")

    def without_ranges(self, where: str) -> None:
        """Reject a rule that needs the ranges of payoffs below infosets; ``where``: the games that do not have them."""
        if self.ranged:
            raise ParameterError(
                f"The rule '{self.name}' needs the range of payoffs below each infoset, which {where} do not have; with"
                " hedge, use rate=variance."
            )

    def initial(self, actions: int, constants: Floats) -> Floats:
        """[rows, A] the memory of an infoset before the first iteration."""
        return self.start(actions, self.memory, constants)

    def apply(self, t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
        """Update one infoset in plain Python: the specification of every engine."""
        arguments: tuple[Any, ...] = (t, values, strategy, memory)
        self.update(*arguments, *(() if self.constants is None else (constants,)))


def _compiled(rule: Rule) -> Any:
    return numba.njit(rule.update, boundscheck=rule.checked)


def _cause(rule: Rule, error: Exception) -> str:
    """Return Numba's error about the rule itself, without the stages of compilation."""
    row = numba.float64[::1]
    more = () if rule.constants is None else (row,)
    try:
        _compiled(rule).compile((numba.float64, row, row, numba.float64[:, ::1], *more))
    except (*UNCOMPILED, TypeError) as inner:
        error = inner
    noise = ("Failed in", "During:", "File ", "This error may", "Enable logging", "- Resolution", "@", "def ")
    lines = [line.strip() for line in str(error).splitlines()]
    text = " ".join([line for line in lines if line and not line.startswith(noise)][:2])
    return (text if len(text) <= 160 else f"{text[:159]}…").rstrip(".") or type(error).__name__
