"""``treeplex holdem sizes``: find the bet sizes that matter on one spot or several."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from treeplex.arrow import write_parquet
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.options import AsJson, Force, Quiet, Values, grouped
from treeplex.cli.output import check_files, say
from treeplex.cli.spots import SpotOptions
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.files import read_file
from treeplex.games.holdem.money import percent_of_pot
from treeplex.games.holdem.spot import PLAYERS, Spot
from treeplex.poker.sizes.problem import ACCURACY, GAP, SizeOptions
from treeplex.runs.requests import choosing_sizes
from treeplex.runs.schema import SIZES
from treeplex.system import answering

COUNTS: Final = 3  # menus of up to this many sizes are compared in the picture


@dataclass(frozen=True)
class ManySpots(SpotOptions):
    """One spot or several, each from a file; or one from options."""

    spot: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        list[str] | None,
        typer.Argument(
            metavar="[SPOT]...",
            help="JSON or TOML files, FILE#NAME, or a FILE with several spots. Otherwise give --board and the rest.",
        ),
    ] = None

    def read_all(self) -> list[Spot]:
        """Read all spots, each with the fields that options replace."""
        named = [part for name in self.spot or [] for part in _parts(name)] or [None]
        options: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(SpotOptions)}
        made: list[Spot] = []
        for name in named:
            options["spot"] = name
            made.append(SpotOptions(**options).read())
        return made


@grouped
def sizes(
    *,
    spot: ManySpots,
    keep: Annotated[int, typer.Option(min=1, help="Number of sizes to keep; all-in counts.")] = 1,
    lose: Annotated[
        str | None,
        typer.Option(help="Instead of --keep: find the fewest sizes that lose at most this much, such as 0.1%pot."),
    ] = None,
    player: Annotated[
        str, typer.Option(help="Player restricted to these sizes: oop or ip. The opponent may use every candidate.")
    ] = (PLAYERS[0]),
    street: Annotated[
        str | None,
        typer.Option(
            help="Street to choose sizes for: flop, turn, river, or all (one menu per street). Default: the first."
        ),
    ] = None,
    bets: Annotated[str, typer.Option(help="Candidate sizes for bets.")] = BETS,
    raises: Annotated[str, typer.Option(help="Candidate sizes for raises.")] = RAISES,
    restrict: Annotated[str, typer.Option(help="Sizes to choose: bets, raises or both.")] = "bets",
    per_decision: Annotated[
        bool, typer.Option("--per-decision", help="Choose one menu per line of play on the first street.")
    ] = False,
    accuracy: Annotated[str, typer.Option(help="Maximum width of the intervals of values.")] = f"{ACCURACY}%pot",
    gap: Annotated[str, typer.Option(help="Stop when no other menu can be better by more than this.")] = f"{GAP}%pot",
    values: Annotated[Values, SIZES],
    png: Annotated[Path | None, typer.Option(help="Save a plot to this PNG.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Save a Parquet table with one row per spot and size.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the few bet sizes that matter, and prove how much any other choice could gain at most."""
    check_files(force=force, png=png, parquet=parquet)
    question = SizeOptions(
        keep=keep,
        lose=None if lose is None else percent_of_pot("option --lose", lose),
        player=player,
        street=street,
        bets=bets,
        raises=raises,
        restrict=restrict,
        per_decision=per_decision,
        counts=COUNTS if png is not None else 0,
        accuracy=percent_of_pot("option --accuracy", accuracy),
        gap=percent_of_pot("option --gap", gap),
    )
    request = choosing_sizes(spot.read_all(), question, **values)
    with answering():  # pictures and tables are also saved if a signal ends the run
        solution = follow(request, Screen(values["out"], as_json))
        if png is not None:
            solution.plot(png)
        if parquet is not None:
            write_parquet(solution.to_arrow(), parquet)
    if not as_json:
        say(*(f"saved {path}" for path in (png, parquet) if path is not None))
    raise exit_code(request.limits, solution)


def _parts(name: str) -> list[str]:
    """Return the spots of a file that has several, else the name itself."""
    if "#" in name or not name.lower().endswith((".json", ".toml")):
        return [name]
    table = read_file(name, "spot")
    several = table.get("spots") if isinstance(table, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [f"{name}#{key}" for key in several] if isinstance(several, dict) else [name]  # pyright: ignore[reportUnknownVariableType]
