"""One check of a growing abstraction: which sizes pay, add them, and weigh the past. The same for every engine.

What is asked of a game that is being solved and may grow is ``Growable``; ``dealt`` and ``spots`` are two.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

import numpy as np

from treeplex.arrays import Floats
from treeplex.growth.discount import DISCOUNTS, AddedRegret, Bounds


class Candidate(NamedTuple):
    """A size outside the abstraction, and by how much it is regretted more than the actions in it."""

    place: Any  # the decision
    player: int
    size: Any
    gain: float  # summed over hands, on the scale of ``Balance.largest``
    histories: int  # that a subgame behind it adds: those behind the size it is most likely mapped to


class Balance(NamedTuple):
    """What proposition 1 weighs: regret that the game has, and the histories that an iteration visits."""

    largest: Floats  # [2] each player's regret: the sum over infosets of the largest positive one, or the overall one
    squares: Floats  # [2] sum of all squared positive regrets
    histories: int


class Growable(Protocol):
    """A game that is being solved and may grow, on whatever engine."""

    @property
    def effective(self) -> float:
        """How many iterations regrets count for now."""
        ...

    def balance(self) -> Balance:
        """Regrets and histories as they are."""
        ...

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """Sizes that may pay, one per decision at most, most regret per history first."""
        ...

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """Put sizes of different decisions into the abstraction, and fill in what happened behind each."""
        ...

    def discount(self, share: float) -> None:
        """Weigh all that was done so far by ``share``."""
        ...

    def bounds(self, player: int) -> Bounds:
        """What the bound of CFR is made of."""
        ...


class Grew(NamedTuple):
    """An addition and its reasons."""

    candidate: Candidate
    needed: float  # what proposition 1 asked for
    added: AddedRegret
    share: float  # the weight of the past since then
    seconds: float


def needed(largest: Floats | float, inside: int, added: Floats | float, effective: float, factor: float) -> Floats:
    """The regret from which on it pays to add: proposition 1, solved for the regret R(S) of what is outside.

        factor sum R(G) / |G|  <  (sum R(G) + 2 R(S) - R(S) / T) / (|G| + |S|)

    The left side falls with histories visited if only G is played, the right side if S is played too. Regrets inside
    grow with the square root of T, those outside with T; both are measured by what they have come to.

    Differs from the paper in: R(S) is by how much a new move is regretted *more* than the best known one, summed over
    the head's infosets. The paper sums over infosets of S and does not say how the head's own regret counts; taken at
    face value, a size next to a known one would look as urgent as the known one.
    """
    relief = factor * (1.0 + np.asarray(added) / inside) - 1.0
    return np.asarray(largest) * relief / (2.0 - 1.0 / max(effective, 1.0))


def check(game: Growable, factor: float, discount: str, most: int) -> list[Grew]:
    """Add up to ``most`` sizes of which proposition 1 says that they pay; weigh the past for each (theorem 2)."""
    state, chosen = game.balance(), list[tuple[Candidate, float]]()
    for candidate in game.candidates(state, factor):
        if len(chosen) == most:
            break
        largest = state.largest[candidate.player]
        least = float(needed(largest, state.histories, candidate.histories, game.effective, factor))
        if candidate.gain > least:
            chosen.append((candidate, least))
    if not chosen:
        return []
    began = time.perf_counter()
    additions = game.add([candidate for candidate, _ in chosen])
    seconds = (time.perf_counter() - began) / len(chosen)
    grown: list[Grew] = []
    for (candidate, least), added in zip(chosen, additions, strict=True):
        before, bounds = float(state.squares[candidate.player]), game.bounds(candidate.player)
        share = DISCOUNTS[discount](before, added, bounds)  # the opponent's regrets are as before
        game.discount(share)
        grown.append(Grew(candidate, least, added, share, seconds))
    return grown
