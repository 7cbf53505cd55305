"""All figures of docs/how-to/gpu.md, one after the other, on a machine with a GPU.

    python benchmarks/gpu/run.py [--out FOLDER] [--quick]

Each part is a script of this folder and can be run by itself; what it prints is kept in FOLDER as PART.txt. ``--quick``
leaves out checks, the largest games and the tree of 65 GB. On a machine without all of treeplex's packages the parts
run by ``benchmarks/bare.py``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
SPOTS = "tests/holdem/spots.json"
PARTS: dict[str, list[str]] = {
    "times": ["check.py", "--no-check"],
    "spots": ["holdem.py", SPOTS, "--parts", "time,kernels", "--spots", "T,F1,middle"],
    "gtopen": ["holdem.py", SPOTS, "--parts", "time", "--spots", "gtopen", "--target", "0.3"],
    "huge": ["holdem.py", SPOTS, "--parts", "time", "--spots", "huge", "--target", "0.5", "--limit", "60"],
    "break-even": ["break_even.py"],
    "checks": ["check.py", "--no-times"],
    "spot-checks": ["holdem.py", SPOTS, "--parts", "check"],
}
QUICK = ("times", "spots", "gtopen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", nargs="*", choices=list(PARTS))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for part in given.parts or (QUICK if given.quick else PARTS):
        script, *arguments = PARTS[part]
        if part == "break-even":
            arguments = ["--out", str(given.out)]
        elif part == "times" and given.quick:
            arguments += ["--timed", "leduc(suits=true)", "leduc5", "liars_dice", "kuhn_ext(3,20,7)"]
        command = [sys.executable, str(HERE.parent / "bare.py"), str(HERE / script), *arguments]
        began = time.perf_counter()
        with (given.out / f"{part}.txt").open("w") as kept:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for line in process.stdout or ():
                print(line, end="", flush=True)
                kept.write(line)
        print(f"[{part}: {time.perf_counter() - began:.0f} s, exit code {process.wait()}]", flush=True)


if __name__ == "__main__":
    main()
