"""Regret transfer between actions of compiled games, for payoffs that depend on a vector (section 3.1).

Let S1 be what follows an action of the start, and S2 what follows a missing action of the same infoset. If all that is
played in S1 can be played in S2, the opponent's and the mover's past of S1 is repeated in S2. Regrets are linear in
payoffs. So the regrets of S2 are those of S1 with the payoffs of S2, and these must have been summed all the time.

The paper sums them as a function of theta, where payoffs are ``alpha theta + beta``. Here theta is a vector of any
length and never named: the payoffs of S1 and of all S2 span a space, some of them are its basis (``twins.thetas``), and
regrets are summed for each. An affine function of K numbers needs K + 1 sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from treeplex.arrays import Floats
from treeplex.compile.history import Index
from treeplex.compile.part import Behind, Masks, WholeGame
from treeplex.engines.sequence.learners import Strategies
from treeplex.growth.twins import Sequence, SubgameMatcher, Twin, thetas
from treeplex.tensors import Tensors, checked


class RowsOfInfoset(NamedTuple):
    """An infoset of the mover inside S1: its rows, and the row before it."""

    begin: int
    end: int
    above: int


class Layers:
    """Sums over the run in one subgame S1, one layer per payoff vector of the basis."""

    def __init__(self, whole: WholeGame, twins: list[Twin]) -> None:
        self.player = twins[0].source.player
        self.nodes = _nodes(whole, twins[0].source)
        inside = sorted({s.number for s in twins[0].like.values() if s.player == self.player})
        self.rows: Index = np.array(inside, dtype=np.intp)  # [R] sequences of S1, the action that leads there first
        self.place = {number: row for row, number in enumerate(inside)}
        self.spans = _spans(whole, self.player, self.place, twins[0].source.number)
        terminals = sorted(twins[0].paid)
        vectors = np.array([[twin.paid[z] for z in terminals] for twin in twins])
        chosen, coefficients = thetas(vectors)
        self.twins = {twin.action.number: (twin, coefficients[k]) for k, twin in enumerate(twins)}
        self.matrices = [self._matrix(whole, np.array(terminals), vectors[k]) for k in chosen]
        self.regret = np.zeros((len(chosen), len(self.rows)))
        self.value = np.zeros(len(chosen))  # of the action that leads to S1
        self.valid = True  # nothing was added to S1 since the start

    def _matrix(self, whole: WholeGame, terminals: Index, paid: Floats) -> Any:
        """Return payoffs to the mover, a row per sequence of S1."""
        sign, other = 1.0 - 2.0 * self.player, 1 - self.player
        rows = [self.place[number] for number in whole.sequence[self.player][terminals].tolist()]
        shape = len(self.rows), whole.game.treeplexes[other].sequences
        return sparse.csr_array((sign * paid, (rows, whole.sequence[other][terminals])), shape=shape)

    def add(self, strategy: Floats, plan: Floats, weight: float) -> None:
        """Add an iteration: the mover's ``strategy`` [S], and the opponent's realization ``plan`` [S]."""
        own = strategy[self.rows]
        for layer, matrix in enumerate(self.matrices):
            values = matrix @ plan
            for begin, end, above in reversed(self.spans):
                expected = own[begin:end] @ values[begin:end]
                self.regret[layer, begin:end] += weight * (values[begin:end] - expected)
                values[above] += expected
            self.value[layer] += weight * values[0]


class Transfers:
    """Sums for all missing actions that an action of the start can stand for."""

    def __init__(self, whole: WholeGame, masks: Masks, behind: Behind) -> None:
        self.whole = whole
        self.layers: dict[tuple[int, int], list[Layers]] = {}  # by the mover and its infoset
        matching = SubgameMatcher(whole, masks)
        for player in (0, 1):
            treeplex = whole.game.treeplexes[player]
            own = whole.tree.mover == player
            for infoset in np.flatnonzero(behind.infosets[player]).tolist():
                sequences = range(treeplex.first[infoset], treeplex.first[infoset + 1])
                missing = [Sequence(player, s) for s in sequences if not masks[player][s]]
                heads = np.flatnonzero(behind.present & own & (whole.tree.infoset == infoset))
                layers: list[Layers] = []
                for source in [Sequence(player, s) for s in sequences if masks[player][s] and missing]:
                    twins = [twin for s in missing if (twin := matching.twin(heads, source, s)) is not None]
                    layers += [Layers(whole, twins)] if twins else []
                if layers:
                    self.layers[player, infoset] = layers

    @property
    def all(self) -> list[Layers]:
        """All sums that are still of use."""
        return [one for layers in self.layers.values() for one in layers if one.valid]

    def add(self, players: tuple[int, ...], strategies: Strategies, plans: Strategies, weight: float) -> int:
        """Add an iteration for some players, and return the number of histories entered."""
        entered = 0
        for one in self.all:
            if one.player in players:
                one.add(strategies[one.player], plans[1 - one.player], weight)
                entered += len(one.matrices) * len(one.nodes)
        return entered

    def of(self, player: int, infoset: int, action: int, behind: Behind) -> list[tuple[Layers, Twin, Floats]]:
        """Return the subgames whose past can be repeated behind a missing action.

        That is not possible where the opponent has another past there, because it cannot tell the new action from
        others that are in the part.
        """
        layers = [one for one in self.layers.get((player, infoset), []) if one.valid and action in one.twins]
        return [(one, *one.twins[action]) for one in layers if self._free(one.twins[action][0], behind)]

    def _free(self, twin: Twin, behind: Behind) -> bool:
        """Whether all infosets of the opponent behind an action are those of its twin, or have no past."""
        other = 1 - twin.action.player
        owner, present = self.whole.owner[other], behind.infosets[other]
        shared = {s for s, like in twin.like.items() if s == like}  # it cannot tell both actions from each other
        theirs = {s for s in (*twin.like, *twin.extra) if s.player == other} - shared
        return not any(present[owner[s.number - 1]] for s in theirs)

    def grown(self, nodes: Index) -> None:
        """Give up the sums of subgames to which these histories belong: part of their past is not known."""
        for one in self.all:
            one.valid = not np.isin(nodes, one.nodes, assume_unique=True).any()

    def discount(self, weight: float) -> None:
        """Multiply all sums by the weight of the past."""
        for one in self.all:
            one.regret *= weight
            one.value *= weight

    def save(self) -> Tensors:
        """Return the sums as named arrays."""
        every = [one for layers in self.layers.values() for one in layers]
        tensors: Tensors = {"transfer.valid": np.array([one.valid for one in every], dtype=np.int8)}
        for number, one in enumerate(every):
            if one.valid:
                tensors |= {f"transfer.{number}.regret": one.regret, f"transfer.{number}.value": one.value}
        return tensors

    def restore(self, tensors: Mapping[str, Any]) -> None:
        """Set the sums that ``save`` returned; raise ValueError or KeyError if they are not of this game."""
        every = [one for layers in self.layers.values() for one in layers]
        valid = checked("transfer.valid", tensors["transfer.valid"], np.int8, (len(every),), 0, 1)
        for number, one in enumerate(every):
            one.valid = bool(valid[number])
            for name, into in (("regret", one.regret), ("value", one.value)):
                if one.valid:
                    key = f"transfer.{number}.{name}"
                    into[...] = checked(key, tensors[key], np.float64, into.shape)


def _nodes(whole: WholeGame, source: Sequence) -> Index:
    """Return all histories behind an action."""
    treeplex = whole.game.treeplexes[source.player]
    below = np.zeros(treeplex.sequences, dtype=bool)
    below[source.number] = True
    for infoset, parent in enumerate(treeplex.parent.tolist()):
        below[treeplex.first[infoset] : treeplex.first[infoset + 1]] |= below[parent]
    return np.flatnonzero(below[whole.sequence[source.player]])


def _spans(whole: WholeGame, player: int, place: dict[int, int], head: int) -> list[RowsOfInfoset]:
    """Return the mover's infosets inside, from the first to the last."""
    treeplex, rows = whole.game.treeplexes[player], dict[int, list[int]]()
    for number, row in place.items():
        if number != head:
            rows.setdefault(int(whole.owner[player][number - 1]), []).append(row)
    return [RowsOfInfoset(own[0], own[-1] + 1, place[int(treeplex.parent[i])]) for i, own in sorted(rows.items())]
