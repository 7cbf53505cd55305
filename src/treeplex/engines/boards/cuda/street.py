"""Street roots on a board: down through the opponent's decisions, up through the learner's; a thread for two hands.

A thread takes its hands through several street roots, one after the other: on a river most of them have one or two
decisions, and what is the same for all of a board is read once. Numbers of a hand are read and written by one thread
only, so nobody waits for anybody. Numbers are computed as they are stored, in float64 or float32; passes that learn
have a form of their own for 16 bits (``street16``).

What is read for up to four actions is asked for at once, before any of it is used: a thread waits for memory twice per
decision, not twice per action. Kernels are bound by instructions before they are bound by memory (measured), so loops
are ``while`` (a ``range`` with a step divides), places are 32 bits wide, records are flat, arrays are entered with
``tail``, and locks, which are rare, are compiled apart.

Bytes per action and hand, of numbers of b bytes. Down: the opponent's regret read, its average read and written, 3 b;
nothing where the hand does not get there. Up: the learner's regret read and written, 2 b, and 2 b more for predictive
rules; nothing where the opponent does not get there with any hand. Rows are beside that: written once,
read once or twice, and those of the last street stay in the L2 cache. An evaluation reads b down, and b up if it plays
the learner's strategy.
"""

from __future__ import annotations

from functools import cache

from treeplex.engines.boards.cuda.common import StreetParts
from treeplex.engines.boards.cuda.down import going_down
from treeplex.engines.boards.cuda.up import going_up


@cache
def street(storage: str, learn: bool, locks: bool) -> StreetParts:
    """Parts for numbers of a storage, of passes that learn or that do not; ``locks``: may hands be locked?"""
    return StreetParts(going_down(storage, learn, locks), going_up(storage, learn, locks))
