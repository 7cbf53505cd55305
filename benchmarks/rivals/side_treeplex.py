"""treeplex's side of the benchmark; runs in treeplex's own environment."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import treeplex as tp
from treeplex.algorithms.cfr import NEXT, cfr, cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.samplers import mccfr_external, pure_mccfr
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.updates.turns import SIMULTANEOUS

ALGORITHMS = {"cfr": cfr(), "cfr+": cfr_plus(), "external": mccfr_external(), "pure": pure_mccfr()}
LITEEFG = {"cfr": replace(cfr(), turns=SIMULTANEOUS), "cfr+": cfr_plus()}  # the turns LiteEFG's baselines take


class Side:
    """Full-width CFR over the sequence form, and Monte Carlo CFR, one thread."""

    def versions(self) -> dict[str, str]:
        return {name: version(name) for name in ("treeplex", "numba", "numpy")}

    def source(self) -> str:
        """A fingerprint of the package, so that no table mixes two versions of it."""
        files = sorted(Path(tp.__file__).parent.rglob("*.py"))
        return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    def load(self, game: str) -> dict[str, object]:
        self.game = tp.load(game)
        _ = self.game.operator  # made when first asked for: part of construction, not of the first iteration
        summary = self.game.summary()
        return {"nodes": summary["nodes"], "infosets": summary["infosets"]}

    def start(self, algorithm: str) -> None:
        self.algorithm = ALGORITHMS[algorithm].open(self.game, Execution(threads=1))
        self.state = self.algorithm.start(self.game)

    def advance(self, iterations: int) -> None:
        self.state = self.algorithm.advance(self.game, self.state, iterations)

    def nodes(self) -> int:
        """Histories entered since the start."""
        return self.algorithm.work(self.game, self.state).nodes

    def nash_conv(self) -> float:
        return evaluate_strategies(self.game, self.algorithm.report(self.game, self.state, "average").arrays).nash_conv

    def liteefg_nash_conv(self, algorithm: str, iterations: int) -> float:
        """NashConv after LiteEFG's variant of the algorithm, which adds strategies to the average after updates."""
        solver = replace(LITEEFG[algorithm], order=NEXT)
        state = solver.advance(self.game, solver.start(self.game), iterations)
        return evaluate_strategies(self.game, solver.report(self.game, state, "average").arrays).nash_conv
