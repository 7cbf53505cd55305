"""TexasSolver's console files: one command per line, sizes in per cent of the pot.

Commands as in bupticybee/TexasSolver ``src/tools/CommandLineTool.cpp``; a sample is its
``benchmark/benchmark_texassolver.txt``. TexasSolver counts the pot after a call, as treeplex does, and rounds bets to
whole chips.
"""

from __future__ import annotations

from typing import Any, Final

from treeplex.errors import FormatError, quoted
from treeplex.games.holdem.formats.imported import Exported, Imported, number
from treeplex.games.holdem.formats.menus import offers, walk
from treeplex.games.holdem.formats.thresholds import force_of_whole_share, whole_share_of_force
from treeplex.games.holdem.formats.units import in_chips, range_text
from treeplex.games.holdem.formats.words import cannot
from treeplex.games.holdem.money import SMALLEST_CHIP
from treeplex.games.holdem.sizes import ALL_IN, POT, Size
from treeplex.games.holdem.spot import PLAYERS, STREETS, Spot, make_spot

FIELDS: Final = {
    "set_pot": "pot",
    "set_effective_stack": "effective_stack",
    "set_board": "board",
    "set_range_oop": "oop_range",
    "set_range_ip": "ip_range",
}
RUNNING: Final = ("build_tree", "start_solve", "set_thread_num", "set_print_interval", "set_use_isomorphism")
NOTED: Final = ("set_max_iteration", "set_dump_rounds", "dump_result")
"""Ignored commands about running a solver; a note names those in ``NOTED``."""

KINDS: Final = ("bet", "raise", "donk", "allin")
THRESHOLD: Final = 0.67  # its default
BETS: Final = 4  # its largest number of bets and raises on a street
PROGRAM: Final = "TexasSolver"


def is_texas(text: str) -> bool:
    """Whether this is a console file of TexasSolver."""
    words = {line.split(" ", 1)[0] for line in text[:200_000].splitlines()}
    return bool(words & {"set_effective_stack", "set_bet_sizes", "set_range_oop", "set_range_ip"})


def read_texas(text: str) -> Imported:
    """Read the spot of a console file."""
    fields: dict[str, Any] = {}
    sizes = {(player, street, kind): "" for player in PLAYERS for street in STREETS for kind in KINDS}
    noted, threshold, target = dict[str, None](), THRESHOLD, ""
    for line_number, raw in enumerate(text.splitlines(), 1):
        command, _, rest = raw.strip().partition(" ")
        rest = rest.strip()
        if command in ("set_pot", "set_effective_stack"):
            fields[FIELDS[command]] = number(rest, command, line_number)
        elif command in FIELDS:
            fields[FIELDS[command]] = rest
        elif command == "set_bet_sizes":
            key, menu = _sizes(rest, line_number)
            sizes[key] = menu
        elif command == "set_allin_threshold":
            threshold = number(rest, command, line_number)
            if not 0.0 < threshold <= 1.0:
                raise _wrong(
                    f"set_allin_threshold takes a fraction above 0, at most 1, got {quoted(rest)}", line_number
                )
        elif command == "set_accuracy":
            target = f"{number(rest, command, line_number):g}%pot"
        elif command in NOTED:
            noted[command] = None
        elif command and command not in RUNNING:
            raise _wrong(f"the command {quoted(command)} is not one of TexasSolver's", line_number)
    for name in FIELDS.values():
        if name not in fields:
            raise FormatError(f"the file does not state its {name.replace('_', ' ')}.", path="texas")
    made = _fields(fields, sizes, threshold)
    notes = [f"commands about the solver are left out: {', '.join(noted)}"] if noted else []
    return Imported(made, (*notes, *_notes(make_spot(made), sizes)), target)


def _sizes(text: str, place: int) -> tuple[tuple[str, str, str], str]:
    """Parse sizes such as ``oop,flop,bet,50,100``, or ``oop,flop,allin``."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) < 3 or parts[0] not in PLAYERS or parts[1] not in STREETS or parts[2] not in KINDS:
        raise _wrong(
            f"set_bet_sizes takes a player, a street, a kind and sizes: oop,flop,bet,50; got {quoted(text)}", place
        )
    if parts[2] == "allin":
        return (parts[0], parts[1], "allin"), "a"
    menu = ", ".join(f"{number(part, 'a bet size', place):.12g}%" for part in parts[3:] if part)
    return (parts[0], parts[1], parts[2]), menu


def _fields(fields: dict[str, Any], sizes: dict[tuple[str, str, str], str], threshold: float) -> dict[str, Any]:
    def menu(player: str, street: str, kind: str) -> str:
        return ", ".join(text for text in (sizes[player, street, kind], sizes[player, street, "allin"]) if text)

    chip = _chip(fields["pot"], fields["effective_stack"])
    return {
        **fields,
        **({} if chip == 1 else {"chip": chip}),
        "sizes": {
            street: {player: {kind: menu(player, street, kind) for kind in ("bet", "raise")} for player in PLAYERS}
            for street in STREETS
        },
        "donk_sizes": {street: menu("oop", street, "donk") for street in STREETS[1:]},
        "force_allin_threshold": force_of_whole_share(threshold),
    }


def _chip(*amounts: float) -> float:
    """Return the largest of 1, 0.1, 0.01, ... of which all amounts are multiples."""
    for digits in range(7):
        if all(round(amount, digits) == amount for amount in amounts):
            return 1 if digits == 0 else round(10.0**-digits, digits)
    return SMALLEST_CHIP


def _notes(spot: Spot, sizes: dict[tuple[str, str, str], str]) -> list[str]:
    notes: list[str] = []
    bare = [f"{street} {player}" for street in spot.streets for player in PLAYERS if not sizes[player, street, "allin"]]
    if bare:
        notes.append(f"all-in is added where the file says so, not for {', '.join(bare)}; some builds always add it")
    if spot.chip != 1:
        notes.append(f"bets are rounded to chips of {spot.chip:g}; TexasSolver rounds them to 1")
    deepest = max((step.state.raises for step, _ in walk(spot, offers(spot))), default=0)
    if deepest > BETS:
        notes.append(f"TexasSolver stops after {BETS} bets and raises on a street; here only the stacks do")
    return notes


def write_texas(spot: Spot) -> Exported:
    """Write a console file; raise ParameterError for sizes other than per cent of the pot and all-in, and for rake."""
    whole, notes = in_chips(spot)
    if whole.rake_rate:
        raise cannot(PROGRAM, f"a rake of {whole.rake_rate:g}")
    if whole.line_sizes:
        raise cannot(PROGRAM, "sizes by line", "; --to pio writes them as add_line commands")
    if whole.merging_threshold:
        raise cannot(PROGRAM, "a merging_threshold")
    lines = [
        f"set_pot {whole.pot}",
        f"set_effective_stack {whole.effective_stack}",
        f"set_board {whole.board.replace(' ', ',')}",
        f"set_range_ip {range_text(whole, 1)}",
        f"set_range_oop {range_text(whole, 0)}",
    ]
    for street in whole.streets:
        for player, name in enumerate(PLAYERS):
            lines += _written(whole, street, player, f"set_bet_sizes {name},{street}")
    lines += [f"set_allin_threshold {whole_share_of_force(whole.force_allin_threshold)!r}", "build_tree", ""]
    return Exported("\n".join(lines), notes)


def _written(spot: Spot, street: str, player: int, start: str) -> list[str]:
    bets, raises = spot.bets(street, player), spot.raises(street, player)
    menus = {"bet": bets, "raise": raises}
    if player == 0 and street != spot.street:
        donks = spot.donks(street)
        menus["donk"] = bets if donks is None else donks
    added = spot.add_allin_threshold * spot.pot >= spot.effective_stack
    shoves = {any(size.kind == ALL_IN for size in menu) or added for menu in menus.values()}
    if len(shoves) > 1 or (spot.add_allin_threshold and not added):
        raise cannot(PROGRAM, f"all-in after some bets alone ({street} {PLAYERS[player]})")
    lines = [
        f"{start},{kind},{','.join(_percent(size, start) for size in menu if size.kind != ALL_IN)}"
        for kind, menu in menus.items()
    ]
    lines = [line for line in lines if not line.endswith(",")]
    return lines + ([f"{start},allin"] if shoves == {True} else [])


def _percent(size: Size, start: str) -> str:
    if size.kind != POT:
        raise cannot(PROGRAM, f"sizes other than per cent of the pot and all-in ({start.split(' ')[1]})")
    return f"{100.0 * size.amount:.12g}"


def _wrong(why: str, place: int) -> FormatError:
    return FormatError(f"{why}.", path="texas", line=place, column=1)
