"""A shard of a compiled game that is cut: infosets below the trunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.protocol import Array
from treeplex.engines.sequence.cpu import cut as kernels
from treeplex.engines.sequence.cpu.treeplex import extended_plan
from treeplex.engines.sequence.cut import Side
from treeplex.engines.sequence.partition import BOUNDARY
from treeplex.engines.sharded.sequence_part import SequencePart, filled, own_of
from treeplex.engines.sharded.shards import FINISH, VALUE, Message, Order, OutOfStepError, Shard
from treeplex.tensors import Tensors


class SequenceShard(Shard):
    """Infosets below the trunk, with their learners."""

    def __init__(self, order: Order) -> None:
        super().__init__(order.words["part"])
        sides = [Side(**{name: order.arrays[f"{player}.{name}"] for name in Side._fields}) for player in (0, 1)]
        self.part = SequencePart((sides[0], sides[1]), order.words["storage"], order.scheme, order.words["payoffs"])
        self.shown = [order.arrays[f"{player}.shown"] for player in (0, 1)]
        self.behind: tuple[int, int] | None = None  # player and iteration whose plans and averages are still missing

    def answer(self, phase: str, player: int, message: Message) -> Message:
        """As ``Shard``."""
        if phase == FINISH:
            self._follow(1, message["plan"])
            return {}
        if phase == VALUE:
            return self._value(message)
        strategies = self.part.strategies(message["iterate"])
        return {f"strategy.{player}": own_of(self.part.sides[player], strategies[player]) for player in (0, 1)}

    def tensors(self) -> Tensors:
        """As ``Shard``."""
        return self.part.tensors() | {"state.iteration": np.asarray(self.iteration)}

    def start(self, message: Message) -> None:
        """As ``Shard``."""
        part = self.part
        part.learners = part.fresh()
        for plan, learner in zip(self._plans(part.uniform(), message), part.learners, strict=True):
            learner.plan[:] = plan
        self.behind = None

    def _plans(self, strategies: Sequence[Floats], message: Message) -> list[Floats]:
        plans = [np.zeros(len(strategy)) for strategy in strategies]
        for player, side in enumerate(self.part.sides):
            plans[player][: side.own[0]] = message[f"plan.{player}"]
            extended_plan(side.treeplex, strategies[player], plans[player])
        return plans

    def _follow(self, player: int, known: Array) -> None:
        """Make plans and averages of a player from the known plans of the trunk."""
        side, learner = self.part.sides[player], self.part.learners[player]
        learner.plan[: side.own[0]] = known
        if self.behind is not None:
            who, t = self.behind
            if who != player:
                raise OutOfStepError(f"Plans of player {who} are to be made next, not those of player {player}.")
            kernels.follow_below(side.treeplex, learner, self.part.rules[who], self.part.step(t))
            self.part.fold(t, player)
            self.behind = None

    def learn(self, player: int, t: int, message: Message) -> Message:
        """As ``Shard``."""
        part, opponent = self.part, 1 - player
        self._follow(opponent, message["plan"])
        if player == 0:
            part.fade(t)
        side, plan = part.sides[player], part.learners[opponent].plan
        part.learn(kernels.learn_below, player, plan, t)
        self.behind = player, t
        return {"shown": plan[self.shown[opponent]], "boundary": part.boundary[player][side.role == BOUNDARY]}

    def _value(self, message: Message) -> Message:
        part = self.part
        plans = self._plans(part.strategies(message["iterate"]), message)
        values = part.gradients(plans)
        answer: dict[str, Any] = {"products": own_of(part.sides[0], plans[0] * values[0])}
        for player, side in enumerate(part.sides):
            boundary = np.zeros(len(side.infosets))
            kernels.respond(side.treeplex, side.role, values[player], boundary)
            answer[f"boundary.{player}"] = boundary[side.role == BOUNDARY]
            answer[f"shown.{player}"] = plans[player][self.shown[player]]
        return answer

    def restore(self, files: Sequence[Message]) -> None:
        """As ``Shard``."""
        self.part.learners = self.part.fresh()
        filled(self.part, {}, files, self.iteration)
        self.behind = None
