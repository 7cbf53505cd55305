"""Commands that set up a tree in PioSOLVER, in scripts and over UPI (piosolver.com/docs/upi/commands)."""

from __future__ import annotations

from typing import Any, Final

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.games.holdem.cards import HANDS
from treeplex.games.holdem.formats.floats import read_floats
from treeplex.games.holdem.formats.imported import number
from treeplex.games.holdem.formats.pio_lines import MOST_LINES, Lines
from treeplex.games.holdem.ranges import parse_range

PLAYER: Final = {"OOP": "oop_range", "IP": "ip_range", "0": "oop_range", "1": "ip_range"}
LONGEST: Final = 1000  # largest number of characters of a line of play
SETUP: Final = (
    "set_range",
    "set_board",
    "set_pot",
    "set_eff_stack",
    "set_rake",
    "set_accuracy",
    "clear_lines",
    "add_line",
)


class Setup:
    """The settings made by the commands so far."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.lines = Lines()
        self.count = 0
        self.accuracy: tuple[float, bool] | None = None  # amount, and whether it is a fraction of the pot

    def run(self, command: str, arguments: str) -> None:
        """Run one of the commands ``SETUP``; ``arguments``: the rest of the line."""
        getattr(self, f"_{command}")(arguments.strip())

    @property
    def target(self) -> str:
        """The accuracy, as a target of exploitability for a run."""
        if self.accuracy is None:
            return ""
        amount, fraction = self.accuracy
        return f"{100.0 * amount:.10g}%pot" if fraction else f"{amount:.10g}chips"

    def _set_range(self, arguments: str) -> None:
        player, _, text = arguments.partition(" ")
        if player.upper() not in PLAYER:
            raise ParameterError(f"The command set_range takes OOP or IP and then 1,326 numbers, got {quoted(player)}.")
        name = PLAYER[player.upper()]
        if text[:1].isdigit() and len(text.split(None, 2)) > 1:
            self.fields[name] = read_floats(text, name)
        elif text:
            parse_range(text, name)
            self.fields[name] = text
        else:
            raise ParameterError(f"The command set_range takes OOP or IP and then {HANDS:,} numbers; none came.")

    def _set_board(self, arguments: str) -> None:
        self.fields["board"] = arguments

    def _set_pot(self, arguments: str) -> None:
        amounts = [number(part, "set_pot") for part in arguments.split()]
        if len(amounts) not in (1, 3) or any(amounts[:-1]):
            raise ParameterError(
                "The command set_pot takes what both players have put in, which must be 0 here, and the pot, such as"
                f" set_pot 0 0 180; got {quoted(arguments)}."
            )
        self.fields["pot"] = amounts[-1]

    def _set_eff_stack(self, arguments: str) -> None:
        self.fields["effective_stack"] = number(arguments, "set_eff_stack")

    def _set_rake(self, arguments: str) -> None:
        amounts = [number(part, "set_rake") for part in arguments.split()]
        if len(amounts) < 2 or any(amounts[2:]):
            raise ParameterError(f"The command set_rake takes a fraction and a cap, got {quoted(arguments)}.")
        self.fields |= {"rake_rate": amounts[0], "rake_cap": amounts[1]}

    def _set_accuracy(self, arguments: str) -> None:
        amount, _, unit = arguments.partition(" ")
        if unit.strip() not in ("", "chips", "fraction") or not number(amount, "set_accuracy") >= 0.0:
            raise ParameterError(
                f"The command set_accuracy takes a number >= 0, and chips or fraction (of the pot), got"
                f" {quoted(arguments)}."
            )
        self.accuracy = float(amount), unit.strip() == "fraction"

    def _clear_lines(self, arguments: str) -> None:
        self.lines, self.count = Lines(), 0

    def _add_line(self, arguments: str) -> None:
        parts = arguments[:LONGEST].split()
        if (
            not parts
            or len(arguments) > LONGEST
            or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
        ):
            raise ParameterError(f"The command add_line takes whole chips such as 0 94 260, got {quoted(arguments)}.")
        if self.count >= MOST_LINES:
            raise FormatError(f"there are more than {MOST_LINES:,} lines.", path="add_line")
        self.count += 1
        self.lines.add([int(part) for part in parts], self.count)
