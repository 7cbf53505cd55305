"""The registry of all reproductions, by id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from treeplex.papers import (
    cfr_plus_compressibility,
    cfr_plus_fig1,
    cfr_plus_fig2,
    dt_fig1,
    dt_fig2,
    pmccfr_dominated,
    pmccfr_fig2,
    pmccfr_fig3,
    pmccfr_table1,
    rbp_fig1,
    rbp_fig2,
    rbp_fig3,
    rbp_text,
    saef_fig1,
)
from treeplex.papers.report import PaperReport, Tell

TAMMELIN = "Tammelin 2014"
RBP = "Brown & Sandholm 2015"
JU = "Ju et al. 2023"
DT = "Brown, Kroer & Sandholm 2017"


class Reproduction(NamedTuple):
    """A figure or table of a paper, and the function that reproduces it."""

    id: str
    paper: str
    about: str
    run: Callable[[Path, Tell], PaperReport]


REPRODUCTIONS: dict[str, Reproduction] = {
    module.ID: Reproduction(module.ID, f"{paper}, {part}", about, module.reproduce)
    for module, paper, part, about in (
        (cfr_plus_fig1, TAMMELIN, "Figure 1", "one-card poker: iterations to one millibet per hand, by deck size"),
        (
            cfr_plus_fig2,
            TAMMELIN,
            "Figure 2",
            "a hold'em flop subgame with three bet sizes: iterations and seconds to 5 mbb",
        ),
        (
            cfr_plus_compressibility,
            TAMMELIN,
            "section 3",
            "zeros, entropy and compressed size of regrets, CFR+ against CFR",
        ),
        (rbp_fig1, RBP, "Figure 1", "Leduc and Leduc-5: regret-based against partial pruning, in nodes and seconds"),
        (rbp_fig2, RBP, "Figure 2", "Leduc and Leduc-5: best responses in zero-reach sequences"),
        (rbp_fig3, RBP, "Figure 3", "Leduc-5: the minimum number of iterations that a pruning must skip"),
        (
            rbp_text,
            RBP,
            "text",
            "Leduc and Leduc-5: CFR-BR, linear averages, tighter bounds, prunings that last too long",
        ),
        (saef_fig1, f"{RBP} (SAEF)", "Figure 1", "continuous Leduc: fixed abstractions against ones that grow"),
        (pmccfr_table1, JU, "Table 1", "nodes touched by the first five iterations, five algorithms"),
        (pmccfr_fig2, JU, "Figure 2", "convergence over nodes and seconds, pure MCCFR against MCCFR, CFR and CFR+"),
        (pmccfr_fig3, JU, "Figure 3", "warm start by elimination on matrix games"),
        (pmccfr_dominated, JU, "Appendix D", "matrix games: CFR+ with dominated strategies and without"),
        (dt_fig1, DT, "Figure 1", "Leduc and Leduc-5: Hedge, regret matching, EGT and CFR+, pruned and not"),
        (dt_fig2, DT, "Figure 2", "Leduc and Leduc-5: how aggressive thresholds of EGT and Hedge may be"),
    )
}
