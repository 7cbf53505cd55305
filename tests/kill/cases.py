"""The commands that are killed: what each is called with, and how it is brought to its end afterwards."""

from __future__ import annotations

from dataclasses import dataclass

SPOT = "--board Ks9h6d3cJh --pot 100 --stack 300 --oop AA,QQ,KQs --ip KK,JJ,AKs --bet 50%,a --raise a"
KEPT = "--checkpoint-seconds 0 --out {out} --json"


@dataclass(frozen=True)
class Case:
    """A command. ``{out}`` stands for its run folder, or for the beginning of the names of its files."""

    name: str
    command: str
    before: tuple[str, ...] = ()  # commands that prepare it, in the same folder
    resumable: bool = True  # it has a run folder and can also be continued by ``treeplex resume``
    cold: bool = False  # with no kernels on disk
    record: str = "run.json"  # what is in the folder once the run has begun
    code: int = 0  # of the undisturbed command


def solve(name: str, game: str, options: str, **more: bool) -> Case:
    return Case(f"solve {name}", f"solve {game} {options} {KEPT}", **more)


def spot(storage: str, iterate: str) -> Case:
    options = f"--iterations 8000 --storage {storage} --iterate {iterate} {KEPT}"
    return Case(f"holdem solve, {storage}, {iterate}", f"holdem solve {SPOT} {options}")


QUICK = solve("quick", "kuhn", "--iterations 20000")

CASES = (
    solve("cfr+, average", "leduc", "--algorithm cfr+ --iterations 20000"),
    solve("dcfr, current", "leduc", "--algorithm dcfr --iterations 20000 --iterate current"),
    solve("cfr, best", "leduc", "--algorithm cfr --iterations 20000 --iterate best"),
    solve("cfr+, 16 bits", "leduc", "--algorithm cfr+ --iterations 15000 --storage int16"),
    solve("mccfr-external, nodes", "leduc", "--algorithm mccfr-external --nodes 4000000 --seed 3"),
    solve("hedge", "leduc", "--algorithm hedge --iterations 8000"),
    solve("egt", "leduc", "--algorithm egt --iterations 10000"),
    solve("warm-start", "leduc", "--algorithm warm-start(warmup=3000) --iterations 6000 --seed 4"),
    solve("cfr+-rbp, nodes", "leduc", "--algorithm cfr+-rbp --nodes 20000000"),
    solve("cfr-partial, best", "leduc", "--algorithm cfr-partial --iterations 3000 --iterate best"),
    solve("lp", "leduc", "--algorithm lp"),
    Case(
        "solve a file",
        f"solve {{out}}.efg --iterations 60000 {KEPT}",
        before=("export kuhn --efg {out}.efg",),
    ),
    solve("cold", "kuhn", "--algorithm cfr+ --iterations 100", cold=True),
    spot("float64", "average"),
    spot("float32", "best"),
    spot("int16", "current"),
    Case("grow", "grow continuous_leduc --iterations 700 --checkpoint-seconds 0 --out {out} --json"),
    Case(
        "grow, archive", "grow continuous_leduc --iterations 700 --archive 1 --checkpoint-seconds 0 --out {out} --json"
    ),
    Case(
        "explore", "explore leduc --iterations 3000 --seed 2 --responses 300 --checkpoint-seconds 0 --out {out} --json"
    ),
    Case(
        "compare",
        f"compare leduc cfr dcfr lp --iterations 8000 {KEPT}",
        resumable=False,
        record="comparison.json",
    ),
    Case(
        "resume",
        "resume {out} --iterations 20000 --checkpoint-seconds 0 --json",
        before=("solve leduc --algorithm pcfr+ --iterations 300 --out {out} --json",),
    ),
    Case("evaluate", "evaluate leduc {out}.json --json", before=("export leduc --to {out}.json",), resumable=False),
    Case(
        "export",
        "export leduc --efg {out}.efg --compiled {out}.safetensors --to {out}.parquet --force --json",
        resumable=False,
    ),
    Case(
        "merge",
        "merge leduc {out}-1.json {out}-2.parquet --to {out}.parquet --force --json",
        before=("export leduc --to {out}-1.json", "export leduc --to {out}-2.parquet"),
        resumable=False,
    ),
    Case("list", "list --json", resumable=False),
    Case("info", "info leduc --json", resumable=False),
    Case(
        "reproduce",
        "reproduce cfr-plus-compressibility --out {out} --json",
        resumable=False,
        record="reproduction.json",
    ),
)
