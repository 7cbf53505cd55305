"""One small cluster for all tests: two nodes of one processor each on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster_helpers import STORE

NICENESS = "RAY_worker_niceness"  # 15 if nobody says otherwise: workers would wait for all other tests
RAY_WARNS = [
    "ignore::ResourceWarning",  # sockets and logs of processes that Ray leaves to the operating system
    "ignore:subprocess .* is still running:ResourceWarning",
    "ignore:.*pkg_resources.*",
    "ignore:Tip. In future versions of Ray:FutureWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",  # the same, when they are collected
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for warning in RAY_WARNS:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    """The cluster itself, to which nodes can be added."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - only where Ray has wheels

    os.environ[NICENESS] = "0"
    arguments = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    found = Cluster(initialize_head=True, head_node_args=arguments)
    found.add_node(num_cpus=1, object_store_memory=STORE)
    yield found
    found.shutdown()


@pytest.fixture(scope="session")
def cluster(nodes) -> Iterator[str]:
    """Its address; this process is attached to it, as a program of a user's own may be."""
    import ray  # noqa: PLC0415

    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    yield nodes.address
    ray.shutdown()
