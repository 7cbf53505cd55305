"""Problems that grow: games and spots with bet sizes that are found during the solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, cast

from treeplex.algorithms.portfolio import SPOTS
from treeplex.algorithms.registry import Choice
from treeplex.errors import ParameterError
from treeplex.games.holdem.candidates import START_BETS, START_RAISES, offered, start_of
from treeplex.games.holdem.spot import PLAYERS, make_spot
from treeplex.games.sized import Abstraction
from treeplex.growth.figures import GrowthFigures
from treeplex.growth.options import (
    COMPILED,
    OLD_DEFAULTS,
    Growth,
    fitted_to_actions,
    fitted_to_rules,
    fitted_to_spot,
    growth_fields,
)
from treeplex.limits import Limits
from treeplex.problems.games import GameProblem, quality
from treeplex.problems.games import reopen as reopen_game
from treeplex.problems.loading import load_game, sized_game, spot_game, spot_of
from treeplex.problems.protocol import GROWTH, Listing, Problem, ProblemRecord, reading_options, shortened

DEFAULT_SPOT_ALGORITHM: Final = SPOTS
"""Algorithm that ``auto``, ``grow`` and ``sizes`` use for hold'em spots."""

DEFAULT_GAME_ALGORITHM: Final = "cfr"
"""Algorithm that ``grow`` uses for other games."""

DEFAULT_GROWTH_SECONDS: Final = 10.0
"""Default time limit of ``grow``."""

READINGS: Final = {
    "told": "upper bound: the opponent is assumed to know how off-tree bets are translated",
    "secret": "the opponent does not know how off-tree bets are translated",
    "start": "off the grown game both players choose uniformly among the actions of the start",
}
"""Assumption behind NashConv in the full game, by the reading of off-tree bets."""


@dataclass(frozen=True, eq=False)
class GrowingProblem(Problem):
    """Find an equilibrium of a game with bet sizes, and the sizes that matter."""

    game: Any  # an Abstraction, or the spot to start with
    algorithm: Any  # includes the options of growth
    named: str | None = None  # name that loads the game again, if it has one

    kind: ClassVar[str] = GROWTH
    noun: ClassVar[str] = "grow"

    @property
    def name(self) -> str:
        """As ``Problem``."""
        return self.game.name

    @property
    def fingerprint(self) -> str:
        """As ``Problem``."""
        return self.algorithm.fingerprint(self.game)

    @property
    def options(self) -> dict[str, Any]:
        """As ``Problem``: the options of growth."""
        return growth_fields(self.algorithm.growth)

    @property
    def iterate(self) -> str:
        """As ``Problem``."""
        return "current" if self.algorithm.growth.remove == "current" else "average"

    @property
    def choice(self) -> Choice:
        """The algorithm, together with the options of growth."""
        label = self.algorithm.growth.algorithm
        return Choice(self.algorithm, f"grow({label})", label)

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``."""
        return Limits(seconds=DEFAULT_GROWTH_SECONDS)


class GrowingGameProblem(GrowingProblem):
    """A game with intervals or lists of sizes."""

    @property
    def source(self) -> str | None:
        """As ``Problem``."""
        return self.named

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: NashConv in the full game, and the sizes."""
        first, last = GrowthFigures.of(solution.rows[0]), GrowthFigures.of(solution.rows[-1])
        yield (
            f"{quality(solution)} in the full game (in the abstraction {last.nash_conv_in_abstraction:.3g});"
            f" {READINGS[solution.reading]}"
        )
        yield (
            f"{len(solution.additions):,} sizes found{_removals(solution)}; the abstraction grew from"
            f" {first.histories:,} to {last.histories + last.archived:,} histories"
        )
        if show and solution.found:
            yield from self._sizes(solution.found, show)

    def _sizes(self, sizes: list[Any], show: int) -> Iterator[str | Listing]:
        rows: list[list[str]] = []
        for one in sizes:
            addition = one.addition
            used = "  ".join(f"{hand} {fraction:.0%}" for hand, fraction in one.by_hand.items())
            size = f"{addition.word} {100 * addition.size:.3g} % of the pot"
            figures = f"{1000 * one.worth:.3g}", f"{one.frequency:.1%}", used, f"{addition.iteration:,}"
            rows.append([addition.decision or "(first to act)", str(addition.player), size, *figures])
        hands = f"by hand ({', '.join(self.game.rules.hands()[0])})"
        columns = ["decision", "player", "size found", "loss", "used", hands, "added at"]
        yield Listing(columns, shortened(rows, show))
        yield (
            "loss: of an opponent who translates this size to its neighbours, per hand, in thousandths of a chip; used:"
            " how often it is chosen once the decision is reached; added at: the iteration"
        )


class GrowingActionsProblem(GrowingProblem):
    """Any compiled game, with candidates among the actions of its infosets."""

    @property
    def source(self) -> Any:
        """As ``Problem``."""
        return self.game.source

    def save(self, folder: Path) -> None:
        """As ``Problem``: saves a game that cannot be loaded by name."""
        GameProblem(self.game).save(folder)

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: NashConv in the whole game, and the actions."""
        first, last = GrowthFigures.of(solution.rows[0]), GrowthFigures.of(solution.rows[-1])
        yield (
            f"{quality(solution)} in the whole game (in the grown game {last.nash_conv_in_abstraction:.3g});"
            f" {READINGS[solution.reading]}"
        )
        yield (
            f"{len(solution.additions):,} actions added; the game grew from {first.histories:,} to"
            f" {last.histories:,} of {solution.run.game.whole.nodes:,} histories"
        )
        rows: list[list[str]] = []
        for one in solution.found:
            added = one.addition
            label = str(added.infoset).replace("\n", " ")[:60]
            figures = f"{added.gain:.3g}", f"{one.frequency:.1%}", f"{added.histories:,}", f"{added.iteration:,}"
            rows.append([label, str(added.player), str(added.action), *figures])
        if not rows or not show:
            return
        columns = ["infoset", "player", "action", "gain", "used", "histories", "added at"]
        yield Listing(columns, shortened(rows, show))
        yield (
            "gain: regret per iteration for not having the action, when it was added; used: how often it is chosen once"
            " the infoset is reached; added at: the iteration"
        )


@dataclass(frozen=True, eq=False)
class GrowingSpotProblem(GrowingProblem):
    """A hold'em spot with candidates for bets and raises."""

    without_menu: bool = False  # the spot came without sizes

    @property
    def source(self) -> Any:
        """As ``Problem``: the spot's fields."""
        return self.game.spot.summary()

    @property
    def pot(self) -> float:
        """As ``Problem``."""
        return float(self.game.spot.pot)

    @property
    def notice(self) -> str:
        """As ``Problem``: the menu of a spot that came without one."""
        return f"it starts with bets {START_BETS} and raises {START_RAISES}" if self.without_menu else ""

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: exploitability with every candidate allowed, and the sizes."""
        first, last = GrowthFigures.of(solution.rows[0]), GrowthFigures.of(solution.rows[-1])
        pot = self.game.spot.pot
        inside = 50.0 * last.nash_conv_in_abstraction / pot
        yield f"EV oop {solution.ev[0]:.3f}, ip {solution.ev[1]:.3f} of a pot of {pot}"
        yield (
            f"exploitability {solution.percent_of_pot:.3g}% of the pot against an opponent who may use every candidate"
            f" size, but does not know how it is translated ({inside:.3g}% within the tree)"
        )
        yield (
            f"{len(solution.additions):,} sizes found{_removals(solution)}; the tree grew from {first.histories:,}"
            f" to {last.histories:,} nodes"
        )
        rows: list[list[str]] = []
        for one in solution.found:
            added = one.addition
            where, player = str(added.decision) or "(first to act)", PLAYERS[int(added.player)]
            figures = f"{added.gain:.3g}", f"{one.frequency:.1%}", f"{added.iteration:,}"
            rows.append([where, player, added.action, added.size, *figures])
        if not rows or not show:
            return
        columns = ["decision", "player", "found", "size", "gain", "used", "added at"]
        yield Listing(columns, shortened(rows, show))
        yield (
            "gain: EV of this size, when added, against an opponent who translates it to its nearest sizes, in % of the"
            " pot, if the player gets there with every hand; used: how often it is chosen there now; added at: the"
            " iteration"
        )


def growing(game: Any, growth: Growth | None) -> GrowingProblem:
    """Build the problem of growing a game or spot; raise if its options do not fit."""
    spot = spot_of(game)
    if growth is not None and growth.actions != "":
        return _by_actions(game, growth)
    if spot is None:
        from treeplex.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load

        abstraction: Abstraction = sized_game(game)
        named = game if isinstance(game, str) else _name_that_loads(abstraction)
        return GrowingGameProblem(abstraction, Growing(fitted_to_rules(growth or Growth(), abstraction.rules)), named)
    from treeplex.growth.spot_algorithm import GrowingHoldem  # noqa: PLC0415 - its kernels take time to load

    how = fitted_to_spot(growth or Growth(algorithm=DEFAULT_SPOT_ALGORITHM))
    start = spot_game(start_of(spot, how.by_class))
    offered(start.spot, how.bets, how.raises, how.street)  # raises if the candidates are wrong
    return GrowingSpotProblem(start, GrowingHoldem(how), without_menu=spot.has_default_sizes)


def _by_actions(game: Any, growth: Growth) -> GrowingActionsProblem:
    """Build the problem of growing any game by the actions that its start leaves out."""
    from treeplex.growth.part_algorithm import GrowingActions  # noqa: PLC0415 - its kernels take time to load
    from treeplex.growth.start import masks_of, recorded  # noqa: PLC0415 - few runs grow

    if spot_of(game) is not None:
        raise ParameterError(
            "The 'actions' parameter is for games other than hold'em; use 'bets' and 'raises' instead."
        )
    fitted, compiled = fitted_to_actions(growth), load_game(game)
    fitted = replace(fitted, actions=recorded(fitted.actions, compiled))
    masks_of(fitted.actions, compiled)  # raises if the start is wrong
    return GrowingActionsProblem(compiled, GrowingActions(fitted))


def usual_algorithm(game: Any, start: Any = "") -> str:
    """Return the default algorithm of ``grow`` for this game."""
    if start != "":
        return COMPILED
    return DEFAULT_GAME_ALGORITHM if spot_of(game) is None else DEFAULT_SPOT_ALGORITHM


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> GrowingProblem:
    """Load the problem of a recorded run again, with its options of growth."""
    source = record.source if replacement is None else replacement
    if record.options.get("actions", "") != "":
        from treeplex.growth.part_algorithm import GrowingActions  # noqa: PLC0415 - its kernels take time to load

        game = reopen_game(record, folder, replacement).game
        return GrowingActionsProblem(game, _as_recorded(GrowingActions, record))
    if source is None:
        raise ParameterError(f"The run in {folder} is of a game of your own, '{record.game}'; pass it as game=.")
    if isinstance(source, dict):
        from treeplex.growth.spot_algorithm import GrowingHoldem  # noqa: PLC0415 - its kernels take time to load

        return GrowingSpotProblem(
            spot_game(make_spot(cast(dict[str, Any], source))), _as_recorded(GrowingHoldem, record)
        )
    from treeplex.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load

    return GrowingGameProblem(sized_game(source), _as_recorded(Growing, record), record.source)


def _as_recorded(algorithm: Callable[[Growth], Any], record: ProblemRecord) -> Any:
    with reading_options():
        options: dict[str, Any] = dict(record.options)
        options["factor"] = float(options["factor"])
        return algorithm(Growth(**{**OLD_DEFAULTS, **options}))


def _name_that_loads(game: Abstraction) -> str | None:
    """Return the game's name if it loads the same game, else None."""
    try:
        return game.name if sized_game(game.name).name == game.name else None
    except ParameterError:
        return None


def _removals(solution: Any) -> str:
    return f", {len(solution.removals):,} removed again" if solution.removals else ""
