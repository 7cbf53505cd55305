"""``treeplex holdem sizes``: which bet sizes matter on a spot, or on several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from treeplex.arrow import write_parquet
from treeplex.cli.options import AsJson, Force, Quiet, grouped
from treeplex.cli.output import EVERY, check_files, console, print_json, print_table, say, tell
from treeplex.cli.spots import SpotOptions
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.files import read_file
from treeplex.games.holdem.money import percent_of_pot
from treeplex.games.holdem.spot import PLAYERS, Spot
from treeplex.poker.sizes.answer import COLUMNS, Sizes
from treeplex.poker.sizes.find import ACCURACY, GAP
from treeplex.poker.sizes.find import sizes as find_sizes
from treeplex.poker.sizes.plot import plot_sizes
from treeplex.runs.progress import duration

COUNTS: Final = 3  # numbers of sizes that a picture compares


@dataclass(frozen=True)
class ManySpots(SpotOptions):
    """One spot or several, each from a file; or one from options."""

    spot: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        list[str] | None,
        typer.Argument(
            metavar="[SPOT]...",
            help="JSON or TOML files, FILE#NAME, or a FILE with several spots; left out: give --board and the rest.",
        ),
    ] = None

    def read_all(self) -> list[Spot]:
        """All spots, with what options say replaced in each."""
        named = [part for name in self.spot or [] for part in _parts(name)] or [None]
        given: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(SpotOptions)}
        made: list[Spot] = []
        for name in named:
            given["spot"] = name
            made.append(SpotOptions(**given).read())
        return made


@grouped
def sizes(
    *,
    spot: ManySpots,
    keep: Annotated[int, typer.Option(min=1, help="How many sizes; all-in counts.")] = 1,
    lose: Annotated[
        str | None, typer.Option(help="Instead: the fewest sizes that lose at most this much, such as 0.1%pot.")
    ] = None,
    player: Annotated[str, typer.Option(help="Who is held to them: oop or ip. The opponent keeps every candidate.")] = (
        PLAYERS[0]
    ),
    street: Annotated[
        str | None, typer.Option(help="flop, turn, river, or all: one menu per street. Default: the first.")
    ] = None,
    bets: Annotated[str, typer.Option(help="Candidates for bets.")] = BETS,
    raises: Annotated[str, typer.Option(help="Candidates for raises.")] = RAISES,
    restrict: Annotated[str, typer.Option(help="What is chosen: bets, raises or both.")] = "bets",
    per_decision: Annotated[
        bool, typer.Option("--per-decision", help="One menu per line, on the first street.")
    ] = False,
    accuracy: Annotated[str, typer.Option(help="How wide intervals of values may be.")] = f"{ACCURACY}%pot",
    gap: Annotated[str, typer.Option(help="No other menu may be better by more than this.")] = f"{GAP}%pot",
    threads: Annotated[int, typer.Option(min=0, help="0: as many as pay.")] = 0,
    png: Annotated[Path | None, typer.Option(help="Save a picture.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Save a table with one row per spot and size.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Which bet sizes matter: the best few, and proof of what the others would have been worth at most."""
    check_files(force=force, png=png, parquet=parquet)
    spots = spot.read_all()
    with _told() as watch:
        found = find_sizes(
            spots,
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
            threads=threads,
            watch=watch,
        )
    if as_json:
        print_json(found.summary())
    else:
        _print(found)
    if png is not None:
        plot_sizes(found, png)
    if parquet is not None:
        write_parquet(found.to_arrow(), parquet)
    if not as_json:
        say(*(f"saved {path}" for path in (png, parquet) if path is not None))


def _print(found: Sizes) -> None:
    low, high = found.loss_percent_of_pot
    for name, menu in found.menus.items():
        tell(f"{found.player}, {name}: {', '.join(menu)}")
    where = "" if len(found.spots) == 1 else f" on average over {len(found.spots)} spots"
    tell(f"loses {low:.3f} to {high:.3f} % of the pot{where} to an opponent with every size; {duration(found.seconds)}")
    if found.better_percent_of_pot is not None and found.better_percent_of_pot > 0.0:
        tell(f"no other {'size' if found.keep == 1 else f'{found.keep} sizes'} can be better by more than"
             f" {found.better_percent_of_pot:.3f} % of the pot")  # fmt: skip
    elif found.better_percent_of_pot is not None:
        tell("no other choice of as many sizes is better")
    if found.proved_fewest is not None:
        tell("fewer sizes lose more" if found.proved_fewest else "fewest found; that fewer lose more is not proved")
    if len(found.spots) == 1 and len(found.menus) > 1:
        return  # what one size is worth would depend on what is kept elsewhere
    if len(found.spots) == 1:
        print_table(list(COLUMNS), found.cells(found.spots[0]), right=(1, 3))
        return
    cells = [
        [each.spot, f"{each.loss_percent_of_pot[0]:.3f}", f"{each.loss_percent_of_pot[1]:.3f}"] for each in found.spots
    ]
    print_table(["spot", "loses at least", "at most, % of pot"], cells, right=(1, 2))


def _parts(name: str) -> list[str]:
    """A file of several spots as its spots."""
    if "#" in name or not name.lower().endswith((".json", ".toml")):
        return [name]
    table = read_file(name, "spot")
    several = table.get("spots") if isinstance(table, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [f"{name}#{key}" for key in several] if isinstance(several, dict) else [name]  # pyright: ignore[reportUnknownVariableType]


@contextmanager
def _told() -> Generator[Callable[[str], None]]:
    """Progress: a line that changes on a terminal, else one every few seconds."""
    last = time.monotonic()
    with console.status("building the trees", spinner="dots") as status:

        def watch(text: str) -> None:
            nonlocal last
            status.update(text)
            if not console.is_terminal and time.monotonic() - last > EVERY:
                last = time.monotonic()
                say(text)

        yield watch
