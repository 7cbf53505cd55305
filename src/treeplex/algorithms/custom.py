"""CFR with a user's own update rule, at kernel speed.

>>> @minimizer(memory=1)
... def softmax(t, values, strategy, memory):
...     total = 0.0
...     for a in range(len(values)):
...         memory[0, a] += values[a]
...     best = memory[0].max()
...     for a in range(len(values)):
...         strategy[a] = np.exp((memory[0, a] - best) / np.sqrt(t))
...         total += strategy[a]
...     for a in range(len(values)):
...         strategy[a] /= total
>>> softmax.name
'softmax'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, overload

from treeplex.algorithms.cfr import CFR, ORDERS
from treeplex.algorithms.options import averaging_of, named, number, turn_order
from treeplex.algorithms.thresholds import MOST_D
from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.updates.rule import Rule, Update
from treeplex.updates.schedules import Schedule, linear
from treeplex.updates.thresholds import thresholded


@overload
def minimizer(rule: Update, /) -> CFR: ...
@overload
def minimizer(
    *,
    memory: int = 1,
    weight: Schedule | str | None = None,
    turns: str = "alternating",
    order: str = "played",
    checked: bool = True,
    d: float = 0.0,
) -> Callable[[Update], CFR]: ...
def minimizer(
    rule: Update | None = None,
    /,
    *,
    memory: int = 1,
    weight: Schedule | str | None = None,
    turns: str = "alternating",
    order: str = "played",
    checked: bool = True,
    d: float = 0.0,
) -> CFR | Callable[[Update], CFR]:
    """Turn an update rule into an algorithm for ``solve``: ``@minimizer``, or with options ``@minimizer(memory=2)``.

    The rule is called for every infoset, bottom-up, as ``rule(t, values, strategy, memory)``. ``t`` is the iteration.
    ``values`` are the counterfactual values of the actions. ``strategy`` is the strategy just played, which the rule
    overwrites with the next one. ``memory`` has one row of numbers per action for each requested row; it starts with
    zeros and persists between iterations. Numba compiles the rule, so write loops; that takes about half a second per
    process. ``weight``: the averaging weights, linear by default. ``order``: as in ``cfr_plus``. ``checked``: False
    compiles the rule without index checks. The rule is then faster, and an index out of bounds corrupts memory. ``d``:
    above zero, puts dynamic thresholding around the rule: small probabilities become zero, as in ``rm_plus_dt``.
    """
    rows, turns_number, order_number = non_negative("memory", memory), turn_order(turns), named("order", order, ORDERS)
    schedule = linear() if weight is None else averaging_of(weight)
    threshold = number("d", d, 0.0, MOST_D)

    def decorate(rule: Update) -> CFR:
        plain: Any = getattr(rule, "py_func", rule)
        if not inspect.isfunction(plain) or not _takes_four(plain):
            raise ParameterError(f"A rule must be a function (t, values, strategy, memory), got {quoted(rule)}.")
        own = Rule(plain.__name__, plain, rows, checked=checked, own=True)
        return CFR(thresholded(own, threshold) if threshold else own, schedule, turns_number, order_number)

    return decorate if rule is None else decorate(rule)


def _takes_four(rule: Callable[..., Any]) -> bool:
    try:
        inspect.signature(rule).bind(*range(4))
    except TypeError:
        return False
    return True
