"""Reports on the profile of an engine: the policy made of its strategies, and further fields of the solution."""

from __future__ import annotations

from typing import Any

from treeplex.algorithms.protocol import Extras, StrategyReport
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.protocol import Engine, Profile
from treeplex.policies.policy import Policy


class ProfileReport(StrategyReport):
    """Strategies of a compiled game, on whatever device they are."""

    def __init__(self, profile: Profile, engine: Engine | None = None, memory: int = 0) -> None:
        self.profile, self.engine, self.memory = profile, engine, memory  # bytes used by the solve

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``StrategyReport``."""
        return self.profile.evaluate(threads)

    def host(self) -> StrategyReport:
        """As ``StrategyReport``."""
        return type(self)(self.profile.host(), self.engine, self.memory)

    @property
    def arrays(self) -> Any:
        """As ``StrategyReport``."""
        return self.profile.arrays

    def replace(self, arrays: Any) -> StrategyReport:
        """As ``StrategyReport``."""
        return type(self)(self.profile.host().replace(arrays), self.engine, self.memory)

    def policy(self) -> Any:
        """As ``StrategyReport``."""
        host: Any = self.profile.host()
        return Policy.of(host.game, host.arrays)


class ShardedReport(ProfileReport):
    """Strategies of a compiled game that was cut."""

    def extras(self, evaluation: Evaluation) -> Extras:
        """As ``StrategyReport``: network traffic."""
        return TrafficExtras(self.engine)


class TrafficExtras(Extras):
    """Bytes that a run over workers has sent and received."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        return self._engine.session.traffic(self._engine.predicted_bytes)

    def note(self) -> str:
        """As ``Extras``."""
        return self._engine.session.traffic_note(self._engine.predicted_bytes)

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return self._engine.files
