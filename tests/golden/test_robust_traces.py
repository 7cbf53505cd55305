"""Iterates 1 to 5 of APCFR+, stable and smooth PCFR+ against their formulas over histories, written out below.

The formulas are those of public transcriptions (``updates.adaptive``, ``updates.stable``, ``updates.smooth``); nothing
here is shared with kernels or the NumPy reference. Traces of the algorithms by name are in ``test_traces.py``.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from golden.test_traces import GAMES, ITERATIONS, Textbook, Trace, compiled_trace, flat


class Adaptive(Textbook):
    """alpha of Meng et al. 2025, eq. (10), from all r and Q that an infoset has seen"""

    def __init__(self, game: Any, most: float, *, simultaneous: bool) -> None:
        super().__init__(game, gamma=2.0, simultaneous=simultaneous)
        self.most, self.alphas = most, set[float]()
        self.gains = {infoset: [np.zeros(len(table))] for infoset, table in self.regret.items()}
        self.sums = {infoset: [np.zeros(len(table))] for infoset, table in self.regret.items()}

    def update(self, infoset: Any, gains: dict[str, float], t: int) -> dict[str, float]:
        r = np.array([gains[a] for a in self.regret[infoset]])
        self.gains[infoset].append(r)
        self.sums[infoset].append(np.maximum(self.sums[infoset][-1] + r, 0.0))
        error, move = (float((np.diff(seen, axis=0) ** 2).sum()) for seen in (self.gains[infoset], self.sums[infoset]))
        alpha = min((error / move) ** 0.5, self.most) if move else self.most
        self.alphas.add(alpha)
        hope = np.maximum(self.sums[infoset][-1] + r / (1 + alpha), 0.0)
        return dict(zip(self.regret[infoset], hope.tolist(), strict=True))


class Stable(Textbook):
    """Farina et al. 2023, Algorithm 1: regrets that are all small become z, and nothing is predicted then."""

    def __init__(self, game: Any, z: float, *, simultaneous: bool) -> None:
        super().__init__(game, gamma=2.0, simultaneous=simultaneous)
        self.z, self.outcomes = z, set[bool]()

    def update(self, infoset: Any, gains: dict[str, float], t: int) -> dict[str, float]:
        table = self.regret[infoset]
        for a in table:
            table[a] = max(table[a] + gains[a], 0.0)
        small = all(q <= self.z for q in table.values())
        self.outcomes.add(small)
        if small:
            table.update(dict.fromkeys(table, self.z))
            return dict(table)
        return {a: max(q + gains[a], 0.0) for a, q in table.items()}


class Smooth(Textbook):
    """Farina et al. 2023, Algorithm 2: regrets, and what is played, are the nearest points whose sum is at least z."""

    def __init__(self, game: Any, z: float, *, simultaneous: bool) -> None:
        super().__init__(game, gamma=2.0, simultaneous=simultaneous)
        self.z, self.outcomes = z, set[bool]()
        for table in self.regret.values():
            table.update(dict.fromkeys(table, z / len(table)))

    def update(self, infoset: Any, gains: dict[str, float], t: int) -> dict[str, float]:
        table = self.regret[infoset]
        r = np.array([gains[a] for a in table])
        q = nearest(np.array(list(table.values())) + r, self.z)
        self.outcomes.add(bool(np.isclose(q.sum(), self.z)))
        table.update(zip(table, q.tolist(), strict=True))
        return dict(zip(table, nearest(q + r, self.z).tolist(), strict=True))


def nearest(x: Any, z: float) -> Any:
    """The point nearest to x with no negative number and a sum of at least z: the best of all faces of that set."""
    found = [np.maximum(x, 0.0)] if np.maximum(x, 0.0).sum() >= z else []
    for face in product([False, True], repeat=len(x)):
        used = np.array(face)
        if used.any():
            y = np.where(used, x + (z - x[used].sum()) / used.sum(), 0.0)
            found += [y] if (y >= 0.0).all() else []
    return min(found, key=lambda y: float(((y - x) ** 2).sum()))


RANGE = 2.0 * float(np.abs(tp.load(GAMES["random_tree"]).tree.payoff).max())
BOOKS: dict[str, tuple[Any, float]] = {
    "apcfr+": (Adaptive, 5.0),
    "apcfr+(most=1.5)": (Adaptive, 1.5),
    "stable-pcfr+": (Stable, RANGE),
    "stable-pcfr+(floor=0.01)": (Stable, 0.01 * RANGE),
    "smooth-pcfr+": (Smooth, RANGE),
    "smooth-pcfr+(floor=0.05)": (Smooth, 0.05 * RANGE),
}


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", BOOKS)
def test_the_formulas_over_histories_give_the_same(algorithm, turns) -> None:
    rules, (kind, number) = GAMES["random_tree"], BOOKS[algorithm]
    game, book = tp.load(rules), kind(rules, number, simultaneous=turns == "simultaneous")
    trace: Trace = []
    for t in range(1, ITERATIONS + 1):
        book.iterate(t)
        trace.append({"average": book.policy(game, book.total), "current": book.policy(game, book.strategy)})
    name, _, options = algorithm.removesuffix(")").partition("(")
    ours = compiled_trace(game, f"{name}({options}{',' if options else ''}turns={turns})")
    np.testing.assert_allclose(flat(ours), flat(trace), rtol=0, atol=1e-12)


@pytest.mark.parametrize("algorithm", [name for name in BOOKS if "(" in name])
def test_both_branches_are_met(algorithm) -> None:
    """Otherwise the test above would say less than it seems to."""
    kind, number = BOOKS[algorithm]
    book = kind(GAMES["random_tree"], number, simultaneous=False)
    for t in range(1, ITERATIONS + 1):
        book.iterate(t)
    if kind is Adaptive:
        assert number in book.alphas
        assert len(book.alphas) > 5
    else:
        assert book.outcomes == {False, True}
