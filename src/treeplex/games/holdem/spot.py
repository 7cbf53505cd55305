"""Spots: the board, both ranges, the money and the legal bets, all checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import InitVar, asdict, dataclass, field
from difflib import get_close_matches
from typing import Any, Final, cast

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HAND_CARDS, card_name, parse_board
from treeplex.games.holdem.money import SMALLEST_CHIP, ratio, real, share, times, whole_chips
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.sizes import CHIPS, Size, parse_sizes

STREETS: Final = ("flop", "turn", "river")
PLAYERS: Final = ("oop", "ip")
"""Player 0 is out of position and acts first on every street; player 1 is in position."""

MOST_CHIPS: Final = 1_000_000_000
COMMENTS: Final = frozenset({"description", "name", "tree", "postflop_solver"})  # fields of a file that are ignored
NEEDED: Final = ("board", "pot", "effective_stack", "oop_range", "ip_range")
KINDS: Final = ("bet", "raise")

DEFAULT_BETS: Final = "33%, 75%, a"
DEFAULT_RAISES: Final = "60%, a"
"""Default bets: a small, a usual and the largest one, with one raise and all-in. These are the sizes of the spots in
comparisons with other solvers, and trees of flops still fit into memory."""
DEFAULT_MENU: Final = f"bets {DEFAULT_BETS} and raises {DEFAULT_RAISES} on every street"


_CARD_BITS: Final = (1 << HAND_CARDS).sum(axis=1)  # [1326] a bit for each card of a hand


def sizes_for(bet: str, raise_: str) -> dict[str, Any]:
    """Build equal sizes for every street and both players."""
    return {street: {player: {"bet": bet, "raise": raise_} for player in PLAYERS} for street in STREETS}


def default_sizes() -> dict[str, Any]:
    """Return the menu of a spot that names no sizes."""
    return sizes_for(DEFAULT_BETS, DEFAULT_RAISES)


@dataclass(frozen=True)
class Spot:
    """A hold'em situation to solve. ``sizes[street][player]`` has the text of ``bet`` and ``raise`` sizes.

    ``line_sizes`` has other sizes for single decisions, independently of the cards, by the actions that lead there in
    full: ``{"check, bet 50": "200c, a"}``. With ``board_classes`` a betting line also contains the class of every card
    that is dealt on it (``games.holdem.classes``): ``{"check, check, [flush]": "33%"}``.
    Amounts are multiples of ``chip``. ``dead_money`` (antes, folded blinds) is added to ``pot``. Without ``rake_cap``
    the rake has no cap.

    >>> spot = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KK", "QQ,AKs", sizes_for("50%", "a"))
    >>> spot.street
    'river'
    """

    board: str
    pot: float
    effective_stack: float
    oop_range: str
    ip_range: str
    sizes: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=default_sizes)
    donk_sizes: Mapping[str, str] = field(default_factory=dict[str, str])
    line_sizes: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    board_classes: bool = field(default=False, kw_only=True)
    add_allin_threshold: float = 0.0
    force_allin_threshold: float = 0.0
    merging_threshold: float = 0.0
    rake_rate: float = 0.0
    rake_cap: float | None = None
    chip: float = 1
    dead_money: InitVar[float] = 0

    def __post_init__(self, dead_money: float) -> None:
        self._set("board", " ".join(card_name(card) for card in parse_board(self.board)))
        self._set_money(dead_money)
        for name in ("add_allin_threshold", "force_allin_threshold", "merging_threshold"):
            self._set(name, float(real(name, getattr(self, name), 0.0, 1000.0)))
        _keys("sizes", self.sizes, STREETS)
        _keys("donk_sizes", self.donk_sizes, STREETS[1:])
        for player in (0, 1):
            self.weights(player)
            for street in self.streets:
                self.bets(street, player)
                self.raises(street, player)
        for street in STREETS[1:]:
            self.donks(street)
        if not isinstance(cast(Any, self.line_sizes), Mapping):
            raise ParameterError(f"The 'line_sizes' of a spot must be an object, got {quoted(self.line_sizes)}.")
        for line in self.line_sizes:
            self.at_line(line, raises=True)
        if not isinstance(cast(Any, self.board_classes), bool):
            raise ParameterError(
                f"The 'board_classes' of a spot must be true or false, got {quoted(self.board_classes)}."
            )
        if self.board_classes and self.street == STREETS[-1]:
            raise ParameterError(
                "The 'board_classes' of a spot must be false on a river, where no card is to come, got true."
            )
        if not self._some_deal():
            raise ParameterError("The ranges cannot be dealt together: every pair of hands shares a card.")

    def __repr__(self) -> str:
        oop, ip = (text if len(text) <= 60 else f"{text[:56]} ..." for text in (self.oop_range, self.ip_range))
        return f"Spot({self.board}, pot {self.pot}, stack {self.effective_stack}, oop {oop}, ip {ip})"

    def _set_money(self, dead_money: float) -> None:
        chip = real("chip", self.chip, SMALLEST_CHIP, 1e6)
        self._set("chip", chip)
        pot, stack, dead = (
            whole_chips(name, real(name, value), chip, 0 if name == "dead_money" else 1, MOST_CHIPS)
            for name, value in (
                ("pot", self.pot),
                ("effective_stack", self.effective_stack),
                ("dead_money", dead_money),
            )
        )
        self._set("pot", times(pot + dead, chip))
        self._set("effective_stack", times(stack, chip))
        self._set("rake_rate", share("rake_rate", self.rake_rate))
        if self.rake_cap is not None:
            self._set("rake_cap", float(real("rake_cap", self.rake_cap)))
        if self.rake_cap == 0.0 and self.rake_rate > 0.0:
            raise ParameterError(
                f"The 'rake_cap' parameter must be above 0 with a rake_rate of {self.rake_rate:g}, got 0, which means"
                " no rake; leave it out for a rake without a cap, or set rake_rate to 0."
            )
        if self.rake_cap == 0.0:
            self._set(
                "rake_cap", None
            )  # without a rake a cap of 0 means nothing, and must not cap a rake that is set later

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

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
        """[1326] range of a player, without the hands that share a card with the board."""
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
        """Return the first bets of ``player`` on ``street``."""
        return self._parsed(self._sizes(street, player, "bet"), f"{street} {PLAYERS[player]} bet", raises=False)

    def raises(self, street: str, player: int) -> tuple[Size, ...]:
        """Return the raises of ``player`` on ``street``."""
        return self._parsed(self._sizes(street, player, "raise"), f"{street} {PLAYERS[player]} raise", raises=True)

    def donks(self, street: str) -> tuple[Size, ...] | None:
        """Return first bets of the player out of position after calling on the previous street; None: as usual."""
        text = self.donk_sizes.get(street)
        return None if street not in self.donk_sizes else self._parsed(text, f"{street} donk", raises=False)

    def at_line(self, line: str, *, raises: bool) -> tuple[Size, ...] | None:
        """Return the sizes of the decision that a line leads to, if it has its own."""
        if line not in self.line_sizes:
            return None
        return self._parsed(self.line_sizes[line], f"line_sizes {quoted(line)}", raises=raises)

    @property
    def has_default_sizes(self) -> bool:
        """Whether the menu is that of a spot that names no sizes."""
        return self.sizes == default_sizes()

    def rake(self, pot: float) -> float:
        """Rake that the house takes from a pot."""
        return min(pot * self.rake_rate, math.inf if self.rake_cap is None else self.rake_cap)

    def chips(self, amount: float) -> int:
        """Convert an amount to chips, in which the game is computed, so that it does not depend on the unit."""
        return int(amount) if self.chip == 1 else round(ratio(amount, self.chip))

    def amount(self, chips: int) -> float:
        """Convert chips to an amount in the unit of the spot."""
        return chips if self.chip == 1 else times(chips, self.chip)

    def rounded(self, amount: float) -> float:
        """Round a sum of amounts to whole chips, to remove errors of floats."""
        return self.amount(self.chips(amount))

    def rake_in_chips(self, pot: float) -> float:
        """Rake from a pot, both in chips."""
        if self.rake_rate == 0.0:
            return 0.0
        return min(pot * self.rake_rate, math.inf if self.rake_cap is None else ratio(self.rake_cap, self.chip))

    def summary(self) -> dict[str, Any]:
        """Return the fields as in a file; dead money is part of the pot."""
        fields = asdict(self)
        if self.rake_rate == 0.0 and self.rake_cap is None:
            fields["rake_cap"] = 0.0  # as in earlier versions, so that runs keep their identity
        if not self.line_sizes:
            del fields["line_sizes"]  # so that runs without them keep their identity
        if not self.board_classes:
            del fields["board_classes"]
        return fields

    def _parsed(self, text: str | None, name: str, *, raises: bool) -> tuple[Size, ...]:
        sizes = parse_sizes(text, name, raises=raises)
        for size in sizes:
            if size.kind == CHIPS:
                whole_chips(name, size.amount, self.chip, 1, MOST_CHIPS)
        return sizes

    def _sizes(self, street: str, player: int, kind: str) -> str:
        on_street = self.sizes.get(street, {})
        _keys(f"sizes.{street}", on_street, PLAYERS)
        of_player = on_street.get(PLAYERS[player], {})
        _keys(f"sizes.{street}.{PLAYERS[player]}", of_player, KINDS)
        return of_player.get(kind, "")

    def _some_deal(self) -> bool:
        first, second = (_CARD_BITS[self.weights(player) > 0.0] for player in (0, 1))
        return bool((first[:, None] & second == 0).any())


def make_spot(fields: object, what: str = "The spot") -> Spot:
    """Build a spot from the fields of a file. ``sizes`` may leave out players, or streets and players, if equal."""
    if not isinstance(fields, Mapping):
        raise ParameterError(f"{what} must be an object with fields such as board and pot, got {quoted(fields)}.")
    table = cast(Mapping[Any, Any], fields)
    spot_fields = {key: value for key, value in table.items() if key not in COMMENTS}
    known = Spot.__dataclass_fields__
    for key in spot_fields:
        if key not in known:
            near = get_close_matches(str(key)[:80], known, 1, 0.5)
            fix = f"the nearest is '{near[0]}'" if near else f"there are {', '.join(NEEDED)}, sizes and others"
            raise ParameterError(f"A spot has no field {quoted(key)}; {fix}.")
    for key in NEEDED:
        if key not in spot_fields:
            raise ParameterError(f"The field '{key}' of the spot is missing.")
    if "sizes" in spot_fields:
        spot_fields["sizes"] = spread_sizes(spot_fields["sizes"])
    return Spot(**spot_fields)


def spread_sizes(sizes: object) -> dict[str, Any]:
    """Fill in the streets and players that a file leaves out because they are equal."""
    _keys("sizes", sizes, (*STREETS, *KINDS))
    menus = cast(Mapping[str, Any], sizes)
    if set(menus) <= set(KINDS):
        menus = dict.fromkeys(STREETS, menus)
    spread: dict[str, Any] = {}
    for street, on_street in menus.items():
        _keys(f"sizes.{street}", on_street, (*PLAYERS, *KINDS))
        spread[street] = dict.fromkeys(PLAYERS, on_street) if set(on_street) <= set(KINDS) else on_street
    return spread


def changed_sizes(sizes: object, bet: str | None, raise_: str | None) -> dict[str, Any]:
    """Change the bets or raises or both on every street and for both players, and copy the other sizes."""
    named = {kind: text for kind, text in (("bet", bet), ("raise", raise_)) if text is not None}
    original = spread_sizes(sizes)
    changed: dict[str, Any] = {}
    for street in STREETS:
        _keys(f"sizes.{street}", original.get(street, {}), PLAYERS)
        of_players = {player: original.get(street, {}).get(player, {}) for player in PLAYERS}
        for player, table in of_players.items():
            _keys(f"sizes.{street}.{player}", table, KINDS)
        changed[street] = {player: {**table, **named} for player, table in of_players.items()}
    return changed


def _keys(name: str, table: object, legal: tuple[str, ...]) -> None:
    if not isinstance(table, Mapping):
        raise ParameterError(f"The '{name}' of a spot must be an object, got {quoted(table)}.")
    for key in cast(Mapping[Any, Any], table):
        if key not in legal:
            raise ParameterError(f"The '{name}' of a spot has the entries {', '.join(legal)}; got {quoted(key)}.")
