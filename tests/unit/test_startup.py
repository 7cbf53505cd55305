"""Starting up: a quick import, and kernels that come from the disk in every process after the first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import treeplex as tp
from treeplex.engines.sequence.cpu.iterations import iterate

IMPORT = """
import time
began = time.process_time()
import treeplex
print(time.process_time() - began)
"""

HEAVY = """
import sys
import treeplex
print([name for name in ("numba", "pyarrow", "scipy", "highspy", "matplotlib", "pyspiel") if name in sys.modules])
"""

KERNELS = """
import importlib, json, pkgutil, sys
import treeplex as tp
import treeplex.engines as engines

for algorithm in ("cfr", "cfr+"):
    tp.solve("kuhn", algorithm, iterations=3)
tp.solve("kuhn", "lp")
tp.evaluate("kuhn", tp.Policy.uniform(tp.load("kuhn")))

told = {}
for found in pkgutil.walk_packages(engines.__path__, "treeplex.engines."):
    if ".cuda" in found.name:
        continue
    module = importlib.import_module(found.name)
    for name, value in vars(module).items():
        if hasattr(value, "py_func") and value.__module__ == module.__name__ and value.signatures:
            counts = [sum(found.values()) for found in (value.stats.cache_hits, value.stats.cache_misses)]
            told[f"{module.__name__.rpartition('.')[2]}.{name}"] = [len(value.signatures), *counts]
print(json.dumps(told))
"""


def run(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment}).stdout


def test_import_takes_less_than_half_a_second() -> None:
    """Of processor time, best of three: the machine may be busy."""
    assert min(float(run(IMPORT)) for _ in range(3)) < 0.5


def test_import_waits_for_nothing_heavy() -> None:
    assert run(HEAVY).strip() == "[]"


def test_everything_promised_can_be_had() -> None:
    code = "import treeplex as t; print([n for n in dir(t) if getattr(t, n) is None], set(t.__all__) < set(dir(t)))"
    assert run(code).strip() == "[] True"


def test_submodules_of_the_api_are_attributes() -> None:
    code = "import treeplex as t; print({'errors', 'holdem', '__version__'} <= set(dir(t)), t.holdem.Spot is t.Spot)"
    assert run(code).strip() == "True True"


def test_an_unknown_name_is_no_attribute() -> None:
    code = "import treeplex\ntry: treeplex.nope\nexcept AttributeError as error: print(error)"
    assert run(code).strip() == "module 'treeplex' has no attribute 'nope'"


@pytest.fixture(scope="module")
def processes(tmp_path_factory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kernels used by two processes that share an empty cache: [signatures, found on disk, compiled anew]."""
    cache = str(tmp_path_factory.mktemp("numba"))
    first, second = (json.loads(run(KERNELS, NUMBA_CACHE_DIR=cache)) for _ in range(2))
    return first, second


@pytest.mark.slow
def test_the_first_process_compiles_each_kernel_once(processes) -> None:
    first, _ = processes
    assert {"iterations.iterate", "evaluate.evaluate", "treeplex.realization_plan", "treeplex.normalise"} <= set(first)
    for name, (signatures, hits, misses) in first.items():
        assert (hits, misses) == (0, signatures), name


@pytest.mark.slow
def test_a_second_process_compiles_nothing(processes) -> None:
    first, second = processes
    assert second
    assert second.keys() <= first.keys()
    for name, (signatures, hits, misses) in second.items():
        assert (hits, misses) == (signatures, 0), name


def test_a_second_solve_in_one_process_compiles_nothing() -> None:
    tp.solve("kuhn", "cfr+", iterations=3)
    before = len(iterate.signatures)  # pyright: ignore[reportFunctionMemberAccess]
    tp.solve("kuhn", "cfr", iterations=3)
    tp.solve("kuhn", "cfr+", nash_conv=0.1)
    assert len(iterate.signatures) == before  # pyright: ignore[reportFunctionMemberAccess]
    assert before > 0
