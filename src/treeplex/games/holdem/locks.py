"""Locked decisions, as a user describes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.money import share


class Lock(NamedTuple):
    """At the decision ``line`` leads to, hands of a range play fixed probabilities; hands not named stay free.

    ``strategy``: for each range, or "all", the probability of each action by name; later ranges count where two hold
    a hand. Suits that suit isomorphism treats as alike must be treated alike by the ranges.
    """

    line: str
    strategy: Mapping[str, Mapping[str, float]]


def make_locks(records: Any) -> tuple[Lock, ...]:
    """Locks from a list of them, or of records with ``line`` and ``strategy``; each is checked."""
    if not isinstance(records, Sequence) or isinstance(records, str | bytes):
        raise ParameterError(f"Locks are a list of records with 'line' and 'strategy', got {quoted(records)}.")
    return tuple(_lock(record, f"Lock {k}") for k, record in enumerate(cast(Sequence[Any], records), 1))


def _lock(record: Any, which: str) -> Lock:
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


def _text(key: Any, which: str) -> str:
    if not isinstance(key, str):
        raise ParameterError(f"{which}: ranges and actions must be text, got {quoted(key)}.")
    return key


def _brief(text: Any) -> str:
    shown = quoted(text)
    return shown if len(shown) <= 24 else shown[:21] + "..."
