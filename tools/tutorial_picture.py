"""Draw the picture of docs/tutorial/regret-matching.md with the code of that page: python tools/tutorial_picture.py."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np

import treeplex as tp
from treeplex.plots.plot import drawing

DOCS = Path(__file__).parents[1] / "docs"
ROUNDS = np.unique(np.geomspace(1, 3000, 120).astype(int))
ITERATIONS = np.unique(np.geomspace(1, 1000, 60).astype(int))
STEPS = {
    "CFR, simultaneous": {"alternating": False},
    "alternating": {},
    "and clipped": {"plus": True},
    "and linear: CFR+": {"plus": True, "linear": True},
}


def code_of(page: Path) -> dict[str, Any]:
    """What the page defines."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        if example.source.startswith(("import", "from", "def", "class", "A =")):
            exec(example.source, names)  # noqa: S102 - our own page
    return names


def main() -> None:
    """Left: rock, paper, scissors. Right: Kuhn poker."""
    page = code_of(DOCS / "tutorial" / "regret-matching.md")
    with drawing(DOCS / "images" / "regret-matching.png", (9, 3.6), "", 1, 2) as (left, right):
        current, average = [], []
        for rounds in ROUNDS:
            regret, (x, _) = page["play"](int(rounds))
            current.append(page["matched"](regret[0])[1])
            average.append(x[1])
        left.plot(ROUNDS, current, color="#bbbbbb", linewidth=1, label="regret matching, played")
        left.plot(ROUNDS, average, label="regret matching, average")
        left.plot(
            ROUNDS, [page["play_plus"](int(rounds))[0][1] for rounds in ROUNDS], label="with all changes, average"
        )
        left.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
        left.set(xscale="log", xlabel="rounds", ylabel="probability of paper", ylim=(-0.05, 1.4), yticks=[0, 0.5, 1])
        left.legend(frameon=False, fontsize="small")
        for name, options in STEPS.items():
            game, nash_conv = page["Kuhn"](**options), []
            for t in range(1, int(ITERATIONS[-1]) + 1):
                game.iterate()
                if t in ITERATIONS:
                    nash_conv.append(tp.evaluate("kuhn", game.average()).nash_conv)
            right.plot(ITERATIONS, nash_conv, label=name)
        right.set(xscale="log", yscale="log", xlabel="iterations", ylabel="NashConv on Kuhn poker")
        right.legend(frameon=False, fontsize="small")


if __name__ == "__main__":
    main()
