"""The actions that a growing game starts with, from what a user writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from treeplex.arrays import Bools, pair
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.compile.part import Masks
from treeplex.errors import ParameterError, brief, quoted
from treeplex.files import parse_json
from treeplex.games.returned import listed

FIRST: Final = "first"
OTHERWISE: Final = "*"
"""Key of the actions at infosets that a mapping does not name."""

LEGAL: Final = (
    '"first", a number of actions, labels of actions such as "fold, call", a mapping from infosets to actions, a'
    " function, or a .json file with a mapping"
)

Start = str | int | Sequence[str] | Mapping[str, Any] | Callable[[str], Any]


def recorded(start: Any, game: CompiledGame) -> Any:
    """Return ``start`` as JSON: a function or a file becomes the mapping that it stands for."""
    if isinstance(start, str) and start.lower().endswith(".json"):
        start = _read(start)
    if callable(start):
        labels = [label for player in (0, 1) for label in unpacked(game.labels[player].infosets)]
        start = {label: start(label) for label in labels}
        start = {label: listed(rule) or rule for label, rule in start.items()}
    names = listed(start)
    if not isinstance(start, str | int | Mapping) and not names:
        raise ParameterError(f"The 'actions' parameter must be {LEGAL}, got {quoted(start)}.")
    return cast(Any, names or start)


def masks_of(start: Any, game: CompiledGame) -> Masks:
    """Return the actions that a game starts with; every infoset has at least one."""
    rules = cast(Mapping[Any, Any], start) if isinstance(start, Mapping) else None
    if rules is not None:
        names = {str(name) for name in rules} - {OTHERWISE}
        known = {label for player in (0, 1) for label in game.infoset_index[player]}
        if names - known:
            raise ParameterError(
                f"The 'actions' parameter must name infosets of {game.name}, got {quoted(min(names - known))}."
            )
    masks = pair(_mask(start, game, player) for player in (0, 1))
    if all(mask.all() for mask in masks):
        raise ParameterError(
            f"The 'actions' parameter must leave out an action of {game.name}, got {quoted(cast(object, start))}, which"
            " keeps all."
        )
    return masks


def _mask(start: Any, game: CompiledGame, player: int) -> Bools:
    """[S] whether each action of a player is one of the start."""
    treeplex = game.treeplexes[player]
    mask = np.zeros(treeplex.sequences, dtype=bool)
    mask[0] = True
    for infoset, label in enumerate(unpacked(game.labels[player].infosets)):
        actions = game.actions_at(player, infoset)
        rules = cast(Mapping[str, Any], start) if isinstance(start, Mapping) else None
        rule = cast(Any, start) if rules is None else rules.get(label, rules.get(OTHERWISE, len(actions)))
        here = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
        mask[here] = _selection(rule, actions, None if rules is None else label)
    return mask


def _selection(rule: Any, actions: list[str], label: str | None) -> list[bool]:
    """Whether each action is kept by a rule. ``label``: of the infoset, if the rule names it."""
    where = "" if label is None else f" at infoset {quoted(label)}"
    text = rule.strip() if isinstance(rule, str) else rule
    if isinstance(text, str) and text.isdigit():
        text = int(text)
    if text == FIRST:
        text = 1
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 1:
            raise ParameterError(f"The 'actions' parameter must keep one action or more{where}, got {text}.")
        return [position < text for position in range(len(actions))]
    names = [part.strip() for part in text.split(",")] if isinstance(text, str) else listed(text)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ParameterError(f"The 'actions' parameter must be {LEGAL}{where}, got {quoted(rule)}.")
    selection = [action in names for action in actions]
    if label is not None and (strange := [name for name in names if name not in actions]):
        raise ParameterError(
            f"The 'actions' parameter must list actions of {', '.join(actions)}{where}, got {quoted(strange[0])}."
        )
    return selection if any(selection) else [True] * len(actions)


def _read(path: str) -> Any:
    """Read a mapping from a file."""
    try:
        mapping = parse_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = brief(str(error))
        raise ParameterError(
            f"The 'actions' parameter names {quoted(path)}, which cannot be read ({reason})."
        ) from error
    if not isinstance(mapping, Mapping):
        raise ParameterError(f"The 'actions' parameter names {quoted(path)}, which must hold a mapping.")
    return cast(Any, mapping)
