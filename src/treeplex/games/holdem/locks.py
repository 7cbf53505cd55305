"""Locked decisions, in the user's notation and as probabilities of the 1,326 hands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import BettingNode
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, hand_numbers
from treeplex.games.holdem.lines import Path, action_named, follow, require_decision
from treeplex.games.holdem.money import share
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.spot import PLAYERS, Spot

RIVER: Final = 5  # cards on its board


class Lock(NamedTuple):
    """Fixed probabilities of some hands at the decision that ``line`` leads to; other hands stay free.

    ``strategy``: for each range, or "all", the probability of each action by name. If two ranges contain a hand, the
    later one applies. Ranges must treat suits alike that suit isomorphism treats as alike.
    """

    line: str
    strategy: Mapping[str, Mapping[str, float]]


class LockedDecision(NamedTuple):
    """The fixed probabilities of a decision on one board."""

    node: BettingNode
    cards: tuple[int, ...]  # the board
    table: Floats  # [actions, 1326]; zeros for hands that stay free


def locked_decisions(
    spot: Spot, root: BettingNode, locks: Sequence[Lock], symmetries: Sequence[tuple[int, ...]]
) -> list[LockedDecision]:
    """Read locks in the betting tree below ``root``.

    ``symmetries``: permutations of suits that do not change the spot. Cards to come are dealt in only one of several
    equivalent suits.
    """
    return [_read(spot, lock, follow(spot, root, lock.line), symmetries) for lock in locks]


def _read(spot: Spot, lock: Lock, path: Path, symmetries: Sequence[tuple[int, ...]]) -> LockedDecision:
    require_decision(path.node)
    table, player = _table(spot, lock, path.node), path.node.player
    hands = (spot.weights(player) > 0.0) & ~np.isin(HAND_CARDS, path.cards).any(axis=1)
    if len(path.cards) < RIVER:
        dealt = path.cards[len(spot.cards) :]
        left = [np.array(suits) for suits in symmetries if all(suits[card % 4] == card % 4 for card in dealt)]
        _check_suits(lock, table, hands, left)
    if not table[:, hands].any():
        raise ParameterError(f"The lock at {quoted(lock.line)} names no hand that {PLAYERS[player]} may hold there.")
    return LockedDecision(path.node, path.cards, table)


def _table(spot: Spot, lock: Lock, node: BettingNode) -> Floats:
    """[actions, 1326] probabilities; zeros for hands that stay free."""
    table = np.zeros((len(node.actions), HANDS))
    for text, plays in lock.strategy.items():
        chosen = parse_range(text, "lock") > 0.0
        column = np.zeros(len(table))
        for name, probability in plays.items():
            action = action_named(spot, node, name)
            if column[action]:
                raise ParameterError(f"The lock at {quoted(lock.line)} names an action twice, got {quoted(name)}.")
            column[action] = probability
        table[:, chosen] = column[:, None]
    return table


def _check_suits(
    lock: Lock, table: Floats, hands: npt.NDArray[np.bool_], symmetries: Sequence[npt.NDArray[np.int64]]
) -> None:
    """Raise ParameterError for a lock that distinguishes equivalent suits, of which only one is dealt."""
    for suits in symmetries:
        moved = hand_numbers(HAND_CARDS // 4 * 4 + suits[HAND_CARDS % 4])
        if not np.array_equal(table[:, hands], table[:, moved[hands]]):
            raise ParameterError(
                f"The lock at {quoted(lock.line)} distinguishes suits that are dealt as one, because board and"
                " ranges treat them alike: name whole classes such as AKs."
            )


def make_locks(records: object) -> tuple[Lock, ...]:
    """Check a list of locks, or of records with ``line`` and ``strategy``, and return the locks."""
    if not isinstance(records, Sequence) or isinstance(records, str | bytes):
        raise ParameterError(f"Locks are a list of records with 'line' and 'strategy', got {quoted(records)}.")
    return tuple(_lock(record, f"Lock {k}") for k, record in enumerate(cast(Sequence[Any], records), 1))


def _lock(record: object, which: str) -> Lock:
    fields: Any = record._asdict() if isinstance(record, Lock) else record
    if not isinstance(fields, Mapping) or set(cast(Mapping[Any, Any], fields)) != {"line", "strategy"}:
        raise ParameterError(f"{which} must have the fields 'line' and 'strategy', got {quoted(record)}.")
    line, strategy = (cast(Any, fields[key]) for key in ("line", "strategy"))
    if not isinstance(line, str):
        raise ParameterError(f"{which}: the 'line' must be text such as \"check, bet 75%\", got {quoted(line)}.")
    came = quoted(strategy)
    if not isinstance(strategy, Mapping) or not strategy:
        raise ParameterError(
            f'{which}: the \'strategy\' must be an object of ranges, such as {{"all": {{"fold": 1}}}}, got {came}.'
        )
    table = cast(Mapping[Any, Any], strategy)
    return Lock(line, {_text(hands, which): _plays(plays, hands, which) for hands, plays in table.items()})


def _plays(plays: object, hands: object, which: str) -> dict[str, float]:
    came = quoted(plays)
    if not isinstance(plays, Mapping):
        raise ParameterError(
            f"{which}: what {_brief(hands)} plays must be an object of actions and probabilities, got {came}."
        )
    table = {
        _text(action, which): share(f"{which}, {_brief(hands)}, {_brief(action)}", probability)
        for action, probability in cast(Mapping[Any, Any], plays).items()
    }
    if not math.isclose(sum(table.values()), 1.0, abs_tol=1e-6):
        raise ParameterError(f"{which}: what {_brief(hands)} plays must have probabilities that sum to 1, got {came}.")
    return table


def _text(key: object, which: str) -> str:
    if not isinstance(key, str):
        raise ParameterError(f"{which}: ranges and actions must be text, got {quoted(key)}.")
    return key


def _brief(text: object) -> str:
    shown = quoted(text)
    return shown if len(shown) <= 24 else shown[:21] + "..."
