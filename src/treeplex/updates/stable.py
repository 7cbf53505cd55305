"""Stable predictive regret matching+: an infoset whose regrets are all small restarts.

    Q(a) = max(0, Q^{t-1}(a) + r^t(a))
    if Q(a) <= z for every a:  Q^t(a) = z,  sigma^{t+1} uniform       a restart, which predicts nothing
    else:                      Q^t(a) = Q(a),  sigma^{t+1}(a) ~ max(0, Q(a) + r^t(a))

Q^0 = 0. z is a regret, so payoffs in another unit need another z. Here z is a multiple of the game's payoff range.
With z = 0 this is predictive regret matching+.

Farina et al. (2023), "Regret matching+: (in)stability and fast convergence in games", arXiv:2305.14709, Algorithm 1, as
implemented by the public C++ library ``nor`` (``rm/minimizers/predictive.hpp``). Not compared with the paper itself.
There z = 1 in the game's own payoffs, whatever they are.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.updates.rule import InRanges, Rule
from treeplex.updates.rules import normalise, positive


def stable(floor: float) -> Rule:
    """Stable PRM+ with z = ``floor`` times the range of payoffs. The memory row is Q."""
    return Rule("stable-pcfr+", update, memory=1, constants=InRanges((floor,)), checked=False)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above."""
    actions, expected, largest, total = len(values), 0.0, 0.0, 0.0
    for a in range(actions):
        expected += strategy[a] * values[a]
    for a in range(actions):
        memory[0, a] = positive(memory[0, a] + (values[a] - expected))
        largest = max(largest, memory[0, a])
    for a in range(actions):
        if largest <= constants[0]:
            memory[0, a], strategy[a] = constants[0], 0.0
        else:
            strategy[a] = positive(memory[0, a] + (values[a] - expected))
        total += strategy[a]
    for a in range(actions):
        strategy[a] = normalise(strategy[a], total, actions)
