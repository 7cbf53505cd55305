"""What many tests share: slow, obvious walks over the rules of a game."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from treeplex.games.protocol import CHANCE, TERMINAL, Game, History

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
