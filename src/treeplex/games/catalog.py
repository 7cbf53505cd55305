"""Catalog of the built-in games: rules, summary, source and, if known, the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.errors import ParameterError, quoted
from treeplex.files import is_file
from treeplex.games.continuous import continuous_leduc
from treeplex.games.goofspiel import Goofspiel
from treeplex.games.leduc_pots import leduc_pots
from treeplex.games.liars_dice import liars_dice
from treeplex.games.matrix import MatrixGame, gaussian_matrix
from treeplex.games.openspiel import PREFIX, OpenSpielGame
from treeplex.games.poker import kuhn, kuhn_ext, leduc, leduc5, leduc_ext, one_card_poker
from treeplex.games.princess_and_monster import PrincessAndMonster
from treeplex.games.protocol import Game
from treeplex.games.random_tree import RandomTree
from treeplex.games.rhode_island import rhode_island
from treeplex.spec import bind, folded, match_name, parse, unknown, usage


class GameEntry(NamedTuple):
    """A game in the catalog."""

    name: str
    build: Callable[..., Game]
    summary: str
    source: str
    values: Mapping[str, float] = {}
    """Player 0's value at equilibrium, by the game's full name."""

    @property
    def usage(self) -> str:
        """Name and parameters, as ``name(parameter=default,...)``."""
        return usage(self.name, self.build)


CATALOG: dict[str, GameEntry] = {
    entry.name: entry
    for entry in (
        GameEntry("kuhn", kuhn, "Kuhn poker: three cards, one bet", "Kuhn 1950", {"kuhn": -1 / 18}),
        GameEntry(
            "kuhn_ext", kuhn_ext, "Kuhn poker with more cards, bet types and raises", "Ju et al. 2023, appendix E"
        ),
        GameEntry(
            "leduc",
            leduc,
            "Leduc hold'em; by rank, or with suits as in OpenSpiel",
            "Southey et al. 2005",
            {"leduc": -0.0856064240780005, "leduc(suits=true)": -0.0856064240780005},
        ),
        GameEntry(
            "leduc5",
            leduc5,
            "Leduc hold'em with five bet sizes; those of either paper",
            "Brown & Sandholm 2015; Brown, Kroer & Sandholm 2017",
        ),
        GameEntry(
            "leduc_ext", leduc_ext, "Leduc hold'em with more ranks, bet types and raises", "Ju et al. 2023, appendix E"
        ),
        GameEntry(
            "leduc_pots",
            leduc_pots,
            "Leduc hold'em with an early fold, sizes that may be raised once, and a button that moves",
            "Ju et al. 2023, the authors' code",
        ),
        GameEntry(
            "continuous_leduc",
            continuous_leduc,
            "Leduc hold'em with bets of any size, of which a few are in the abstraction; see treeplex grow",
            "Brown & Sandholm 2015, simultaneous abstraction",
        ),
        GameEntry(
            "rhode_island",
            rhode_island,
            "Rhode Island hold'em: three rounds, two public cards; by suit isomorphism or with every card told apart",
            "Shi & Littman 2001; Gilpin & Sandholm 2007",
        ),
        GameEntry("one_card_poker", one_card_poker, "Kuhn poker with a deck of any size", "Tammelin 2014; Gordon 2005"),
        GameEntry(
            "liars_dice",
            liars_dice,
            "Liar's dice for two, highest face wild",
            "Lisý, Lanctot & Bowling 2015; OpenSpiel",
            {"liars_dice": -0.02713178294573644, "liars_dice(sides=4)": 1 / 16},
        ),
        GameEntry(
            "goofspiel",
            Goofspiel,
            "Goofspiel: bid cards for prizes; who won is public, the bids are not",
            "Ross 1971; Lanctot et al. 2009",
            {"goofspiel": 0.0},
        ),
        GameEntry(
            "princess_and_monster",
            PrincessAndMonster,
            "Pursuit on a grid, both unseen; capture time is the payoff",
            "Isaacs 1965; Lanctot et al. 2009",
        ),
        GameEntry("matrix", MatrixGame, "A matrix game, from its rows", "von Neumann 1928"),
        GameEntry(
            "gaussian_matrix",
            gaussian_matrix,
            "A random matrix game with a few good strategies per player",
            "Ju et al. 2023, warm start",
        ),
        GameEntry("random_tree", RandomTree, "A random game tree with perfect recall, for tests", "treeplex"),
    )
}


OPENSPIEL: dict[str, str] = {
    "kuhn": "kuhn_poker",
    "leduc(suits=true)": "leduc_poker",
    "liars_dice": "liars_dice",
}
"""Games that OpenSpiel also has, by their full names, with equal trees and payoffs but other labels.

OpenSpiel's names are aliases, except goofspiel, which has other defaults there.
"""

_ALIASES = {folded(theirs): ours for ours, theirs in OPENSPIEL.items()}


def make(spec: str) -> Game:
    """Build the rules for ``spec``: ``name(parameter=value,...)``, ``openspiel:NAME`` or the path of an .efg file.

    >>> make("leduc(suits=true)").name
    'leduc(suits=true)'
    """
    if spec.startswith(PREFIX):
        return OpenSpielGame(spec)
    if spec.lower().endswith(".efg"):
        from treeplex.games.efg import load  # noqa: PLC0415 - needed only for these files

        if not is_file(spec):
            raise ParameterError(f"There is no file {quoted(Path(spec))}.")
        return load(spec)
    entry, values = entry_of(spec)
    return entry.build(**bind("game", entry.name, entry.build, values))


def entry_of(spec: str) -> tuple[GameEntry, list[tuple[str, Any]]]:
    """Return the catalog entry for ``spec``, in any spelling, and its parameters."""
    name, values = parse(spec)
    known_name = match_name(name, CATALOG)
    if known_name is not None:
        return CATALOG[known_name], values
    alias = _ALIASES.get(folded(name))
    if alias is None:
        raise unknown("game", name, CATALOG)
    if values:
        raise ParameterError(
            f"{quoted(name)} is another name of {alias} and has no parameters here; OpenSpiel's own game with"
            f" parameters is {PREFIX}{OPENSPIEL[alias]}(...)."
        )
    return entry_of(alias)


def known_value(name: str) -> float | None:
    """Player 0's value of the game with this full name, if the literature knows it."""
    entry = CATALOG.get(name.partition("(")[0])
    return entry.values.get(name) if entry else None
