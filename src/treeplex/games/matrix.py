"""Matrix games: both players choose at once, and a table has the row player's winnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from treeplex.errors import ParameterError
from treeplex.games.parameters import integer, title
from treeplex.games.protocol import TERMINAL

Pair = tuple[int, ...]
"""The row, then the column, as far as they are chosen."""


@dataclass(frozen=True, init=False)
class MatrixGame:
    """Player 0 chooses a row ``r0``, ``r1``, ..., player 1 a column without seeing it; player 0 wins ``rows[r][c]``.

    >>> MatrixGame([[1, -1], [-1, 1]], name="matching pennies").payoff((0, 1))
    -1.0
    """

    rows: tuple[tuple[float, ...], ...]
    name: str

    def __init__(self, rows: ArrayLike, name: str = "") -> None:
        table = _table(rows)
        object.__setattr__(self, "rows", table)
        object.__setattr__(self, "name", name or _name(table))

    def root(self) -> Pair:
        """Return the history in which nothing is chosen."""
        return ()

    def mover(self, history: Pair) -> int:
        """Return the row player, then the column player."""
        return len(history) if len(history) < 2 else TERMINAL

    def actions(self, history: Pair) -> Sequence[str]:
        """Return all rows, or all columns."""
        return self._labels[len(history)]

    def probabilities(self, history: Pair) -> Sequence[float]:
        """Return nothing, because there are no chance moves."""
        return ()

    def child(self, history: Pair, action: str) -> Pair:
        """Return the history after the choice of a row or column."""
        return (*history, int(action[1:]))

    def infoset(self, history: Pair) -> str:
        """Return each player's only infoset."""
        return "column" if history else "row"

    def payoff(self, history: Pair) -> float:
        """Return the entry of the table."""
        row, column = history
        return self.rows[row][column]

    @cached_property
    def _labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(f"r{i}" for i in range(len(self.rows))), tuple(f"c{j}" for j in range(len(self.rows[0])))


def gaussian_matrix(size: int = 100, better: int = 5, seed: int = 0) -> MatrixGame:
    """Build a random ``size`` × ``size`` game in which most strategies are nearly useless.

    Entries are standard normal; the first ``better`` rows gain 2 and the first ``better`` columns lose 2, so that the
    other strategies of both players are likely dominated. This is the game of Ju et al., "Pure Monte Carlo
    counterfactual regret minimization", section "Warm start PMCCFR" (there 100 × 100, with 5). A seed determines the
    matrix as long as NumPy does not change its default generator.
    """
    integer("size", size, 1, 10_000)
    integer("better", better, 0, size)
    integer("seed", seed, 0, 2**63 - 1)
    table = np.random.default_rng(seed).standard_normal((size, size))
    table[:better] += 2
    table[:, :better] -= 2
    defaults = {"size": 100, "better": 5, "seed": 0}
    arguments = {"size": size, "better": better, "seed": seed}
    return MatrixGame(table, title("gaussian_matrix", **{k: v for k, v in arguments.items() if v != defaults[k]}))


def _name(table: tuple[tuple[float, ...], ...]) -> str:
    """Return ``matrix(rows=[[...]])`` if that is short enough to read, otherwise only the shape."""
    height, width = len(table), len(table[0])
    if height * width > 36:
        return f"{height} x {width} matrix"
    rows = ",".join("[" + ",".join(f"{entry!r}".removesuffix(".0") for entry in row) + "]" for row in table)
    return f"matrix(rows=[{rows}])"


def _table(rows: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """Convert ``rows`` to a rectangular, immutable table of finite numbers."""
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("The 'rows' parameter must be rows of numbers, all of one length.") from None
    if table.ndim != 2 or table.size == 0:
        shape = " × ".join(map(str, table.shape)) or "a single number"
        raise ParameterError(f"The 'rows' parameter must be a table with at least one row and one column, got {shape}.")
    if not np.isfinite(table).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(table))[0])
        entry = table[row, column]
        raise ParameterError(
            f"The 'rows' parameter must hold finite numbers, got {entry} in row {row}, column {column}."
        )
    return tuple(tuple(float(x) for x in row) for row in table)
