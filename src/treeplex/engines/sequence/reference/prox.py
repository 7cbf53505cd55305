"""The dilated entropy over a treeplex, equation by equation.

    d(x) = sum over I of weight(I) x(parent of I) (ln |A| + sum over a of b(a) ln b(a))
    b(a) = x(I, a) / x(parent of I)

It is never negative, and it is 0 only for uniform play (Hoda, Gilpin, Peña & Sandholm 2010, section 4).
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.first_order import FARINA_2021, KROER_2015, Entropy, ProxScratch
from treeplex.engines.sequence.reference.treeplex import realization_plan


def respond(
    treeplex: Treeplex, entropy: Entropy, smoothing: float, gradient: Floats, scratch: ProxScratch, answer: Floats
) -> float:
    """Write argmax over x of <gradient, x> - smoothing d(x) to ``answer`` [S], a realization plan; return the maximum.

    Bottom-up, with m = smoothing * weight(I) and v(a) = gradient(I, a) + the values right below (I, a):
        b(a) = exp(v(a) / m) / sum over c of exp(v(c) / m)
        value of I = m ln(sum over a of exp(v(a) / m)) - m ln |A|
    """
    del scratch
    first, parent = treeplex
    values, strategy = gradient.copy(), np.ones_like(gradient)
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        temperature = smoothing * entropy.weight[infoset]
        best = values[own].max()
        likely = np.exp((values[own] - best) / temperature)
        strategy[own] = likely / likely.sum()
        values[parent[infoset]] += best + temperature * np.log(likely.sum() / len(likely))
    realization_plan(treeplex, strategy, answer)
    return float(values[0])


def distance(treeplex: Treeplex, entropy: Entropy, plan: Floats) -> float:
    """Return d(x) of a realization plan."""
    total = 0.0
    for infoset, above in enumerate(treeplex.parent):
        own = plan[treeplex.first[infoset] : treeplex.first[infoset + 1]]
        played = own[own > 0.0]
        disorder = -float(played @ np.log(played / plan[above])) if plan[above] > 0.0 else 0.0
        total += float(entropy.weight[infoset] * (plan[above] * np.log(len(own)) - disorder))
    return total


def mix(old: Floats, weight: float, new: Floats, out: Floats) -> None:
    """Compute out = (1 - weight) old + weight new; ``out`` is modified in place and may be ``old``."""
    out[:] = (1.0 - weight) * old + weight * new


def entropy_weights(treeplex: Treeplex, scheme: int, weight: Floats, height: Ints) -> float:
    """Write weights and heights of all infosets to ``weight`` [I] and ``height`` [I]; return the largest norm.

    Height is the number of own infosets on the longest path down, less one.
    M(I) = 1 + max over a of the sum of M right below a.
        Kroer et al. (2015):   2^(height + 1) M(I)
        Kroer et al. (2020):   2 + 2 max over a of the sum of the weights right below a
        Farina et al. (2021):  M(I)
    """
    first, parent = treeplex
    norm = np.zeros(len(parent))
    for infoset in range(len(parent) - 1, -1, -1):
        below = [np.flatnonzero(parent == s) for s in range(first[infoset], first[infoset + 1])]
        norm[infoset] = 1.0 + max(norm[down].sum() for down in below)
        height[infoset] = 1 + max(int(height[down].max(initial=-1)) for down in below)
        if scheme == KROER_2015:
            weight[infoset] = 2.0 ** (height[infoset] + 1) * norm[infoset]
        elif scheme == FARINA_2021:
            weight[infoset] = norm[infoset]
        else:
            weight[infoset] = 2.0 + 2.0 * max(weight[down].sum() for down in below)
    return float(norm[parent == 0].sum())
