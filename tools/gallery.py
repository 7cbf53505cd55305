"""Run the examples and keep their pictures, in few colours, for the gallery: python tools/gallery.py [NAME...].

Without a GPU the picture of examples/gpu.py is drawn from what was measured on one: by the tables of
benchmarks/gpu/README.md and of docs/theory/algorithms.md, "Threads".
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

ROOT = Path(__file__).parents[1]
COLOURS = 48


def measured() -> dict[str, tuple[float, float]]:
    """Iterations per second of games that both tables have: by 16 cores, as many as pay, and by an H200, float64."""
    threads = (ROOT / "docs" / "theory" / "algorithms.md").read_text(encoding="utf-8").split("| told 0 |")[1]
    gpu = (ROOT / "benchmarks" / "gpu" / "README.md").read_text(encoding="utf-8").split("| NashConv |")[1]
    cores = {row[1]: row[2] for row in re.finditer(r"^\| `([^`]+)` \|.*\| ([\d,]+) \|$", threads, re.MULTILINE)}
    cards = {row[1]: row[2] for row in re.finditer(r"^\| `([^`]+)`[^|]*\| ([\d,]+), later", gpu, re.MULTILINE)}
    games = [game for game in cards if game in cores]
    return {game: tuple(1e6 / float(table[game].replace(",", "")) for table in (cores, cards)) for game in games}


def main() -> None:
    """All, or those named."""
    for script in sorted((ROOT / "examples").glob("*.py")):
        if sys.argv[1:] and script.stem not in sys.argv[1:]:
            continue
        with TemporaryDirectory() as folder:
            drawn = Path(folder) / "picture.png"
            subprocess.run([sys.executable, script, "--out", drawn], check=True)  # noqa: S603 - our own scripts
            if script.stem == "gpu" and not drawn.exists():
                runpy.run_path(str(script))["picture"](measured(), drawn)
            if drawn.exists():
                picture = ROOT / "docs" / "images" / f"gallery-{script.stem.replace('_', '-')}.png"
                Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
                    picture, optimize=True
                )
                print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
