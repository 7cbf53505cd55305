"""Workers with a GPU each, as Ray counts them, under Numba's simulator: it is chosen when a process starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster_helpers import STORE

SCRIPT = """
import sys, warnings
from pathlib import Path
import numpy as np, ray
import treeplex as tp
from treeplex.holdem import Spot, sizes_for
from treeplex.runs import folder

warnings.simplefilter("ignore")
folder.plot_convergence = lambda *arguments: None
ray.init(address="local", num_cpus=2, num_gpus=2, object_store_memory=int(sys.argv[2]), include_dashboard=False,
         log_to_driver=False, logging_level="ERROR")
here, out = ray.get_runtime_context().gcs_address, Path(sys.argv[1])
spot, how = Spot("Ks 9s 4s 2s", 100, 20, "AA", "QQ", sizes_for("a", "a")), dict(iterations=1, backend="cuda")
try:
    tp.solve(spot, "dcfr", cluster=here, workers=3, **how)
except tp.errors.ParameterError as error:
    assert "takes a GPU, and the cluster has 2, got 3 workers" in str(error), error
else:
    raise AssertionError("three workers on two GPUs")
cut = tp.solve(spot, "dcfr", cluster=here, out=out, **how)
ray.shutdown()
one = tp.solve(spot, "dcfr", **how)
assert cut.summary()["workers"] == 2
assert cut.evaluation == one.evaluation
joined = one.solver.save(folder.RunFolder.open(out).checkpoint(one.solver, one.game).state)
for name, array in one.solver.save(one.state).items():
    assert np.array_equal(array, joined[name]), name
print("the same bits")
"""


@pytest.mark.slow
def test_two_workers_with_a_gpu_each_have_the_bits_of_one_gpu(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "a"), str(STORE)],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the same bits" in ran.stdout, ran.stderr[-4000:]
