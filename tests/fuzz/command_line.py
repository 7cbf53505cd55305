"""The command line as a door: options left out, repeated, misspelt and contradictory."""

from __future__ import annotations

import io
import os
import random
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import mutate

import treeplex as tp
from treeplex.cli.main import run

SPOT = ("--board", "Ks9h6d3cJh", "--pot", "100", "--stack", "200", "--oop", "AA,KQs", "--ip", "QQ,77", "--bet", "50%")
COMMANDS = (
    ("list", "games"),
    ("info", "kuhn"),
    ("solve", "kuhn", "--iterations", "3", "--no-save"),
    ("solve", "leduc", "--algorithm", "mccfr-external", "--nodes", "500", "--seed", "3", "--out", "run"),
    ("solve", "kuhn", "--traversal", "rbp", "--iterations", "3", "--show", "1", "--json"),
    ("resume", "kept", "--iterations", "9"),
    ("compare", "kuhn", "cfr", "cfr+", "--iterations", "3"),
    ("grow", "continuous_leduc", "--iterations", "2", "--no-save"),
    ("explore", "kuhn", "--iterations", "20", "--responses", "20"),
    ("evaluate", "kuhn", "policy.json"),
    ("merge", "kuhn", "policy.json", "policy.json", "--to", "merged.json"),
    ("export", "kuhn", "--efg", "kuhn.efg"),
    ("reproduce",),
    ("holdem", "info", *SPOT),
    ("holdem", "solve", *SPOT, "--iterations", "2", "--no-save"),
    ("holdem", "show", "kept", "--line", "check"),
)
OPTIONS = (
    *("--json", "--quiet", "--no-save", "--grid", "--help", "-h", "--version", "--by-class", "--", "-", "--force"),
    *("--seconds", "--iterations", "--nodes", "--nash-conv", "--exploitability", "--big-blind", "--seed"),
    *("--iterate", "--storage", "--threads", "--backend", "--checkpoint-seconds", "--show", "--lock", "--line"),
)
GIVEN = ("0", "1", "-1", "0.3%pot", "5mbb", "nan", "1e400", "best", "int16", "cuda", "", "x", "check", "kuhn", "0.1")
LONGEST = 300
RUNS = ("solve", "resume", "compare", "grow", "explore", "holdem")


def command_line(draw: random.Random, folder: Path) -> None:
    """A command with one to three changes, run as its entry point runs it."""
    words = list(draw.choice(COMMANDS))
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(words))
        edit = draw.randrange(6)
        if edit == 0:
            words[at] = mutate.text(draw, words[at]).lstrip("/").replace("\0", "")
        elif edit == 1 and len(words) > 1:
            del words[at]
        elif edit == 2:
            words.insert(at, words[draw.randrange(len(words))])
        elif edit == 3:
            words[at] = draw.choice(GIVEN)
        else:
            words += [draw.choice(OPTIONS), draw.choice(GIVEN)][: draw.randint(1, 2)]
    if (words[0] == "reproduce" and len(words) > 1) or "--install-completion" in " ".join(words):
        words = ["reproduce", "nothing"]
    if words[0] in RUNS and "--seconds" not in words:
        words += ["--seconds", "2"]
    tp.Policy.uniform(tp.load("kuhn")).save(folder / "policy.json")
    code, _, err = called(words, folder)
    assert code in (0, 1, 2), code
    assert "Traceback" not in err, err
    if code == 2:
        last = err.splitlines()[-1]
        assert last.startswith("error: "), err
        assert len(last) <= LONGEST + len("error: "), last
        raise RefusedError


class RefusedError(Exception):
    """With exit code 2 and a sentence."""


def called(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["treeplex", *words]
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            run()
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("the entry point returned")


os.environ.setdefault("COLUMNS", "100")
