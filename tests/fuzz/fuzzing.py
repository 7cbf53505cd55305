"""``make fuzz``: thousands of mostly broken inputs through every door. Prints counts by door; exit code 1 if one fails.

Every input is made from the seed, the door and its number alone: ``--door games --only 17`` makes one of them again.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parent))

import doors
import folders
from caches import caches
from command_line import RefusedError, command_line
from jobs import jobs

from treeplex.errors import TreeplexError
from treeplex.kernels.jit import CompileTimer, timed_compilation

DOORS: dict[str, doors.Door] = {
    "games": doors.games,
    "algorithms": doors.algorithms,
    "arguments": doors.arguments,
    "efg": doors.efg,
    "spots": doors.spots,
    "formats": doors.formats,
    "upi": doors.upi,
    "ranges": doors.ranges,
    "lines": doors.lines,
    "locks": doors.locks,
    "policies": doors.policies,
    "run folders": doors.run_folders,
    "own rules": doors.own_rules,
    "jobs": jobs,
    "command line": command_line,
    "caches": caches,
    "checkpoints": folders.checkpoints,
    "compiled games": folders.compiled_games,
    "run files": folders.run_files,
    "batches": folders.batches,
}
SHARES = {"jobs": 0.3, "run folders": 0.5, "command line": 0.5, "locks": 0.5, "caches": 0.5}
SHARES |= {"checkpoints": 2.5, "compiled games": 1.5, "run files": 0.5, "batches": 0.25}
LONGEST = 300  # characters of a sentence
PATIENCE = 30.0  # seconds for one input
TAKEN, REFUSED, FAILED = "taken", "refused", "failed"


class Hang(BaseException):
    """An input took longer than anyone waits."""


def tried(door: str, number: int, seed: int, parent: Path) -> tuple[str, str]:
    """One input: what became of it, and if it failed, how."""
    draw = random.Random(f"{seed}/{door}/{number}")
    folder = parent / str(number)
    folder.mkdir()
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        DOORS[door](draw, folder)
        return TAKEN, ""
    except TreeplexError as error:
        sentence = str(error)
        if len(sentence) > LONGEST or len(sentence.splitlines()) != 1:
            return FAILED, f"a sentence of {len(sentence)} characters: {sentence[:400]!r}"
        return REFUSED, ""
    except RefusedError:
        return REFUSED, ""
    except (Exception, Hang):
        return FAILED, traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        shutil.rmtree(folder, ignore_errors=True)


def compile_seconds(timer: CompileTimer) -> float:
    """With those of what is being compiled just now."""
    return timer.seconds + (time.perf_counter() - timer._began if timer._depth else 0.0)


def fuzz(door: str, inputs: int, seed: int, only: int | None = None) -> tuple[Counter[str], list[str]]:
    """Counts of one door, and what failed."""
    counts, failures = Counter[str](), list[str]()

    def alarm(number: int, frame: FrameType | None) -> None:
        nonlocal compiled
        if compile_seconds(compilation) > compiled:  # kernels took some of the time: that is no hang
            compiled = compile_seconds(compilation)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            return
        raise Hang

    before = signal.signal(signal.SIGALRM, alarm)
    compiled = 0.0
    try:
        with (
            tempfile.TemporaryDirectory() as parent,
            warnings.catch_warnings(),
            timed_compilation() as compilation,
        ):
            warnings.simplefilter("error")
            for number in range(inputs) if only is None else (only,):
                outcome, how = tried(door, number, seed, Path(parent))
                counts[outcome] += 1
                if how:
                    failures.append(f"--door {door!r} --only {number} --seed {seed}\n{how}")
    finally:
        signal.signal(signal.SIGALRM, before)
    return counts, failures


def main() -> int:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=28_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--door", choices=sorted(DOORS))
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    chosen = [asked.door] if asked.door else list(DOORS)
    whole = sum(SHARES.get(door, 1.0) for door in chosen)
    total, failures = Counter[str](), list[str]()
    print(f"{'door':<14}{'inputs':>8}{TAKEN:>8}{REFUSED:>9}{FAILED:>8}{'seconds':>9}")
    for door in chosen:
        began = time.perf_counter()
        inputs = round(asked.inputs * SHARES.get(door, 1.0) / whole)
        counts, found = fuzz(door, inputs, asked.seed, asked.only)
        took = time.perf_counter() - began
        print(
            f"{door:<14}{counts.total():>8,}{counts[TAKEN]:>8,}{counts[REFUSED]:>9,}{counts[FAILED]:>8,}{took:>9.1f}",
            flush=True,
        )
        total.update(counts)
        failures += found
    print(f"{'all':<14}{total.total():>8,}{total[TAKEN]:>8,}{total[REFUSED]:>9,}{total[FAILED]:>8,}")
    for failure in failures[:20]:
        print("\n" + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
