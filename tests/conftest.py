"""What many tests share: slow, obvious walks over the rules of a game."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse

from thinned import EVERY
from treeplex.arrow import unpacked
from treeplex.compile import CompiledGame
from treeplex.games.protocol import CHANCE, TERMINAL, Game, History
from treeplex.plots.plot import plot_convergence
from treeplex.runs import folder

HOLDEM = "holdem"
CLUSTER = "tests/cluster"

settings.register_profile("no clock", deadline=None)  # a busy machine may take half a second for a millisecond's work
settings.load_profile("no clock")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of one file, and all of hold'em, go to one worker: two would compile the same kernels at the same time.

    So do those that need a cluster, which takes ten seconds to start.
    """
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - only where tests run in several processes

    class OneWorkerPerKernel(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return next((room for room in (HOLDEM, CLUSTER) if room in file), file)

    return OneWorkerPerKernel(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hold'em first, because its kernels take longest to compile; what starts many processes last, the longest first.

    Of families of like cases (``tests/thinned.py``) every k-th is run by default, and the others by ``make test-slow``.
    """
    late = {"test_page.py": 1, "cli": 2}
    order = {item: max(late.get(part, 0) for part in item.path.parts) for item in items}
    items.sort(key=lambda item: (HOLDEM not in item.path.as_posix(), order[item]))
    seen: dict[str, int] = {}
    for item in items:
        family = f"{item.path.stem}::{getattr(item, 'originalname', item.name)}"
        place = seen[family] = seen.get(family, -1) + 1
        every = EVERY.get(family, 1)
        if every == 0 or place % every:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def signals_as_usual() -> None:
    """However the tests were started: ``nohup`` and ``trap '' INT`` make whatever they start ignore signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in {"SIGHUP", "SIGTERM"} & set(signal.Signals.__members__):
        signal.signal(signal.Signals[name], signal.SIG_DFL)


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk() -> Iterator[None]:
    """Files are written as ever, but thousands of runs do not wait until a power cut could not harm them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_pictures() -> Iterator[None]:
    """A picture takes half a second: run folders get an empty file; only tests that ask for ``pictures`` draw them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "plot_convergence", lambda logs, title, path: path.touch())
        yield


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the picture of every run folder, as users get it."""
    monkeypatch.setattr(folder, "plot_convergence", plot_convergence)


Walk = Callable[[Game], Iterator[tuple[History, int]]]


class Size(NamedTuple):
    nodes: int
    infosets: tuple[int, int]
    sequences: tuple[int, int]  # with the empty one


def _walk(game: Game) -> Iterator[tuple[History, int]]:
    stack = [(game.root(), 0)]
    while stack:
        history, depth = stack.pop()
        yield history, depth
        if game.mover(history) != TERMINAL:
            stack.extend((game.child(history, action), depth + 1) for action in reversed(game.actions(history)))


def _count(game: Game) -> Size:
    nodes = 0
    actions: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for history, _ in _walk(game):
        nodes += 1
        if game.mover(history) >= 0:
            actions[game.mover(history)][game.infoset(history)] = len(game.actions(history))
    first, second = actions
    return Size(nodes, (len(first), len(second)), (1 + sum(first.values()), 1 + sum(second.values())))


def _check_rules(game: Game) -> None:
    """One list of actions per infoset, probabilities that sum to one, and perfect recall."""
    known: dict[tuple[int, str], tuple[Any, ...]] = {}
    stack: list[tuple[History, tuple[Any, Any]]] = [(game.root(), ((), ()))]
    while stack:
        history, recalled = stack.pop()
        mover = game.mover(history)
        if mover == TERMINAL:
            assert game.payoff(history) is not None
            continue
        actions = list(game.actions(history))
        assert actions
        assert len(set(actions)) == len(actions)
        if mover == CHANCE:
            probabilities = game.probabilities(history)
            assert len(probabilities) == len(actions)
            assert min(probabilities) >= 0
            assert sum(probabilities) == pytest.approx(1, abs=1e-12)
        else:
            infoset = game.infoset(history)
            assert known.setdefault((mover, infoset), (actions, recalled[mover])) == (actions, recalled[mover])
        for action in actions:
            after = list(recalled)
            if mover >= 0:
                after[mover] = (*recalled[mover], (game.infoset(history), action))
            stack.append((game.child(history, action), (after[0], after[1])))


def _nash_conv(game: Game) -> float:
    """NashConv of the uniform policy, from every player's best response to it."""
    total = 0.0
    for player in (0, 1):
        gains: dict[Any, float] = defaultdict(float)  # by the player's sequence
        below: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        uniform = 0.0
        stack: list[tuple[History, Any, float, float]] = [(game.root(), (), 1.0, 1.0)]
        while stack:
            history, sequence, others, own = stack.pop()
            mover = game.mover(history)
            if mover == TERMINAL:
                payoff = game.payoff(history)
                assert isinstance(payoff, float)
                gains[sequence] += others * (payoff if player == 0 else -payoff)
                uniform += own * others * (payoff if player == 0 else -payoff)
                continue
            actions = game.actions(history)
            chances = game.probabilities(history) if mover == CHANCE else [1 / len(actions)] * len(actions)
            for action, chance in zip(actions, chances, strict=True):
                child = game.child(history, action)
                if mover == player:
                    infoset = game.infoset(history)
                    below[sequence][infoset].add(action)
                    stack.append((child, (*sequence, (infoset, action)), others, own * chance))
                else:
                    stack.append((child, sequence, others * chance, own))

        def best(sequence: Any, gains: Any = gains, below: Any = below) -> float:
            choices = below[sequence].items() if sequence in below else ()
            return gains[sequence] + sum(max(best((*sequence, (i, a))) for a in actions) for i, actions in choices)

        total += best(()) - uniform
    return total


def _places(parent: Any) -> Any:
    """Every node's position among its siblings, from parents in preorder."""
    order = np.argsort(parent, kind="stable")
    counts = np.bincount(parent[parent >= 0], minlength=len(parent))
    starts = np.concatenate(([0], [1], 1 + np.cumsum(counts)))  # the root first, then the children of 0, 1, ...
    places = np.empty(len(parent), dtype=np.int64)
    places[order] = np.arange(len(parent)) - starts[parent[order] + 1]
    return places


def _check_compiled(game: CompiledGame) -> None:
    """Everything solvers rely on: preorder, chance, recall, labels, and A added up afresh from the terminals."""
    tree, nodes = game.tree, game.tree.nodes
    parent, mover = tree.parent, tree.mover
    assert (game.nodes, game.terminals) == (nodes, tree.terminals)
    assert all(len(array) == nodes for array in tree)
    assert parent[0] == -1
    assert (parent[1:] >= 0).all()
    assert (parent[1:] < np.arange(1, nodes)).all()
    depth, sizes = np.zeros(nodes, dtype=np.int64), np.ones(nodes, dtype=np.int64)
    level = np.arange(1, nodes)
    ancestor = parent.astype(np.int64)
    while len(level):  # every node adds one to the size of each of its ancestors
        above = ancestor[level]
        depth[level] += 1
        sizes += np.bincount(above, minlength=nodes)
        ancestor[level] = parent[above]
        level = level[ancestor[level] >= 0]
    np.testing.assert_array_equal(tree.size, sizes)
    ends = np.arange(nodes) + tree.size
    assert (ends[1:] <= ends[parent[1:]]).all()
    inner = np.flatnonzero(tree.size > 1)
    np.testing.assert_array_equal(parent[inner + 1], inner)  # the first child comes next
    np.testing.assert_array_equal(mover == TERMINAL, tree.size == 1)
    assert np.isin(mover, (0, 1, CHANCE, TERMINAL)).all()
    assert np.isfinite(tree.payoff).all()
    assert (tree.payoff[mover != TERMINAL] == 0).all()
    assert game.largest_payoff == np.abs(tree.payoff).max()

    by_chance = np.zeros(nodes, dtype=bool)
    by_chance[1:] = mover[parent[1:]] == CHANCE
    assert (tree.probability[~by_chance] == 1).all()
    assert (tree.probability >= 0).all()
    total = np.bincount(parent[by_chance], weights=tree.probability[by_chance], minlength=nodes)
    np.testing.assert_allclose(total[mover == CHANCE], 1, rtol=0, atol=1e-9)

    place, children = _places(parent), np.bincount(parent[1:], minlength=nodes)
    chance, uniform = tree.probability.copy(), np.ones(nodes)
    uniform[1:] = np.where(by_chance[1:], 1.0, 1.0 / children[parent[1:]])
    sequences = np.zeros((2, nodes), dtype=np.int64)  # each player's last own sequence on the way to a node
    for d in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == d)
        up = parent[here]
        chance[here] *= chance[up]
        uniform[here] *= uniform[up]
        for player, treeplex in enumerate(game.treeplexes):
            moved = mover[up] == player
            own = treeplex.first[np.where(moved, tree.infoset[up], 0)] + place[here]
            sequences[player, here] = np.where(moved, own, sequences[player, up])
    last = np.flatnonzero(mover == TERMINAL)
    assert (chance[last] * uniform[last]).sum() == pytest.approx(1, abs=1e-9)

    assert (tree.infoset[mover < 0] == -1).all()
    names = np.array([*game.actions, ""], dtype=object)
    assert len(set(game.actions)) == len(game.actions)
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        first, above = treeplex
        assert first[0] == 1
        assert (np.diff(first) > 0).all()
        assert (above >= 0).all()
        assert (above < first[:-1]).all()
        assert len(set(unpacked(labels.infosets))) == len(labels.infosets) == treeplex.infosets
        assert labels.actions[0] == -1
        assert len(labels.actions) == treeplex.sequences == first[-1]
        own = np.flatnonzero(mover == player)
        infoset = tree.infoset[own]
        np.testing.assert_array_equal(np.unique(infoset), np.arange(treeplex.infosets))  # none is empty
        np.testing.assert_array_equal(above[infoset], sequences[player, own])  # perfect recall
        np.testing.assert_array_equal(np.diff(first)[infoset], children[own])
        moved = np.flatnonzero(np.isin(parent, own))
        chosen = labels.actions[sequences[player, moved]]
        np.testing.assert_array_equal(names[tree.action[moved]], names[chosen])
        for i in range(min(treeplex.infosets, 500)):
            assert len(set(game.actions_at(player, i))) == treeplex.actions[i]

    shape = (game.treeplexes[0].sequences, game.treeplexes[1].sequences)
    summed = sparse.coo_array((chance[last] * tree.payoff[last], tuple(sequences[:, last])), shape=shape).tocsr()
    rows, columns = (
        sparse.csr_array((csr.data, csr.column, csr.start), shape=size)
        for csr, size in ((game.payoffs.rows, shape), (game.payoffs.columns, shape[::-1]))
    )
    assert abs(rows - summed).max() <= 1e-15 * max(1.0, game.largest_payoff)
    assert (rows != columns.T.tocsr()).nnz == 0
    assert game.payoffs.entries == len(game.payoffs.columns.data)
    for csr in game.payoffs:
        assert csr.start[0] == 0
        assert (np.diff(csr.start) >= 0).all()
        assert (csr.data != 0).all()
        row = np.repeat(np.arange(len(csr.start) - 1), np.diff(csr.start))
        assert len(set(zip(row.tolist(), csr.column.tolist(), strict=True))) == len(csr.data)


@pytest.fixture(scope="session")
def check_compiled() -> Callable[[CompiledGame], None]:
    """Fails unless the arrays of a compiled game are what solvers rely on."""
    return _check_compiled


@pytest.fixture(scope="session")
def walk() -> Walk:
    """All histories of a game with their depths, parents before children."""
    return _walk


@pytest.fixture(scope="session")
def count() -> Callable[[Game], Size]:
    """A game's nodes, and its infosets and sequences per player."""
    return _count


@pytest.fixture(scope="session")
def check_rules() -> Callable[[Game], None]:
    """Fails unless infosets, chance and memory are as a game's must be."""
    return _check_rules


@pytest.fixture(scope="session")
def uniform_nash_conv() -> Callable[[Game], float]:
    """How far uniform play is from equilibrium: the sum of both players' best-response gains."""
    return _nash_conv
