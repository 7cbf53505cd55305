"""The initial public tree, from rules with sizes, and subgames that are added later.

If payoffs are proportional to a size's payoff scale, new subgames are copied from the tree and scaled. Otherwise they
are built from the rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.arrays import NONE, UNSIZED, Nodes
from treeplex.engines.public.cpu.growing import rematch
from treeplex.engines.public.states import PublicState, every_state
from treeplex.engines.public.tree import DTYPES, Block, GrowingTree, fresh_rows
from treeplex.errors import GameError, ParameterError, quoted
from treeplex.games.dealt import Public
from treeplex.games.mapping import most_likely
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.sized import ActionMenu, Menu, candidates_of, interval_of, is_finite, sized_label

PROPORTION: Final = 1e-9  # relative tolerance of the check that payoffs are proportional to the payoff scale


@dataclass(frozen=True)
class Guide:
    """A node of the tree that serves as a model for one of a new subgame, such as one after a neighbouring size."""

    tree: GrowingTree
    words: list[str]
    node: int

    def sizes(self) -> list[float]:
        """Return the sizes in the tree at this node."""
        sizes = self.tree.nodes.size
        return [float(sizes[child]) for child in self.tree.children(self.node) if sizes[child] > 0.0]

    def after(self, action: str) -> Guide | None:
        """Return the guide after an action without a size."""
        nodes = self.tree.nodes
        for child in self.tree.children(self.node):
            if nodes.size[child] <= 0.0 and self.words[int(nodes.word[child])] == action:
                return Guide(self.tree, self.words, child)
        return None

    def after_size(self, size: float, unit: float) -> Guide | None:
        """Return the guide after the size that this one is most likely read as: itself, if it is in the tree here."""
        sizes = self.sizes()
        if not sizes:
            return None
        like = most_likely(sizes, size, unit)
        matching = (child for child in self.tree.children(self.node) if self.tree.nodes.size[child] == like)
        return Guide(self.tree, self.words, next(matching))


class TreeMove(NamedTuple):
    """The move that led to a state."""

    parent: int = NONE
    size: float = UNSIZED
    word: int = NONE
    fold_out: bool = False  # ends the game with a payoff that does not depend on the size of the move before
    twin: Public = None  # after a sized move: the state that another size would have led to
    guide: Guide | None = None  # its sizes are used as well, where they are legal


@dataclass
class Builder:
    """Builds rows, and stores the meanings of their numbers."""

    rules: ActionMenu
    menu: Menu
    words: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        first, second = (len(hands) for hands in self.rules.hands())
        self.hands = max(first, second)
        deal = np.zeros((self.hands, self.hands))
        deal[:first, :second] = self.rules.deal()
        self.joints: list[Floats] = [deal]  # probability of hands and public cards, for each pair of hands
        self._tables: list[Floats] = []
        self._intervals: list[tuple[float, float]] = []
        self._numbers: dict[Hashable, int] = {}
        self._finite = self.rules if is_finite(self.rules) else None
        self.states: list[PublicState] = []  # all of them, if the rules list their sizes
        if self._finite is not None:
            self.states = every_state(self._finite, self.joint, self._reveal, self._table)
            for state in self.states:
                for word in (*state.plain, *((state.word,) if state.sized else ())):
                    self._word(word)
                self._key((state.sizes[0], state.sizes[-1]) if state.sized else None)

    def whole(self) -> Block:
        """Return the game from its start, with the sizes in the abstraction."""
        block = self._from(self.rules.start(), 0, (), TreeMove())
        if self._finite is None:
            self._check(block.nodes)
        return block

    def behind(self, state: PublicState, size: float, line: tuple[str, ...], guide: Guide | None) -> Block:
        """Return the subgame after a legal size, built from the rules; ``line`` leads to it.

        It has the sizes of the menu, and those of ``guide`` that are legal.
        """
        public = self.states[state.sized[size]].public
        return self._from(public, state.cards, line, TreeMove(NONE, size, self._word(state.word), guide=guide))

    def _from(self, public: Public, cards: int, line: tuple[str, ...], move: TreeMove) -> Block:
        fields: dict[str, list[Any]] = {name: [] for name in Nodes._fields}
        self._add(fields, public, cards, line, move)
        nodes = Nodes._make(np.array(column, dtype=DTYPES[name]) for name, column in fields.items())
        rows = fresh_rows(len(nodes.parent), self.hands)
        rematch(nodes, rows.regret, rows.strategy, 0, len(nodes.parent))
        return Block(nodes, rows)

    @property
    def bounds(self) -> Floats:
        """[key, 2] The smallest and the largest legal size."""
        return np.array(self._intervals, dtype=np.float64).reshape(-1, 2)

    @property
    def tables(self) -> Floats:
        """[2, K, H, H] Payoff tables times chance's probabilities, for each player."""
        first = np.stack(self._tables)
        return np.ascontiguousarray(np.stack([first, -first.transpose(0, 2, 1)]))

    def joint(self, number: int) -> Floats:
        """Return [H, H], the probability of both hands and the public cards."""
        return self.joints[number]

    def payoff_scale(self, size: float) -> float:
        """Return the factor of payoffs after this size; 1 if payoffs are not proportional to a scale."""
        scale = self.rules.payoff_scale
        return 1.0 if scale is None else scale[0] + scale[1] * size

    def _check(self, nodes: Nodes) -> None:
        """Raise GameError if payoffs are not proportional to the payoff scale of a size: compare those of two sizes."""
        span = np.ones(len(nodes.parent), dtype=np.int64)
        for n in range(len(nodes.parent) - 1, 0, -1):
            span[nodes.parent[n]] += span[n]
        for n in np.flatnonzero(nodes.size > 0.0).tolist():
            other = int(nodes.sibling[n])
            if other == NONE or span[other] != span[n]:
                continue
            one, two = (slice(begin, begin + int(span[n])) for begin in (n, other))
            at_once = (nodes.parent[one] == n) & (nodes.fold_out[one] == 1)
            ratio = np.where(at_once, 1.0, nodes.scale[other] / nodes.scale[n])
            if not np.allclose(ratio * nodes.amount[one], nodes.amount[two], rtol=PROPORTION, atol=0.0):
                raise GameError(
                    f"The payoffs of {self.rules.name} behind an action of some size are not proportional to its"
                    " payoff scale; check 'payoff_scale' of the rules, or let it be None and list the 'candidates'."
                )

    def _add(
        self, fields: dict[str, list[Any]], public: Public, cards: int, line: tuple[str, ...] | None, move: TreeMove
    ) -> int:
        """Add a state and all that follows; return its number. ``line`` is None unless sizes depend on it."""
        n = len(fields["parent"])
        mover = self.rules.mover(public)
        values = dict.fromkeys(Nodes._fields, NONE) | {"mover": mover, "amount": 0.0, "idle": 0}
        values |= {"parent": move.parent, "fold_out": move.fold_out, "size": move.size, "word": move.word}
        values |= {"scale": self.payoff_scale(move.size) if move.size > 0.0 else 1.0}
        values |= {"deals": int(np.count_nonzero(self.joints[cards])), "cards": cards}
        if mover == TERMINAL:
            values["amount"], outcome = self.rules.settle(public)
            values["table"] = self._table(cards, outcome)
        elif mover != CHANCE:
            values["key"] = self._key(interval_of(self.rules, public))
        for name, column in fields.items():
            column.append(values[name])
        if mover == TERMINAL:
            return n
        older = NONE
        for label, state, revealed, made in self._moves(public, cards, line, move, n):
            child = self._add(fields, state, revealed, None if line is None else (*line, label), made)
            fields["child" if older == NONE else "sibling"][n if older == NONE else older] = child
            older = child
        return n

    def _moves(
        self, public: Public, cards: int, line: tuple[str, ...] | None, move: TreeMove, n: int
    ) -> Iterator[tuple[str, Public, int, TreeMove]]:
        """Yield label, state, public cards and move of every child."""
        rules, mover = self.rules, self.rules.mover(public)
        odds = rules.odds(public) if mover == CHANCE else None
        for k, action in enumerate(rules.actions(public)):
            state = rules.next(public, action)
            revealed = cards if odds is None else self._reveal(cards, odds[k])
            fold_out = move.twin is not None and rules.mover(state) == TERMINAL
            if fold_out:
                fold_out = rules.settle(state) == rules.settle(rules.next(move.twin, action))
            guide = None if move.guide is None else move.guide.after(action)
            yield action, state, revealed, TreeMove(n, UNSIZED, self._word(action), fold_out, guide=guide)
        interval = None if mover == CHANCE else interval_of(rules, public)
        if interval is None:
            return
        word = rules.word(public)
        for size in self._offered(public, line, move.guide):
            made = TreeMove(n, size, self._word(word))
            if self._finite is None:
                made = made._replace(twin=rules.sized(public, interval[1] if size != interval[1] else interval[0]))
            elif move.guide is not None:
                made = made._replace(guide=move.guide.after_size(size, self._finite.unit(public)))
            yield sized_label(word, size), rules.sized(public, size), cards, made

    def _offered(self, public: Public, line: tuple[str, ...] | None, guide: Guide | None) -> Sequence[float]:
        sizes = self.menu.at(self.rules, public, line)
        if self._finite is None:
            return sizes
        if not sizes:
            raise ParameterError(
                f"The abstraction of {self.rules.name} has no size at public state {quoted(public)}, where there are"
                " candidates; name at least one."
            )
        guided = set[float]() if guide is None else set(guide.sizes())
        return sorted(set(sizes) | guided.intersection(candidates_of(self._finite, public)))

    def _word(self, word: str) -> int:
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)

    def _reveal(self, cards: int, odds: Floats) -> int:
        """Return the number of the public cards after another one is dealt."""
        conditional = np.zeros_like(self.joints[cards])
        conditional[: odds.shape[0], : odds.shape[1]] = odds
        joint = self.joints[cards] * conditional
        number = self._numbers.setdefault(joint.tobytes(), len(self.joints))
        if number == len(self.joints):
            self.joints.append(joint)
        return number

    def _table(self, cards: int, outcome: Hashable) -> int:
        number = self._numbers.setdefault((cards, outcome), len(self._tables))
        if number == len(self._tables):
            pays = self.rules.outcome(outcome)
            table = np.zeros_like(self.joints[cards])
            table[: pays.shape[0], : pays.shape[1]] = pays
            self._tables.append(table * self.joints[cards])
        return number

    def _key(self, interval: tuple[float, float] | None) -> int:
        if interval is None:
            return NONE
        if interval not in self._intervals:
            self._intervals.append(interval)
        return self._intervals.index(interval)


class Start(NamedTuple):
    """A tree before the first iteration, and its builder, which stores the meanings of its numbers."""

    builder: Builder
    block: Block


def build(rules: ActionMenu, menu: Menu) -> Start:
    """Build the tree with the sizes of ``menu``."""
    builder = Builder(rules, menu)
    return Start(builder, builder.whole())
