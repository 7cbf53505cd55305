"""Folders from a stranger as doors: checkpoints and games with right checksums and wrong arrays, tables, job lists."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mutate
import pyarrow as pa
import pyarrow.parquet as pq
import tamper
from command_line import RefusedError
from forked import command, forked

from treeplex.compile.storage import FORMAT as GAME
from treeplex.errors import TreeplexError
from treeplex.runs.batch.jobs import job_of
from treeplex.runs.batch.results import row_of, write_row
from treeplex.runs.batch.run import left_of, record, recorded
from treeplex.tensors import CHECKPOINT
from treeplex.web.logs import log_of
from treeplex.web.policies import Policies

RIVER = ("--board", "Ks9h6d3cJh", "--pot", "100", "--stack", "300", "--oop", "AA,QQ,KQs", "--ip", "KK,JJ,AKs")
MENU = ("--bet", "50%,a", "--raise", "a")
SPOT = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KQs,T9s,87s",
    "ip_range": "KK:0.5,QQ,AJs,T8s,76s",
}
LOCKS = [{"line": "check", "strategy": {"all": {"check": 0.5, "bet 50": 0.5}}}]


def solve(game: str, algorithm: str, iterations: int, *more: str) -> tuple[tuple[str, ...], int]:
    """A command, and how far its run is continued."""
    return ("solve", game, "--algorithm", algorithm, "--iterations", str(iterations), *more), 2 * iterations


RUNS: dict[str, tuple[tuple[str, ...], int]] = {
    "cfr+": solve("leduc", "cfr+", 20),
    "cfr+, int16": solve("leduc", "cfr+", 20, "--storage", "int16"),
    "dcfr, float32, best": solve("leduc", "dcfr", 20, "--storage", "float32", "--iterate", "best"),
    "hs-pcfr+, current": solve("kuhn", "hs-pcfr+", 20, "--iterate", "current"),
    "hedge": solve("kuhn", "hedge", 20),
    "apcfr+": solve("kuhn", "apcfr+", 20),
    "smooth-pcfr+": solve("kuhn", "smooth-pcfr+", 20),
    "cfr-br": solve("kuhn", "cfr-br", 20),
    "fp": solve("kuhn", "fp", 20),
    "egt": solve("kuhn", "egt", 20),
    "mirror-prox": solve("kuhn", "mirror-prox", 20),
    "cfr+-restarted": solve("kuhn", "cfr+-restarted(every=8)", 50),
    "mirror-prox-restarted": solve("kuhn", "mirror-prox-restarted(every=8)", 50),
    "cfr-partial": solve("leduc", "cfr-partial", 20),
    "cfr+-zero-reach-br": solve("leduc", "cfr+-zero-reach-br", 20),
    "cfr-rbp": solve("leduc", "cfr-rbp", 150),
    "cfr+-nested-rbp": solve("leduc", "cfr+-nested-rbp", 150),
    "hedge-dt-rbp": solve("leduc", "hedge-dt-rbp", 60),
    "cfr+-hybrid": solve("leduc", "cfr+-hybrid", 90),
    "hedge-dt-hybrid": solve("kuhn", "hedge-dt-hybrid", 90),
    "pure-mccfr": solve("leduc", "pure-mccfr", 200),
    "pure-mccfr, streams": solve("leduc", "pure-mccfr(streams=3, turns=simultaneous, chance=correlated)", 100),
    "pure-cfr": solve("leduc", "pure-cfr", 20),
    "mccfr-external": solve("leduc", "mccfr-external(fallback=random)", 200),
    "mccfr-outcome": solve("leduc", "mccfr-outcome", 200),
    "mccfr-average": solve("leduc", "mccfr-average", 200),
    "mccfr-chance": solve("leduc", "mccfr-chance(regret=plus, fallback=random)", 50),
    "warm-start": solve("leduc", "warm-start(warmup=100)", 150),
    "warm-start, warming up": solve("leduc", "warm-start(warmup=150)", 100),
    "auto": solve("kuhn", "auto", 60),
    "compare": (("compare", "kuhn", "cfr", "dcfr", "--iterations", "20"), 40),
    "explore": (("explore", "kuhn", "--iterations", "30", "--responses", "20"), 60),
    "explore, outcome": (
        ("explore", "kuhn", "--algorithm", "mccfr-outcome", "--iterations", "50", "--responses", "20"),
        90,
    ),
    "explore, external": (
        ("explore", "kuhn", "--algorithm", "mccfr-external", "--iterations", "30", "--responses", "20"),
        60,
    ),
    "grow": (("grow", "continuous_leduc", "--iterations", "60"), 130),
    "grow, archive": (("grow", "continuous_leduc", "--iterations", "400", "--archive", "1"), 450),
    "grow a spot": (("grow", "{spot}", "--iterations", "25"), 45),
    "holdem": (("holdem", "solve", *RIVER, *MENU, "--iterations", "20"), 40),
    "holdem, int16": (("holdem", "solve", *RIVER, *MENU, "--iterations", "20", "--storage", "int16"), 40),
    "holdem, float64, predictive": (
        ("holdem", "solve", *RIVER, *MENU, "--algorithm", "pcfr+", "--iterations", "9", "--storage", "float64"),
        20,
    ),
    "holdem, locked": (("holdem", "solve", *RIVER, *MENU, "--iterations", "20", "--lock", "{locks}"), 40),
}
PLAYED = ("cfr+", "cfr-rbp", "cfr+-nested-rbp", "pure-mccfr", "mccfr-external", "egt", "hedge-dt-rbp", "warm-start")
"""What runs on a game from a stranger."""
GAMES = ("leduc", "kuhn", "goofspiel(cards=3)", "one_card_poker(deck=4)", "random_tree(depth=4)")


@contextmanager
def quick() -> Iterator[None]:
    """Without pictures, which take longer than all else."""
    with patch("treeplex.runs.folder.plot_convergence", lambda *_: None):
        yield


def sample(folder: Path, name: str) -> Path:
    """The folder of a whole run of this kind, made once per process."""
    home = folder.parent / "samples" / name.replace(" ", "-")
    if not home.exists():
        home.mkdir(parents=True)
        (home / "spot.json").write_text(json.dumps(SPOT))
        (home / "locks.json").write_text(json.dumps(LOCKS))
        files = {"{spot}": str(home / "spot.json"), "{locks}": str(home / "locks.json")}
        words = [files.get(word, word) for word in RUNS[name][0]]
        with quick():
            command([*words, "--out", "run", "--quiet", "--checkpoint-seconds", "0"], home)
            shutil.copytree(home / "run", home / "again")  # kernels are warm when children are made
            with suppress(RefusedError):
                command(continued(name, "again"), home)
    return home / "run"


def continued(name: str, folder: str) -> list[str]:
    """The command that goes on with a run."""
    words, upto = RUNS[name]
    if words[0] == "compare":
        return [*words[:-1], str(upto), "--out", folder, "--quiet"]
    return ["resume", folder, "--iterations", str(upto), "--quiet"]


def checkpoints(draw: random.Random, folder: Path) -> None:
    """Checkpoints of all kinds of runs."""
    name = draw.choice(list(RUNS))
    shutil.copytree(sample(folder, name), folder / "run")
    path = draw.choice(sorted((folder / "run").rglob("checkpoint.safetensors")))
    tamper.tampered(draw, path, CHECKPOINT)
    with quick():
        forked(lambda: command(continued(name, "run"), folder), folder)


def compiled_games(draw: random.Random, folder: Path) -> None:
    """Compiled games, each solved by some algorithm that reads other arrays of it."""
    home = folder.parent / "games"
    if not home.exists():
        home.mkdir()
        for number, game in enumerate(GAMES):
            command(["export", game, "--compiled", f"{number}.safetensors"], home)
            for algorithm in PLAYED:
                command(_played(f"{number}.safetensors", algorithm), home)
    path = folder / "game.safetensors"
    shutil.copy(home / f"{draw.randrange(len(GAMES))}.safetensors", path)
    tamper.tampered(draw, path, GAME)
    algorithm = draw.choice(PLAYED)
    forked(lambda: command(_played(path.name, algorithm), folder), folder)


def _played(game: str, algorithm: str) -> list[str]:
    return ["solve", game, "--algorithm", algorithm, "--iterations", "60", "--no-save", "--quiet"]


FILES = ("run.json", "result.json", "log.parquet", "policy.parquet")


def run_files(draw: random.Random, folder: Path) -> None:
    """The other files of a run folder: resumed, evaluated, looked at as the server does."""
    name = draw.choice(("cfr+", "explore", "holdem", "grow", "grow a spot", "holdem, locked", "pure-mccfr"))
    shutil.copytree(sample(folder, name), folder / "run")
    path = folder / "run" / draw.choice(FILES)
    if path.suffix == ".json":
        text = json.dumps(mutate.tree(draw, json.loads(path.read_text())))
        edit = draw.randrange(10)
        if edit == 0:
            text = text.replace("null", draw.choice(("[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "9" * 400)), 1)
        elif edit == 1:
            text = re.sub(r": \d+", f": {'9' * draw.choice((20, 400, 5000))}", text, count=draw.randint(1, 3))
        elif edit == 2:
            text = mutate.text(draw, text)
        path.write_text(text, errors="surrogatepass")
        words = continued(name, "run")
    else:
        path.write_bytes(_table(draw, path))
        words = draw.choice((["evaluate", "leduc", "run/policy.parquet"], []))
    with quick():
        forked(lambda: command(words, folder) if words else _looked_at(folder), folder)


def _looked_at(folder: Path) -> None:
    """What the server reads of a run folder."""
    log_of(folder / "run", 100.0)
    try:
        Policies().of(folder / "run", "run")
    except TreeplexError:
        raise RefusedError from None


def _table(draw: random.Random, path: Path) -> bytes:
    """A Parquet file with other rows, columns or types, or one that unpacks to far more than it is."""
    if not path.exists() or draw.random() < 0.3:
        return mutate.data(draw, path.read_bytes() if path.exists() else b"PAR1")
    table = pq.read_table(path)
    edit, name = draw.randrange(6), draw.choice(table.column_names)
    place, long = table.column_names.index(name), draw.choice((10, 10, 100_000, 3_000_000))
    columns: Any = {key: table[key] for key in table.column_names}
    if edit == 0:
        table = table.drop_columns([name])
    elif edit == 1:
        table = table.rename_columns([draw.choice(table.column_names) if key == name else key for key in columns])
    elif edit == 2:
        odd = draw.choice(("x" * 64_000, None, b"\xff", [1]))
        table = table.set_column(place, name, pa.array([odd] * len(table)))
    elif edit == 3:
        table = pa.table({key: pa.repeat(column[0], long) for key, column in columns.items()})
    elif edit == 4:
        table = table.append_column("extra", pa.repeat("x" * 64_000, len(table)))
        table = pa.concat_tables([table] * draw.choice((1, 1, 20)))
    else:
        table = table.set_column(place, name, pa.array([draw.choice((-1.0, 1e308, float("nan"), 2.0))] * len(table)))
    pq.write_table(table, path, compression=draw.choice(("zstd", "none")))
    return path.read_bytes()


JOBS = (
    {"id": "a", "game": "kuhn", "algorithm": "cfr+", "iterations": 3},
    {"id": "b", "game": "leduc", "iterations": 2, "seed": 1, "storage": "float32"},
    {"id": "c", "spot": SPOT, "exploitability": "1%pot"},
)


def batches(draw: random.Random, folder: Path) -> None:
    """Lists of jobs, and folders of batches."""
    if draw.random() < 0.5:
        lines = [json.dumps(mutate.tree(draw, job)) if draw.random() < 0.5 else json.dumps(job) for job in JOBS]
        text = "\n".join(lines)
        text = mutate.text(draw, text) if draw.random() < 0.2 else text
        (folder / "jobs.jsonl").write_text(text, errors="surrogatepass")
        forked(lambda: command(["batch", "jobs.jsonl", "--dry-run"], folder), folder)
        return
    home = folder.parent / "batch"
    if not home.exists():
        home.mkdir()
        jobs = [job_of(fields) for fields in JOBS]
        record(home, jobs)
        for job in jobs:
            write_row(home, row_of(job, None, "x"))
    shutil.copytree(home, folder / "out")
    path = draw.choice(sorted((folder / "out").rglob("*.*")))
    if path.suffix == ".parquet":
        path.write_bytes(_table(draw, path))
    else:
        path.write_text(mutate.text(draw, path.read_text()), errors="surrogatepass")
    forked(lambda: _read_batch(folder / "out"), folder)


def _read_batch(out: Path) -> None:
    """What goes on with a batch reads of its folder."""
    try:
        left_of(out, recorded(out))
    except TreeplexError:
        raise RefusedError from None
