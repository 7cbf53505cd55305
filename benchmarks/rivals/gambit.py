"""The exact linear program of Gambit beside ours, in one run: `python benchmarks/rivals/gambit.py [GAME...]`.

Games are written as .efg by treeplex and read by both sides. Gambit (pygambit) runs in an environment of its own, its
`lp_solve` in floating point and, where that ends in time, in rationals; ours is `lp`, HiGHS on the sequence form. Both
sides take turns; the least of three rounds counts, in seconds of processor time, reading not counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv-gambit"
GAMES = ("kuhn", "goofspiel(cards=3)", "liars_dice(sides=2)", "liars_dice(sides=3)", "leduc")
ROUNDS = 3
PATIENCE = 60  # seconds of processor time

SIDE = """
import resource, sys, time, json, pygambit
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]), int(sys.argv[3])))
game = pygambit.read_efg(sys.argv[1])
began, count, took = time.process_time(), 0, 0.0
while took < 0.2:  # the clock may be coarse
    found = pygambit.nash.lp_solve(game, rational=sys.argv[2] == "rational")
    took, count = time.process_time() - began, count + 1
took /= count
if hasattr(found, "equilibrium"):  # 17
    value = dict(found.equilibrium.payoffs() if callable(found.equilibrium.payoffs) else found.equilibrium.payoffs)
else:
    value = {"Player 0": found.equilibria[0].payoff("Player 0")}
version = getattr(pygambit, "__version__", "")
print(json.dumps([took, float(value["Player 0"]), version]))
"""


def gambit(python: Path, path: Path, numbers: str) -> tuple[float, float, str] | None:
    """Seconds, value and version; None if it takes too long."""
    command = [python, "-c", SIDE, path, numbers, str(PATIENCE)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode < 0:  # killed at its limit
        return None
    if ended.returncode:
        sys.exit(f"pygambit: {ended.stderr[-300:]}")
    return tuple(json.loads(ended.stdout))


def ours(path: Path) -> tuple[float, float]:
    import treeplex as tp

    game = tp.load(str(path))
    began, count, took = time.process_time(), 0, 0.0
    while True:
        found = tp.solve(game, "lp")
        took, count = time.process_time() - began, count + 1
        if took >= 0.2:
            return took / count, found.value


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("games", nargs="*", default=GAMES)
    asked.add_argument("--python", type=Path, help="a Python that has pygambit; default: made in .venv-gambit")
    given = asked.parse_args()
    python = given.python or ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pygambit"], check=True)
    import treeplex as tp

    ours_first = tp.solve("kuhn", "lp")  # compiled before anything is measured
    assert ours_first.status == "solved"
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.games:
            path = Path(folder) / "game.efg"
            path.unlink(missing_ok=True)
            game = tp.load(name)
            game.save(str(path))
            sides: dict[str, list[tuple[float, float]]] = {"treeplex": [], "float": [], "rational": []}
            for _ in range(ROUNDS):
                sides["treeplex"].append(ours(path))
                for numbers in ("float", "rational"):
                    if None not in sides[numbers]:
                        sides[numbers].append(gambit(python, path, numbers))  # pyright: ignore
            row: dict[str, object] = {"game": name, "nodes": game.summary()["nodes"]}
            for side, found in sides.items():
                good = [each for each in found if each]
                row[side] = min(each[0] for each in good) if good and None not in found else None
                if good:
                    row[f"{side} off by"] = abs(good[0][1] - sides["treeplex"][0][1])
                    row["version"] = good[0][2] if len(good[0]) > 2 else row.get("version")
            rows.append(row)
            print(line(row), max(value for key, value in row.items() if key.endswith("off by")), flush=True)
    out = {"date": time.strftime("%Y-%m-%d"), "treeplex": tp.__version__, "patience": PATIENCE, "rows": rows}
    (HERE / "gambit.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    print(f"pygambit {rows[0].get('version')}", file=sys.stderr)


def line(row: dict[str, object]) -> str:
    """A row of the table."""

    def seconds(value: object) -> str:
        return f"over {PATIENCE:.0f} s" if value is None else f"{value * 1000:.1f} ms"  # pyright: ignore

    ratio = f"{row['float'] / row['treeplex']:.0f}×" if row["float"] else ""  # pyright: ignore
    cells = [
        row["game"],
        f"{row['nodes']:,}",
        *(seconds(row[side]) for side in ("treeplex", "float", "rational")),
        ratio,
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
