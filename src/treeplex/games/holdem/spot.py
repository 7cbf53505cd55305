"""A spot: the board, both ranges, the money and the bets that are allowed. Everything is checked here."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import FormatError, ParameterError
from treeplex.games.holdem.cards import HAND_CARDS, card_name, parse_board
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.sizes import Size, parse_sizes
from treeplex.games.parameters import number

STREETS: Final = ("flop", "turn", "river")
PLAYERS: Final = ("oop", "ip")
"""Player 0 is out of position and acts first on every street; player 1 is in position."""

MOST_CHIPS: Final = 1_000_000_000
COMMENTS: Final = frozenset({"description", "name", "tree", "postflop_solver"})  # fields of a file that are not ours


@dataclass(frozen=True)
class Spot:
    """What is to be solved. ``sizes[street][player]`` has the text of ``bet`` and ``raise`` sizes.

    >>> spot = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KK", "QQ,AKs", sizes_for("50%", "a"))
    >>> spot.street
    'river'
    """

    board: str
    pot: int
    effective_stack: int
    oop_range: str
    ip_range: str
    sizes: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict[str, Any])
    donk_sizes: Mapping[str, str] = field(default_factory=dict[str, str])
    add_allin_threshold: float = 0.0
    force_allin_threshold: float = 0.0
    merging_threshold: float = 0.0
    rake_rate: float = 0.0
    rake_cap: float = 0.0

    def __post_init__(self) -> None:
        _whole("pot", self.pot, 1)
        _whole("effective_stack", self.effective_stack, 1)
        thresholds = dict.fromkeys(("add_allin_threshold", "force_allin_threshold", "merging_threshold"), 1000.0)
        for name, most in {**thresholds, "rake_rate": 1.0, "rake_cap": float(MOST_CHIPS)}.items():
            number(name, getattr(self, name), 0.0, most)
        for player in (0, 1):
            self.weights(player)
            for street in self.streets:
                self.bets(street, player)
                self.raises(street, player)
        _keys("sizes", self.sizes, STREETS)
        _keys("donk_sizes", self.donk_sizes, STREETS[1:])
        for street in STREETS[1:]:
            self.donks(street)
        if not self._some_deal():
            raise ParameterError("The ranges cannot be dealt together: every pair of hands shares a card.")

    def __repr__(self) -> str:
        oop, ip = (text if len(text) <= 60 else f"{text[:56]} ..." for text in (self.oop_range, self.ip_range))
        return f"Spot({self.board}, pot {self.pot}, stack {self.effective_stack}, oop {oop}, ip {ip})"

    @property
    def cards(self) -> tuple[int, ...]:
        """The board's cards, as numbers."""
        return parse_board(self.board)

    @property
    def street(self) -> str:
        """The street on which betting starts."""
        return STREETS[len(self.cards) - 3]

    @property
    def streets(self) -> tuple[str, ...]:
        """The streets that are played, first to last."""
        return STREETS[STREETS.index(self.street) :]

    def weights(self, player: int) -> Floats:
        """The range of a player [1326], without the hands that share a card with the board."""
        name = f"{PLAYERS[player]}_range"
        weights = parse_range(getattr(self, name), name)
        weights[np.isin(HAND_CARDS, self.cards).any(axis=1)] = 0.0
        if not weights.any():
            shown = " ".join(card_name(card) for card in self.cards)
            raise ParameterError(
                f"The '{name}' parameter is dead on the board {shown}: every hand of it shares a card."
            )
        return weights

    def bets(self, street: str, player: int) -> tuple[Size, ...]:
        """First bets of ``player`` on ``street``."""
        return parse_sizes(self._sizes(street, player, "bet"), f"{street} {PLAYERS[player]} bet", raises=False)

    def raises(self, street: str, player: int) -> tuple[Size, ...]:
        """Raises of ``player`` on ``street``."""
        return parse_sizes(self._sizes(street, player, "raise"), f"{street} {PLAYERS[player]} raise", raises=True)

    def donks(self, street: str) -> tuple[Size, ...] | None:
        """First bets of the player out of position who has just called on the street before; None: as usual."""
        text = self.donk_sizes.get(street)
        return None if text is None else parse_sizes(text, f"{street} donk", raises=False)

    def rake(self, pot: float) -> float:
        """What the house takes of a pot."""
        return min(pot * self.rake_rate, self.rake_cap)

    def summary(self) -> dict[str, Any]:
        """The fields, as a file has them."""
        return asdict(self)

    def _sizes(self, street: str, player: int, kind: str) -> str:
        on_street = self.sizes.get(street, {})
        _keys(f"sizes.{street}", on_street, PLAYERS)
        of_player = on_street.get(PLAYERS[player], {})
        _keys(f"sizes.{street}.{PLAYERS[player]}", of_player, ("bet", "raise"))
        return of_player.get(kind, "")

    def _some_deal(self) -> bool:
        first, second = (HAND_CARDS[self.weights(player) > 0.0] for player in (0, 1))
        shared = (first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        return not bool(shared.all())


def sizes_for(bet: str, raise_: str) -> dict[str, Any]:
    """The same sizes on every street and for both players."""
    return {street: {player: {"bet": bet, "raise": raise_} for player in PLAYERS} for street in STREETS}


def make_spot(fields: Mapping[str, Any]) -> Spot:
    """A spot from the fields of a file. ``sizes`` may leave out players, or streets and players, that are alike."""
    known = set(Spot.__dataclass_fields__)
    given = {key: value for key, value in fields.items() if key not in COMMENTS}
    for key in given:
        if key not in known:
            raise ParameterError(f"A spot has the fields {', '.join(sorted(known))}; got {key!r}.")
    for key in ("board", "pot", "effective_stack", "oop_range", "ip_range"):
        if key not in given:
            raise ParameterError(f"The field '{key}' of the spot is missing.")
    if "sizes" in given:
        given["sizes"] = _spread(given["sizes"])
    return Spot(**given)


def read_spot(path: str | Path) -> Spot:
    """A spot from a JSON or TOML file; ``FILE#NAME`` takes one of several in the table ``spots`` of a file."""
    name, _, part = str(path).partition("#")
    file = Path(name)
    try:
        text = file.read_text(encoding="utf-8")
        fields: Any = tomllib.loads(text) if file.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise ParameterError(f"The spot {file} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"neither JSON nor TOML ({error}).", path=str(file)) from error
    if not isinstance(fields, dict):
        raise FormatError("a spot must be a JSON or TOML object.", path=str(file))
    table = cast(dict[str, Any], fields)
    spots = table.get("spots")
    if isinstance(spots, dict):
        several = cast(dict[str, Any], spots)
        if part not in several:
            raise ParameterError(f"{file} holds the spots {', '.join(several)}: write {file}#NAME.")
        table = several[part]
    elif part:
        raise ParameterError(f"{file} holds one spot: leave out #{part}.")
    return make_spot(table)


def _spread(sizes: Any) -> dict[str, Any]:
    """Fill in what a file left out because it is alike."""
    if not isinstance(sizes, Mapping):
        raise ParameterError(f"The 'sizes' of a spot must be an object, got {sizes!r}.")
    given = cast(Mapping[str, Any], sizes)
    if set(given) <= {"bet", "raise"}:
        given = dict.fromkeys(STREETS, given)
    spread: dict[str, Any] = {}
    for street, on_street in given.items():
        if not isinstance(on_street, Mapping):
            raise ParameterError(f"The 'sizes' of the {street} must be an object, got {on_street!r}.")
        entries = cast(Mapping[str, Any], on_street)
        spread[street] = dict.fromkeys(PLAYERS, entries) if set(entries) <= {"bet", "raise"} else entries
    return spread


def _keys(name: str, table: Any, legal: tuple[str, ...]) -> None:
    if not isinstance(table, Mapping):
        raise ParameterError(f"The '{name}' of a spot must be an object, got {table!r}.")
    for key in cast(Mapping[str, Any], table):
        if key not in legal:
            raise ParameterError(f"The '{name}' of a spot has the entries {', '.join(legal)}; got {key!r}.")


def _whole(name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= MOST_CHIPS:
        raise ParameterError(
            f"The '{name}' parameter must be a whole number of chips from {low} to {MOST_CHIPS:,}, got {value!r}."
        )
