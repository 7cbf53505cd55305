"""The problem of finding the bet sizes that matter; every menu tried is a game of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from treeplex.algorithms.portfolio import SPOTS
from treeplex.algorithms.registry import Choice
from treeplex.limits import Limits
from treeplex.poker.sizes.answer import COLUMNS, UNDECIDED, Sizes
from treeplex.poker.sizes.problem import SizeOptions, SizeSearch
from treeplex.problems.protocol import SIZES, Listing, Problem, ProblemRecord, reading_options


@dataclass(frozen=True, eq=False)
class SizesProblem(Problem):
    """Find which sizes of a spot, or of several that share a menu, matter."""

    game: SizeSearch

    kind: ClassVar[str] = SIZES
    noun: ClassVar[str] = "sizes"
    unmeasured: ClassVar[str] = "every menu is a game of its own; give seconds"

    @property
    def name(self) -> str:
        """As ``Problem``: the board; of several spots, their number."""
        spots = self.game.spots
        return spots[0].board if len(spots) == 1 else f"{len(spots)} {spots[0].street}s"

    @property
    def fingerprint(self) -> str:
        """As ``Problem``: of the spots."""
        return hashlib.blake2b(json.dumps(self.source, sort_keys=True).encode(), digest_size=16).hexdigest()

    @property
    def source(self) -> list[dict[str, Any]]:
        """As ``Problem``: a list of spots' fields."""
        return [spot.summary() for spot in self.game.spots]

    @property
    def options(self) -> dict[str, Any]:
        """As ``Problem``: the restricted player, the number of sizes, and how exact the answer must be."""
        return asdict(self.game.options)

    @property
    def choice(self) -> Choice:
        """The search, and the algorithm that solves its games."""
        from treeplex.poker.sizes.algorithm import ChoosingSizes  # noqa: PLC0415 - its kernels take time to load

        return Choice(ChoosingSizes(), f"sizes({SPOTS})", "sizes")

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``: none, a search ends by itself."""
        return Limits()

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: the menus, their losses, bounds on other menus, and every size or spot."""
        answer: Sizes = solution.extras
        low, high = answer.loss_percent_of_pot
        for name, menu in answer.menus.items():
            yield f"{answer.player}, {name}: {', '.join(menu) or UNDECIDED}"
        where = "" if len(answer.spots) == 1 else f" on average over {len(answer.spots)} spots"
        yield f"loses {low:.3f} to {high:.3f} % of the pot{where} against an opponent who may use every size"
        if not answer.complete:
            yield "the search has not ended; another menu may be better"
            return
        yield from _proofs(answer)
        if len(answer.spots) != 1:
            rows = [[each.spot, *(f"{loss:.3f}" for loss in each.loss_percent_of_pot)] for each in answer.spots]
            yield Listing(["spot", "loses at least", "at most, % of pot"], rows, right=(1, 2))
        elif len(answer.menus) == 1:  # with several, the value of one size depends on the other menus
            yield Listing(list(COLUMNS), answer.cells(answer.spots[0]), right=(1, 3))


def _proofs(answer: Sizes) -> Iterator[str]:
    """Yield how much better another menu may be, and whether fewer sizes lose more."""
    if answer.better_percent_of_pot is not None and answer.better_percent_of_pot > 0.0:
        other = "size" if answer.keep == 1 else f"{answer.keep} sizes"
        yield f"no other {other} can be better by more than {answer.better_percent_of_pot:.3f} % of the pot"
    elif answer.better_percent_of_pot is not None:
        yield "no other menu with as many sizes is better"
    if answer.proved_fewest is not None:
        yield ("fewer sizes lose more" if answer.proved_fewest else "fewest found; not proved that fewer lose more")


def size_search(spots: Any, options: SizeOptions) -> SizesProblem:
    """Build the problem of one spot, or of several that share a menu; raise if it cannot be answered."""
    return SizesProblem(SizeSearch.of(spots, options))


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> SizesProblem:
    """Load the problem of a recorded run again."""
    with reading_options():
        return size_search(record.source, SizeOptions(**record.options))
