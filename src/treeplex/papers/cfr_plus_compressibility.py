"""Tammelin (2014), section 3: regrets of CFR+ hold less information than those of CFR.

Over a run, for both: the share of exact zeros, the entropy of the regrets as 16-bit whole numbers (one scale per
infoset, as ``storage="int16"`` keeps them), and their size after zstd.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import cfr, cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.api import load
from treeplex.arrow import zstd
from treeplex.engines.sequence.arrays import Learner16
from treeplex.papers.report import Report, Tell, judge, write_csv

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
    rows: list[tuple[str, int, float, float, float]] = []
    for name, algorithm in (("cfr", cfr()), ("cfr+", cfr_plus())):
        stored = algorithm.prepared(game, Execution(storage="int16"))
        state = stored.start(game)
        for iteration in CHECKPOINTS:
            tell(f"{GAME}, {name}: iteration {iteration}")
            state = stored.advance(game, state, iteration - state.iteration)
            regrets = np.concatenate([learner.regret for learner in state.learners if isinstance(learner, Learner16)])
            found = measure(regrets)
            rows.append((name, iteration, found.zeros, found.entropy, found.compressed))
    table = write_csv(folder / f"{ID}.csv", ["algorithm", "iteration", *Compression._fields], rows)
    figure = _plot(rows, folder / f"{ID}.png")
    last = {row[0]: Compression(*row[2:]) for row in rows}
    measured = {
        "zeros_cfr_plus": last["cfr+"].zeros,
        "zeros_cfr": last["cfr"].zeros,
        "entropy_ratio": last["cfr"].entropy / last["cfr+"].entropy,
        "compressed_ratio": last["cfr"].compressed / last["cfr+"].compressed,
    }
    return Report(ID, judge(ID, measured), [table, figure])


def measure(regrets: npt.NDArray[np.int16]) -> Compression:
    """Zeros, entropy and zstd size of 16-bit regrets."""
    _, counts = np.unique(regrets, return_counts=True)
    share = counts / len(regrets)
    packed = zstd(regrets.tobytes())
    zeros = int(np.count_nonzero(regrets == 0)) / len(regrets)
    entropy = -float((share * np.log2(share)).sum())
    return Compression(zeros, entropy, 8.0 * len(packed) / len(regrets))


def _plot(rows: list[tuple[str, int, float, float, float]], path: Path) -> Path:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=(12, 3.8), layout="constrained")
    labels = ("share of zeros", "entropy, bits per regret", "zstd, bits per regret")
    for axes, column, label in zip(figure.subplots(1, 3), (2, 3, 4), labels, strict=True):
        for name in ("cfr", "cfr+"):
            axes.plot(
                CHECKPOINTS, [row[column] for row in rows if row[0] == name], marker="o", markersize=4, label=name
            )
        axes.set_xscale("log")
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("iterations")
        axes.set_ylabel(label)
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.suptitle(f"16-bit regrets in {GAME} (Tammelin 2014, section 3)")
    figure.savefig(path, dpi=130, format="png")
    return path
