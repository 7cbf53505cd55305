"""Kill every command at random moments, by kill -9 and by signals, and take away its disk, memory and readers.

    python tests/kill/run.py [--kills 100] [--signals 100] [--seed 0] [--only NAME] [--quick]

Whatever was killed is brought to its end and must have the bits of a run that never was; every signal must end in a
sentence; nothing that is not ours may be touched. Prints counts by kind, and what failed; exit code 1 if anything did.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from cases import CASES, QUICK, Case
from faults import FAULTS, FaultError
from process import Ended, Process, handles_signals, run, start
from same import difference, results

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
AT_MOST = 8  # times a run is started until it must be done


class Reference(NamedTuple):
    """An undisturbed run."""

    left: dict[str, Any]
    out: str
    seconds: float  # in all
    begun: float  # seconds until its record was there


class FailedError(Exception):
    """What must not happen."""


def words(case: Case, text: str) -> list[str]:
    """The arguments of a command."""
    return [word.replace("{out}", "out") for word in text.split(" ")]


def prepared(case: Case, place: Path) -> dict[str, str]:
    """An empty folder with what the command needs; returns the environment."""
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("not yours")
    for command in case.before:
        ended = run(words(case, command), place)
        if ended.code:
            raise FailedError(f"{command}: {ended}")
    return {"NUMBA_CACHE_DIR": str(place / "cache")} if case.cold else {}


def reference(case: Case, place: Path) -> Reference:
    """Let it run."""
    environment = prepared(case, place)
    began = time.monotonic()
    process = start(words(case, case.command), place, environment)
    begun = 0.0
    while process.poll() is None:
        if not begun and (place / "out" / case.record).exists():
            begun = time.monotonic() - began
        time.sleep(0.002)
    ended = process.ended()
    if ended.code != case.code:
        raise FailedError(f"undisturbed: {ended}")
    seconds = time.monotonic() - began
    forget_cache(place)
    return Reference(results(place), ended.out, seconds, begun)


def forget_cache(place: Path) -> None:
    shutil.rmtree(place / "cache", ignore_errors=True)
    for stream in place.glob(".stream-*"):
        stream.unlink()


def disturb(case: Case, process: Process, place: Path, known: Reference, number: int, dice: random.Random) -> Ended:
    """Send it a signal at a random moment: three times of four while it runs, else while it loads."""
    if number != signal.SIGKILL:
        handles_signals(process)
    late = known.begun and dice.random() < 0.75
    moment = 0.85 * dice.random() * (known.seconds - known.begun if late else known.seconds)  # seldom after the end
    while late and process.poll() is None and not (place / "out" / case.record).exists():
        time.sleep(0.002)
    deadline = time.monotonic() + moment
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send(number)
    return process.ended()


def check_signal(case: Case, ended: Ended, number: int) -> str:
    """A sentence and exit code 1, or it came too late; returns what it was."""
    if "Traceback" in ended.err or "Exception" in ended.err:
        raise FailedError(f"traceback: {ended}")
    said = f"interrupted by {signal.Signals(number).name}" in ended.err
    if ended.code == 1 and said:
        return "with an answer" if ended.out else "before an answer"
    if ended.code == case.code and not said:
        return "after the end"
    raise FailedError(f"no sentence: {ended}")


def trial(case: Case, number: int, place: Path, known: Reference, dice: random.Random) -> Counter[str]:
    """Disturb a command until it was disturbed at least once, bring it to its end, and compare."""
    counts: Counter[str] = Counter()
    environment = prepared(case, place)
    again = [words(case, case.command)]
    if case.resumable and not case.before:
        again.append(["resume", "out", "--checkpoint-seconds", "0", "--json"])
    args = again[0]
    for attempt in range(AT_MOST):
        if attempt and (case is QUICK or dice.random() < 0.7):
            ended = run(args, place, environment)
        else:
            ended = disturb(case, start(args, place, environment), place, known, number, dice)
            if number == signal.SIGKILL:
                counts["killed" if ended.code == -9 else "after the end"] += 1
                if ended.code not in (-9, case.code):
                    raise FailedError(f"neither killed nor done: {ended}")
            else:
                counts[check_signal(case, ended, number)] += 1
        if ended.code == case.code:
            break
        if ended.code not in (-9, 1):
            raise FailedError(f"cannot go on: {ended}")
        started = (place / "out" / "run.json").exists()
        args = again[-1] if started and dice.random() < 0.5 else again[0]
    else:
        ended = run(again[0], place, environment)
    if ended.code != case.code:
        raise FailedError(f"not done: {ended}")
    forget_cache(place)
    check_same(case, place, known)
    counts["disturbances that were followed to the end"] += 1
    return counts


def check_same(case: Case, place: Path, known: Reference) -> None:
    found = results(place)
    left = [name for name in found if Path(name).name.startswith(".treeplex-")]
    if left and (case.resumable or case.record != "run.json"):
        raise FailedError(f"left behind: {left}")
    for name in left:  # of commands without a folder of their own: nobody may delete what lies around
        del found[name]
    differs = difference(found, known.left)
    if differs:
        raise FailedError(f"not the same: {differs}")


def main() -> int:
    """Everything; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--signals", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="one command, two trials: a look in seconds")
    given = parser.parse_args()
    for number in SIGNALS:  # however we were started, what we start takes signals
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
    cases = [case for case in CASES if given.only in case.name] if not given.quick else [QUICK]
    kills, signals, faults = (1, 1, []) if given.quick else (given.kills, given.signals, list(FAULTS))
    counts: Counter[str] = Counter()
    failures: list[str] = []

    def attempt(kind: str, name: str, call: Any, *arguments: Any) -> Any:
        try:
            found = call(*arguments)
        except (FailedError, FaultError) as error:
            failures.append(f"{kind}, {name}: {error}")
            sys.stdout.write(f"FAILED {failures[-1]}\n")
            return None
        finally:
            sys.stdout.flush()
        for key, count in found.items() if isinstance(found, Counter) else ():
            counts[f"{kind}: {key}"] += count
        return found

    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="treeplex-kill-"))
    try:
        with ThreadPoolExecutor(given.workers) as pool:
            undisturbed = pool.map(
                lambda case: attempt("undisturbed", case.name, reference, case, root / "0" / case.name), cases
            )
            known = {case.name: found for case, found in zip(cases, undisturbed, strict=True)}
            plan = [(signal.SIGKILL, i) for i in range(kills)]
            plan += [(SIGNALS[(i + i // len(cases)) % 3], i) for i in range(signals)]
            random.Random(given.seed).shuffle(plan)

            def one(job: tuple[int, tuple[int, int]]) -> None:
                place, (number, i) = job
                case = cases[i % len(cases)]
                if known[case.name] is not None:
                    kind = "kill -9" if number == signal.SIGKILL else signal.Signals(number).name
                    dice = random.Random(f"{given.seed} {number} {i}")
                    folder = root / str(place + 1)
                    attempt(kind, case.name, trial, case, number, folder / "work", known[case.name], dice)
                    shutil.rmtree(folder, ignore_errors=True)

            try:
                for done, _ in enumerate(pool.map(one, enumerate(plan)), 1):
                    if done % 20 == 0:
                        sys.stdout.write(f"{done} of {len(plan)} trials, {time.monotonic() - began:.0f} s\n")
            except KeyboardInterrupt:  # what is done is told
                pool.shutdown(cancel_futures=True)
                failures.append("not all trials were made")
                faults = []
        for fault in faults:
            if given.only in fault.name:
                attempt("faults", fault.name, lambda fault=fault: Counter({fault.name: fault.check(root)}))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    for key in sorted(counts):
        sys.stdout.write(f"{counts[key]:5}  {key}\n")
    sys.stdout.write(f"{len(failures):5}  failures, {time.monotonic() - began:.0f} s\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
