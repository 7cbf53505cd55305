"""A full disk, too little memory, readers that leave, two writers, and folders that are somebody else's."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cases import SPOT
from process import Ended, limited, run, start

LINES = {
    "solve": ["solve", "leduc", "--iterations", "300", "--checkpoint-seconds", "0", "--out", "out", "--json"],
    "grow": ["grow", "continuous_leduc", "--iterations", "30", "--checkpoint-seconds", "0", "--out", "out", "--json"],
    "explore": ["explore", "kuhn", "--iterations", "300", "--responses", "50", "--out", "out", "--json"],
    "compare": ["compare", "leduc", "cfr", "cfr+", "--iterations", "50", "--out", "out", "--json"],
}
PRINTING = {
    **LINES,
    "list": ["list"],
    "list --json": ["list", "--json"],
    "info": ["info", "kuhn"],
    "help": ["--help"],
    "export": ["export", "kuhn", "--to", "x.json", "--json"],
}
WRITING = {
    **LINES,
    "reproduce": ["reproduce", "cfr-plus-compressibility", "--out", "out"],
    "holdem solve": ["holdem", "solve", *SPOT.split(), "--iterations", "5", "--out", "out"],
}


class Fault(NamedTuple):
    """Something to try; ``check`` returns how often it was tried."""

    name: str
    check: Callable[[Path], int]


class FaultError(Exception):
    """What must not happen."""


def expect(condition: object, what: str, ended: Ended | None = None) -> None:
    if not condition:
        raise FaultError(f"{what}: {ended}")


def fresh(root: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=root))


def refused(ended: Ended, what: str) -> None:
    """Exit code 2, a sentence, no traceback."""
    expect(ended.code == 2, f"{what}, exit code", ended)
    expect("error: " in ended.err or "Invalid value" in ended.err, f"{what}, no sentence", ended)
    expect("Traceback" not in ended.err, f"{what}, traceback", ended)


def full_output(root: Path) -> int:
    for name, line in PRINTING.items():
        with Path("/dev/full").open("wb") as full:
            ended = run(line, fresh(root), stdout=full)
        refused(ended, name)
        expect("No space left on device" in ended.err, name, ended)
    return len(PRINTING)


def closed_pipe(root: Path) -> int:
    for name, line in PRINTING.items():
        reader, writer = os.pipe()
        os.close(reader)
        ended = run(line, fresh(root), stdout=writer)
        os.close(writer)
        expect(ended.code == 0, f"{name}, exit code", ended)
        expect("rror" not in ended.err and "Traceback" not in ended.err, f"{name}, not quiet", ended)
    return len(PRINTING)


@contextmanager
def small_disk(root: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    """A file system of 24 kB, or, where none can be made, a limit of 1 kB on each file."""
    place = fresh(root)
    mount = ["mount", "-t", "tmpfs", "-o", "size=24k", "none", place]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        yield place, {"preexec_fn": limited(resource.RLIMIT_FSIZE, 1024)}
        return
    try:
        yield place, {}
    finally:
        subprocess.run(["umount", place], check=True)


def full_disk(root: Path) -> int:
    """The answer is printed, a sentence says which file could not be written, and no half file is left."""
    for name, line in LINES.items():
        with small_disk(root) as (disk, options):
            here = fresh(root)
            ended = run([word if word != "out" else str(disk / "out") for word in line], here, **options)
            refused(ended, name)
            expect(json.loads(ended.out.splitlines()[0])["iterations"], name, ended)
            expect("cannot be written: " in ended.err, name, ended)
            expect(not list(disk.rglob(".treeplex-*")), f"{name} left behind", ended)
    for option in ("--efg", "--compiled", "--to"):
        with small_disk(root) as (disk, options):
            file = disk / {"--efg": "x.efg", "--compiled": "x.safetensors", "--to": "x.json"}[option]
            file.write_text("old")
            ended = run(["export", "leduc", option, str(file), "--force"], fresh(root), **options)
            refused(ended, option)
            expect(f"The file {file} cannot be written: " in ended.err, option, ended)
            expect(file.read_text() == "old", f"{option} lost the old file", ended)
            expect([path.name for path in disk.iterdir()] == [file.name], f"{option} left behind", ended)
    return len(LINES) + 3


def folder_removed(root: Path) -> int:
    """While it runs: the answer is printed all the same."""
    here = fresh(root)
    process = start(
        ["solve", "leduc", "--iterations", "30000", "--checkpoint-seconds", "0", "--out", "out", "--json"], here
    )
    while process.poll() is None and not (here / "out" / "checkpoint.safetensors").exists():
        time.sleep(0.002)
    (here / "out").rename(here / "gone")  # at once: what is removed file by file may be written again
    ended = process.ended()
    refused(ended, "folder removed")
    expect(json.loads(ended.out)["iterations"] == 30000, "folder removed, no answer", ended)
    return 1


def little_memory(root: Path) -> int:
    """Whatever the limit: an answer, or a sentence."""
    sizes = [120, 200, 300, 400, 600, 800, 1000, 1300, 1600, 2000]
    for size in sizes:
        options = {"preexec_fn": limited(resource.RLIMIT_AS, size * 2**20)}
        ended = run(["explore", "goofspiel(cards=5)", "--iterations", "300", "--json"], fresh(root), **options)
        if ended.code:
            refused(ended, f"{size} MB")
    return len(sizes)


def two_writers(root: Path) -> int:
    """One writes, the other is refused; without --out there is a folder for each."""
    line = ["solve", "leduc", "--iterations", "60000", "--checkpoint-seconds", "0", "--json"]
    for resumed in (False, True):
        here = fresh(root)
        asked = [*line, "--out", "out"]
        if resumed:
            run(["solve", "leduc", "--iterations", "10", "--out", "out", "--json"], here)
            asked = ["resume", "out", *line[2:]]
        both = [start(asked, here) for _ in range(2)]
        ended = sorted((process.ended() for process in both), key=lambda one: one.code)
        expect(ended[0].code == 0, "the first writer", ended[0])
        if ended[1].code:  # else the first was done before the second began
            refused(ended[1], "the second writer")
            expect("is being written to by process" in ended[1].err, "the second writer", ended[1])
        expect(json.loads((here / "out" / "result.json").read_text())["iterations"] == 60000, "two writers", ended[0])
    here = fresh(root)
    both = [start(["solve", "kuhn", "--iterations", "10", "--json"], here) for _ in range(3)]
    folders = {json.loads(process.ended().out)["folder"] for process in both}
    expect(folders == {f"runs/kuhn-cfr+-{number}" for number in (1, 2, 3)}, f"folders {folders}")
    return 3


def not_ours(root: Path) -> int:
    """Folders and files that are somebody else's stay as they are."""
    here = fresh(root)
    for name in ("out", "other"):
        (here / name / "deep").mkdir(parents=True)
        for file in ("README.md", "result.json", "policy.parquet", "checkpoint.safetensors", "deep/note"):
            (here / name / file).write_text(f"mine: {file}")
    (here / "other" / "run.json").write_text('{"format": "mine"}')
    (here / "other" / "comparison.json").write_text('{"format": "mine"}')
    (here / "other" / "reproduction.json").write_text("mine")
    (here / "x.json").write_text("mine")
    before, tried = hashes(here), 0
    lines = list(WRITING.values())
    lines += [[word if word != "out" else "other" for word in line] for line in lines]
    lines += [["resume", "out"], ["resume", "other"], PRINTING["export"], ["export", "kuhn", "--efg", "x.json"]]
    lines += [["solve", "kuhn", "--out", ""], ["solve", "kuhn", "--out", "x.json"]]
    for line in lines:
        ended = run(line, here)
        refused(ended, " ".join(line))
        expect(hashes(here) == before, f"{' '.join(line)} touched what is not ours", ended)
        tried += 1
    return tried


def hashes(place: Path) -> dict[str, str]:
    files = (path for path in sorted(place.rglob("*")) if not path.name.startswith(".stream-"))
    return {str(path): hashlib.blake2b(path.read_bytes()).hexdigest() if path.is_file() else "" for path in files}


FAULTS = (
    Fault("full output", full_output),
    Fault("closed pipe", closed_pipe),
    Fault("full disk", full_disk),
    Fault("folder removed", folder_removed),
    Fault("little memory", little_memory),
    Fault("two writers", two_writers),
    Fault("not ours", not_ours),
)
