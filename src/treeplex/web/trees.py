"""The tree of any game, node by node, with the run's strategies on its branches."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.compile.storage import load as load_compiled
from treeplex.errors import ParameterError, quoted
from treeplex.games.catalog import make
from treeplex.games.dealt import DealtGame
from treeplex.games.protocol import CHANCE, TERMINAL, Game, History
from treeplex.games.sized import Abstraction, Menu
from treeplex.policies.policy import Policy
from treeplex.problems.loading import sized_game
from treeplex.runs.request import Record
from treeplex.web.jobs.requests import named_game
from treeplex.web.runs import json_file

LONGEST: Final = 200  # steps of a path
WALKED: Final = 3000  # limit on branches below a node when its value is computed
WIDEST: Final = 1000  # limit on the branches of a shown node
MOST_BYTES: Final = 2**26  # bytes of a game's file in the run folder


class CompiledTree:
    """A compiled game as a tree; a history is the index of a node."""

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.tree = game, game.tree
        self.labels = [unpacked(labels.infosets) for labels in game.labels]
        self._last: tuple[int, list[int], list[str]] = (-1, [], [])  # a node, its children and their names

    def root(self) -> int:
        """Return the index of the first node."""
        return 0

    def mover(self, history: int) -> int:
        """As ``Game``."""
        return int(self.tree.mover[history])

    def actions(self, history: int) -> list[str]:
        """As ``Game``."""
        return self._branches(history)[1]

    def probabilities(self, history: int) -> list[float]:
        """As ``Game``."""
        return [float(self.tree.probability[child]) for child in self._branches(history)[0]]

    def child(self, history: int, action: str) -> int:
        """As ``Game``."""
        children, names = self._branches(history)
        return children[names.index(action)]

    def infoset(self, history: int) -> str:
        """As ``Game``."""
        return self.labels[self.mover(history)][int(self.tree.infoset[history])]

    def payoff(self, history: int) -> float:
        """As ``Game``."""
        return float(self.tree.payoff[history]) * self.game.unit

    def _branches(self, history: int) -> tuple[list[int], list[str]]:
        last = self._last
        if last[0] != history:
            children, child, end = list[int](), history + 1, history + int(self.tree.size[history])
            while child < end:
                children.append(child)
                child += max(int(self.tree.size[child]), 1)
            last = history, children, [self.game.actions[int(self.tree.action[child])] for child in children]
            self._last = last
        return last[1], last[2]


class HistoryStep(NamedTuple):
    """A history on the path, with its name, path and reach."""

    history: History
    name: str
    path: str
    reach: float | None


class Trees:
    """A cache of the last game."""

    def __init__(self) -> None:
        self._last: tuple[Any, Game] | None = None
        self._lock = threading.Lock()

    def of(self, folder: Path, record: Record) -> Game:
        """Return the tree of a run's game."""
        grown = folder / "sizes.json"
        key = (folder, record.fingerprint, grown.stat().st_mtime_ns if grown.is_file() else 0)
        with self._lock:
            if self._last is None or self._last[0] != key:
                self._last = key, tree_of(folder, record)
            return self._last[1]


def tree_of(folder: Path, record: Record) -> Game:
    """Build the tree of a run's game; games from files or code must be stored in the folder."""
    if record.spot is not None:
        raise ParameterError("A hold'em spot does not have this tree; use /api/node to view it by line.")
    if not record.has_strategies:
        raise ParameterError("A search for bet sizes has no tree of its own; its answer is in its result.")
    if record.source is None:
        path = folder / "game.safetensors"
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise ParameterError(
                "The game of this run is not stored in its folder, or it is too large to show as a tree."
            )
        return CompiledTree(load_compiled(path))
    name = named_game(str(record.source))
    return _grown(folder, name) if (folder / "sizes.json").is_file() else make(name)


def _grown(folder: Path, name: str) -> Game:
    """Return the finite game with the sizes that growth added."""
    sizes, start = json_file(folder / "sizes.json") or {}, sized_game(name)
    return DealtGame(Abstraction(start.rules, Menu(by_line={k: tuple(v) for k, v in sizes.items()}), start.name))


def node(tree: Game, policy: Policy | None, path: str) -> dict[str, Any]:
    """Return the node at the end of a path such as ``0/2/1``, which has the index of a branch per step."""
    steps = [HistoryStep(tree.root(), "", "", 1.0)]
    for part in [part for part in path.split("/") if part]:
        steps.append(_step(tree, policy, steps[-1], part))
        if len(steps) > LONGEST:
            raise ParameterError(f"A path has at most {LONGEST} steps.")
    here = steps[-1]
    mover = tree.mover(here.history)
    names = _names(tree, here.history)
    shares = _shares(tree, policy, here.history)
    return {
        "path": here.path,
        "kind": {TERMINAL: "terminal", CHANCE: "chance"}.get(mover, "decision"),
        "player": mover if mover >= 0 else None,
        "infoset": tree.infoset(here.history) if mover >= 0 else None,
        "payoff": _first(tree.payoff(here.history)) if mover == TERMINAL else None,
        "value": _value(tree, policy, here.history),
        "reach": here.reach,
        "actions": [
            {"name": name, "probability": shares[k] if shares else None, "path": _join(here.path, k)}
            for k, name in enumerate(names)
        ],
        "crumbs": [{"name": step.name, "path": step.path} for step in steps],
    }


def _step(tree: Game, policy: Policy | None, before: HistoryStep, part: str) -> HistoryStep:
    names = _names(tree, before.history)
    if not part.isdecimal() or len(part) > 9 or int(part) >= len(names):
        raise ParameterError(
            f"A path consists of indices of branches, of which this node has {len(names)}; got {quoted(part)}."
        )
    k, shares = int(part), _shares(tree, policy, before.history)
    reach = None if before.reach is None or not shares else before.reach * shares[k]
    return HistoryStep(tree.child(before.history, names[k]), names[k], _join(before.path, k), reach)


def _names(tree: Game, history: History) -> list[str]:
    """Return the names of all branches; refuse more than a page can show."""
    names = [] if tree.mover(history) == TERMINAL else list(tree.actions(history))
    if len(names) > WIDEST:
        raise ParameterError(
            f"This node has {len(names):,} branches, and a page shows at most {WIDEST:,}; search its infosets instead."
        )
    return names


def _shares(tree: Game, policy: Policy | None, history: History) -> list[float]:
    """Return the probability of every branch; empty where the policy does not have it."""
    mover = tree.mover(history)
    if mover == CHANCE:
        return [float(x) for x in tree.probabilities(history)]
    if mover == TERMINAL or policy is None:
        return []
    strategy = policy.strategies[mover]
    index = strategy.index.get(tree.infoset(history))
    plays = {} if index is None else strategy.at(index)
    names = tree.actions(history)
    return [plays[name] for name in names] if all(name in plays for name in names) else []


def _value(tree: Game, policy: Policy | None, history: History) -> float | None:
    """Return player 0's value from here on; None if the tree below is too large or the policy incomplete."""
    total, left, stack = 0.0, WALKED, [(history, 1.0)]
    while stack:
        now, reach = stack.pop()
        if tree.mover(now) == TERMINAL:
            total += reach * _first(tree.payoff(now))
            continue
        left -= len(tree.actions(now))
        if left < 0:
            return None
        shares = _shares(tree, policy, now)
        if not shares:
            return None
        stack += [(tree.child(now, a), reach * x) for a, x in zip(tree.actions(now), shares, strict=True) if x > 0.0]
    return total


def _first(payoff: Any) -> float:
    return float(payoff if isinstance(payoff, int | float) else payoff[0])


def _join(path: str, branch: int) -> str:
    return f"{path}/{branch}" if path else str(branch)
