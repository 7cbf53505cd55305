"""Growth, three ways: compiled kernels, the NumPy reference in their place, and numbers stored in growth_traces.json.

Iterates 1 to 5 and those around the first additions of sizes: which size was added where, what was regretted for not
having it, how the past is weighed since, and everything that is learnt, right after the addition and one iteration
later. The stored numbers come from the reference; write them again after a deliberate change with

    python tests/golden/test_growth_traces.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.engines.public.reference import growing as reference
from treeplex.games.continuous import ContinuousPoker, continuous_leduc_rules
from treeplex.games.poker import Card
from treeplex.games.sized import Menu
from treeplex.growth.algorithm import check_and_add
from treeplex.growth.options import Growth

STORED = Path(__file__).with_name("growth_traces.json")
ITERATES = 5
ADDITIONS = 3  # of which everything is kept
SIZES = (0.01, 1.0)
LOOKS = {"one_street": range(ITERATES, 25), "continuous_leduc": range(10, 12)}  # after these iterations

# No two ranks have as many cards, so that no two actions are worth the same: rounding decides nothing.
DECK = tuple(Card(label, rank, copies) for rank, (label, copies) in enumerate([("7", 1), ("8", 3), ("9", 2)]))
GAMES = {
    "one_street": ContinuousPoker("one_street", DECK, 1),
    "continuous_leduc": continuous_leduc_rules(),
}
WAYS = {
    "cfr": Growth(factor=1.0),
    "cfr, transfer, bound": Growth("transfer", 1.0, discount="bound"),
    "cfr+": Growth(factor=1.0, discount="recommended", algorithm="cfr+"),
    "cfr+, transfer, best-response": Growth(
        "transfer", 1.0, estimate="best-response", discount="recommended", algorithm="cfr+"
    ),
}
KERNELS = {
    "treeplex.engines.public.build": ("rematch",),
    "treeplex.engines.public.game": ("iterate", "rematch"),
    "treeplex.engines.public.tree": ("reach",),
    "treeplex.growth.add": ("recover", "regrets", "rematch"),
    "treeplex.growth.dealt": ("best_sizes", "regrets", "spans"),
}


def numbers(game: GrowingGame) -> dict[str, list[float]]:
    """Strategies, average and current, of moves by line, and sums of all that is learnt, each row with its own weight.

    In a large game, of the first moves only.
    """
    lines = sorted((" ".join(game.line(n)), n) for n in range(1, game.tree.count))
    order = np.array([n for _, n in lines])
    few = [n for line, n in lines if len(order) < 100 or " " not in line]
    weights = np.cos(np.arange(1.0, len(order) + 1.0))[:, None] * possible(game)[order]
    kept = {name: (weights * array[order]).sum(axis=0).tolist() for name, array in game.tree.rows._asdict().items()}
    return kept | {
        "average strategy": game.averages()[few].ravel().tolist(),
        "current strategy": game.tree.rows.strategy[few].ravel().tolist(),
    }


def possible(game: GrowingGame) -> Any:
    """[P, H] whether the player who chose the move to a node can hold a hand; never true of chance."""
    nodes, scenes = game.tree.nodes, range(int(game.tree.nodes.cards.max()) + 1)
    held = np.array([[game.builder.joint(s).sum(axis=1 - player) > 0.0 for s in scenes] for player in (0, 1)])
    chooser = nodes.mover[nodes.parent]
    return held[np.maximum(chooser, 0), nodes.cards] & (chooser >= 0)[:, None]


def trace(name: str, way: str) -> dict[str, Any]:
    """Iterates 1 to 5; every addition; and what is known right after the first ones and one iteration later."""
    growth, found = WAYS[way], {"iterates": [], "additions": [], "after": []}
    game = GrowingGame(GAMES[name], Menu(everywhere=SIZES), RULES[growth.algorithm])
    fresh = False  # whether something was added after the last iteration
    for t in range(1, LOOKS[name].stop + 1):
        game.advance(1)
        if t <= ITERATES:
            found["iterates"].append(numbers(game))
        if fresh:
            found["after"].append(numbers(game))
        addition = check_and_add(game, growth) if t in LOOKS[name] else None
        fresh = addition is not None and len(found["additions"]) < ADDITIONS
        if addition is not None:
            found["additions"].append({key: one for key, one in addition._asdict().items() if key != "seconds"})
        if fresh:
            found["after"].append(numbers(game))
    return found | {"weight": game.weight, "effective": game.effective, "touched": game.touched}


def reference_trace(name: str, way: str) -> dict[str, Any]:
    """The same with NumPy kernels."""
    with pytest.MonkeyPatch.context() as patch:
        for module, kernels in KERNELS.items():
            for kernel in kernels:
                patch.setattr(f"{module}.{kernel}", getattr(reference, kernel))
        return trace(name, way)


def flat(found: Any, path: str = "") -> dict[str, Any]:
    """Every leaf of nested lists and dictionaries with the way to it; numbers of one list as one array."""
    if isinstance(found, dict):
        return {k: v for key, part in found.items() for k, v in flat(part, f"{path}/{key}").items()}
    if isinstance(found, list) and not isinstance(found[0], float):
        return {k: v for place, part in enumerate(found) for k, v in flat(part, f"{path}/{place}").items()}
    return {path: found}


def assert_same(ours: Any, theirs: Any) -> None:
    one, two = flat(ours), flat(theirs)
    assert one.keys() == two.keys()
    for path, value in one.items():
        if isinstance(value, str | int):
            assert value == two[path], path
        else:
            np.testing.assert_allclose(value, two[path], rtol=1e-10, atol=1e-12, err_msg=path)


CASES = [(name, way) for name in GAMES for way in WAYS]


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def case(request) -> tuple[str, str, Any]:
    return *request.param, trace(*request.param)


def test_kernels_give_the_stored_numbers(case) -> None:
    name, way, ours = case
    assert_same(ours, json.loads(STORED.read_text())[name][way])


def test_the_reference_gives_the_same(case) -> None:
    name, way, ours = case
    assert_same(ours, reference_trace(name, way))


def test_sizes_are_added_and_the_past_is_discounted() -> None:
    """Otherwise the traces would say nothing of it."""
    stored = json.loads(STORED.read_text())
    assert {name: set(ways) for name, ways in stored.items()} == {name: set(WAYS) for name in GAMES}
    for name, ways in stored.items():
        for way, kept in ways.items():
            sizes = {one["size"] for one in kept["additions"]}
            assert len(kept["iterates"]) == ITERATES
            assert len(sizes - set(SIZES)) == len(kept["additions"]) >= 1
            assert len(kept["after"]) == 2 * min(len(kept["additions"]), ADDITIONS)
            if name == "one_street":
                assert (kept["weight"] > 1.0) == ("bound" not in way)  # which does not bind so early
        assert len({json.dumps(kept["additions"]) for kept in ways.values()}) == len(WAYS)


def rounded(found: Any) -> Any:
    """To 13 digits, which is more than is compared."""
    if isinstance(found, dict):
        return {key: rounded(part) for key, part in found.items()}
    if isinstance(found, list):
        return [rounded(part) for part in found]
    return float(f"{found:.13g}") if isinstance(found, float) else found


if __name__ == "__main__":
    found = {name: {way: rounded(reference_trace(name, way)) for way in WAYS} for name in GAMES}
    STORED.write_text(json.dumps(found, separators=(",", ":")).replace('{"regret"', '\n{"regret"') + "\n")
