"""Tammelin (2014), section 3: regrets of CFR+ hold less information than those of CFR.

For both, a run measures the fraction of exact zeros and the entropy of the regrets as 16-bit integers (as
``storage="int16"`` stores them). It also measures their size after zstd, without and with scales. There is one float32
scale per infoset of Leduc-5, and one per public decision of the flop of ``cfr-plus-fig2``. On the flop the solver
forgets negative regret when it next touches it, and pads rows of hands to whole vectors. Here negative regret is
forgotten first, as in Algorithm 1, and the padding is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import load
from treeplex.arrow import zstd
from treeplex.engines.boards.boards import open_spans
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.streets import Span
from treeplex.papers.cfr_plus_fig2 import SPOT
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing

ID: Final = "cfr-plus-compressibility"

GAME: Final = "leduc5"
FLOP: Final = "hold'em flop"
CHECKPOINTS: Final = {GAME: (1, 3, 10, 30, 100, 300, 1000, 3000), FLOP: (1, 3, 10, 30, 100, 300)}
ALGORITHMS: Final = ("cfr", "cfr+")


class StoredRegrets(NamedTuple):
    """Regrets of both players in 16 bits."""

    regret: npt.NDArray[np.int16]  # [S]
    scale: npt.NDArray[np.float32]  # [groups] the factor of a group's integers


class Compression(NamedTuple):
    """Measures of the information in regrets."""

    zeros: float  # fraction of exact zeros
    entropy: float  # bits per regret, of single values
    compressed: float  # bits per regret after zstd, without scales
    scales: float  # bits per regret for uncompressed scales
    scales_compressed: float  # bits per regret for scales after zstd
    total: float  # bits per regret after zstd, with scales


Rows = list[tuple[str, str, int, Compression]]
"""Game, algorithm, iteration and measures of every checkpoint."""


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run CFR and CFR+ side by side; write a CSV and a figure."""
    rows: Rows = []
    for game in CHECKPOINTS:
        for name in ALGORITHMS:
            for iteration, stored in states(game, name):
                tell(f"{game}, {name}: iteration {iteration}")
                rows.append((game, name, iteration, measure(stored)))
    last = {(game, name): compression for game, name, _, compression in rows}
    measured: dict[str, float] = {}
    for game, short in ((GAME, ""), (FLOP, "flop_")):
        plain, plus = (last[game, name] for name in ALGORITHMS)
        measured |= {
            f"{short}zeros_cfr_plus": plus.zeros,
            f"{short}zeros_cfr": plain.zeros,
            f"{short}entropy_ratio": plain.entropy / plus.entropy,
            f"{short}compressed_ratio": plain.compressed / plus.compressed,
            f"{short}total_ratio": plain.total / plus.total,
        }
    columns = ["game", "algorithm", "iteration", *Compression._fields]
    table = Table(columns, [(*where, *compression) for *where, compression in rows])
    return report(ID, folder, measured, table, lambda path: _plot(rows, path))


def states(game: str, name: str) -> Iterator[tuple[int, StoredRegrets]]:
    """Yield the regrets that an algorithm has stored at every checkpoint."""
    loaded: Any = load_spot(SPOT) if game == FLOP else load(game)
    algorithm = build(name).open(loaded, Execution(storage="int16"))
    state = algorithm.start(loaded, 0)
    masks = [_unpadded(loaded, player) if game == FLOP else slice(None) for player in (0, 1)]
    done = 0
    for iteration in CHECKPOINTS[game]:
        state = algorithm.advance(loaded, state, iteration - done)
        done = iteration
        scale = "regret_scale" if game == FLOP else "scale"
        regrets, scales = ([getattr(learner, part) for learner in state.learners] for part in ("regret", scale))
        regret_values = np.concatenate([regret[mask] for regret, mask in zip(regrets, masks, strict=True)])
        if name == "cfr+":
            regret_values = np.maximum(regret_values, np.int16(0))
        yield iteration, StoredRegrets(regret_values, np.concatenate(scales))


def _unpadded(game: HoldemGame, player: int) -> Any:
    """Return a mask [S] of a player's numbers that belong to a hand; rows are padded to whole vectors."""
    rows: list[npt.NDArray[np.bool_]] = []
    for street, boards in zip(game.streets, game.boards, strict=True):
        hands, spans = boards.hands[player], open_spans(street, player, boards.texture)
        slots = spans[:, Span._fields.index("slots")]
        for width, count, times in zip(
            np.diff(hands.start).tolist(), hands.counts.tolist(), slots.tolist(), strict=True
        ):
            row = np.zeros(width, dtype=np.bool_)
            row[:count] = True
            rows.append(np.tile(row, times))
    return np.concatenate(rows)


def measure(stored: StoredRegrets) -> Compression:
    """Measure zeros, entropy and zstd size of 16-bit regrets, and the size of their scales."""
    regret, scale = stored
    _, counts = np.unique(regret, return_counts=True)
    share = counts / len(regret)
    zeros = int(np.count_nonzero(regret == 0)) / len(regret)
    entropy = -float((share * np.log2(share)).sum())
    sizes = (len(zstd(regret.tobytes())), scale.nbytes, len(zstd(scale.tobytes())))
    packed, scales, packed_scales = (8.0 * size / len(regret) for size in sizes)
    return Compression(zeros, entropy, packed, scales, packed_scales, packed + packed_scales)


def _plot(rows: Rows, path: Path) -> None:
    labels = {"zeros": "share of zeros", "entropy": "entropy, bits per regret", "total": "zstd with scales, bits"}
    title = "16-bit regrets (Tammelin 2014, section 3)"
    with drawing(path, (12, 7.2), title, len(CHECKPOINTS), len(labels)) as panels:
        places = ((game, column) for game in CHECKPOINTS for column in labels)
        for axes, (game, column) in zip(panels, places, strict=True):
            for name in ALGORITHMS:
                values = [getattr(compression, column) for *where, _, compression in rows if where == [game, name]]
                axes.plot(CHECKPOINTS[game], values, marker="o", markersize=4, label=name)
            axes.set(xscale="log", ylim=(0.0, None), xlabel="iterations", ylabel=labels[column], title=game)
            axes.legend(frameon=False)
