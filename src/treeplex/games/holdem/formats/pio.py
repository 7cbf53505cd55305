"""PioSOLVER's tree files: settings as ``#Key#value``, commands as in a script, or both.

Published samples: bupticybee/TexasSolver ``benchmark/benchmark_piosolver.txt`` (settings), JoakimMich/opensolver
``tests/fixtures/qsjh2h_srp.txt`` (both). If a file has ``add_line`` commands, they determine the bets. Settings beside
them are used if they give the same tree.
"""

from __future__ import annotations

from typing import Any, Final

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.games.holdem.formats.floats import write_floats
from treeplex.games.holdem.formats.imported import Exported, Imported
from treeplex.games.holdem.formats.menus import same_tree
from treeplex.games.holdem.formats.pio_commands import SETUP, Setup
from treeplex.games.holdem.formats.pio_header import Header, write_header
from treeplex.games.holdem.formats.pio_lines import lines_of, spot_of_lines
from treeplex.games.holdem.formats.units import in_chips, range_weights
from treeplex.games.holdem.spot import NEEDED, Spot, make_spot, sizes_for

RUNNING: Final = (
    *("build_tree", "go", "wait_for_solver", "is_ready", "free_tree", "set_end_string", "exit", "stop"),
    *("set_isomorphism", "set_threads", "set_info_freq", "show_memory", "calc_results", "estimate_tree"),
)
"""Commands about running a solver, which do not change the answer and are ignored."""

NOTED: Final = ("set_recalc_accuracy", "set_always_recalc", "set_algorithm", "add_info_line", "dump_tree")
"""Ignored commands that a note names."""

LARGEST: Final = 65535
"""Largest number of chips of a pot or a stack in PioSOLVER."""


def is_pio(text: str) -> bool:
    """Whether this is a tree file of PioSOLVER."""
    return any(
        (line.startswith("#") and line.count("#") >= 2) or line.split(" ", 1)[0] in ("add_line", "set_eff_stack")
        for line in text[:200_000].splitlines()
    )


def read_pio(text: str) -> Imported:
    """Read the spot of a tree file."""
    header, setup, noted = Header(), Setup(), dict[str, None]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        command, _, rest = line.partition(" ")
        if line.startswith("#"):
            if line.count("#") >= 2:
                header.add(line, number)
        elif command in SETUP:
            try:
                setup.run(command, rest)
            except ParameterError as error:
                raise FormatError(str(error), path="pio", line=number, column=1) from error
        elif command in NOTED:
            noted[command] = None
        elif line and command not in RUNNING:
            raise FormatError(
                f"the command {quoted(command)} is not one that sets up a tree.", path="pio", line=number, column=1
            )
    fields = header.basics() | setup.fields
    notes = [f"commands about the solver are left out: {', '.join(noted)}"] if noted else []
    made, more = _with_bets(header, setup, fields)
    return Imported(made, (*notes, *more), setup.target)


def _with_bets(header: Header, setup: Setup, fields: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Add the bets of the lines, or otherwise of the settings, to the fields."""
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        raise FormatError(f"the tree does not state its {missing[0].replace('_', ' ')}.", path="pio")
    if setup.count:
        return spot_of_setup(setup, fields, header)
    if header.has_sizes:
        spot = header.spot(fields)
        return spot.summary(), tuple(header.notes)
    raise FormatError("the tree has no bet sizes: neither add_line nor #FlopConfig.BetSize#.", path="pio")


def spot_of_setup(setup: Setup, fields: dict[str, Any], header: Header) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Build the spot of ``add_line`` commands, with sizes if the settings beside them give the same tree."""
    bare = make_spot({**fields, "sizes": sizes_for("", "")})
    made, notes = spot_of_lines(bare, setup.lines)
    if header.has_sizes:
        try:
            by_sizes = header.spot(fields)
        except ParameterError:
            return made.summary(), notes
        if same_tree(by_sizes, made):
            return by_sizes.summary(), tuple(note for note in header.notes if "not known" in note)
        notes = (*notes, "the settings of the file give another tree than its add_line commands, which are used")
    return made.summary(), notes


def write_pio(spot: Spot) -> Exported:
    """Write settings and commands, with amounts in whole chips."""
    whole, notes = in_chips(spot)
    if max(whole.pot, whole.effective_stack) > LARGEST:
        notes = (*notes, f"PioSOLVER takes at most {LARGEST:,} chips: give the spot in larger ones")
    commands = [
        f"set_range OOP {write_floats(range_weights(whole, 0))}",
        f"set_range IP {write_floats(range_weights(whole, 1))}",
        f"set_board {whole.board.replace(' ', '')}",
        f"set_eff_stack {whole.effective_stack}",
        "set_isomorphism 1 0",
        f"set_pot 0 0 {whole.pot}",
    ]
    if whole.rake_rate:
        cap = whole.rake_cap if whole.rake_cap is not None else whole.pot + 2 * whole.effective_stack
        commands.append(f"set_rake {whole.rake_rate!r} {cap!r}")
    lines = [f"add_line {line}" for line in lines_of(whole)]
    return Exported("\n".join([*write_header(whole), *commands, "clear_lines", *lines, "build_tree", ""]), notes)
