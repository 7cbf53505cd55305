"""Rules that conformance tests run on every engine."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.updates.rule import Rule


def plus(t: float, values: Floats, strategy: Floats, memory: Floats) -> None:
    """Regret matching+ as a function: the iterates of the family's own."""
    expected, total = 0.0, 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    for a in range(len(values)):
        memory[0, a] = max(memory[0, a] + (values[a] - expected), 0.0)
        total += memory[0, a]
    for a in range(len(values)):
        strategy[a] = memory[0, a] / total if total > 0.0 else 1.0 / len(values)


def softmax(t: float, values: Floats, strategy: Floats, memory: Floats) -> None:
    """Hedge whose step falls with the iteration: a rule that a user could write."""
    total = 0.0
    for a in range(len(values)):
        memory[0, a] += values[a]
    best = memory[0].max()
    for a in range(len(values)):
        strategy[a] = np.exp((memory[0, a] - best) / np.sqrt(t))
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] /= total


def two_rows(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Regret matching with half of the last regret as a prediction; a second row, and a constant."""
    expected, total = 0.0, 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    for a in range(len(values)):
        memory[1, a] = values[a] - expected
        memory[0, a] += memory[1, a]
        strategy[a] = max(memory[0, a] + constants[0] * memory[1, a], 0.0)
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] = strategy[a] / total if total > 0.0 else 1.0 / len(values)


PLUS = Rule("plus", plus, memory=1)
SOFTMAX = Rule("softmax", softmax, memory=1)
TWO_ROWS = Rule("two_rows", two_rows, memory=2, constants=lambda payoff_range: (0.5,))
FUNCTIONS = (PLUS, SOFTMAX, TWO_ROWS)
