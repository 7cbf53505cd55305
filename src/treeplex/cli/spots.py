"""A spot as commands are told it: a file, options, or a file with some fields replaced by options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from treeplex.cli.output import say
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.reading import import_spot
from treeplex.games.holdem.spot import Spot, changed_sizes, default_sizes, make_spot

SPOT_FIELDS = {"board": "board", "pot": "pot", "effective_stack": "stack", "oop_range": "oop", "ip_range": "ip"}
"""Fields of a spot, and the options that name them."""

MORE_FIELDS = {"chip": "chip", "dead_money": "dead_money"}
"""Those that can be left out."""


@dataclass(frozen=True)
class SpotOptions:
    """A spot from a file, from options, or from a file with some fields replaced by options."""

    spot: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPOT]",
            help="A JSON or TOML file, one of another program (see: holdem convert), or FILE#NAME; left out: give"
            " --board and the rest.",
        ),
    ] = None
    board: Annotated[str | None, typer.Option(help='Three to five cards, such as "Ks 9h 6d".')] = None
    pot: Annotated[float | None, typer.Option(help="Chips in the pot.")] = None
    stack: Annotated[float | None, typer.Option(help="Chips each player has left.")] = None
    chip: Annotated[float | None, typer.Option(help="All amounts are multiples of it: 0.01 for big blinds.")] = None
    dead_money: Annotated[float | None, typer.Option(help="Antes and folded blinds, added to the pot.")] = None
    oop: Annotated[str | None, typer.Option(help='Range out of position, such as "22+,A5s-A2s,KQo:0.5" or 15%.')] = None
    ip: Annotated[str | None, typer.Option(help="Range in position.")] = None
    bet: Annotated[str | None, typer.Option(help='Bet sizes on every street, such as "33%, 75%, a".')] = None
    raise_: Annotated[str | None, typer.Option("--raise", help='Raise sizes on every street, such as "2.5x, a".')] = (
        None
    )

    def read(self) -> Spot:
        """The spot; what an option says replaces what the file says, and nothing else. Notes go to stderr."""
        found = self.completed(Imported({}, partial=True) if self.spot is None else import_spot(self.spot))
        say(*(f"note: {note}" for note in found.all_notes()))
        return found.spot

    def completed(self, found: Imported) -> Imported:
        """What a file holds, with the options in place of its fields."""
        fields: Any = found.fields
        given = {key: getattr(self, option) for key, option in (SPOT_FIELDS | MORE_FIELDS).items()}
        named: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if not found.partial:
            make_spot(fields, f"The spot {quoted(self.spot)}")  # a wrong file is refused for itself
        elif missing := [option for key, option in SPOT_FIELDS.items() if key not in {**fields, **named}]:
            raise ParameterError(
                f"Give a spot file, or the option --{missing[0]} too."
                if self.spot is None
                else f"{quoted(self.spot)} has no {missing[0]}: give the option --{missing[0]} too."
            )
        if self.bet is not None or self.raise_ is not None:
            named["sizes"] = changed_sizes(fields.get("sizes", default_sizes()), self.bet, self.raise_)
        return replace(found, fields={**fields, **named}, partial=False)
