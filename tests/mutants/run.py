"""Small wrong changes, one at a time: do the tests that should notice fail?

Every ``*.toml`` file beside this one lists mutants: a name, what is wrong about it, one or more edits (file, old, new;
``old`` stands exactly once in the file) and the tests that must fail. Each is tried in a copy of the repository::

    make mutants
    .venv/bin/python tests/mutants/run.py P0 A1     # only these

A mutant is killed if a test fails (pytest's exit code 1). Tests that cannot even be collected count as an error, and so
does a mutant whose text is no longer in the file. The exit code is 0 if all are killed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "docs", "examples", "README.md", "pyproject.toml")
FAILED = 1  # pytest: tests were run and some failed
JOBS = 2


class Edit(NamedTuple):
    """One replacement in one file."""

    file: str
    old: str
    new: str


class Mutant(NamedTuple):
    """A wrong change and who should notice."""

    name: str
    what: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


def read_mutants() -> list[Mutant]:
    """All mutants of the ``.toml`` files beside this one, in order."""
    found: list[Mutant] = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            edits = entry.get("edits") or [{key: entry[key] for key in ("file", "old", "new")}]
            found.append(Mutant(entry["name"], entry["what"], tuple(Edit(**e) for e in edits), tuple(entry["tests"])))
    return found


class Workshop:
    """A copy of the repository in which mutants are tried one after the other, so that kernels stay compiled."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, copy_function=shutil.copy2)
            else:
                shutil.copy2(source, root / name)

    def try_out(self, mutant: Mutant) -> tuple[str, str]:
        """Whether it was "killed", "survived" or ended in an "error", and which tests failed."""
        before = {self.root / edit.file: (self.root / edit.file).stat() for edit in mutant.edits}
        texts = {path: path.read_text(encoding="utf-8") for path in before}
        try:
            for edit in mutant.edits:
                path = self.root / edit.file
                text = path.read_text(encoding="utf-8")
                if text.count(edit.old) != 1:
                    return "error", f"{edit.old!r} stands {text.count(edit.old)} times in {edit.file}"
                path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
            return self._verdict(mutant)
        finally:
            for path, text in texts.items():
                path.write_text(text, encoding="utf-8")
                os.utime(path, ns=(before[path].st_atime_ns, before[path].st_mtime_ns))

    def _verdict(self, mutant: Mutant) -> tuple[str, str]:
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", ""]  # slow tests, too
        command = [sys.executable, "-m", "pytest", *options, *mutant.tests]
        environment = os.environ | {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        failed = re.findall(r"^FAILED (\S+)", done.stdout, flags=re.MULTILINE)
        if done.returncode == 0:
            return "survived", ""
        if done.returncode == FAILED and failed:
            return "killed", ", ".join(failed)
        return "error", (done.stdout + done.stderr)[-2000:]


def work(queue: SimpleQueue[Mutant], killed: list[str]) -> None:
    """Try mutants until there are none left."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = Workshop(Path(folder))
        while True:
            try:
                mutant = queue.get_nowait()
            except Empty:
                return
            began = time.perf_counter()
            verdict, detail = workshop.try_out(mutant)
            took = time.perf_counter() - began
            killed += [mutant.name] if verdict == "killed" else []
            print(f"{mutant.name:<6} {verdict:<9} {took:5.0f} s  {mutant.what}  {detail}", flush=True)


def main(names: list[str]) -> int:
    """Try those of these names, or all, two at a time; print one line per mutant and the count."""
    mutants = [mutant for mutant in read_mutants() if not names or mutant.name in names]
    unknown = set(names) - {mutant.name for mutant in mutants}
    if unknown:
        print(f"no mutant named {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    queue: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in mutants:
        queue.put(mutant)
    killed: list[str] = []
    workers = [threading.Thread(target=work, args=(queue, killed)) for _ in range(min(JOBS, len(mutants)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"{len(killed)} of {len(mutants)} killed")
    return 0 if len(killed) == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
