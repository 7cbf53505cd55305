"""How kernels are compiled; their cache is named by what is copied into them, and hit by later processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaRuntimeError

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.registry import build
from treeplex.engines.sampling.arrays import MATCH
from treeplex.engines.sampling.cpu import external, frame, joint, outcome, pure, random
from treeplex.engines.sampling.reference.random import counter
from treeplex.kernels.jit import PACKAGE, allocating_kernel, cache_key, kernel, timed_compilation

COUNT = """
import treeplex as tp
from numba.core import event
from treeplex.algorithms.registry import build

class Compiled(event.Listener):
    count = 0
    def on_start(self, event): self.count += 1
    def on_end(self, event): pass

with event.install_listener("numba:compile", compiled := Compiled()):
    game, solver = tp.load("kuhn"), build("cfr+")
    solver.advance(game, solver.start(game), 3)
print(compiled.count)
"""


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(PACKAGE, folder / "treeplex", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def package(tmp_path) -> Path:
    """A copy of the package's files."""
    return copied(tmp_path)


@pytest.fixture(scope="module")
def edited(tmp_path_factory) -> Path:
    """One to which tests add lines, one after the other."""
    return copied(tmp_path_factory.mktemp("edited"))


def test_the_key_is_that_of_the_files(package) -> None:
    assert cache_key(package) == cache_key(PACKAGE)
    (package / "updates" / "__pycache__").mkdir()
    assert cache_key(package) == cache_key(PACKAGE)


@pytest.mark.parametrize(
    "file",
    [
        "kernels/jit.py",
        "kernels/cache.py",  # the format of files
        "updates/rules.py",  # inlined
        "updates/hedge.py",  # called
        "kernels/calls.py",  # inlined
        "engines/sequence/cpu/operators.py",  # chosen by the operator's type
        "engines/sequence/cpu/bottom_up.py",  # chosen by the learner's type; has no kernel of its own
        "engines/sequence/cpu/treeplex.py",  # kernels that other kernels call
        "engines/sequence/arrays.py",  # the order of fields
        "engines/sequence/partition.py",  # constants
        "engines/sampling/cpu/frame.py",
        "kernels/threads/team.py",
        "kernels/threads/barrier.py",
        "compile/treeplex.py",
    ],
)
def test_the_key_changes_with_whatever_is_copied_into_kernels(edited, file) -> None:
    before = cache_key(edited)
    with (edited / file).open("a") as text:
        text.write("\n# changed\n")
    assert cache_key(edited) != before


def test_versions_of_numba_have_folders_of_their_own(monkeypatch) -> None:
    """One throws away what another has kept: ``make test-floors`` would make the next ``make test`` compile."""
    before = cache_key()
    monkeypatch.setattr(numba, "__version__", "0.1")
    assert cache_key() != before


@pytest.mark.parametrize(
    "file",
    [
        "engines/sequence/cpu/iterations.py",  # Numba itself looks at the file of a kernel
        "engines/sequence/reference/iterations.py",
        "runs/loop.py",
        "cli/output.py",
    ],
)
def test_the_key_does_not_change_with_other_files(edited, file) -> None:
    before = cache_key(edited)
    with (edited / file).open("a") as text:
        text.write("\n# changed\n")
    assert cache_key(edited) == before


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_a_changed_rule_everything(package, tmp_path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(package.parent)}

    def compiled() -> int:
        command = [sys.executable, "-c", COUNT]
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return int(found.stdout)

    first = compiled()
    assert first > 0
    assert compiled() == 0
    with (package / "updates" / "rules.py").open("a") as text:
        text.write("\n# changed\n")
    assert compiled() == first
    assert len(list((tmp_path / "cache").glob("kernels-*"))) == 2


@pytest.mark.parametrize(("decorator", "counts"), [(allocating_kernel, True), (kernel, False)])
def test_a_kernel_counts_references_only_if_it_creates_arrays(decorator, counts) -> None:
    """A sampler's innermost part, compiled afresh: Numba shows no code that it has read from disk."""
    chosen: Any = external.draw_opponent_move
    compiled: Any = numba.jit(**decorator(chosen.py_func).targetoptions)(chosen.py_func)
    picks = np.zeros(3, np.int32)
    assert compiled(np.ones(3), np.zeros(3), picks, MATCH, np.uint64(0), np.uint64(3), 1.0, counter(1, 0)) < 3
    (code,) = compiled.inspect_asm().values()
    assert ("NRT_incref" in code) == counts


@pytest.mark.parametrize(
    "function",
    [
        lambda numbers: np.zeros(3)[0] + numbers[0],
        lambda numbers: numbers[1:],
        lambda numbers: numbers.copy().sum(),
    ],
    ids=["creates", "returns", "copies"],
)
def test_a_kernel_that_creates_or_returns_an_array_must_say_so(function) -> None:
    """Without counts, Numba would never free the first and free the second while it is in use: it rejects both."""
    numbers = np.arange(4.0)
    with pytest.raises((numba.TypingError, NumbaRuntimeError)):
        numba.jit(**kernel(function).targetoptions)(function)(numbers)
    counted: Any = numba.jit(**allocating_kernel(function).targetoptions)(function)
    np.testing.assert_array_equal(counted(numbers), function(numbers))


def test_samplers_count_no_references_and_lose_none() -> None:
    """One kernel of a walk that counts takes longer than all others together."""
    modules = (external, frame, joint, outcome, pure, random)
    found: list[Any] = [item for module in modules for item in vars(module).values() if hasattr(item, "targetoptions")]
    called = [item.targetoptions for item in found if "inline" not in item.targetoptions]
    assert len(called) > 10
    assert all(options.get("_nrt") is False for options in called)
    game, algorithm = tp.load("kuhn"), build("mccfr-external")
    assert isinstance(algorithm, MonteCarlo)
    state = algorithm.start(game)
    regret = state.streams[0].tables[0].regret
    before = sys.getrefcount(regret)
    for _ in range(10):
        state = algorithm.advance(game, state, 5)
    assert sys.getrefcount(regret) == before


def test_gpu_kernels_are_heard_of_through_listeners_of_their_own_class(monkeypatch) -> None:
    class Listener(ABC):
        @abstractmethod
        def on_start(self, event: object) -> None: ...

        @abstractmethod
        def on_end(self, event: object) -> None: ...

    heard: dict[str, Listener] = {}

    @contextmanager
    def install_listener(kind: str, listener: object):
        assert isinstance(listener, Listener), "numba-cuda asks for its own class"
        heard[kind] = listener
        yield
        del heard[kind]

    other = SimpleNamespace(Listener=Listener, install_listener=install_listener)
    monkeypatch.setitem(sys.modules, "numba.cuda.core.event", other)
    counted: list[int] = []
    with timed_compilation(counted.append) as compilation:
        assert sorted(heard) == ["numba-cuda:compile", "numba-cuda:compiler_lock"]
        for listener in heard.values():
            listener.on_start(None)
        time.sleep(0.01)
        for listener in heard.values():
            listener.on_end(None)
    assert counted == [1]
    assert compilation.seconds >= 0.01
    assert not heard
