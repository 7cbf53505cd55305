"""Options that describe a spot: a file, options, or a file with some fields replaced by options."""

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
"""Required fields of a spot, and the options that set them."""

MORE_FIELDS = {"chip": "chip", "dead_money": "dead_money"}
"""Optional fields of a spot, and the options that set them."""


@dataclass(frozen=True)
class SpotOptions:
    """A spot from a file, from options, or from a file with some fields replaced by options."""

    spot: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPOT]",
            help="A JSON or TOML file, a file of another program (see: holdem convert), or FILE#NAME. Without one, give"
            " --board and the others.",
        ),
    ] = None
    board: Annotated[str | None, typer.Option(help='Board of three to five cards, such as "Ks 9h 6d".')] = None
    pot: Annotated[float | None, typer.Option(help="Chips in the pot.")] = None
    stack: Annotated[float | None, typer.Option(help="Chips that each player has left.")] = None
    chip: Annotated[
        float | None,
        typer.Option(help="Smallest chip, which divides all amounts, such as 0.01 for amounts in big blinds."),
    ] = None
    dead_money: Annotated[float | None, typer.Option(help="Antes and folded blinds, which are added to the pot.")] = (
        None
    )
    oop: Annotated[
        str | None, typer.Option(help='Range of the player out of position, such as "22+,A5s-A2s,KQo:0.5" or 15%.')
    ] = None
    ip: Annotated[str | None, typer.Option(help="Range of the player in position.")] = None
    bet: Annotated[str | None, typer.Option(help='Bet sizes on every street, such as "33%, 75%, a".')] = None
    raise_: Annotated[str | None, typer.Option("--raise", help='Raise sizes on every street, such as "2.5x, a".')] = (
        None
    )

    def read(self) -> Spot:
        """Return the spot; options replace only the fields they set. Notes go to stderr."""
        content = self.completed(Imported({}, partial=True) if self.spot is None else import_spot(self.spot))
        say(*(f"note: {note}" for note in content.all_notes()))
        return content.spot

    def completed(self, content: Imported) -> Imported:
        """Return the content of a file with the fields that options replace."""
        fields: Any = content.fields
        values = {key: getattr(self, option) for key, option in (SPOT_FIELDS | MORE_FIELDS).items()}
        named: dict[str, Any] = {key: value for key, value in values.items() if value is not None}
        if not content.partial:
            make_spot(fields, f"The spot {quoted(self.spot)}")  # errors in the file are reported first
        elif missing := [option for key, option in SPOT_FIELDS.items() if key not in {**fields, **named}]:
            raise ParameterError(
                f"Give a spot file, or also the option --{missing[0]}."
                if self.spot is None
                else f"{quoted(self.spot)} has no {missing[0]}: also give the option --{missing[0]}."
            )
        if self.bet is not None or self.raise_ is not None:
            named["sizes"] = changed_sizes(fields.get("sizes", default_sizes()), self.bet, self.raise_)
        return replace(content, fields={**fields, **named}, partial=False)
