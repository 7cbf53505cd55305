"""A player of a walk whose rule is a function: the specification of ``engines.history.cpu.functions``."""

from __future__ import annotations

from dataclasses import dataclass, field

from treeplex.arrays import Floats
from treeplex.engines.history.reference.prune import PrunedLearner
from treeplex.updates.rule import Rule


@dataclass
class FunctionLearner(PrunedLearner):
    """One player without regret-based pruning. Everything not overridden here is as in ``PrunedLearner``."""

    update: Rule
    constants: Floats
    memory: list[Floats] = field(init=False)  # [rows, A] of each infoset

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory = [self.update.initial(int(actions), self.constants) for actions in self.treeplex.actions]

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """Compute v(I) and the next strategy of the infosets that the opponent and chance reach, from the bottom up."""
        strategies = self.ledger.strategy
        for infoset in reversed(range(self.treeplex.infosets)):
            if reach[infoset] == 0.0:
                continue
            own = self.own(infoset)
            values, strategy = paid[own], strategies[own]
            paid[self.treeplex.parent[infoset]] += sum(float(p * v) for p, v in zip(strategy, values, strict=True))
            self.update.apply(float(t), values, strategy, self.memory[infoset], self.constants)
            strategies[own] = strategy

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """Return 0, because nothing is pruned by regret."""
        return 0
