"""Single figures in sentences, from stored data: ``<!-- figures NAME words -->`` (``tools/figures.py``)."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from figure_data import BENCHMARKS, data, script

PURE = ("pure-mccfr", "pure-mccfr(turns=simultaneous)")


def rules_cell(words: list[str]) -> str:
    """Iterations of a rule on a game to an accuracy, as in RULES.md."""
    game, rule, accuracy = words
    rules = script("benchmarks/rules.py")
    cell = rules["Cell"](game, rule, 0, rules["ITERATIONS"], rules["SECONDS"])
    return rules["told"](data("rules.json"), cell, float(accuracy)).replace("> ", "more than ")


def rules_count(words: list[str]) -> str:
    """The number of games on which a published claim holds: ``3 of 5``."""
    claim, names = " ".join(words), ("zero", "one", "two", "three", "four", "five", "six")
    held = [row[3] == "yes" for row in rules_claims() if row[0] == claim]
    return f"on all {names[len(held)]}" if all(held) else f"on {names[sum(held)]} of {names[len(held)]}"


def rules_claims() -> list[tuple[str, str, str, str]]:
    """The published claims of RULES.md."""
    rules = script("benchmarks/rules.py")
    return list(
        rules["claims"](
            data("rules.json"), argparse.Namespace(iterations=rules["ITERATIONS"], seconds=rules["SECONDS"])
        )
    )


def correlated(_: list[str]) -> str:
    """By how much correlated draws lower exploitability."""
    samplers = ("mccfr-external", "mccfr-chance", "mccfr-outcome")
    rows = ["| | " + " | ".join(f"`{name}`" for name in samplers) + " |", "| --- | ---: | ---: | ---: |"]
    for title, game in (("Kuhn", "kuhn"), ("Leduc", "leduc")):
        less = {row[0].split(":")[0]: row[2].split(" after")[0] for row in rules_claims() if row[1] == game}
        rows.append(f"| {title} | " + " | ".join(less[name] for name in samplers) + " |")
    return "\n".join(rows)


def correlated_range(_: list[str]) -> str:
    """The least and the most by which correlated draws lower exploitability, in per cent."""
    less = [int(row[2].split(" %")[0]) for row in rules_claims() if "correlated" in row[0]]
    return f"{min(less)} to {max(less)}"


def sampling_ratio(words: list[str]) -> str:
    """Pure MCCFR, simultaneous updates against alternating ones: cost of a node; nodes and time saved in Leduc."""
    rows = {(row["game"], row["algorithm"]): (row["nodes"], row["seconds"]) for row in data("sampling.json")["rows"]}
    pure = {game: (rows[game, PURE[0]], rows[game, PURE[1]]) for game, name in rows if name == PURE[0]}
    if words[0] in ("least", "most"):
        ratios = [seconds / nodes / (before / walked) for (walked, before), (nodes, seconds) in pure.values()]
        return f"{(min if words[0] == 'least' else max)(ratios):.2f}"
    (walked, before), (nodes, seconds) = pure["leduc(suits=true)"]
    return f"{100.0 * (1.0 - (nodes / walked if words[0] == 'nodes' else seconds / before)):.0f}"


def rbp_ratio(words: list[str]) -> str:
    """Nodes of partial over regret-based pruning at a NashConv, or at the ``end`` of the run."""
    game, family, level = words
    rows = script("tools/figure_tables.py")["rows_of"]("rbp-fig1-ratios")
    own = [row for row in rows if (row["game"], row["algorithm"]) == (game, family)]
    return f"{float((own[-1] if level == 'end' else next(r for r in own if r['nash_conv'] == level))['nodes']):.1f}"


def claim(words: list[str]) -> str:
    """Our number for the first claim of a figure that begins with these words."""
    identity, beginning = words[0], " ".join(words[1:])
    claims = script("tools/claims.py")
    found = [one["ours"] for one in claims["outcomes"]()[identity] if one["claim"].startswith(beginning)]
    return claims["number"](found[0]) if found else f"no claim begins with {beginning!r}"


def auto_number(words: list[str]) -> str:
    """A number of the last lines of AUTO.md."""
    patterns = {
        "within": r"looked at: at most 2 times the best in (\d+)%",
        "worst": r"looked at: .*?%, at most ([\d.]+) times",
        "mean": r"looked at: .*?, ([\d.]+) times in the geometric",
        "cfr+": r"cfr\+ needs at least ([\d.]+) times",
    }
    found = re.search(patterns[words[0]], (BENCHMARKS / "AUTO.md").read_text(encoding="utf-8"))
    return found[1] if found else "nothing in AUTO.md"


NUMBERS: dict[str, tuple[str, Callable[[list[str]], str]]] = {  # by name: the run whose data it reads, and the function
    "rules": ("rules", rules_cell),
    "rules-count": ("rules", rules_count),
    "correlated-draws": ("rules", correlated),
    "correlated-range": ("rules", correlated_range),
    "sampling-ratio": ("sampling", sampling_ratio),
    "auto": ("auto", auto_number),
    "rbp-ratio": ("papers/rbp-fig1", rbp_ratio),
}
