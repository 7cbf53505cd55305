"""One check of a growing abstraction: add the sizes that pay, and weight the past. It is shared by all engines.

``Growable`` is the interface of a game that is being solved and may grow. ``dealt`` and ``spots`` implement it.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

import numpy as np

from treeplex.arrays import Floats
from treeplex.growth.discount import DISCOUNTS, AddedRegret, Bounds, joint
from treeplex.growth.rates import Balance, Rates


class Candidate(NamedTuple):
    """A size outside the abstraction, and its excess regret over the actions in it."""

    decision: Any  # the decision, as the game identifies it
    player: int
    size: Any
    gain: float  # summed over hands, on the scale of ``Balance.largest``
    histories: int  # histories of a subgame behind it: those behind the size it is most likely mapped to


class Growable(Protocol):
    """A game that is being solved and may grow, on any engine."""

    @property
    def effective(self) -> float:
        """Number of iterations that regrets count for now."""
        ...

    def balance(self) -> Balance:
        """Return the present regrets and histories."""
        ...

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """Return sizes that may pay, at most one per decision, most regret per history first."""
        ...

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """Add sizes of different decisions to the abstraction, and fill in what happened behind each."""
        ...

    def discount(self, weight: float) -> None:
        """Multiply the weight of everything so far by ``weight``."""
        ...

    def bounds(self, player: int) -> Bounds:
        """Return the terms of CFR's regret bound."""
        ...


class Expansion(NamedTuple):
    """An addition with its reasons."""

    candidate: Candidate
    needed: float  # regret required by proposition 1
    added: AddedRegret
    weight: float  # weight of the past since then
    seconds: float


def needed(largest: Floats | float, inside: int, added: Floats | float, effective: float, factor: float) -> Floats:
    """Return the regret above which adding pays: proposition 1, solved for the regret R(S) of the outside.

        factor sum R(G) / |G|  <  (sum R(G) + 2 R(S) - R(S) / T) / (|G| + |S|)

    The left side falls with histories visited if only G is played, the right side if S is also played. Regrets inside
    grow with the square root of T, those outside with T. Both are measured by their present size.

    Differs from the paper in: R(S) is the excess of a new move's regret over that of the best known one, summed over
    the head's infosets. The paper sums over infosets of S and does not say how the head's own regret counts. Taken
    literally, a size next to a known one would look as urgent as the known one.
    """
    relief = factor * (1.0 + np.asarray(added) / inside) - 1.0
    return np.asarray(largest) * relief / (2.0 - 1.0 / max(effective, 1.0))


def check(game: Growable, factor: float, discount: str, most: int, rates: Rates | None = None) -> list[Expansion]:
    """Add up to ``most`` sizes for which proposition 1 says that they pay; weight the past (theorem 2).

    One weight serves all additions of a check: for each player (22), its root or (8) of its additions together, and the
    smaller of both weights (corollary 1). ``rates``: how fast regret grew of late.
    """
    state, chosen = game.balance(), list[tuple[Candidate, float]]()
    growth = None if rates is None else rates.growth(state, game.effective)
    for candidate in game.candidates(state, factor):
        if len(chosen) == most:
            break
        largest = state.largest[candidate.player]
        relief = largest if growth is None else growth[candidate.player]
        least = float(needed(relief, state.histories, candidate.histories, game.effective, factor))
        if candidate.gain > least:
            chosen.append((candidate, least))
    if not chosen:
        if rates is not None:
            rates.add(state, game.effective)
        return []
    began = time.perf_counter()
    additions = game.add([candidate for candidate, _ in chosen])
    seconds = (time.perf_counter() - began) / len(chosen)
    pairs = list(zip((candidate.player for candidate, _ in chosen), additions, strict=True))
    weights = [
        DISCOUNTS[discount](float(state.squares[player]), joint(own), game.bounds(player))
        for player in (0, 1)
        if (own := [added for mover, added in pairs if mover == player])
    ]  # the opponent's regrets are unchanged
    weight = min(weights)
    game.discount(weight)
    if rates is not None:
        rates.restart()
        rates.add(game.balance(), game.effective)
    return [
        Expansion(candidate, least, added, weight, seconds)
        for (candidate, least), added in zip(chosen, additions, strict=True)
    ]
