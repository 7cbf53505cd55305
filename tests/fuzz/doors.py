"""Every door through which input enters, and inputs that are mostly broken: each is taken, or refused in a sentence."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import mutate

import treeplex as tp
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.errors import ParameterError
from treeplex.games.catalog import CATALOG
from treeplex.games.holdem.formats.menus import same_tree
from treeplex.games.holdem.locks import make_locks as locks_of
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.reading import imported
from treeplex.holdem import Spot, export_spot, sizes_for
from treeplex.poker.upi.session import Session
from treeplex.poker.views.lines import follow
from treeplex.problems.loading import spot_of

LARGEST = 20_000  # histories of a game that fuzzing has time for
EFG_SAMPLES = Path(__file__).resolve().parents[1] / "data" / "efg"
FORMAT_SAMPLES = EFG_SAMPLES.parent / "formats"


class TooLargeError(Exception):
    """The game was taken, and is larger than fuzzing has time for."""


class RulesError(Exception):
    """Raised by rules of the user's own: it passes through."""


Door = Callable[[random.Random, Path], None]
"""Makes an input, hands it in, and checks what came out if it was taken. The path is an empty folder."""


def enough(nodes: int) -> None:
    """Called while histories are counted."""
    if nodes > LARGEST:
        raise TooLargeError


def is_distance(nash_conv: float) -> None:
    """NashConv is a number that is not negative."""
    assert math.isfinite(nash_conv)
    assert nash_conv >= 0.0


def games(draw: random.Random, folder: Path) -> None:
    """Names and parameters of games."""
    small = ("kuhn", "leduc", "matrix(rows=[[1,-1],[-1,1]])", "one_card_poker(deck=3)", "liars_dice(sides=2)")
    small += ("goofspiel(cards=3)", "random_tree(depth=3)", "openspiel:kuhn_poker", "kuhn_ext(cards=4)", "x.efg")
    whole = draw.choice(small) if draw.random() < 0.7 else draw.choice([entry.usage for entry in CATALOG.values()])
    name = mutate.text(draw, whole)
    if any(len(digits) > 1 for digits in name.replace("e", "0").split() if digits.isdigit()):
        name = mutate.text(draw, small[0])
    with suppress(TooLargeError):
        game = tp.load(name, enough)
        if hasattr(game, "nodes") and game.nodes < LARGEST:
            is_distance(tp.evaluate(game, tp.Policy.uniform(game)).nash_conv)


def algorithms(draw: random.Random, folder: Path) -> None:
    """Algorithm strings, each run in Kuhn poker: whatever it is, the value lies within NashConv."""
    usage = draw.choice(list(ALGORITHMS.values())).usage
    solution = tp.solve(KUHN, mutate.text(draw, usage), iterations=2)
    is_distance(solution.nash_conv)
    assert abs(solution.value + 1 / 18) <= solution.nash_conv + 1e-9


def arguments(draw: random.Random, folder: Path) -> None:
    """Arguments of ``solve``."""
    known = ("nash_conv", "exploitability", "seconds", "iterations", "nodes", "seed", "iterate", "storage", "threads")
    known += ("backend", "out", "checkpoint_seconds", "watch", "answer", "locks")
    given = {draw.choice(known): draw.choice(mutate.VALUES) for _ in range(draw.randint(1, 3))}
    if isinstance(given.get("out"), str):
        given["out"] = str(folder / "run") + given["out"]
    if given.get("threads", 0) not in (0, 1, 2, True, None):
        given["threads"] = -1
    is_distance(tp.solve(KUHN, "cfr+", **({"iterations": 3} | given)).nash_conv)


def efg(draw: random.Random, folder: Path) -> None:
    """Gambit's files."""
    sample = draw.choice(sorted(EFG_SAMPLES.glob("*.efg"))).read_text(encoding="utf-8")
    path = folder / "game.efg"
    if draw.random() < 0.2:
        path.write_bytes(mutate.data(draw, sample.encode()))
    else:
        path.write_text(mutate.text(draw, sample), encoding="utf-8", errors="surrogatepass")
    with suppress(TooLargeError):
        game = tp.load(path, enough)
        is_distance(tp.evaluate(game, tp.Policy.uniform(game)).nash_conv)


def spots(draw: random.Random, folder: Path) -> None:
    """Hold'em spots: tables, and files of them."""
    way = draw.randrange(3)
    if way == 0:
        read_spot(mutate.tree(draw, FIELDS))
        return
    path = folder / "spot.json"
    broken = json.dumps({"spots": {"A": FIELDS}} if way == 2 else FIELDS)
    broken = json.dumps(mutate.tree(draw, json.loads(broken))) if draw.random() < 0.5 else mutate.text(draw, broken)
    path.write_text(broken, encoding="utf-8", errors="surrogatepass")
    read_spot(f"{path}#A" if way == 2 else path)


def read_spot(source: Any) -> None:
    """What is read can be told, and read again."""
    spot = spot_of(source)
    if spot is not None:
        assert spot.pot > 0
        assert spot_of(json.loads(json.dumps(spot.summary()))) == spot


def formats(draw: random.Random, folder: Path) -> None:
    """Files of other solvers: what is read can be written, and means the same when it is read again."""
    text = mutate.text(draw, draw.choice(sorted(FORMAT_SAMPLES.iterdir())).read_text(encoding="utf-8"))
    found = imported(text, draw.choice(("x.txt", "x.json", "x")), what="file")
    if found.ranges is None and not found.partial:
        for form in ("pio", "treeplex"):
            assert same_tree(imported(export_spot(found.spot, form).text, "x").spot, found.spot)


def upi(draw: random.Random, folder: Path) -> None:
    """Lines of PioSOLVER's protocol: each is answered, and the first error is a sentence like any other."""
    said: list[str] = []
    session = Session(said.append)
    script = (FORMAT_SAMPLES / "pio_lines.txt").read_text(encoding="utf-8").splitlines()[:-1]
    script += ["show_node r:0:c:b50", "show_strategy r:0", "calc_ev IP r:0:c", "calc_global_freq r:0", "solver_state"]
    for line in script:
        session.handle(mutate.text(draw, line) if draw.random() < 0.1 else line)
    session.close()
    assert said
    errors = [text.strip().removeprefix("ERROR: ") for text in said if text.startswith("ERROR")]
    if errors:
        raise ParameterError(errors[0])


def ranges(draw: random.Random, folder: Path) -> None:
    """Ranges, as poker players write them."""
    whole = ("22+,A2s+,KTo-K8o", "AA:0.5,KQs", "random", "15%", "[50]AA,KK[/50],QJs", "AA KK,AsKh:25%", "A*s,!AKs")
    weights = parse_range(mutate.text(draw, draw.choice(whole)))
    assert ((weights >= 0.0) & (weights <= 1.0)).all()


def lines(draw: random.Random, folder: Path) -> None:
    """Lines of a small river."""
    whole = ("check, bet 50%, call", "x/b50/c", "check bet 50", "allin", "x-b150", "check, bet 50, allin, fold")
    follow(RIVER, mutate.text(draw, draw.choice(whole)))


def locks(draw: random.Random, folder: Path) -> None:
    """Locks of a small river."""
    whole = [{"line": "", "strategy": {"AA": {"check": 0.5, "bet 50": 0.5}, "all": {"check": 1.0}}}]
    found = locks_of(mutate.tree(draw, whole))
    if found:
        is_distance(tp.solve(RIVER, iterations=2, locks=found).nash_conv)


def policies(draw: random.Random, folder: Path) -> None:
    """Policies in JSON, Parquet and tables."""
    whole = tp.Policy.uniform(KUHN)
    path = folder / draw.choice(("policy.json", "policy.parquet"))
    whole.save(path)
    if path.suffix == ".parquet" or draw.random() < 0.4:
        path.write_bytes(mutate.data(draw, path.read_bytes()))
    else:
        path.write_text(json.dumps(mutate.tree(draw, json.loads(path.read_text()))), errors="surrogatepass")
    is_distance(tp.evaluate(KUHN, path).nash_conv)


def run_folders(draw: random.Random, folder: Path) -> None:
    """Run folders with a file changed: refused, or resumed to the very bits of the run."""
    run = folder / "run"
    shutil.copytree(finished_run(folder), run)
    name = draw.choice(("run.json", "run.json", "checkpoint.safetensors"))
    path = run / name
    if name == "run.json" and draw.random() < 0.7:
        path.write_text(json.dumps(mutate.tree(draw, json.loads(path.read_text()))), errors="surrogatepass")
    else:
        path.write_bytes(mutate.data(draw, path.read_bytes()))
    again = tp.resume(run, iterations=9)
    assert [array.tolist() for array in again.strategies] == [array.tolist() for array in FINISHED[0].strategies]


def own_rules(draw: random.Random, folder: Path) -> None:
    """Rules of one's own that return what they should not."""
    rules = Broken(
        draw.choice(Broken.METHODS), draw.randint(0, 6), draw.choice((*mutate.VALUES, RulesError, {"a"}, "x"))
    )
    with suppress(TooLargeError, RulesError), from_the_rules():
        if draw.random() < 0.7:
            is_distance(tp.evaluate(game := tp.load(rules, enough), tp.Policy.uniform(game)).nash_conv)
        else:
            tp.explore(rules, iterations=20, responses=20)


@contextmanager
def from_the_rules() -> Generator[None]:
    """What the rules raise passes through, with a note that says where."""
    try:
        yield
    except Exception as error:
        if not any("of the rules" in note for note in getattr(error, "__notes__", ())):
            raise


class Broken:
    """Matching pennies after a coin, in which one method goes wrong from some call on."""

    METHODS = ("root", "mover", "actions", "child", "probabilities", "infoset", "payoff", "name")

    def __init__(self, method: str, calls: int, returned: Any) -> None:
        self._method, self._calls, self._returned = method, calls, returned
        self.name = returned if method == "name" else "broken pennies"

    def _told(self, method: str, right: Any) -> Any:
        if method == self._method:
            self._calls -= 1
            if self._calls < 0:
                if self._returned is RulesError:
                    raise RulesError
                return self._returned
        return right

    def root(self) -> Any:
        return self._told("root", "")

    def mover(self, history: Any) -> Any:
        order = (tp.CHANCE, 0, 1, tp.TERMINAL)
        return self._told("mover", order[min(len(history), 3)])

    def actions(self, history: Any) -> Any:
        return self._told("actions", ("h", "t"))

    def child(self, history: Any, action: Any) -> Any:
        return self._told("child", history + str(action))

    def probabilities(self, history: Any) -> Any:
        return self._told("probabilities", (0.5, 0.5))

    def infoset(self, history: Any) -> Any:
        return self._told("infoset", f"{len(history)}{history[:1]}")

    def payoff(self, history: Any) -> Any:
        return self._told("payoff", 1.0 if history[1:2] == history[2:3] else -1.0)


FIELDS = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 200,
    "oop_range": "AA,KQs,T9s:0.5",
    "ip_range": "QQ,AKs,77",
    "sizes": sizes_for("50%, a", "60%, a"),
    "rake_rate": 0.0,
    "rake_cap": 0,
    "add_allin_threshold": 0.0,
    "force_allin_threshold": 0.0,
    "merging_threshold": 0.0,
}
KUHN = tp.load("kuhn")
RIVER = tp.load(Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs", "QQ,77", sizes_for("50%, a", "a")))
FINISHED: list[tp.Solution] = []


def finished_run(folder: Path) -> Path:
    """A run of five iterations, and in ``FINISHED`` what nine would have found."""
    path = folder.parent / "finished"
    if not path.exists():
        FINISHED[:] = [tp.solve("kuhn", "dcfr", iterations=9)]
        tp.solve("kuhn", "dcfr", iterations=5, out=path)
    return path
