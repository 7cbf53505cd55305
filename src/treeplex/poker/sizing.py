"""The public function that chooses the bet sizes that matter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.sizes.problem import ACCURACY, GAP, SizeOptions
from treeplex.runs.loop import Progress
from treeplex.runs.requests import choosing_sizes
from treeplex.runs.solution import Solution
from treeplex.runs.solve import execute


def sizes(
    spots: Any,
    *,
    keep: int = 1,
    lose: float | None = None,
    player: str = PLAYERS[0],
    street: str | None = None,
    bets: str = BETS,
    raises: str = RAISES,
    restrict: str = "bets",
    per_decision: bool = False,
    counts: int = 0,
    accuracy: float = ACCURACY,
    gap: float = GAP,
    seconds: float | None = None,
    threads: int = 0,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Callable[[Progress], None] | None = None,
    answer: Callable[[Solution], None] | None = None,
) -> Solution:
    """Find the best ``keep`` sizes for a player whose opponent may use every candidate.

    Args:
        spots: One spot, or several that share the menu.
        keep: Number of sizes, all-in included.
        lose: Find the fewest sizes that lose at most this per cent of the pot. Replaces ``keep``.
        player: The player who is restricted to the menu, ``"oop"`` or ``"ip"``.
        street: Street of the candidates and the menu, or ``"all"`` for one menu per street. Default: the first.
        bets: Candidates for bets.
        raises: Candidates for raises.
        restrict: The kind of sizes to choose: ``"bets"``, ``"raises"`` or ``"both"``.
        per_decision: Choose one menu per line, on the first street of one spot.
        counts: Also find the best menus of 1, 2, ... sizes, up to this number.
        accuracy: NashConv of the games with and without the sizes, in per cent of the pot.
        gap: Solve other menus until none can be better by more than this per cent of the pot.
        seconds: Stop after this time. The answer is then what is proved so far, and ``complete`` is false.
        threads: Number of threads (0 = automatic). Results do not depend on it.
        out: Folder for checkpoints and the answer; ``resume`` continues from it. Default: none.
        checkpoint_seconds: Seconds between checkpoints in ``out``; more if writing one takes over a tenth of that.
        watch: Called a few times per second with a ``treeplex.runs.Progress``.
        answer: Called with the solution before any of it is written to ``out``.

    >>> from treeplex.holdem import Spot, sizes
    >>> best = sizes(Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs,76s", "QQ,KTs"), bets="50%, a", raises="a")
    >>> best.menu, best.loss_percent_of_pot[1] < 0.5
    (('a',), True)
    """
    question = SizeOptions(keep, lose, player, street, bets, raises, restrict, per_decision, counts, accuracy, gap)
    options = {"threads": threads, "out": out, "checkpoint_seconds": checkpoint_seconds}
    return execute(choosing_sizes(spots, question, seconds=seconds, **options, watch=watch, answer=answer))
