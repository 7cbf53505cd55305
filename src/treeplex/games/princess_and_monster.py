"""Princess and Monster: a pursuit in the dark, where neither player ever sees the other.

Rules. The board is a grid of ``rows`` × ``columns`` cells, named like those of a chess board (column a, b, ... and row
1, 2, ...), less the ``holes``. At time 0 the monster (player 0) and the princess (player 1) are placed. At each of the
times 1 to ``horizon`` both stay or step to a neighbouring cell (up, down, left, right) at once, without seeing each
other. The princess is caught when both are on one cell *after* a round, placement included. Passing each other across
an edge is not a capture. She wins, and the monster loses, the time of her capture, or ``horizon`` + 1 if she is never
caught. This is the number of times at which she was free. A player knows only its own path, and that the pursuit
continues.

``monster`` and ``princess`` are the starts: "chosen" (the player picks a cell in secret), "random" (chance draws one of
all cells, and only that player learns it), or a cell such as "a1", known to both.

Other versions. R. Isaacs posed the game in "Differential Games" (1965). Lanctot et al. ("Monte Carlo sampling for
regret minimization in extensive games", 2009) play it, as far as we know, on a 3 × 3 grid from random starts over 13
steps, for the number of steps uncaptured. We do not know their rules for staying and for passing each other. Ju et al.
("Pure Monte Carlo counterfactual regret minimization") cite them and give no rules. Public code by their first author
(github.com/Zealoter/CFVFP) has the moves and captures above, starts chosen in secret, and two corners of one side
missing: ``holes="a1 c1"``. It always pays 1 more, and a capture in its last round pays as much as an escape, so that
this round decides nothing. Its game of T rounds, placement included, is this one with ``horizon`` T - 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from treeplex.errors import ParameterError, quoted
from treeplex.games.parameters import integer, titled
from treeplex.games.protocol import CHANCE, TERMINAL


class Trails(NamedTuple):
    """The cells that each player has visited."""

    monster: tuple[str, ...]
    princess: tuple[str, ...]


@dataclass(frozen=True)
class PrincessAndMonster:
    """Princess and Monster on ``rows`` × ``columns`` cells less ``holes``, over ``horizon`` rounds of moves."""

    rows: int = 3
    columns: int = 3
    horizon: int = 2
    holes: str = ""
    monster: str = "chosen"
    princess: str = "chosen"

    def __post_init__(self) -> None:
        integer("rows", self.rows, 1, 26)
        integer("columns", self.columns, 1, 26)
        integer("horizon", self.horizon, 0, 100)
        grid = f"cells from a1 to {_cell(self.rows - 1, self.columns - 1)}"
        if not set(str(self.holes).split()) <= set(self._grid):
            came = quoted(self.holes)
            raise ParameterError(f"The 'holes' parameter must be {grid}, separated by spaces, got {came}.")
        if len(self._steps) < 2:
            raise ParameterError(f"The 'holes' parameter must leave at least two cells, got {quoted(self.holes)}.")
        for player, start in (("monster", self.monster), ("princess", self.princess)):
            if start not in ("chosen", "random", *self._steps):
                raise ParameterError(
                    f'The \'{player}\' parameter must be "chosen", "random" or one of the {grid} that is not a hole, '
                    f"got {quoted(start)}."
                )
        if self.monster == self.princess and self.monster in self._steps:
            came = quoted(self.princess)
            raise ParameterError(f"The 'princess' parameter must not be the monster's cell, got {came}.")

    @property
    def name(self) -> str:
        """The game with its non-default parameters."""
        return titled("princess_and_monster", self)

    def root(self) -> Trails:
        """Return the trails at the beginning, with the starts that are fixed cells."""
        monster, princess = ((start,) if start in self._steps else () for start in (self.monster, self.princess))
        return Trails(monster, princess)

    def mover(self, history: Trails) -> int:
        """Return the monster, then the princess, who does not see its move; chance for a random start."""
        monster, princess = history
        if len(monster) == len(princess) and self._over(history):
            return TERMINAL
        mover = _next(history)
        return CHANCE if not history[mover] and (self.monster, self.princess)[mover] == "random" else mover

    def actions(self, history: Trails) -> Sequence[str]:
        """Return the possible next cells: any cell at the start, then the same cell or a neighbour."""
        path = history[_next(history)]
        return self._steps[path[-1]] if path else tuple(self._steps)

    def probabilities(self, history: Trails) -> Sequence[float]:
        """Return equal probabilities of all cells for a random start."""
        return [1 / len(self._steps)] * len(self._steps)

    def child(self, history: Trails, action: str) -> Trails:
        """Move the next player to the cell ``action``."""
        mover = _next(history)
        return history._replace(**{Trails._fields[mover]: (*history[mover], action)})

    def infoset(self, history: Trails) -> str:
        """Return the mover's own path."""
        return " ".join(history[_next(history)]) or "start"

    def payoff(self, history: Trails) -> float:
        """Return minus the time of capture, or minus one more than the horizon."""
        monster, princess = history
        return -float(len(princess) - (monster[-1] == princess[-1]))

    def _over(self, history: Trails) -> bool:
        monster, princess = history
        return bool(monster) and (monster[-1] == princess[-1] or len(monster) > self.horizon)

    @cached_property
    def _grid(self) -> list[str]:
        return [_cell(row, column) for row in range(self.rows) for column in range(self.columns)]

    @cached_property
    def _steps(self) -> dict[str, tuple[str, ...]]:
        """Reachable cells of each cell within one round: itself and its neighbours."""
        free = [cell for cell in self._grid if cell not in self.holes.split()]
        return {cell: (cell, *(other for other in free if _distance(cell, other) == 1)) for cell in free}


def _next(history: Trails) -> int:
    """Return the player who moves next."""
    return 0 if len(history.monster) <= len(history.princess) else 1


def _cell(row: int, column: int) -> str:
    return f"{chr(ord('a') + column)}{row + 1}"


def _distance(cell: str, other: str) -> int:
    return abs(ord(cell[0]) - ord(other[0])) + abs(int(cell[1:]) - int(other[1:]))
