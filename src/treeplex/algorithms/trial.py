"""Trial of a user's rule as plain Python on small arrays: errors are reported before anything is compiled.

NumPy checks indices, which compiled code need not do. Memory has exactly the requested rows. Numbers of actions are
chosen among those of the game's infosets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError, brief
from treeplex.updates.rule import TOLERANCE, Rule

ITERATIONS: Final = (1.0, 2.0, 3.0, 10.0, 100.0, 1000.0, 1e6)
JUDGED: Final = 3.0  # up to this iteration strategies must be distributions
COUNTS: Final = 6  # numbers of actions to try
MOST_ROWS: Final = 64  # rows of memory to try, to report the number that a rule needs


def try_own(rule: Rule, game: CompiledGame | HoldemGame) -> None:
    """Reject a faulty rule of a user by ``try_rule``. Rules of this package need no trial."""
    if rule.own:
        own = rule.inner or rule
        try_rule(own.name, own.update, own.memory, game)


def try_rule(name: str, rule: Callable[..., Any], rows: int, game: CompiledGame | HoldemGame) -> None:
    """Reject a rule that uses a wrong index, raises, or does not write valid strategies."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in _counts(game):
            try:
                written = _judged(name, rule, rows, count)
                _with_extreme_values(rule, rows, count)
            except ParameterError:
                raise
            except IndexError as error:
                raise ParameterError(_outside(name, rule, rows, count, error)) from error
            except Exception as error:
                raise ParameterError(
                    f"The rule '{name}' fails as plain Python with {count} actions: {type(error).__name__}:"
                    f" {brief(str(error))}. Treeplex tries a rule on NumPy arrays before it is compiled."
                ) from error
            if count > 1 and not written:
                raise ParameterError(
                    f"The rule '{name}' must write the next strategy into 'strategy', which stays as it was; write"
                    " strategy[:] = x, not strategy = x."
                )


def _counts(game: CompiledGame | HoldemGame) -> list[int]:
    """Return the numbers of actions to try: a few of the game's, with the smallest and the largest."""
    counts = game.action_counts
    step = max((len(counts) - 1) / (COUNTS - 1), 1.0)
    return [counts[round(index * step)] for index in range(min(len(counts), COUNTS))]


def _judged(name: str, rule: Callable[..., Any], rows: int, count: int) -> bool:
    """Whether the rule ever writes a strategy, starting from the uniform one as in a run, or from another."""
    uniform = np.full(count, 1.0 / count)
    other = np.arange(1.0, count + 1.0) / (0.5 * count * (count + 1.0))
    return _plays(name, rule, rows, uniform) or _plays(name, rule, rows, other)


def _plays(name: str, rule: Callable[..., Any], rows: int, first: Floats) -> bool:
    """Whether the strategy differs from the first one after some iteration; early strategies must be distributions."""
    count, random = len(first), np.random.default_rng(len(first))
    strategy, memory, written = first.copy(), np.zeros((rows, count)), False
    for t in ITERATIONS:
        rule(t, random.standard_normal(count), strategy, memory)
        total, lowest = float(strategy.sum()), float(strategy.min())
        if t <= JUDGED and not (abs(total - 1.0) <= TOLERANCE and lowest >= -TOLERANCE):
            raise ParameterError(
                f"The rule '{name}' must leave probabilities that add up to 1 in 'strategy': of {count} actions they"
                f" add up to {total:g}, the lowest is {lowest:g}, after iteration {t:g} of a trial."
            )
        written = written or not np.array_equal(strategy, first)
    return written


def _with_extreme_values(rule: Callable[..., Any], rows: int, count: int) -> None:
    """Run the rule on extreme values, to find wrong indices. Its numbers may overflow."""
    signs = np.where(np.arange(count) % 2, -1.0, 1.0)
    for size in (0.0, 1e-300, 1e300, np.inf, np.nan):
        for values in (size * signs, np.full(count, -size)):
            strategy, memory = np.full(count, 1.0 / count), np.zeros((rows, count))
            for t in ITERATIONS[:3]:
                try:
                    rule(t, values.copy(), strategy, memory)
                except IndexError:
                    raise
                except Exception:
                    break


def _outside(name: str, rule: Callable[..., Any], rows: int, count: int, error: IndexError) -> str:
    """Return the message for an index out of bounds. It suggests more rows of memory if they help."""
    for more in range(rows + 1, MOST_ROWS + 1):
        try:
            _plays(name, rule, more, np.full(count, 1.0 / count))
            _with_extreme_values(rule, more, count)
        except IndexError:
            continue
        except Exception:
            break
        requested = "1 row" if rows == 1 else f"{rows} rows"
        return f"The rule '{name}' uses row {more - 1} of memory but asked for {requested}; give memory={more}."
    return (
        f"The rule '{name}' uses an index that is out of bounds with {count} actions and memory={rows}:"
        f" {brief(str(error))}. 'values', 'strategy' and each row of 'memory' have one number per action."
    )
