"""A UPI session: it answers each command line with lines; an error is one line that begins with ERROR."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import build
from treeplex.compile.memory import available
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.games.holdem.formats.floats import hand_order
from treeplex.games.holdem.formats.pio import spot_of_setup
from treeplex.games.holdem.formats.pio_commands import SETUP, Setup
from treeplex.games.holdem.formats.pio_header import Header, write_header
from treeplex.games.holdem.spot import NEEDED, make_spot
from treeplex.limits import nash_conv_of
from treeplex.poker.upi.background import Background, results
from treeplex.poker.upi.nodes import NodeReader
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.requests import DEFAULT_ALGORITHM
from treeplex.runs.schema import Options
from treeplex.version import __version__

BANNER: Final = (f"treeplex {__version__}", "speaks a subset of UPI", "registered to everybody (Apache License 2.0)")
"""Three lines, because scripts skip the three of PioSOLVER's banner."""

UNITS: Final = {"seconds": "seconds", "steps": "iterations", "iterations": "iterations"}
IDLE: Final = ("set_isomorphism", "set_recalc_accuracy", "set_always_recalc", "set_info_freq", "set_algorithm")
"""PioSOLVER's settings of its own algorithm; they have no effect here."""

MEGABYTE: Final = 2**20


class BuiltTree:
    """A tree with its solver and the latest checkpoint."""

    def __init__(self, game: HoldemGame) -> None:
        self.game, self.threads = game, 0
        self.point: Checkpoint[Any] = Checkpoint(self.solver.start(game, 0), [], 0.0, 0.0)
        self._reader: Any = None

    @property
    def solver(self) -> Algorithm[Any, Any]:
        """The default algorithm for spots, with the requested number of threads."""
        named = build(DEFAULT_ALGORITHM)
        return named.open(self.game, Execution(threads=self.threads))

    @property
    def reader(self) -> Any:
        """A reader of the average strategies so far, uniform before the first iteration; it caches all values."""
        if self._reader is None:
            self._reader = self.solver.report(self.game, self.point.state, "average").policy()
            self._reader.keep()
        return self._reader

    def advance(self, point: Checkpoint[Any]) -> None:
        """Set the checkpoint that a run has reached."""
        self.point, self._reader = point, None


class Session:
    """The state of a conversation. ``write`` sends text to the other side, whole lines at a time."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._lock = write, threading.Lock()
        self._end = ""
        self._threads = 0
        self._setup = Setup()
        self._tree: BuiltTree | None = None
        self._runs = Background(self._progress)
        self._commands: dict[str, Callable[[str], list[str] | None]] = {
            "is_ready": self._nothing,
            "set_end_string": self._set_end_string,
            "reset_end_string": self._set_end_string,
            "show_version": lambda _: [__version__],
            "set_threads": self._set_threads,
            "build_tree": self._build_tree,
            "free_tree": self._free_tree,
            "go": self._go,
            "stop": self._stop,
            "wait_for_solver": self._wait,
            "solver_state": self._state,
            "show_hand_order": lambda _: [hand_order()],
            "show_node": lambda rest: self._nodes.show(_words(rest, 1, "show_node NODE")[0]),
            "show_children": lambda rest: self._nodes.children(_words(rest, 1, "show_children NODE")[0]),
            "show_strategy": lambda rest: self._nodes.strategy(_words(rest, 1, "show_strategy NODE")[0]),
            "show_range": lambda rest: self._nodes.range(*_words(rest, 2, "show_range PLAYER NODE")),
            "calc_ev": lambda rest: self._nodes.ev(*_words(rest, 2, "calc_ev PLAYER NODE")),
            "calc_global_freq": self._frequency,
            "calc_results": lambda _: results(self._stopped.game, self._stopped.reader.evaluation()),
            "show_memory": self._memory,
            "show_effective_stack": lambda _: [str(self._stopped.game.spot.effective_stack)],
            "show_tree_info": lambda _: write_header(self._stopped.game.spot),
            **dict.fromkeys(IDLE, self._nothing),
        }

    def begin(self) -> None:
        """Send the banner of three lines."""
        self._write("\n".join(BANNER) + "\n")

    def handle(self, line: str) -> bool:
        """Answer one line; return False after the last one. Empty lines and lines that begin with # get no answer."""
        command, _, rest = line.strip().partition(" ")
        if not command or command.startswith("#"):
            return True
        if command == "exit":
            return False
        try:
            lines = self._answer(command, rest.strip())
        except (TreeplexError, MemoryError) as error:
            lines = [f"ERROR: {' '.join(str(error).split()) or 'There is not enough memory for this.'}"]
        self._block([f"{command} ok!"] if lines is None else lines)
        return True

    def close(self) -> None:
        """Stop the run, if any."""
        self._runs.stop()

    def _answer(self, command: str, rest: str) -> list[str] | None:
        if command in SETUP:
            self._setup.run(command, rest)
            return None
        if command not in self._commands:
            raise ParameterError(f"The command {quoted(command)} is not one of {', '.join((*SETUP, *self._commands))}.")
        return self._commands[command](rest)

    def _block(self, lines: list[str]) -> None:
        """Send a whole answer or block of progress, with the end string."""
        with self._lock:
            self._write("".join(f"{line}\n" for line in [*lines, *([self._end] if self._end else [])]))

    def _progress(self, lines: list[str]) -> None:
        """Send progress: a block gets the end string, a single line does not."""
        if len(lines) > 1:
            self._block(lines)
            return
        with self._lock:
            self._write(f"{lines[0]}\n")

    @property
    def _stopped(self) -> BuiltTree:
        """The tree; raises ``ParameterError`` if there is none or the solver is running."""
        if self._tree is None:
            raise ParameterError(
                "There is no tree. Build one with set_range, set_board, set_pot, set_eff_stack, add_line, build_tree."
            )
        if self._runs.running:
            raise ParameterError("The solver is running. Send stop or wait_for_solver first.")
        if self._runs.point is not None:
            self._tree.advance(self._runs.point)
            self._runs.point = None
        return self._tree

    @property
    def _nodes(self) -> NodeReader:
        tree = self._stopped
        return NodeReader(tree.game, tree.reader)

    def _nothing(self, _: str) -> None:
        return None

    def _set_end_string(self, rest: str) -> None:
        self._end = rest

    def _set_threads(self, rest: str) -> None:
        self._threads = int(_number(rest, "set_threads takes a whole number >= 0"))

    def _build_tree(self, _: str) -> list[str]:
        self._runs.stop()
        fields = self._setup.fields
        for name in NEEDED:
            if name not in fields:
                raise ParameterError(f"The {name.replace('_', ' ')} is not set. Set it before build_tree.")
        if not self._setup.count:
            raise ParameterError("There are no lines. Send add_line commands before build_tree.")
        made, notes = spot_of_setup(self._setup, fields, Header())
        self._free_tree("")
        self._tree = BuiltTree(load_spot(make_spot(made)))
        return [*(f"note: {note}" for note in notes), "build_tree ok!"]

    def _free_tree(self, _: str) -> None:
        self._runs.stop()
        self._tree, self._runs.point, self._runs.outcome = None, None, None

    def _go(self, rest: str) -> None:
        tree = self._stopped
        amount, _, unit = rest.partition(" ")
        if rest and unit.strip() not in UNITS:
            raise ParameterError(
                f"The command go takes no argument or a limit such as go 10 seconds, go 100 steps; got {quoted(rest)}."
            )
        pot, target = float(tree.game.spot.pot), self._setup.target
        limits: dict[str, Any] = {"nash_conv": nash_conv_of(target, pot)} if target else {}
        if rest:
            limits[UNITS[unit.strip()]] = _number(amount, "go takes a number > 0", above=0.0)
        if "iterations" in limits:
            limits["iterations"] = int(limits["iterations"]) + tree.solver.work(tree.game, tree.point.state).iterations
        self._endless = not limits
        tree.threads = self._threads
        self._progress(["SOLVER: started"])
        self._runs.start(tree.game, tree.solver, Options(threads=tree.threads, **limits), tree.point)

    def _stop(self, _: str) -> None:
        self._runs.stop()

    def _wait(self, _: str) -> None:
        if self._runs.running and self._endless:
            raise ParameterError(
                "The solver has no limit and would run for ever. Send stop; next time set_accuracy or give go a limit."
            )
        self._runs.wait()

    def _state(self, _: str) -> list[str]:
        return ["running" if self._runs.running else "no tree" if self._tree is None else "stopped"]

    def _frequency(self, rest: str) -> list[str]:
        return [f"{self._nodes.frequency(_words(rest, 1, 'calc_global_freq NODE')[0]):.9g}"]

    def _memory(self, _: str) -> list[str]:
        used = 0 if self._tree is None else self._tree.game.memory("float32", threads=self._threads)
        return [f"tree: {used / MEGABYTE:.1f} MB", f"free: {available() / MEGABYTE:.0f} MB"]

    _endless = False


def _words(rest: str, count: int, usage: str) -> list[str]:
    words = rest.split()
    if len(words) != count:
        raise ParameterError(f"The command is {usage}, got {quoted(rest)}.")
    return words


def _number(text: str, law: str, above: float = -1.0) -> float:
    try:
        number = float(text) if len(text) < 30 else -1.0
    except ValueError:
        number = -1.0
    if not above < number < 1e12:
        raise ParameterError(f"The command {law}, got {quoted(text)}.")
    return number
