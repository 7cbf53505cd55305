"""OpenSpiel's games, and conversion of policies; needs the ``openspiel`` extra, which is imported on first use.

A history is a ``pyspiel.State``; labels of actions and infosets are OpenSpiel's own (``action_to_string`` and
``information_state_string``). Games of simultaneous moves are played turn by turn, without seeing the opponent's move.

>>> game = OpenSpielGame("kuhn_poker")
>>> deal = game.child(game.child(game.root(), "Deal:2"), "Deal:0")
>>> game.mover(deal), game.infoset(deal), list(game.actions(deal))
(0, '2', ['Pass', 'Bet'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from math import isclose
from types import ModuleType
from typing import Any, Final, Protocol, cast, final, runtime_checkable

from treeplex.errors import GameError, MissingExtraError, ParameterError, brief, quoted
from treeplex.games.protocol import TERMINAL

PREFIX: Final = "openspiel:"
"""Prefix of the names of OpenSpiel's games."""

State = Any
"""A ``pyspiel.State``: OpenSpiel has no type stubs."""


@runtime_checkable
class OpenSpielPolicy(Protocol):
    """Any policy of OpenSpiel."""

    def action_probabilities(self, state: State) -> Mapping[int, float]:
        """The probability of each action, by OpenSpiel's number of the action."""
        ...


@runtime_checkable
class SpielTable(Protocol):
    """A ``TabularPolicy`` of OpenSpiel."""

    game_type: Any
    states: Sequence[State]
    action_probability_array: Any  # [states, actions]


SpielGame = Any
"""A ``pyspiel.Game``: OpenSpiel has no type stubs."""


class SpielMove(str):
    """Label of an action, together with OpenSpiel's number of the action."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, label: str, number: int) -> SpielMove:
        """Build the label of the action ``number``."""
        move = super().__new__(cls, label)
        move.number = number
        return move

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Copy and pickle the label as plain text."""
        return str, (str(self),)


@final
class OpenSpielGame:
    """A two-player zero-sum game of OpenSpiel, given as a ``pyspiel.Game`` or as a string such as ``leduc_poker``."""

    def __init__(self, game: object) -> None:
        spiel = _pyspiel()
        played: Any = _loaded(spiel, game.removeprefix(PREFIX)) if isinstance(game, str) else game
        if not isinstance(played, spiel.Game):
            is_state = isinstance(played, spiel.State)
            came, fix = ("a state", "; pass state.get_game()") if is_state else (quoted(played), "")
            raise ParameterError(f"The 'game' parameter must be a pyspiel.Game or the name of one, got {came}{fix}.")
        self.name = PREFIX + str(played).removesuffix("()")
        _refuse_unsolvable(spiel, played, self.name)
        simultaneous = played.get_type().dynamics == spiel.GameType.Dynamics.SIMULTANEOUS
        self._error = _errors(spiel)
        try:
            self.game: Any = spiel.convert_to_turn_based(played) if simultaneous else played
        except self._error as error:
            raise _failed(self.name, "made turn-based", error) from error
        self._zero_sum = played.get_type().utility == spiel.GameType.Utility.ZERO_SUM

    def root(self) -> State:
        """Return the initial state."""
        try:
            return self.game.new_initial_state()
        except self._error as error:
            raise _failed(self.name, "new_initial_state()", error) from error

    def mover(self, history: State) -> int:
        """Return OpenSpiel's current player; its -1 is ``CHANCE``."""
        try:
            player: int = history.current_player()
        except self._error as error:
            raise _failed(self.name, "current_player()", error) from error
        return player if player >= -1 else TERMINAL

    def actions(self, history: State) -> Sequence[SpielMove]:
        """Return the legal actions, or the outcomes of chance, in OpenSpiel's order."""
        try:
            return _moves(history)
        except self._error as error:
            raise _failed(self.name, "legal_actions()", error) from error

    def probabilities(self, history: State) -> Sequence[float]:
        """Return the probability of each outcome."""
        try:
            return [probability for _, probability in history.chance_outcomes()]
        except self._error as error:
            raise _failed(self.name, "chance_outcomes()", error) from error

    def child(self, history: State, action: str) -> State:
        """Return the state after ``action``, which is one of ``actions``, or its text."""
        move = action if isinstance(action, SpielMove) else _move_named(history, action)
        try:
            return history.child(move.number)
        except self._error as error:
            raise _failed(self.name, "child()", error) from error

    def infoset(self, history: State) -> str:
        """Return the mover's information state."""
        try:
            return history.information_state_string()
        except self._error as error:
            raise _failed(self.name, "information_state_string()", error) from error

    def payoff(self, history: State) -> float | Sequence[float]:
        """Return player 0's payoff in a zero-sum game, and both payoffs in any other constant-sum game."""
        try:
            return history.player_return(0) if self._zero_sum else history.returns()
        except self._error as error:
            raise _failed(self.name, "returns()", error) from error


def to_tabular(game: object, lookup: Callable[[int, str], Mapping[str, float]]) -> Any:
    """Build an ``open_spiel.python.policy.TabularPolicy`` of ``game`` with the probabilities that ``lookup`` returns.

    ``lookup(player, infoset)`` maps labels of actions to probabilities; an action it leaves out has probability 0.
    ``game`` is a ``pyspiel.Game`` or its name; the policy is for its turn-based form if moves are simultaneous.
    """
    policy = _table(OpenSpielGame(game))
    for state, probabilities in zip(policy.states, policy.action_probability_array, strict=True):
        player, infoset, moves = state.current_player(), state.information_state_string(), _moves(state)
        played = lookup(player, infoset)
        if not set(played) <= set(moves) or not isclose(sum(played.values()), 1.0, abs_tol=1e-6):
            raise ParameterError(
                f"The policy at player {player}'s infoset {quoted(infoset)} must give the actions"
                f" {brief(', '.join(moves))} probabilities that sum to 1, got {quoted(dict(played))}."
            )
        for move in moves:
            probabilities[move.number] = played.get(move, 0.0)
    return policy


def from_tabular(policy: SpielTable | OpenSpielPolicy, game: object = None) -> list[tuple[int, str, str, float]]:
    """Return (player, infoset, action, probability) of a policy of OpenSpiel, one row per infoset and action.

    A policy that is not a table is evaluated at every infoset of its game. ``game`` is required if the policy does not
    store its game.
    """
    spiel = _pyspiel()
    if not isinstance(policy, SpielTable):
        own = getattr(policy, "game", None) if game is None else game
        if not isinstance(cast(object, policy), OpenSpielPolicy) or own is None:
            raise ParameterError(
                "A policy of OpenSpiel must have action_probabilities(), and name its game or come with one:"
                f" from_openspiel(policy, game); got {quoted(policy)}."
            )
        policy = _tabulated(policy, OpenSpielGame(own))
    if policy.game_type.dynamics != spiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError(
            f"The policy is for the simultaneous moves of '{policy.game_type.short_name}'; make it for the turn-based "
            "game, pyspiel.convert_to_turn_based(game)."
        )
    return [
        (state.current_player(), state.information_state_string(), str(move), float(probabilities[move.number]))
        for state, probabilities in zip(policy.states, policy.action_probability_array, strict=True)
        for move in _moves(state)
    ]


def _tabulated(policy: OpenSpielPolicy, game: OpenSpielGame) -> SpielTable:
    """Tabulate a policy at every infoset of its game."""
    table = _table(game)
    for state, probabilities in zip(table.states, table.action_probability_array, strict=True):
        probabilities[:] = 0.0
        for number, probability in dict(policy.action_probabilities(state)).items():
            probabilities[number] = probability
    return table


def _table(game: OpenSpielGame) -> SpielTable:
    """Build a ``TabularPolicy`` of the game."""
    errors = _errors(_pyspiel())
    try:
        return import_module("open_spiel.python.policy").TabularPolicy(game.game)
    except errors as error:
        raise _failed(game.name, "TabularPolicy()", error) from error


def _moves(state: State) -> list[SpielMove]:
    """Labels of the actions or outcomes, made unique by their numbers if OpenSpiel's texts repeat."""
    chance = state.is_chance_node()
    numbers: list[int] = [number for number, _ in state.chance_outcomes()] if chance else state.legal_actions()
    moves = [SpielMove(state.action_to_string(number), number) for number in numbers]
    if len(set(moves)) < len(moves):
        return [SpielMove(f"{move} #{move.number}", move.number) for move in moves]
    return moves


def _move_named(state: State, action: str) -> SpielMove:
    """Return the move whose text is ``action``."""
    moves = {str(move): move for move in _moves(state)}
    if action not in moves:
        legal = brief(", ".join(moves))
        raise ParameterError(f"The 'action' parameter must be one of {legal}, got {quoted(action)}.")
    return moves[action]


def _pyspiel() -> ModuleType:
    try:
        return import_module("pyspiel")
    except ImportError:
        raise MissingExtraError("open_spiel", "openspiel", "Playing OpenSpiel's games") from None


def _loaded(spiel: ModuleType, text: str) -> SpielGame:
    """Load the game that OpenSpiel calls ``text``."""
    short = text.partition("(")[0]
    if short.startswith("python_"):
        import_module("open_spiel.python.games")  # registers the games written in Python
    known: list[str] = spiel.registered_names()
    if short not in known:
        near = ", ".join(f"'{name}'" for name in get_close_matches(short, known))
        advice = f"the nearest names are {near}" if near else "pyspiel.registered_names() lists them"
        raise ParameterError(f"OpenSpiel has no game {quoted(short)}; {advice}.")
    try:
        return spiel.load_game(text)
    except _errors(spiel) as error:
        raise ParameterError(f"OpenSpiel does not load {quoted(text)}: {_reason(error)}.") from None


def _errors(spiel: ModuleType) -> tuple[type[Exception], ...]:
    """Exceptions that calls of OpenSpiel raise: its own, and those from C++."""
    return (spiel.SpielError, RuntimeError, ValueError, IndexError, OverflowError, MemoryError)


def _failed(name: str, call: str, error: Exception) -> GameError:
    """Error for a game that OpenSpiel can load but not play."""
    return GameError(f"OpenSpiel cannot play {quoted(name)}: {call} fails with {_reason(error)}.")


def _reason(error: Exception) -> str:
    """First line of OpenSpiel's message, without the name of its source file."""
    line = str(error).partition("\n")[0].rstrip(".")
    return brief(re.sub(r"^\S+\.(?:cc|h):\d+ ", "", line)) or type(error).__name__


def _refuse_unsolvable(spiel: ModuleType, game: SpielGame, name: str) -> None:
    """Raise GameError unless this is a two-player constant-sum game with known probabilities and information states."""
    kind, types = game.get_type(), spiel.GameType
    if kind.dynamics == types.Dynamics.MEAN_FIELD:
        raise GameError(f"'{name}' is a mean-field game; choose a game of two players.")
    if game.num_players() != 2:
        raise GameError(f"'{name}' has {game.num_players()} player(s); choose a game, or its version, with two.")
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"'{name}' samples chance without its probabilities; choose a game with explicit chance.")
    if kind.utility not in (types.Utility.ZERO_SUM, types.Utility.CONSTANT_SUM):
        utility = kind.utility.name.lower().replace("_", "-")
        raise GameError(f"'{name}' has {utility} payoffs; choose a game whose payoffs sum to a constant.")
    if not kind.provides_information_state_string:
        raise GameError(f"'{name}' has no information states; choose a game that provides information state strings.")
