"""Compilation of any ``Game`` by walking its histories once, in Python, for users' own games and adapters."""

from __future__ import annotations

import gc
import math
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np

from treeplex.arrays import Ints
from treeplex.arrow import texts
from treeplex.compile.endless import Watch
from treeplex.compile.game import CompiledGame, Prebuilt
from treeplex.compile.history import MOST_NODES, HistoryTree
from treeplex.compile.memory import require
from treeplex.compile.payoffs import Payoffs, unit_of
from treeplex.compile.probe import likely_nodes
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.errors import GameError, brief, quoted
from treeplex.games.protocol import CHANCE, TERMINAL, Game, History, name_of
from treeplex.games.returned import (
    Place,
    annotate,
    checked_actions,
    checked_label,
    checked_mover,
    checked_payoffs,
    checked_probabilities,
)

BYTES_PER_NODE = 250  # measured peak of the walk and of the steps after it
MEMORY_EVERY = 1 << 10  # nodes between two checks of the memory in use
ESTIMATE_AT = 1 << 15  # nodes after which the size of the whole game is estimated
CHECK_EVERY = 1 << 16  # nodes between two checks of free memory and two reports
DOUBT = 20  # factor by which an estimate of the size may exceed the truth
TOLERANCE = 1e-9  # of probabilities and of constant sums, relative to the largest payoff

SAME = "returns from child the same history object that it received, at"
COPY = "child must leave that one alone and return a new one."

Report = Callable[[int], None]
"""Called from time to time with the number of nodes visited."""

Visit = tuple[History, int, int, float, float, int, int]
"""A node still to be visited: history, parent, action, probability, reach, own sequences of both players."""


class PlayerInfosets:
    """One player's infosets, in the order in which the walk first visits them."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.first = array("i", [1])
        self.parent = array("i")
        self.seen = array("i")  # first node of the infoset
        self.choices: list[tuple[str, ...]] = []
        self.codes = array("i", [-1])


class WalkArrays:
    """The growing arrays of a walk."""

    def __init__(self, game: Game) -> None:
        self.name = name_of(game)
        self.mover, self.parent = array("b"), array("i")
        self.infoset, self.action = array("i"), array("i")
        self.probability, self.payoff = array("d"), array("d")
        self.players = (PlayerInfosets(), PlayerInfosets())
        self.vocabulary: dict[str, int] = {}
        self.choices: set[tuple[str, ...]] = set()  # lists of actions that have been checked
        self.rows, self.columns, self.weights = array("i"), array("i"), array("d")
        self.sums = array("d")  # payoff of player 0 plus payoff of player 1, at each terminal
        self.ends = array("i")

    def line(self, node: int) -> str:
        """Format the actions that lead to a node, for messages."""
        names = list(self.vocabulary)
        line: list[str] = []
        while node > 0:
            line.append(names[self.action[node]])
            node = self.parent[node]
        shown = one_line(" ".join(reversed(line)))
        return "'" + (shown if len(shown) <= 80 else "… " + shown[-78:]) + "'" if line else "the root"

    def place(self, node: int) -> Place:
        """Return a function that formats the actions that lead to a node."""
        return partial(self.line, node)

    def depth(self, node: int) -> int:
        """Number of moves that lead to a node."""
        depth = 0
        while node > 0:
            node = self.parent[node]
            depth += 1
        return depth

    def refuse(self, sentence: str) -> NoReturn:
        """Raise GameError with a message that begins with the game's name."""
        raise GameError(f"{self.name} {sentence}")


def one_line(label: str) -> str:
    """Return a label without line breaks and runs of blanks."""
    return " ".join(label.split())


def compile_walk(game: Game, report: Report | None = None) -> CompiledGame:
    """Compile and check any game. Cost: a few microseconds per node, plus the time of the rules."""
    walk = WalkArrays(game)
    collecting = gc.isenabled()
    gc.disable()  # there are millions of small tuples, none of them in a cycle
    try:
        _visit(game, walk, report)
    except Exception as error:
        annotate(error, (__name__, likely_nodes.__module__), lambda local: _where(walk, local))
        raise
    finally:
        if collecting:
            gc.enable()
    constant = _constant(walk)
    first, second = (Treeplex(_ints(player.first), _ints(player.parent)) for player in walk.players)
    names = [Labels(texts(player.index), _ints(player.codes)) for player in walk.players]
    tree = _tree(walk)
    unit = unit_of(float(np.abs(tree.payoff).max()))
    tree = tree._replace(payoff=tree.payoff / unit)
    payoffs = Payoffs.gather(
        (first.sequences, second.sequences),
        np.frombuffer(walk.rows, dtype=np.int32),
        np.frombuffer(walk.columns, dtype=np.int32),
        np.frombuffer(walk.weights) / unit,
    )
    return CompiledGame(
        name=walk.name,
        treeplexes=(first, second),
        labels=(names[0], names[1]),
        actions=tuple(walk.vocabulary),
        nodes=tree.nodes,
        terminals=tree.terminals,
        largest_payoff=float(np.abs(tree.payoff).max()),
        make_tree=Prebuilt(tree),
        make_payoffs=Prebuilt(payoffs),
        constant=constant,
        unit=unit,
    )


def _visit(game: Game, walk: WalkArrays, report: Report | None) -> None:
    """Visit all histories depth-first, with an explicit stack."""
    mover_of, actions_of, child_of = game.mover, game.actions, game.child
    infoset_of, payoff_of = game.infoset, game.payoff
    movers, parents, infosets, action_codes = walk.mover, walk.parent, walk.infoset, walk.action
    probabilities, payoffs, kind_of = walk.probability, walk.payoff, cast(Any, type)
    stack: list[Visit] = [(game.root(), -1, -1, 1.0, 1.0, 0, 0)]
    pop, push = stack.pop, stack.append
    node, watch = -1, Watch(walk.name)
    while stack:
        history, parent, code, probability, reach, row, column = pop()
        node += 1
        parents.append(parent)
        action_codes.append(code)
        if node % MEMORY_EVERY == MEMORY_EVERY - 1:
            _check_size(game, walk, node, history, watch, report)
        mover = mover_of(history)
        try:
            movers.append(mover if -2 <= mover <= 1 else 0)
        except (TypeError, ValueError):
            movers.append(checked_mover(walk.name, mover, walk.place(node)))
        probabilities.append(probability)
        if mover == TERMINAL:
            infosets.append(-1)
            payoffs.append(_settle(walk, node, payoff_of(history)))
            walk.rows.append(row)
            walk.columns.append(column)
            walk.weights.append(reach * payoffs[-1])
            continue
        payoffs.append(0.0)
        returned: Any = actions_of(history)  # may violate the protocol
        kind = kind_of(returned)
        actions: tuple[str, ...] = returned if kind is tuple else tuple(returned) if kind is list else ()
        if not actions:
            actions = _checked_actions(walk, returned, node)
        if mover == CHANCE:
            infosets.append(-1)
            _draw(game, walk, stack, history, node, actions, (reach, row, column))
            continue
        if mover not in (0, 1):
            _refuse_mover(walk, mover, node)
        player = walk.players[mover]
        label, own = infoset_of(history), column if mover else row
        try:
            infoset = player.index.get(label, -1)
        except TypeError:  # it cannot be hashed, so it is not a text
            infoset = -1
        if infoset < 0:
            infoset = _add_infoset(walk, player, label, actions, own, node)
        elif player.parent[infoset] != own or player.choices[infoset] != actions:
            _disagree(walk, mover, infoset, label, actions, own, node)
        infosets.append(infoset)
        first, codes, last = player.first[infoset], player.codes, len(actions) - 1
        if mover == 0:
            for k in range(last, -1, -1):
                push((child_of(history, actions[k]), node, codes[first + k], 1.0, reach, first + k, column))
        else:
            for k in range(last, -1, -1):
                push((child_of(history, actions[k]), node, codes[first + k], 1.0, reach, row, first + k))
        if stack[-1][0] is history:
            walk.refuse(f"{SAME} {walk.line(node)}; {COPY}")


def _draw(
    game: Game, walk: WalkArrays, stack: list[Visit], history: History, node: int, actions: tuple[str, ...],
    above: tuple[float, int, int],
) -> None:  # fmt: skip
    """Push the moves of chance at a node, last one first; ``above``: reach and own sequences."""
    reach, row, column = above
    vocabulary, chances = walk.vocabulary, _chances(walk, node, actions, game.probabilities(history))
    for k in range(len(actions) - 1, -1, -1):
        action = actions[k]
        code = vocabulary.get(action, -1)
        if code < 0:
            code = vocabulary[action] = len(vocabulary)
        stack.append((game.child(history, action), node, code, chances[k], reach * chances[k], row, column))
    if stack[-1][0] is history:
        walk.refuse(f"{SAME} {walk.line(node)}; {COPY}")


def _checked_actions(walk: WalkArrays, returned: object, node: int) -> tuple[str, ...]:
    """Check actions that are not a list or tuple; raise GameError if there are none."""
    actions = checked_actions(walk.name, returned, walk.place(node))
    if not actions:
        walk.refuse(f"has no action at {walk.line(node)}, which is not terminal; return TERMINAL from mover there.")
    return actions


def _refuse_mover(walk: WalkArrays, mover: int, node: int) -> None:
    walk.refuse(
        f"says mover {mover!r} at {walk.line(node)}; treeplex solves games of two players: 0, 1, CHANCE or TERMINAL."
    )


def _check_size(game: Game, walk: WalkArrays, node: int, history: History, watch: Watch, report: Report | None) -> None:
    """Check from time to time that the game is neither too large nor endless; raise GameError if it is."""
    watch.check_memory(node, partial(walk.depth, node))
    if (node + 1) & node == 0 or node % CHECK_EVERY == CHECK_EVERY - 1:
        watch.check_line(walk.depth(node), history)
    if node == ESTIMATE_AT - 1 or node % CHECK_EVERY == CHECK_EVERY - 1:
        require(walk.name, node, BYTES_PER_NODE, "more than")
    if node == ESTIMATE_AT - 1:
        require(walk.name, likely_nodes(game) // DOUBT, BYTES_PER_NODE, "by a cautious estimate more than")
    if node % CHECK_EVERY == CHECK_EVERY - 1:
        if node > MOST_NODES:
            walk.refuse(f"has more than {MOST_NODES:,} nodes, which a tree cannot number.")
        if report:
            report(node)


def _add_infoset(
    walk: WalkArrays, player: PlayerInfosets, label: str, actions: tuple[str, ...], own: int, node: int
) -> int:
    """Add a new infoset and number its sequences."""
    checked_label(walk.name, label, walk.place(node))
    _check_labels(walk, node, actions)
    infoset = len(player.parent)
    player.index[label] = infoset
    player.parent.append(own)
    player.seen.append(node)
    player.choices.append(actions)
    player.first.append(player.first[-1] + len(actions))
    player.codes.extend([walk.vocabulary.setdefault(action, len(walk.vocabulary)) for action in actions])
    return infoset


def _check_labels(walk: WalkArrays, node: int, actions: tuple[str, ...]) -> None:
    """Raise GameError unless labels of actions are distinct texts."""
    try:
        known = actions in walk.choices
    except TypeError:  # one cannot be hashed, so it is not a text
        known = False
    if not known:
        checked_actions(walk.name, actions, walk.place(node))
        if len(set(actions)) != len(actions):
            shown = brief(", ".join(actions))
            walk.refuse(f"repeats an action label at {walk.line(node)}: {shown}; labels must differ.")
        walk.choices.add(actions)


def _disagree(
    walk: WalkArrays, mover: int, infoset: int, label: str, actions: tuple[str, ...], own: int, node: int
) -> NoReturn:
    player = walk.players[mover]
    here, there = walk.line(node), walk.line(player.seen[infoset])
    if player.choices[infoset] != actions:
        walk.refuse(
            f"offers different actions in infoset '{one_line(label)}' of player {mover}:"
            f" {', '.join(player.choices[infoset])} at {there} but {', '.join(map(str, actions))} at {here}."
        )
    walk.refuse(
        f"has no perfect recall: at infoset '{one_line(label)}' player {mover} cannot tell {there} from {here}, though"
        " they moved or knew differently on the way; put all a player has done and seen into the infoset label."
    )


def _chances(walk: WalkArrays, node: int, actions: tuple[str, ...], returned: Sequence[float]) -> list[float]:
    _check_labels(walk, node, actions)
    if isinstance(returned, list | tuple):
        try:
            if len(returned) == len(actions) and abs(math.fsum(returned) - 1.0) <= TOLERANCE and min(returned) >= 0.0:
                return [float(chance) for chance in returned]
        except (TypeError, ValueError, OverflowError):
            pass  # the checks below report the error
    chances = checked_probabilities(walk.name, returned, walk.place(node))
    if len(chances) != len(actions):
        walk.refuse(f"gives {len(chances)} probabilities for {len(actions)} chance outcomes at {walk.line(node)}.")
    total = math.fsum(chances) if all(map(math.isfinite, chances)) else sum(chances)
    if not all(chance >= 0.0 for chance in chances) or not abs(total - 1.0) <= TOLERANCE:
        walk.refuse(
            f"has chance probabilities at {walk.line(node)} that are not a distribution: they add up to {total}."
        )
    return chances


def _settle(walk: WalkArrays, node: int, payoff: object) -> float:
    """Return player 0's payoff, and record the sum of both players' payoffs."""
    if type(payoff) is float:
        own, total = payoff, 0.0
    else:
        own, other = checked_payoffs(walk.name, payoff, walk.place(node))
        total = own + other
    if not (math.isfinite(own) and math.isfinite(total)):
        walk.refuse(f"has a payoff that is not a finite number at {walk.line(node)}: {quoted(payoff)}.")
    walk.sums.append(total)
    walk.ends.append(node)
    return own


def _constant(walk: WalkArrays) -> float:
    sums = np.frombuffer(walk.sums)
    largest = max(float(np.abs(np.frombuffer(walk.payoff)).max()), float(np.abs(sums).max()))
    low, high = int(sums.argmin()), int(sums.argmax())
    if sums[high] - sums[low] > TOLERANCE * largest:
        walk.refuse(
            f"is not zero-sum nor constant-sum: the players' payoffs add up to {sums[low]:g} at"
            f" {walk.line(walk.ends[low])} but to {sums[high]:g} at {walk.line(walk.ends[high])}."
        )
    return float(sums[0]) if abs(sums[0]) > TOLERANCE * largest else 0.0


def _where(walk: WalkArrays, local: dict[str, Any]) -> str:
    return walk.line(local["node"]) if "node" in local else f"history {quoted(local['history'])}"


def _tree(walk: WalkArrays) -> HistoryTree:
    parents = walk.parent
    size = array("i", [1]) * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        size[parents[node]] += size[node]
    return HistoryTree(
        mover=np.frombuffer(walk.mover, dtype=np.int8).copy(),
        parent=_ints(parents),
        size=_ints(size),
        infoset=_ints(walk.infoset),
        action=_ints(walk.action),
        probability=np.frombuffer(walk.probability).copy(),
        payoff=np.frombuffer(walk.payoff).copy(),
    )


def _ints(values: array[int]) -> Ints:
    return np.frombuffer(values, dtype=np.int32).copy() if len(values) else np.empty(0, dtype=np.int32)
