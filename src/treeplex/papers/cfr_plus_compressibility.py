"""Tammelin (2014), section 3: regrets of CFR+ hold less information than those of CFR.

Over a run, for both: the share of exact zeros, the entropy of the regrets as 16-bit whole numbers (one scale per
infoset, as ``storage="int16"`` keeps them), and their size after zstd.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import cfr, cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.api import load
from treeplex.arrow import zstd
from treeplex.engines.sequence.arrays import Learner16
from treeplex.evaluation.plot import drawing
from treeplex.papers.report import Report, Table, Tell, report

ID: Final = "cfr-plus-compressibility"

GAME: Final = "leduc5"
CHECKPOINTS: Final = (1, 3, 10, 30, 100, 300, 1000, 3000)


class Compression(NamedTuple):
    """How much information a player's regrets hold."""

    zeros: float  # share of exact zeros
    entropy: float  # bits per regret, of the values taken one by one
    compressed: float  # bits per regret after zstd


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run CFR and CFR+ side by side; leaves a CSV and a figure."""
    game = load(GAME)
    rows: list[tuple[str, int, Compression]] = []
    for name, algorithm in (("cfr", cfr()), ("cfr+", cfr_plus())):
        stored = algorithm.prepared(game, Execution(storage="int16"))
        state = stored.start(game)
        for iteration in CHECKPOINTS:
            tell(f"{GAME}, {name}: iteration {iteration}")
            state = stored.advance(game, state, iteration - state.iteration)
            regrets = np.concatenate([learner.regret for learner in state.learners if isinstance(learner, Learner16)])
            rows.append((name, iteration, measure(regrets)))
    last = {name: found for name, _, found in rows}
    measured = {
        "zeros_cfr_plus": last["cfr+"].zeros,
        "zeros_cfr": last["cfr"].zeros,
        "entropy_ratio": last["cfr"].entropy / last["cfr+"].entropy,
        "compressed_ratio": last["cfr"].compressed / last["cfr+"].compressed,
    }
    table = Table(["algorithm", "iteration", *Compression._fields], [(*where, *found) for *where, found in rows])
    return report(ID, folder, measured, table, lambda path: _plot(rows, path))


def measure(regrets: npt.NDArray[np.int16]) -> Compression:
    """Zeros, entropy and zstd size of 16-bit regrets."""
    _, counts = np.unique(regrets, return_counts=True)
    share = counts / len(regrets)
    packed = zstd(regrets.tobytes())
    zeros = int(np.count_nonzero(regrets == 0)) / len(regrets)
    entropy = -float((share * np.log2(share)).sum())
    return Compression(zeros, entropy, 8.0 * len(packed) / len(regrets))


def _plot(rows: list[tuple[str, int, Compression]], path: Path) -> None:
    labels = ("share of zeros", "entropy, bits per regret", "zstd, bits per regret")
    with drawing(path, (12, 3.8), f"16-bit regrets in {GAME} (Tammelin 2014, section 3)", 1, 3) as panels:
        for axes, column, label in zip(panels, Compression._fields, labels, strict=True):
            for name in ("cfr", "cfr+"):
                values = [getattr(found, column) for algorithm, _, found in rows if algorithm == name]
                axes.plot(CHECKPOINTS, values, marker="o", markersize=4, label=name)
            axes.set(xscale="log", ylim=(0.0, None), xlabel="iterations", ylabel=label)
            axes.legend(frameon=False)
