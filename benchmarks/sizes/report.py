"""What ``run.py`` found, as Markdown: ``python benchmarks/sizes/report.py > benchmarks/sizes/RESULTS.md``.

A menu's value is the middle of its certified interval on the exhaustive side, for both sides alike; chips over the pot
are shown in per cent.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

from run import FIXED, RESULTS, TASKS

BETS = ("20%", "33%", "50%", "75%", "100%", "150%", "200%", "a")


def middle(interval: list[float]) -> float:
    return (interval[0] + interval[1]) / 2.0


def named(row: dict, size: str) -> str:
    """The candidate that a size is on a spot: of equal chips the last one."""
    chips = row["tried"]["chips"]
    wanted = chips[BETS.index(size)]
    return next(label for label, amount in reversed(list(zip(BETS, chips, strict=True))) if amount == wanted)


def kept(row: dict) -> float:
    """The value of our menu: on the other side if it was solved there, else our own."""
    found = row["tried"]["menus"].get(",".join(row["ours"]["menu"]))
    return middle(found if found is not None else row["ours"]["ev_kept"])


def of(rows: list[dict], value, over=lambda row: 1.0) -> float:
    return fmean(value(row) / over(row) for row in rows)


def singles(name: str, rows: list[dict]) -> list[str]:
    best = {row["spot"]: max(middle(each) for each in row["tried"]["menus"].values()) for row in rows}

    def lost(row: dict, value: float) -> float:
        return 100.0 * (best[row["spot"]] - value) / row["pot"]

    def rich(row: dict) -> float:
        return middle(row["tried"]["rich"])

    fixed = {}
    for size in BETS:
        values = [(row, middle(row["tried"]["menus"][named(row, size)])) for row in rows]
        fixed[size] = 100.0 * fmean(value / rich(row) for row, value in values)
    favourite = max(fixed, key=fixed.get)
    losses = [lost(row, kept(row)) for row in rows]
    gaps = [row["ours"]["better_percent_of_pot"] for row in rows]
    intervals = [row["ours"]["loss_percent_of_pot"] for row in rows]
    work = sum(row["ours"]["work"] for row in rows) / sum(row["tried"]["work"] for row in rows)
    seconds = sum(row["ours"]["seconds"] for row in rows) / sum(row["tried"]["seconds"] for row in rows)
    floor = sum(row["tried"]["rich_work"] for row in rows) / sum(row["tried"]["work"] for row in rows)
    return [
        f"## {name}: one size, {TASKS[name].player}, {len(rows)} spots",
        "",
        "| | sizes | trying all | best fixed size |",
        "| --- | ---: | ---: | ---: |",
        f"| EV kept of the best single, mean | {100 * of(rows, kept, lambda r: best[r['spot']]):.4f} % | 100 % | |",
        f"| within 0.25 % of pot of it | {100 * fmean(loss <= 0.25 for loss in losses):.1f} % | | |",
        f"| lost to it, worst, % of pot | {max(losses):.3f} | | |",
        f"| EV kept of the rich game, mean | {100 * of(rows, kept, rich):.3f} %"
        f" | {100 * of(rows, lambda r: best[r['spot']], rich):.3f} % | {fixed[favourite]:.3f} % ({favourite}) |",
        f"| lost to the rich game, mean, % of pot | {of(rows, lambda r: 100 * (rich(r) - kept(r)) / r['pot']):.3f}"
        f" | {of(rows, lambda r: 100 * (rich(r) - best[r['spot']]) / r['pot']):.3f} | |",
        f"| counted work, summed | {work:.3f} | 1 (the rich game alone: {floor:.3f}) | |",
        f"| seconds, summed | {seconds:.3f} | 1 ({sum(row['tried']['seconds'] for row in rows):.0f} s) | |",
        "",
        f"The loss is known to {fmean(high - low for low, high in intervals):.3f} % of pot on average. No other size is"
        f" better by more than {fmean(max(gap, 0.0) for gap in gaps):.3f} % on average, and {max(gaps):.3f} % at most."
        f" The size is proved the best on {sum(gap <= 0.0 for gap in gaps)} spots."
        f" Best single size by spots: {counted(rows)}.",
        "",
    ]


def counted(rows: list[dict]) -> str:
    found: dict[str, int] = {}
    for row in rows:
        menus = row["tried"]["menus"]
        name = max(menus, key=lambda menu: middle(menus[menu]))
        found[name] = found.get(name, 0) + 1
    return ", ".join(f"{size} {found[size]}" for size in BETS if size in found)


def fixed_menus(name: str, rows: list[dict]) -> list[str]:
    def lost(row: dict, value: float) -> float:
        return 100.0 * (middle(row["tried"]["rich"]) - value) / row["pot"]

    table = {
        "chosen by `sizes`": [lost(row, middle(row["ours"]["ev_kept"])) for row in rows],
        **{menu: [lost(row, middle(row["tried"]["menus"][menu])) for row in rows] for menu in FIXED},
    }
    lines = [
        f"## {name}: two sizes, {TASKS[name].player}, {len(rows)} spots",
        "",
        "| menu | lost, mean % of pot | worst |",
    ]
    lines += ["| --- | ---: | ---: |"]
    lines += [f"| {menu} | {fmean(losses):.4f} | {max(losses):.3f} |" for menu, losses in table.items()]
    return [*lines, ""]


def pairs(name: str, rows: list[dict]) -> list[str]:
    short = []
    for row in rows:
        two = {menu: middle(each) for menu, each in row["tried"]["menus"].items() if "," in menu}
        ours = two.get(",".join(row["ours"]["menu"]))
        short.append(0.0 if not two or ours is None else 100.0 * (max(two.values()) - ours) / row["pot"])
    work = sum(row["ours"]["work"] for row in rows) / sum(row["tried"]["work"] for row in rows)
    seconds = sum(row["ours"]["seconds"] for row in rows) / sum(row["tried"]["seconds"] for row in rows)
    return [
        f"## {name}: two sizes beside every pair, {len(rows)} spots",
        "",
        f"Lost to the best pair: {fmean(short):.4f} % of pot on average, {max(short):.3f} at most; work {work:.3f} and"
        f" seconds {seconds:.3f} of trying all pairs and singles.",
        "",
    ]


def fine(name: str, rows: list[dict]) -> list[str]:
    missed = 0
    for row in rows:
        ours, (found,) = row["ours"], row["tried"]["menus"].values()
        pairs = ((ours["ev_rich"], row["tried"]["rich"]), (ours["ev_kept"], found))
        missed += sum(a[0] > b[1] + 1e-3 or b[0] > a[1] + 1e-3 for a, b in pairs)
        low, high = ours["loss_percent_of_pot"]
        rich = row["tried"]["rich"]
        missed += low > 100.0 * (rich[1] - found[0]) / row["pot"] + 1e-4
        missed += high < 100.0 * (rich[0] - found[1]) / row["pot"] - 1e-4
    return [
        f"## {name}: intervals beside those of ten times the accuracy, {len(rows)} spots",
        "",
        f"Of {4 * len(rows)} comparisons (values of both games, both ends of the loss) {missed} disagree.",
        "",
    ]


def page() -> str:
    """RESULTS.md, from what is stored."""
    lines = [
        "# Which bet sizes matter: results\n\n`report.py` prints this page. It and `run.py` say what is measured.\n"
    ]
    for name, task in TASKS.items():
        path = Path(RESULTS / f"{name}.jsonl")
        if path.exists():
            rows = sorted(map(json.loads, path.read_text().splitlines()), key=lambda row: row["spot"])
            told = {"singles": singles, "fixed": fixed_menus, "pairs": pairs, "fine": fine}[task.against]
            lines.append("\n".join(told(name, rows)))
    return "\n".join(lines)


def main() -> None:
    print(page())


if __name__ == "__main__":
    main()
