"""Reports of solved hold'em spots: a reader of nodes, EVs, equity, and the strategy at the root."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from treeplex.algorithms.protocol import Extras
from treeplex.algorithms.reports import ProfileReport, TrafficExtras
from treeplex.engines.boards.arrays import VALUE
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.solver import SpotProfile
from treeplex.engines.evaluation import Evaluation
from treeplex.errors import ParameterError
from treeplex.poker.views.reader import Reader
from treeplex.poker.views.view import View


def reader_of(profile: SpotProfile) -> Reader:
    """Return a reader of strategies on the host."""
    return Reader(profile.game, profile.sources, profile.frozen, profile.storage, profile.threads)


class SpotReport(ProfileReport):
    """Strategies of a spot, browsed by line and hand: a table of all infosets would be too large."""

    def policy(self) -> Reader:
        """As ``Report``."""
        host: Any = self.profile.host()
        return reader_of(host)

    def extras(self, evaluation: Evaluation) -> HoldemExtras:
        """As ``Report``: EV of both players, equity, strategy at the root."""
        return HoldemExtras(self.profile, self.memory, evaluation)


class ShardedSpotReport(SpotReport):
    """Strategies of a spot that was cut, to be browsed in the run folder."""

    def host(self) -> ShardedSpotReport:
        """As ``Report``: returns itself."""
        return self

    def policy(self) -> Any:
        """Return None: ``treeplex holdem show`` reads the run folder."""
        return

    def extras(self, evaluation: Evaluation) -> HoldemExtras:
        """As ``SpotReport``, with the network traffic."""
        return ShardedSpotExtras(self.profile, self.memory, evaluation)


class HoldemExtras(Extras):
    """Fields of a spot's solution beyond value and NashConv, in chips unless a name says otherwise."""

    def __init__(self, profile: Any, memory: int, evaluation: Evaluation) -> None:
        self.game: HoldemGame = profile.game
        self.profile, self.memory, self.evaluation = profile, memory, evaluation

    @cached_property
    def reader(self) -> Reader:
        """Strategies by line and hand, on the host."""
        return reader_of(self.profile.host())

    @cached_property
    def root(self) -> Reader:
        """Strategies of at least the first street: all that is copied from a GPU for a solution."""
        return reader_of(self.profile.trunk)

    @cached_property
    def ev(self) -> tuple[float, float]:
        """Each player's average payoff from the pot."""
        first = self.evaluation.value
        return first, self.game.spot.pot - first if self.game.zero_sum else self.profile.value(1, VALUE)

    @property
    def gains(self) -> tuple[float, float]:
        """Each player's gain by a best response, ``(oop, ip)``; NashConv is their sum."""
        first, second = (
            max(best - now, 0.0) for best, now in zip(self.evaluation.best_response_values, self.ev, strict=True)
        )
        return first, second

    @property
    def zero_sum(self) -> bool:
        """Whether there is no rake. With rake there is no value, and gains bound only the loss to a best response."""
        return self.game.zero_sum

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """Return the decision that ``line`` leads to, as ``Reader.at`` does."""
        return self.reader.at(line, player)

    @cached_property
    def equity(self) -> tuple[float, float]:
        """Each player's share of the pot if nobody ever bets."""
        return self.root.equity()

    @cached_property
    def root_strategy(self) -> dict[str, float]:
        """Frequency of each first action, over all hands."""
        actions = self.game.streets[0].decisions[0].node.actions
        return {action.name: x for action, x in zip(actions, self.root.frequencies(), strict=True)}

    @property
    def percent_of_pot(self) -> float:
        """Exploitability in per cent of the pot."""
        return 100.0 * self.evaluation.exploitability / self.game.spot.pot

    def mbb(self, big_blind: float) -> float:
        """Return exploitability in thousandths of a big blind of ``big_blind`` chips."""
        return 1000.0 * self.evaluation.exploitability / big_blind

    def summary(self) -> dict[str, Any]:
        """As ``Extras``. With rake there is no value, only each player's payoff."""
        return ({} if self.zero_sum else {"value": None}) | {
            "zero_sum": self.zero_sum,
            "gains": list(self.gains),
            "board": self.game.name,
            "nodes": self.game.nodes,
            "bytes": self.memory,
            "ev": list(self.ev),
            "equity": list(self.equity),
            "exploitability_percent_of_pot": self.percent_of_pot,
            "root_strategy": self.root_strategy,
            "sizes": {street: self.game.spot.sizes.get(street, {}) for street in self.game.spot.streets},
        }

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {"checkpoint.safetensors": "the strategies: what `treeplex holdem show` reads and `resume` continues"}


class ShardedSpotExtras(HoldemExtras):
    """Fields of the solution of a spot that was cut; the rest is in the run folder."""

    @property
    def reader(self) -> Reader:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Strategies of the first street."""
        return self.root

    @cached_property
    def traffic(self) -> TrafficExtras:
        """Network traffic of the run."""
        return TrafficExtras(self.profile.engine)

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """Raise an error: values of a node need the whole spot."""
        raise ParameterError("A spot that was solved on a cluster is browsed in its run folder: treeplex holdem show.")

    def summary(self) -> dict[str, Any]:
        """As ``HoldemExtras``, with the network traffic."""
        return super().summary() | self.traffic.summary()

    def note(self) -> str:
        """As ``Extras``."""
        return self.traffic.note()

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | self.traffic.files()
