"""A policy: what both players do at every infoset, by label, immutable, as a table on disk."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from treeplex import arrow
from treeplex.arrays import Floats, Ints, frozen
from treeplex.arrow import Indices, Texts
from treeplex.compile.game import CompiledGame
from treeplex.errors import FormatError, ParameterError
from treeplex.files import replace_text
from treeplex.games.openspiel import OpenSpielGame, from_tabular, to_tabular

FORMAT = "treeplex-policy-1"
TOLERANCE = 1e-6  # how far from one the probabilities of an infoset may add up
EXACT = 1e-12  # within this they are left as they are

TYPES: arrow.Types = {"player": pa.int8(), "infoset": pa.string(), "action": pa.string(), "probability": pa.float64()}

Row = tuple[int, str, str, float]
"""Player, infoset, action, probability."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """One player's part: infoset ``i`` plays ``actions[k]`` with ``probability[k]`` for k from first[i] to first[i+1].

    Entry 0 stands for the empty sequence, as in a treeplex.
    """

    infosets: Texts  # [I]
    first: Ints  # [I + 1]
    actions: Texts  # [S], "" for the empty sequence
    probability: Floats  # [S]

    @cached_property
    def index(self) -> dict[str, int]:
        """Infosets by label."""
        return {label: i for i, label in enumerate(arrow.unpacked(self.infosets))}

    def at(self, infoset: int) -> dict[str, float]:
        """Action -> probability."""
        own = slice(int(self.first[infoset]), int(self.first[infoset + 1]))
        return dict(zip(arrow.unpacked(self.actions[own]), self.probability[own].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Policy:
    """Both players' strategies.

    ``policy["K check"]`` is a dict from action to probability; ``policy[1, "K check"]`` says which player's, where
    both have an infoset of that label.
    """

    game: str
    strategies: tuple[Strategy, Strategy]

    @staticmethod
    def of(game: CompiledGame, strategies: tuple[Floats, Floats]) -> Policy:
        """The policy with these probabilities, in the order of the game's sequences. The arrays are copied."""
        vocabulary = arrow.texts([*game.actions, ""])

        def strategy(player: int) -> Strategy:
            infosets, codes = game.labels[player]
            actions = arrow.take(vocabulary, np.where(codes < 0, len(game.actions), codes))
            probability = np.array(strategies[player], dtype=np.float64)
            probability[0] = 1.0
            return Strategy(infosets, frozen(game.treeplexes[player].first.copy()), actions, frozen(probability))

        return Policy(game.name, (strategy(0), strategy(1)))

    @staticmethod
    def uniform(game: CompiledGame) -> Policy:
        """Every action of an infoset equally likely."""
        first, second = (
            np.concatenate(([1.0], np.repeat(1.0 / treeplex.actions, treeplex.actions))) for treeplex in game.treeplexes
        )
        return Policy.of(game, (first, second))

    @staticmethod
    def from_rows(rows: Iterable[Row], game: str = "") -> Policy:
        """A policy from (player, infoset, action, probability) rows in any order."""
        try:
            columns = list(zip(*rows, strict=True)) or [()] * len(TYPES)
            return _from_table(arrow.table(dict(zip(TYPES, columns, strict=True)), TYPES), game)
        except (ValueError, TypeError, OverflowError, arrow.ArrowError) as error:
            raise ParameterError(f"The rows are no policy: {_reason(error)}.") from error

    @staticmethod
    def from_openspiel(policy: Any, game: str = "") -> Policy:
        """The policy that a ``TabularPolicy`` of OpenSpiel holds, by OpenSpiel's own labels."""
        return Policy.from_rows(from_tabular(policy), game)

    def to_openspiel(self, game: Any) -> Any:
        """A ``TabularPolicy`` for a pyspiel game, or the name of one, whose labels this policy uses."""
        return to_tabular(OpenSpielGame(game).game, lambda player, label: self[player, label])

    def __getitem__(self, key: str | tuple[int, str]) -> dict[str, float]:
        player, label = _key(key)
        owners = [p for p in (0, 1) if player in (None, p) and label in self.strategies[p].index]
        if len(owners) == 1:
            strategy = self.strategies[owners[0]]
            return strategy.at(strategy.index[label])
        if owners:
            raise ParameterError(
                f"Both players have an infoset '{label}'; ask for policy[0, '{label}'] or policy[1, ...]."
            )
        known = [name for p in (0, 1) if player in (None, p) for name in self.strategies[p].index]
        near = difflib.get_close_matches(label, known, n=3, cutoff=0.0) or ["none"]
        whom = "" if player is None else f" for player {player}"
        raise ParameterError(f"There is no infoset '{label}'{whom}; the nearest are {', '.join(map(repr, near))}.")

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for player, strategy in enumerate(self.strategies):
            for label in strategy.index:
                yield player, label

    def __len__(self) -> int:
        return sum(len(strategy.infosets) for strategy in self.strategies)

    def __repr__(self) -> str:
        counts = " + ".join(str(len(strategy.infosets)) for strategy in self.strategies)
        return f"Policy({self.game or 'unnamed game'}: {counts} infosets)"

    def items(self) -> Iterator[tuple[tuple[int, str], dict[str, float]]]:
        """((player, infoset), {action: probability}) of every infoset."""
        for player, strategy in enumerate(self.strategies):
            for i, label in enumerate(arrow.unpacked(strategy.infosets)):
                yield (player, label), strategy.at(i)

    def rows(self) -> Iterator[Row]:
        """(player, infoset, action, probability), one row per action."""
        for (player, label), actions in self.items():
            for action, probability in actions.items():
                yield player, label, action, probability

    def aligned(self, game: CompiledGame) -> tuple[Floats, Floats]:
        """Probabilities in the order of the game's sequences; refused unless the infosets are just the game's."""
        return _align(self, game, 0), _align(self, game, 1)

    def save(self, path: str | Path) -> None:
        """Write to ``path``: JSON if it ends in .json, Parquet otherwise."""
        path = Path(path)
        if path.suffix != ".json":
            arrow.write_parquet(self.table(), path)
            return
        players: list[dict[str, dict[str, float]]] = [{}, {}]
        for (player, label), actions in self.items():
            players[player][label] = actions
        replace_text(path, json.dumps({"format": FORMAT, "game": self.game, "players": players}, indent=1))

    def table(self) -> arrow.Table:
        """Columns player, infoset, action, probability: one row per action."""
        both = self.strategies
        infosets = [arrow.take(s.infosets, np.repeat(np.arange(len(s.infosets)), np.diff(s.first))) for s in both]
        columns = {
            "player": np.repeat(np.array([0, 1], dtype=np.int8), [len(labels) for labels in infosets]),
            "infoset": arrow.stacked(infosets),
            "action": arrow.stacked([strategy.actions[1:] for strategy in both]),
            "probability": np.concatenate([strategy.probability[1:] for strategy in both]),
        }
        return arrow.table(columns, TYPES, {"format": FORMAT, "game": self.game})

    @staticmethod
    def load(path: str | Path) -> Policy:
        """Read a policy from Parquet or JSON, whichever the file is."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                is_parquet = file.read(4) == b"PAR1"
            if not is_parquet:
                return _read_json(path)
            table = arrow.read_parquet(path, TYPES)
            return _from_table(table, arrow.about(table).get("game", ""))
        except FileNotFoundError:
            raise ParameterError(f"There is no policy file {path}.") from None
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError, ArithmeticError) as error:
            reason = _reason(error)
            raise FormatError(f"not a policy of treeplex, in Parquet or JSON ({reason}).", path=str(path)) from error


def _key(key: Any) -> tuple[int | None, str]:
    """Player (None: either) and label that a key asks for."""
    match key:
        case str():
            return None, key
        case tuple((0, str(label))):
            return 0, label
        case tuple((1, str(label))):
            return 1, label
        case _:
            raise ParameterError(
                f"A policy is asked for an infoset as policy['label'] or policy[player, 'label'], got {key!r}."
            )


def _reason(error: Exception) -> str:
    """What went wrong, in one line."""
    return " ".join(str(error).split()).removesuffix(".") or type(error).__name__


def _read_json(path: Path) -> Policy:
    document: Any = json.loads(path.read_text(encoding="utf-8"))
    players: Sequence[Mapping[str, Mapping[str, float]]] = document["players"]
    if len(players) != 2:
        raise ValueError("'players' must be a list of two")
    rows = (
        (player, label, action, float(probability))
        for player, infosets in enumerate(players)
        for label, actions in infosets.items()
        for action, probability in actions.items()
    )
    return Policy.from_rows(rows, str(document.get("game", "")))


def _from_table(table: arrow.Table, game: str) -> Policy:
    """Rows of both players, in any order."""
    player = arrow.numbers(table, "player")
    if not np.isin(player, (0, 1)).all():
        raise ValueError("players must be 0 and 1")
    infoset, action = arrow.text_column(table, "infoset"), arrow.text_column(table, "action")
    probability = arrow.numbers(table, "probability")
    first, second = (
        _strategy(arrow.take(infoset, own), arrow.take(action, own), probability[own], p)
        for p, own in enumerate((np.flatnonzero(player == 0), np.flatnonzero(player == 1)))
    )
    return Policy(game, (first, second))


def _strategy(infoset: Texts, action: Texts, given: Floats, player: int) -> Strategy:
    """Rows of one player, gathered by infoset in the order of first appearance."""
    labels, codes = arrow.grouped(infoset)
    order = np.argsort(codes, kind="stable")
    first = np.concatenate(([1], 1 + np.cumsum(np.bincount(codes, minlength=len(labels))))).astype(np.int32)
    actions = arrow.stacked([arrow.texts([""]), arrow.take(action, order)])
    probability = np.concatenate(([1.0], given[order]))
    _distributions(labels, first, probability, player)
    pairs, _ = arrow.grouped(_pairs(np.arange(len(labels)), first, actions))
    if len(pairs) != len(actions) - 1:
        raise ValueError(f"an infoset of player {player} lists an action twice")
    return Strategy(labels, frozen(first), actions, frozen(probability))


def _distributions(labels: Texts, first: Ints, probability: Floats, player: int) -> None:
    """Refuse what is no probability distribution; make those exact that are off by rounding."""
    if len(labels) == 0:
        return
    totals = np.add.reduceat(probability, first[:-1])
    lowest = np.minimum.reduceat(probability, first[:-1])
    wrong = np.flatnonzero(~(np.abs(totals - 1.0) <= TOLERANCE) | ~(lowest >= 0.0))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"at infoset '{labels[at]}' of player {player} the probabilities are not a distribution: lowest"
            f" {lowest[at]:g}, sum {totals[at]:g}"
        )
    rough = np.abs(totals - 1.0) > EXACT
    probability[1:] /= np.repeat(np.where(rough, totals, 1.0), np.diff(first))


def _pairs(infosets: Indices, first: Ints, actions: Texts) -> Texts:
    """[S - 1] the number of its infoset and the action of every sequence, in one string."""
    return arrow.joined(arrow.numerals(np.repeat(infosets, np.diff(first))), actions[1:], " ")


def _align(policy: Policy, game: CompiledGame, player: int) -> Floats:
    own, labels = policy.strategies[player], game.labels[player]
    if own.infosets is labels.infosets:  # made for this very game
        return own.probability
    theirs = set(own.index)
    ours = game.infoset_index[player]
    for some, place, missing in ((ours, "policy", set(ours) - theirs), (theirs, "game", theirs - set(ours))):
        if missing:
            raise ParameterError(
                f"The policy is not one for {game.name}: {len(missing)} of {len(some)} infosets of player {player} are"
                f" not in the {place}, such as '{min(missing)}'."
            )
    wanted = Policy.of(game, (np.ones(game.treeplexes[0].sequences), np.ones(game.treeplexes[1].sequences)))
    target = wanted.strategies[player]
    place = arrow.found_at(target.infosets, own.infosets)
    where = arrow.found_at(
        _pairs(place, target.first, target.actions), _pairs(np.arange(len(own.infosets)), own.first, own.actions)
    )
    if (where < 0).any() or len(own.actions) != len(target.actions):
        raise ParameterError(
            f"The policy is not one for {game.name}: some infosets of player {player} have the right labels but other"
            " actions."
        )
    return np.concatenate(([1.0], own.probability[1:][where]))
