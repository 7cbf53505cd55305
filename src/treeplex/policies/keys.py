"""Keys by which users name infosets, and strategies that they write as dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError, quoted, real

Key = str | tuple[int, str]
"""An infoset: its label or, if both players have one of that label, player and label."""


def owner_of(key: object, game: CompiledGame | None) -> tuple[int, str]:
    """Return player and label of a key; the game determines the player of a label without one."""
    player, label = key_of(key)
    if player is not None:
        return player, label
    owners = [p for p in (0, 1) if game is not None and label in game.infoset_index[p]]
    if len(owners) != 1:
        known = "has no such infoset" if game is not None and not owners else "does not say whose it is"
        raise ParameterError(
            f"Write (player, infoset) for {quoted(label)}: the game {known}."
            if game is not None
            else f"Write (player, infoset) for {quoted(label)}, or name the game: from_dict(strategies, game)."
        )
    return owners[0], label


def numbers_of(label: str, actions: object) -> dict[str, float]:
    """Check and return a user's strategy at one infoset, from action to probability."""
    came = quoted(actions)
    probabilities = cast(Mapping[Any, Any], actions) if isinstance(actions, Mapping) else dict[Any, Any]()
    numbers = {action: real(probability) for action, probability in probabilities.items()}
    if not numbers or not all(isinstance(action, str) for action in numbers) or None in numbers.values():
        raise ParameterError(
            f"The strategy of infoset {quoted(label)} must be a dict from actions to probabilities, got {came}."
        )
    return {action: float(probability or 0.0) for action, probability in numbers.items()}


def key_of(key: object) -> tuple[int | None, str]:
    """Split a key into player (None: either) and label."""
    match key:
        case str():
            return None, key
        case tuple((0, str(label))):
            return 0, label
        case tuple((1, str(label))):
            return 1, label
        case _:
            raise ParameterError(
                f"The key of a policy must be an infoset, policy['label'] or policy[player, 'label'], got"
                f" {quoted(key)}."
            )
