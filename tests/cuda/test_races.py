"""Tiles of a phase may be worked on at the same time: none reads or writes what another one writes."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.compile.source import compiled
from treeplex.kernels.cuda.device import SIMULATED

pytestmark = pytest.mark.skipif(not SIMULATED, reason="watches every access under NUMBA_ENABLE_CUDASIM=1")
NOT_READ = 0  # the slot that takes what nobody reads


class Watch:
    """Who touched what in a phase; a block is one warp, and works on one tile."""

    def __init__(self) -> None:
        self.part = 0
        self.writers: dict[tuple[str, int], set[tuple[int, int]]] = defaultdict(set)
        self.readers: dict[tuple[str, int], set[tuple[int, int]]] = defaultdict(set)

    def clear(self) -> None:
        self.writers.clear()
        self.readers.clear()

    def races(self) -> list[tuple[str, int]]:
        """Places that one tile writes and another one touches."""
        found = [where for where, who in self.writers.items() if len(who | self.readers.get(where, set())) > 1]
        assert ("slot", NOT_READ) not in self.readers
        return [where for where in found if where != ("slot", NOT_READ)]


class Watched:
    """An array whose elements are read and written one by one."""

    def __init__(self, name: str, array: Any, watch: Watch) -> None:
        self.name, self.array, self.watch = name, array, watch
        self.shape = array.shape

    def _who(self) -> tuple[int, int]:
        thread: Any = threading.current_thread()
        return self.watch.part, int(thread.blockIdx.x)

    def __getitem__(self, index: Any) -> Any:
        self.watch.readers[self.name, int(index)].add(self._who())
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.watch.writers[self.name, int(index)].add(self._who())
        self.array[index] = value


def _sixteen(n: int, infosets: int) -> int:
    """Tiles are 16 infosets wide: three actions take two steps."""
    return 16


def _seventeen(n: int, infosets: int) -> int:
    """Tiles are 17 infosets wide: every action takes a step."""
    return 17


@pytest.mark.parametrize(
    ("name", "algorithm", "constants"),
    [
        ("random_tree(seed=3,depth=5)", "cfr+", {"width": _seventeen}),
        pytest.param("leduc", "cfr+", {"width": _sixteen}, marks=pytest.mark.slow),
        pytest.param("leduc", "pcfr+", {"width": _sixteen, "TOGETHER": 30}, marks=pytest.mark.slow),
        pytest.param("random_tree(seed=3,depth=8)", "cfr+", {"BUNDLE": 60, "TOGETHER": 30}, marks=pytest.mark.slow),
    ],
)
def test_no_tile_touches_what_another_one_of_its_phase_writes(
    name: str, algorithm: str, constants: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from treeplex.engines.sequence.cuda import layout, plan  # noqa: PLC0415 - not without numba.cuda

    for key, value in {"SMALL": 0, "CROWN": 0, **constants}.items():
        monkeypatch.setattr(layout if hasattr(layout, key) else plan, key, value)
    game = compiled(name)
    gpu = build(algorithm).open(game, Execution("cuda"))
    engine = gpu.start(game).device
    watch = Watch()
    names = list(engine.learning._fields)
    if engine.learning.played is engine.learning.regret:
        names[names.index("played")] = "regret"
    engine.learning = type(engine.learning)(
        *(Watched(each, array, watch) for each, array in zip(names, engine.learning, strict=True))
    )
    engine.steps.told[:] = 1.0
    touched = 0
    for phase in engine.plan.phases:
        watch.clear()
        for watch.part, part in enumerate(phase):
            engine.launch((part,))
        assert watch.races() == []
        touched += len(watch.writers)
    assert touched >= 2 * sum(treeplex.sequences - 1 for treeplex in game.treeplexes)
