"""Policies: both players' strategies by infoset label, immutable, and stored as a table on disk."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from treeplex import arrow
from treeplex.arrays import Floats, frozen
from treeplex.compile.game import CompiledGame
from treeplex.compile.source import compiled
from treeplex.errors import FormatError, ParameterError, TreeplexError, brief, quoted
from treeplex.files import replace_text
from treeplex.games.catalog import make
from treeplex.games.openspiel import OpenSpielPolicy, from_tabular
from treeplex.games.suits import FoldedGame
from treeplex.html import html_table
from treeplex.policies.keys import Key, key_of, numbers_of, owner_of
from treeplex.policies.openspiel import to_openspiel
from treeplex.policies.strategy import EXACT, TOLERANCE, TYPES, Row, Strategy, gathered, pairs_of

FORMAT = "treeplex-policy-1"
MOST_SHOWN = 10  # number of infosets per player that a notebook shows


@dataclass(frozen=True, eq=False)
class Policy:
    """Both players' strategies. Two policies are equal if all their probabilities are.

    ``policy["K check"]`` is a dict from action to probability. If both players have an infoset of that label, add the
    player: ``policy[1, "K check"]``.
    """

    game: str
    strategies: tuple[Strategy, Strategy]

    @staticmethod
    def of(game: CompiledGame, strategies: tuple[Floats, Floats]) -> Policy:
        """Build a policy from probabilities in the order of the game's sequences. The arrays are copied."""
        vocabulary = arrow.texts([*game.actions, ""])

        def strategy(player: int) -> Strategy:
            infosets, codes = game.labels[player]
            actions = arrow.take(vocabulary, np.where(codes < 0, len(game.actions), codes))
            probability = np.array(strategies[player], dtype=np.float64)
            probability[0] = 1.0
            return Strategy(infosets, frozen(game.treeplexes[player].first.copy()), actions, frozen(probability))

        return Policy(game.name, (strategy(0), strategy(1)))

    @staticmethod
    def uniform(game: CompiledGame | Any) -> Policy:
        """Return the policy that plays all actions equally often.

        ``game`` is a compiled game, or anything that stands for one.
        """
        game = compiled(game)
        first, second = (
            np.concatenate(([1.0], np.repeat(1.0 / treeplex.actions, treeplex.actions))) for treeplex in game.treeplexes
        )
        return Policy.of(game, (first, second))

    @staticmethod
    def from_rows(rows: Iterable[Row], game: str = "") -> Policy:
        """Build a policy from (player, infoset, action, probability) rows in any order."""
        try:
            columns = list(zip(*rows, strict=True)) or [()] * len(TYPES)
            return Policy(game, gathered(arrow.table(dict(zip(TYPES, columns, strict=True)), TYPES)))
        except (ValueError, TypeError, OverflowError, arrow.ArrowError) as error:
            raise ParameterError(f"The rows are not a policy: {_reason(error)}.") from error

    @staticmethod
    def from_dict(strategies: Mapping[Key, Mapping[str, float]], game: Any = "") -> Policy:
        """Build a policy from ``{(player, infoset): {action: probability}}``, the inverse of ``dict(policy.items())``.

        ``game`` is a compiled game or anything that stands for one. With it, a label without the player is sufficient
        if only one player has it, and actions that are left out have probability 0. Without it, the policy's ``game``
        is ``""``.
        """
        loaded = compiled(game) if game != "" else None  # pyright: ignore[reportUnnecessaryComparison]
        rows: list[Row] = []
        for key, actions in strategies.items():
            player, label = owner_of(key, loaded)
            chosen = numbers_of(label, actions)
            index = -1 if loaded is None else loaded.infoset_index[player].get(label, -1)
            legal = loaded.actions_at(player, index) if loaded is not None and index >= 0 else []
            chosen = {action: chosen.pop(action, 0.0) for action in legal} | chosen
            rows += [(player, label, action, probability) for action, probability in chosen.items()]
        return Policy.from_rows(rows, "" if loaded is None else loaded.name)

    @staticmethod
    def from_openspiel(policy: OpenSpielPolicy, game: Any = None) -> Policy:
        """Convert any policy of OpenSpiel, keeping OpenSpiel's labels.

        ``game``: a pyspiel game or its name, required if the policy does not store its game.
        """
        own = getattr(policy, "game", None) if game is None else game
        name = own if isinstance(own, str) else "" if own is None else f"openspiel:{str(own).removesuffix('()')}"
        return Policy.from_rows(from_tabular(policy, game), name)

    def to_openspiel(self, game: Any = None) -> Any:
        """Convert to a ``TabularPolicy`` of ``game``, a pyspiel game or its name. Default: the policy's own game.

        Policies of ``kuhn``, ``leduc(suits=true)`` and other games whose labels differ in OpenSpiel are translated, by
        walking both trees together.
        """
        return to_openspiel(self.game, lambda player, label: self[player, label], game)

    def lifted(self, game: Any = None) -> Policy:
        """Lift a policy of a game by suit isomorphism to the whole game, in which every card is distinguished.

        ``game``: the policy's game, compiled or anything that stands for one. Default: the game of that name.
        """
        own = compiled(self.game if game is None else game)
        if own.lifting is None:
            raise ParameterError(f"The policy cannot be lifted, because {own.name} does not merge hands or boards.")
        return Policy.of(*own.lifting.strategies((own, self.aligned(own))))

    def replace(self, changes: Mapping[Key, Mapping[str, float]]) -> Policy:
        """Return a copy with other strategies at some infosets; actions that are left out have probability 0.

        Example: ``policy.replace({"J check": {"call": 1.0}})`` always calls there.
        """
        probability = [strategy.probability.copy() for strategy in self.strategies]
        for key, actions in changes.items():
            player, label = self._locate(key)
            strategy, chosen = self.strategies[player], numbers_of(label, actions)
            infoset = strategy.index[label]
            legal = list(strategy.at(infoset))
            total, strange = sum(chosen.values()), [action for action in chosen if action not in legal]
            if strange:
                raise ParameterError(
                    f"The actions of infoset {quoted(label)} are {brief(', '.join(legal))}, got {quoted(strange[0])}."
                )
            if not abs(total - 1.0) <= TOLERANCE or min(chosen.values()) < 0.0:
                raise ParameterError(f"The probabilities of infoset {quoted(label)} must add up to 1, got {total:g}.")
            scale = total if abs(total - 1.0) > EXACT else 1.0
            own = slice(int(strategy.first[infoset]), int(strategy.first[infoset + 1]))
            probability[player][own] = [chosen.get(action, 0.0) / scale for action in legal]
        first, second = (
            Strategy(old.infosets, old.first, old.actions, frozen(new))
            for old, new in zip(self.strategies, probability, strict=True)
        )
        return Policy(self.game, (first, second))

    def __getitem__(self, key: Key) -> dict[str, float]:
        player, label = self._locate(key)
        return self.strategies[player].at(self.strategies[player].index[label])

    def get(self, key: Key, default: Any = None) -> Any:
        """Return ``policy[key]``, or ``default`` if there is no such infoset."""
        return self[key] if key in self else default  # noqa: SIM401 - this is ``get``

    def __contains__(self, key: object) -> bool:
        try:
            player, label = key_of(key)
        except ParameterError:
            return False
        return any(label in self.strategies[p].index for p in (0, 1) if player in (None, p))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return all(ours.same_as(theirs) for ours, theirs in zip(self.strategies, other.strategies, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(len(strategy.infosets) for strategy in self.strategies))

    def _locate(self, key: object) -> tuple[int, str]:
        """Return player and label of an infoset; raise ParameterError if there is none, or one of each player."""
        player, label = key_of(key)
        owners = [p for p in (0, 1) if player in (None, p) and label in self.strategies[p].index]
        if len(owners) == 1:
            return owners[0], label
        shown = quoted(label)
        if owners:
            raise ParameterError(f"Both players have an infoset {shown}; ask for policy[0, {shown}] or policy[1, ...].")
        known = [name for p in (0, 1) if player in (None, p) for name in self.strategies[p].index]
        near = difflib.get_close_matches(label[:200], known, n=3, cutoff=0.0)
        whom = "" if player is None else f" for player {player}"
        advice = f"; the nearest are {', '.join(map(quoted, near))}" if near else ""
        raise ParameterError(f"There is no infoset {shown}{whom}{advice}.")

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
        """Yield ((player, infoset), {action: probability}) for every infoset."""
        for player, strategy in enumerate(self.strategies):
            for i, label in enumerate(arrow.unpacked(strategy.infosets)):
                yield (player, label), strategy.at(i)

    def rows(self) -> Iterator[Row]:
        """Yield (player, infoset, action, probability), one row per action."""
        for (player, label), actions in self.items():
            for action, probability in actions.items():
                yield player, label, action, probability

    def aligned(self, game: CompiledGame) -> tuple[Floats, Floats]:
        """Return probabilities in the order of the game's sequences.

        Raises ParameterError unless the policy has exactly the infosets and actions of the game.
        """
        return _align(self, game, 0), _align(self, game, 1)

    def save(self, path: str | Path) -> None:
        """Write the policy to ``path``: JSON if it ends in .json, otherwise Parquet."""
        path = Path(path)
        if path.suffix != ".json":
            arrow.write_parquet(self.table(), path)
            return
        players: list[dict[str, dict[str, float]]] = [{}, {}]
        for (player, label), actions in self.items():
            players[player][label] = actions
        replace_text(path, json.dumps({"format": FORMAT, "game": self.game, "players": players}, indent=1))

    def table(self) -> arrow.Table:
        """Return a table with columns player, infoset, action and probability, one row per action."""
        both = self.strategies
        infosets = [arrow.take(s.infosets, np.repeat(np.arange(len(s.infosets)), np.diff(s.first))) for s in both]
        columns = {
            "player": np.repeat(np.array([0, 1], dtype=np.int8), [len(labels) for labels in infosets]),
            "infoset": arrow.stacked(infosets),
            "action": arrow.stacked([strategy.actions[1:] for strategy in both]),
            "probability": np.concatenate([strategy.probability[1:] for strategy in both]),
        }
        return arrow.table(columns, TYPES, {"format": FORMAT, "game": self.game})

    def to_pandas(self) -> Any:
        """Return ``table()`` as a pandas data frame; needs the ``pandas`` extra."""
        return arrow.frame(self.table())

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str, str]] = []
        for player, strategy in enumerate(self.strategies):
            for i, label in enumerate(arrow.unpacked(strategy.infosets[:MOST_SHOWN])):
                plays = ", ".join(f"{action} {probability:.3f}" for action, probability in strategy.at(i).items())
                rows.append((str(player), label, plays))
            if len(strategy.infosets) > MOST_SHOWN:
                rows.append((str(player), f"... {len(strategy.infosets) - MOST_SHOWN:,} more", ""))
        return html_table(repr(self), ("player", "infoset", "plays"), rows)

    @staticmethod
    def load(path: str | Path, game: CompiledGame | None = None) -> Policy:
        """Read a policy from a Parquet or JSON file; the content decides which it is.

        A file with more rows than ``game`` has actions is rejected before it is read.
        """
        if not isinstance(path, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ParameterError(f"A policy must be a Policy, a dict or the path of a file, got {quoted(path)}.")
        path = Path(path)
        most = None if game is None else sum(treeplex.sequences for treeplex in game.treeplexes) - 2
        try:
            with path.open("rb") as file:
                is_parquet = file.read(4) == b"PAR1"
            if not is_parquet:
                return _read_json(path)
            table = arrow.read_parquet(path, TYPES, most)
            return Policy(arrow.about(table).get("game", ""), gathered(table))
        except FileNotFoundError:
            raise ParameterError(f"There is no policy file {quoted(path)}.") from None
        except Exception as error:  # a file that is not a policy may cause any error
            reason = _reason(error)
            raise FormatError(
                f"not a policy of treeplex, in Parquet or JSON ({reason}).", path=quoted(path)[1:-1]
            ) from error


PolicySource = Policy | str | Path | Mapping[Any, Mapping[str, float]] | OpenSpielPolicy
"""A policy, the path of one, a dictionary, or a policy of OpenSpiel."""


def policy_of(source: PolicySource, game: CompiledGame) -> Policy:
    """Return the policy for ``game`` from a policy, a file, a dictionary or a policy of OpenSpiel."""
    if isinstance(source, Policy):
        return _for(game, source)
    if isinstance(source, Mapping):
        return Policy.from_dict(cast(Mapping[Key, Mapping[str, float]], source), game)
    if isinstance(source, OpenSpielPolicy):
        return Policy.from_openspiel(source, game.name if game.name.startswith("openspiel:") else None)
    return _for(game, Policy.load(source, game))


def _for(game: CompiledGame, policy: Policy) -> Policy:
    """Return the policy, lifted if ``game`` is the whole game and the policy is by suit isomorphism."""
    if policy.game == game.name or game.dealt is None:
        return policy
    try:
        rules = make(policy.game)
    except TreeplexError:
        return policy  # a game that is not in the catalog
    return policy.lifted() if isinstance(rules, FoldedGame) and rules.whole.name == game.name else policy


def _reason(error: Exception) -> str:
    """Text of an error, on one line."""
    shown = " ".join(str(error)[:1000].split()).removesuffix(".") or type(error).__name__
    return shown if len(shown) <= 160 else f"{shown[:159]}…"


def _read_json(path: Path) -> Policy:
    document: Any = json.loads(path.read_text(encoding="utf-8"))
    players: Any = document["players"]
    if not isinstance(players, list) or len(cast(list[Any], players)) != 2:
        raise ValueError("'players' must be a list of two")
    rows = [
        (player, label, action, probability)
        for player, infosets in enumerate(cast(list[Any], players))
        for label, actions in infosets.items()
        for action, probability in numbers_of(label, actions).items()
    ]
    return Policy.from_rows(rows, str(document.get("game", "")))


def _align(policy: Policy, game: CompiledGame, player: int) -> Floats:
    own, labels = policy.strategies[player], game.labels[player]
    if own.infosets is labels.infosets:  # made for this very game
        return own.probability
    theirs = set(own.index)
    ours = game.infoset_index[player]
    for some, absent_from, missing in ((ours, "policy", set(ours) - theirs), (theirs, "game", theirs - set(ours))):
        if missing:
            raise ParameterError(
                f"The policy is not one for {game.name}: {len(missing)} of {len(some)} infosets of player {player} are"
                f" not in the {absent_from}, such as {quoted(min(missing))}."
            )
    uniform_target = Policy.of(game, (np.ones(game.treeplexes[0].sequences), np.ones(game.treeplexes[1].sequences)))
    target = uniform_target.strategies[player]
    index = arrow.first_indices(target.infosets, own.infosets)
    where = arrow.first_indices(
        pairs_of(index, target.first, target.actions), pairs_of(np.arange(len(own.infosets)), own.first, own.actions)
    )
    if (where < 0).any() or len(own.actions) != len(target.actions):
        raise ParameterError(
            f"The policy is not one for {game.name}: some infosets of player {player} have the right labels but other"
            " actions."
        )
    return np.concatenate(([1.0], own.probability[1:][where]))
