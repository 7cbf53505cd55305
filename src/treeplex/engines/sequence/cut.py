"""Cut a compiled game below the first decisions of its players into a trunk and independent shards.

Infosets with fewer than some number of own decisions above them are the trunk. Two other infosets belong together if
one is below the other, or if a payoff depends on both. These groups are made of subtrees of the public tree, and a
shard has some of the groups. A payoff may still depend on a sequence of the trunk and on one of a shard. So

- a shard knows the plans of trunk sequences that are above its infosets or in its rows of payoffs (*known*),
- the trunk knows the plans of a shard's sequences that are in its own rows (*shown*), and the values of a shard's
  infosets right below it (*boundary*).

Rows of payoffs keep their entries in order, and values of infosets are added to what is above them in the game's
order. So every number has the same bits as in the whole game (``cpu.learn``, ``partition``).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.partition import BOUNDARY, INTERIOR, SEPARATOR

Array = npt.NDArray[Any]

TRUNK: Final = -1  # the number of the trunk among shards
UNEVEN: Final = 1.1  # largest shard over the average shard, above which the trunk is made deeper


class Side(NamedTuple):
    """One player's part of the trunk or of a shard.

    A shard has the known sequences of the trunk before its own. The trunk has the shown sequences after its own.
    """

    first: Ints  # [I + 1] first sequence of each infoset; infosets on the boundary of the trunk have none
    parent: Ints  # [I]
    role: Bytes  # [I] in a shard INTERIOR or BOUNDARY; in the trunk SEPARATOR, or BOUNDARY if a shard sends the value
    start: Ints  # [rows + 1] entries of each sequence's payoffs
    column: Ints  # the opponent's sequences
    data: Floats
    places: Ints  # [S] numbers in the game of all sequences here
    infosets: Ints  # [I] numbers in the game of all infosets here
    own: Ints  # [2] begin and end of the own sequences, which are not only known or shown

    @property
    def treeplex(self) -> Treeplex:
        """The infosets as a treeplex for walks."""
        return Treeplex(self.first, self.parent)

    @property
    def rows(self) -> Csr:
        """The rows of payoffs as a matrix for gradients."""
        return Csr(self.start, self.column, self.data)

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self)


class Links(NamedTuple):
    """Sequences and infosets of one player about which the trunk and one shard exchange numbers."""

    known: Ints  # sequences whose plans the trunk sends, numbered as in the trunk
    shown: Ints  # sequences whose plans the shard sends, numbered as in the shard
    shown_here: Ints  # these sequences, numbered as in the trunk
    boundary: Ints  # infosets whose values the shard sends, numbered as in the shard
    boundary_here: Ints  # these infosets, numbered as in the trunk


class CutGame(NamedTuple):
    """A trunk and its shards."""

    trunk: tuple[Side, Side]
    shards: list[tuple[Side, Side]]
    links: list[tuple[Links, Links]]


def cut_at(game: CompiledGame, count: int) -> CutGame | None:
    """Cut a game into at most ``count`` shards of similar sizes; None if nothing is left below any trunk."""
    best: tuple[float, list[Ints]] | None = None
    depths = [_depths(treeplex) for treeplex in game.treeplexes]
    for depth in range(1, max(int(each.max(initial=0)) for each in depths) + 1):
        owner = _assign(game, depths, depth, count)
        sizes = _sizes(game, owner)
        load = max(sizes[0] + max(sizes[1:], default=0), sizes[0])  # shards wait for the trunk
        if len(sizes) > 1 and (best is None or load < best[0]):
            best = float(load), owner
        if len(sizes) > count and max(sizes[1:]) <= UNEVEN * sum(sizes[1:]) / count:
            break
    return None if best is None else _build(game, best[1])


def _depths(treeplex: Treeplex) -> Ints:
    """[I] Number of own decisions above each infoset."""
    above = _owners(treeplex)[treeplex.parent]
    depth = np.zeros(treeplex.infosets, dtype=np.int32)
    for infoset, over in enumerate(above.tolist()):
        if over >= 0:
            depth[infoset] = depth[over] + 1
    return depth


def _owners(treeplex: Treeplex) -> Ints:
    """[S] Infoset of each sequence; -1 for the empty sequence."""
    return np.concatenate(([-1], np.repeat(np.arange(treeplex.infosets), np.diff(treeplex.first)))).astype(np.int32)


def _assign(game: CompiledGame, depths: list[Ints], depth: int, count: int) -> list[Ints]:
    """[I] Shard of each infoset, or TRUNK, for both players.

    Connected components go to the shard with the least load, the largest component first.
    """
    first, second = game.treeplexes
    owners, rows = [_owners(first), _owners(second)], game.operator.rows
    below = [each >= depth for each in depths]
    ends: list[tuple[Array, Array]] = []
    for player, treeplex in enumerate(game.treeplexes):
        above = owners[player][treeplex.parent]
        linked = below[player] & (above >= 0) & below[player][above]
        shift = player * first.infosets
        ends.append((np.flatnonzero(linked) + shift, above[linked] + shift))
    row = owners[0][np.repeat(np.arange(first.sequences), np.diff(rows.start))]
    column = owners[1][rows.column]
    met = (row >= 0) & (column >= 0)
    met[met] = below[0][row[met]] & below[1][column[met]]
    ends.append((row[met], column[met] + first.infosets))
    edges = np.concatenate([a for a, _ in ends]), np.concatenate([b for _, b in ends])
    total = first.infosets + second.infosets
    _, label = connected_components(coo_array((np.ones(len(edges[0]), np.int8), edges), shape=(total, total)), False)
    sizes = np.concatenate([np.diff(treeplex.first) for treeplex in game.treeplexes])
    free = np.concatenate(below)
    weight = np.bincount(label[free], sizes[free], minlength=int(label.max()) + 1)
    load, shard = [0.0] * count, np.full(len(weight), TRUNK, dtype=np.int32)
    for component in np.argsort(-weight, kind="stable").tolist():
        if weight[component] > 0:
            least = load.index(min(load))
            shard[component] = least
            load[least] += float(weight[component])
    owner = np.where(free, shard[label], TRUNK).astype(np.int32)
    return [owner[: first.infosets], owner[first.infosets :]]


def _sizes(game: CompiledGame, owner: list[Ints]) -> list[int]:
    """Number of sequences in the trunk, and in each shard that has any."""
    counts: dict[int, int] = {TRUNK: 0}
    for treeplex, own in zip(game.treeplexes, owner, strict=True):
        sizes = np.bincount(own + 1, np.diff(treeplex.first))
        for shard, size in enumerate(sizes.astype(int).tolist(), TRUNK):
            counts[shard] = counts.get(shard, 0) + size
    return [counts.pop(TRUNK), *(size for _, size in sorted(counts.items()) if size)]


def _build(game: CompiledGame, owner: list[Ints]) -> CutGame:
    count = 1 + max(int(own.max(initial=TRUNK)) for own in owner)
    owned: list[list[Ints]] = [[], []]  # as ``Side.own``, of the trunk and each shard
    home: list[Ints] = []  # [S] of each player: the shard of each sequence
    for treeplex, own in zip(game.treeplexes, owner, strict=True):
        home.append(np.append(own, TRUNK)[_owners(treeplex)].astype(np.int32))
    used = [_used(game, home, player) for player in (0, 1)]
    members: list[list[Ints]] = [
        [],
        [],
    ]  # sequences of the game in the trunk and each shard, in the order they have there
    for player in (0, 1):
        parent = home_above(game.treeplexes[player], owner[player], home[player])
        for shard in range(TRUNK, count):
            mine = np.flatnonzero(home[player] == shard).astype(np.int32)
            more = np.union1d(used[player].get(shard, mine[:0]), parent.get(shard, mine[:0])).astype(np.int32)
            members[player].append(np.concatenate((mine, more) if shard == TRUNK else (more, mine)))
            own = (0, len(mine)) if shard == TRUNK else (len(more), len(more) + len(mine))
            owned[player].append(np.array(own, dtype=np.int32))

    def side(shard: int, player: int) -> Side:
        return _side(game, player, owner[player], home, members, shard, owned[player][shard + 1])

    trunk, *shards = [(side(shard, 0), side(shard, 1)) for shard in range(TRUNK, count)]
    links = [(_links(trunk[0], first), _links(trunk[1], second)) for first, second in shards]
    return CutGame(trunk, shards, links)


def _rows(game: CompiledGame, player: int) -> Csr:
    side: Any = (game.operator.rows, game.operator.columns)[player]
    return side


def _used(game: CompiledGame, home: list[Ints], player: int) -> dict[int, Ints]:
    """Remote sequences of ``player`` that occur in a shard's payoff rows of the opponent, by shard."""
    side = _rows(game, 1 - player)
    row = np.repeat(np.arange(len(side.start) - 1), np.diff(side.start))
    where, what = home[1 - player][row], side.column
    away = home[player][what] != where
    return _by_shard(what[away], where[away])


def home_above(treeplex: Treeplex, owner: Ints, home: Ints) -> dict[int, Ints]:
    """Sequences of the trunk right above the infosets of a shard, by shard."""
    away = (owner != TRUNK) & (home[treeplex.parent] == TRUNK)
    return _by_shard(treeplex.parent[away], owner[away])


def _by_shard(what: Ints, shards: Ints) -> dict[int, Ints]:
    return {shard: np.unique(what[shards == shard]).astype(np.int32) for shard in np.unique(shards).tolist()}


def _side(
    game: CompiledGame, player: int, owner: Ints, home: list[Ints], members: list[list[Ints]], shard: int, own: Ints
) -> Side:
    treeplex, side = game.treeplexes[player], _rows(game, player)
    places, facing = members[player][shard + 1], members[1 - player][shard + 1]
    here, there = _index(treeplex.sequences, places), _index(game.treeplexes[1 - player].sequences, facing)
    above = home[player][treeplex.parent] == TRUNK
    listed = (owner == shard) | (above if shard == TRUNK else False)
    infosets = np.flatnonzero(listed).astype(np.int32)
    mine = owner[infosets] == shard
    sizes = np.where(mine, np.diff(treeplex.first)[infosets], 0)
    begin = int(own[0]) if shard != TRUNK else 1
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32) + np.int32(begin)
    if shard == TRUNK:
        role = np.where(mine, SEPARATOR, BOUNDARY).astype(np.int8)
    else:
        role = np.where(above[infosets], BOUNDARY, INTERIOR).astype(np.int8)
    lengths = np.zeros(len(places) if shard != TRUNK else int(own[1]), dtype=np.int64)
    lengths[own[0] : own[1]] = np.diff(side.start)[places[own[0] : own[1]]]
    start = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.arange(int(start[-1])) + np.repeat(
        side.start[places[own[0] : own[1]]] - start[own[0] : own[1]], lengths[own[0] : own[1]]
    )
    return Side(
        first,
        here[treeplex.parent[infosets]],
        role,
        start.astype(np.int32),
        there[side.column[entries]],
        side.data[entries],
        places,
        infosets,
        own,
    )


def _index(size: int, sequences: Ints) -> Ints:
    index = np.full(size, -1, dtype=np.int32)
    index[sequences] = np.arange(len(sequences))
    return index


def _links(above: Side, below: Side) -> Links:
    size = int(max(above.places.max(initial=0), below.places.max(initial=0))) + 1
    here = _index(size, above.places)
    known = here[below.places[: below.own[0]]]
    shown = np.flatnonzero(here[below.places] >= above.own[1]).astype(np.int32)
    boundary = np.flatnonzero(below.role == BOUNDARY).astype(np.int32)
    boundary_here = np.searchsorted(above.infosets, below.infosets[boundary]).astype(np.int32)
    return Links(known, shown, here[below.places[shown]], boundary, boundary_here)
