"""The commands on the pages: run as the pages write them, in the order in which they stand, in a folder per page.

``python tests/docs/commands.py`` runs those that ``docs/commands.toml`` lists as long and writes down how they ended.
"""

from __future__ import annotations

import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from docs.pages import ROOT, Block, name, pages, parts

TABLE: Final = ROOT / "docs" / "commands.toml"
FILES: Final = Path(__file__).parent / "files"
SHELL: Final = re.compile(r"[|><&;]|\$\(|^for |^export |\$!")
SHORTER: Final = {
    r"--seconds [\d.]+": "--seconds 0.3",
    r"--nodes [\d_]+": "--nodes 1000000",
    r"--seeds \d+": "--seeds 1 --seconds 0.05",
    r"--nash-conv 1e-[68]": "--nash-conv 1e-3",
    r"\bleduc5\b": "leduc",
}
"""What the tests make of sizes and limits that are for people."""


class Command(NamedTuple):
    """A command, and where it stands."""

    page: str
    line: int
    text: str


def table() -> dict[str, Any]:
    """What is not run by the tests, and why; what stands for files."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def commands(page: Path) -> list[Command]:
    """Every command in the console blocks of a page, comments left out."""
    found: list[Command] = []
    for block in parts(page.read_text(encoding="utf-8"))[1]:
        if block.language in ("console", "sh", "bash"):
            found += [Command(name(page), line, text) for line, text in _lines(block)]
    return found


def _lines(block: Block) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    going_on = False
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if going_on:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif block.language == "console" and not line.startswith("$ "):
            continue
        elif line.strip() and not line.startswith("#"):
            found.append((number, line.removeprefix("$ ")))
        going_on = line.rstrip().endswith(("|", "\\"))
    return [(number, re.sub(r"\s+# .*$", "", text).replace("\\ ", "").strip()) for number, text in found]


def all_commands() -> list[Command]:
    """Those of every page."""
    return [command for page in pages() for command in commands(page)]


def shorter(text: str) -> str:
    """The command with limits that suit a test."""
    for pattern, instead in SHORTER.items():
        text = re.sub(pattern, instead, text)
    if text.startswith("treeplex grow") and not re.search(r"--(seconds|nodes|iterations)", text):
        text += " --seconds 0.3"
    return text


def prepared(folder: Path) -> None:
    """Put files where the commands of pages expect them."""
    for path in FILES.iterdir():
        shutil.copy(path, folder / path.name)


def arguments(text: str) -> list[str] | None:
    """What ``treeplex`` is called with; None where the command needs a shell."""
    words = shlex.split(text)
    if SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", text)) or words[0] != "treeplex":
        return None
    found: list[str] = []
    for word in words[1:]:
        found += (sorted(map(str, Path().glob(word))) if "*" in word else []) or [word]  # else it was quoted
    return found


def in_shell(text: str, folder: Path, seconds: float = 3600.0) -> int:
    """The exit code of a command in a shell, with this package and this Python first."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir(exist_ok=True)
    script = bin_folder / "treeplex"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m treeplex "$@"\n')
    script.chmod(0o755)
    path = os.environ.get("PYTHONPATH", "")
    environment = os.environ | {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{path}",
    }
    try:
        ended = subprocess.run(
            ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return 124
    if ended.returncode not in (0, 1):
        print(ended.stderr.decode(errors="replace")[-500:], file=sys.stderr)
    return ended.returncode


def main() -> None:
    """Run the long commands, page by page, and write down how each ended."""
    wanted = sys.argv[1:]
    for entry in table()["long"]:
        if "result" not in entry or (wanted and not any(each in entry["command"] for each in wanted)):
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            prepared(folder)
            for each in entry.get("before", []):
                in_shell(each, folder)
            began = time.monotonic()
            code = in_shell(entry["command"], folder)
            took = time.monotonic() - began
        result = f"exit {code} after {took:.0f} s, {datetime.date.today().isoformat()}"
        print(f"{entry['command']}\n    {result}", flush=True)
        text = TABLE.read_text(encoding="utf-8")
        start = text.index("result = ", text.index(f"command = '''{entry['command']}'''"))
        text = f'{text[:start]}result = "{result}"{text[text.index(chr(10), start) :]}'
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
