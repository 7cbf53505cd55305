"""Which bet sizes matter, for a poker player."""

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
    """Find the best ``keep`` sizes for a player whose opponent keeps every candidate.

    Args:
        spots: One spot, or several that share the menu.
        keep: Number of sizes; all-in counts.
        lose: Instead of ``keep``: the fewest sizes that lose at most this per cent of the pot.
        player: ``"oop"`` or ``"ip"``: who is held to the menu.
        street: Where candidates are and the menu applies, or ``"all"`` for one menu per street. Default: the first.
        bets: Candidates for bets.
        raises: Candidates for raises.
        restrict: What is chosen: ``"bets"``, ``"raises"`` or ``"both"``.
        per_decision: One menu per line, on the first street of one spot.
        counts: Also find the best menus of 1, 2, ... up to this number of sizes.
        accuracy: NashConv of the games with and without the sizes, in per cent of the pot.
        gap: Solve other menus until none can be better by more than this per cent of the pot.
        seconds: Stop after this time; the answer is then what is proved so far, and ``complete`` is false.
        threads: How many; 0: as many as pay. Changes no bit of the answer.
        out: Keep checkpoints and the answer in this folder, for ``resume``. Default: nowhere.
        checkpoint_seconds: Seconds between two checkpoints in ``out``; more if writing one takes over a tenth of it.
        watch: Called a few times per second with the progress, a ``treeplex.runs.Progress``.
        answer: Called with the solution before anything of it is written to ``out``.

    >>> from treeplex.holdem import Spot, sizes
    >>> found = sizes(Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs,76s", "QQ,KTs"), bets="50%, a", raises="a")
    >>> found.menu, found.loss_percent_of_pot[1] < 0.5
    (('a',), True)
    """
    question = SizeOptions(keep, lose, player, street, bets, raises, restrict, per_decision, counts, accuracy, gap)
    options = {"threads": threads, "out": out, "checkpoint_seconds": checkpoint_seconds}
    return execute(choosing_sizes(spots, question, seconds=seconds, **options, watch=watch, answer=answer))
