"""Conversion of policies to OpenSpiel, also for games with other labels there: both trees are walked together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose
from typing import Any

from treeplex.errors import ParameterError, quoted
from treeplex.games.catalog import OPENSPIEL, make
from treeplex.games.openspiel import PREFIX, OpenSpielGame, to_tabular
from treeplex.games.protocol import CHANCE, TERMINAL, Game

Lookup = Callable[[int, str], Mapping[str, float]]
"""A policy as a function from player and infoset to probabilities by action."""


def to_openspiel(name: str, lookup: Lookup, game: Any = None) -> Any:
    """Return the ``TabularPolicy`` of ``game`` that plays like the policy of the game ``name``."""
    if game is None:
        game = name if name.startswith(PREFIX) else OPENSPIEL.get(name)
        if game is None:
            raise ParameterError(
                f"Pass the game of OpenSpiel: to_openspiel(game). The game {quoted(name)} of this policy does not"
                " determine it."
            )
    theirs = OpenSpielGame(game)
    try:
        return to_tabular(theirs.game, lookup)
    except ParameterError:
        ours = _rules(name)
        if ours is None:
            raise
    return to_tabular(theirs.game, _translated(ours, name, theirs, lookup))


def _rules(name: str) -> Game | None:
    """Return the rules of a game in the catalog; None for any other."""
    if name.startswith(PREFIX) or name.lower().endswith(".efg"):
        return None
    try:
        return make(name)
    except ParameterError:
        return None


def _translated(ours: Game, name: str, theirs: OpenSpielGame, lookup: Lookup) -> Lookup:
    """Translate a policy to OpenSpiel's labels; raise ParameterError unless moves, chances and payoffs are equal."""
    known: dict[tuple[int, str], dict[str, float]] = {}
    stack: list[tuple[Any, Any]] = [(ours.root(), theirs.root())]
    while stack:
        here, there = stack.pop()
        mover = ours.mover(here)
        same = mover == theirs.mover(there)
        if same and mover == TERMINAL:
            same = isclose(_payoff(ours.payoff(here)), _payoff(theirs.payoff(there)), abs_tol=1e-9)
        elif same:
            actions, moves = ours.actions(here), theirs.actions(there)
            same = len(actions) == len(moves)
            if same and mover == CHANCE:
                odds = zip(ours.probabilities(here), theirs.probabilities(there), strict=True)
                same = all(isclose(one, other, abs_tol=1e-9) for one, other in odds)
            elif same and (mover, theirs.infoset(there)) not in known:
                played = lookup(mover, ours.infoset(here))
                known[mover, theirs.infoset(there)] = {
                    str(move): played[action] for action, move in zip(actions, moves, strict=True)
                }
            pairs = zip(actions, moves, strict=False)
            stack += [(ours.child(here, action), theirs.child(there, move)) for action, move in pairs]
        if not same:
            raise ParameterError(f"The policy is for {quoted(name)}, which is another game than {quoted(theirs.name)}.")
    return lambda player, label: known[player, label]


def _payoff(paid: float | Sequence[float]) -> float:
    return float(paid) if isinstance(paid, int | float) else float(paid[0])
