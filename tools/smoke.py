"""What an installed treeplex must do, without this repository on its path: ``make dist``, ``make test-floors``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RIVER = {
    "board": "Ks 8h 4d 2c 7s",
    "pot": 100,
    "effective_stack": 150,
    "oop_range": "AA,KQs,K9s,87s,T9s,65s",
    "ip_range": "QQ,KTs,K8s,A7s,JTs",
}


def main() -> None:
    """Solve Kuhn poker and a river by command and in Python; save, evaluate, resume."""
    print(treeplex("--version").strip())
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "river.json").write_text(json.dumps(RIVER), encoding="utf-8")
        kuhn = json.loads(treeplex("solve", "kuhn", "--json", "--out", "kuhn", at=here).splitlines()[-1])
        check("kuhn", kuhn["status"] == "solved" and abs(kuhn["value"] + 1 / 18) < 1e-3, kuhn)
        exact = json.loads(treeplex("solve", "leduc", "--algorithm", "lp", "--no-save", "--json", at=here))
        check("leduc by lp", abs(exact["value"] + 0.0856064) < 1e-6, exact)
        measured = json.loads(treeplex("evaluate", "kuhn", "kuhn/policy.parquet", "--json", at=here))
        check("evaluate", measured["nash_conv"] == kuhn["nash_conv"], measured)
        river = json.loads(treeplex("solve", "river.json", "--json", "--out", "river", at=here).splitlines()[-1])
        check("river", river["exploitability_percent_of_pot"] <= 0.5, river)
        treeplex("holdem", "show", "river", "--png", "grid.png", at=here)
        check("picture", (here / "grid.png").stat().st_size > 10_000, "grid.png")
        treeplex("resume", "kuhn", "--nash-conv", "1e-4", at=here)
    print("all well")


def treeplex(*arguments: str, at: Path | None = None) -> str:
    """What the command prints."""
    ended = subprocess.run(  # noqa: S603 - this very program
        [sys.executable, "-P", "-m", "treeplex", *arguments], cwd=at, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"treeplex {' '.join(arguments)}: exit code {ended.returncode}\n{ended.stderr}")
    return ended.stdout


def check(name: str, holds: bool, found: object) -> None:
    """Say that it holds, or end."""
    if not holds:
        sys.exit(f"{name}: {found}")
    print(f"{name}: as it should be")


if __name__ == "__main__":
    main()
