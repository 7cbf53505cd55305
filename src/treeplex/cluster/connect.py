"""Find a Ray cluster and attach to it; errors name what is missing."""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, NamedTuple

from treeplex.errors import MissingExtraError, ParameterError, TreeplexError, quoted
from treeplex.version import __version__

AUTO: Final = "auto"
"""Address of the cluster that was started on this machine."""

REACH: Final = 5.0  # seconds in which an address must answer; Ray itself would retry for many minutes
NODE_SECONDS: Final = 60.0  # seconds in which every node must answer when a run begins


class ClusterError(TreeplexError, RuntimeError):
    """No cluster can be used, or one of its nodes cannot."""


class ClusterNode(NamedTuple):
    """One machine of a cluster."""

    id: str
    host: str
    cpus: float
    memory: float  # bytes that tasks may declare
    gpus: float = 0.0


def ray() -> ModuleType:
    """Import and return the package ``ray``; raise if it is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError("ray", "cluster", "The option 'cluster'")
    # Ray reports lost workers on stdout, which is for results; treeplex reports them itself.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".*")
    return importlib.import_module("ray")


@contextmanager
def attached(cluster: str) -> Generator[ModuleType]:
    """Attach to a cluster, "auto", "HOST:PORT" or "ray://HOST:PORT", and yield the module ``ray``.

    A program that is already attached stays attached. Every node must have this version of the package.
    """
    module = ray()
    if module.is_initialized():
        here = str(module.get_runtime_context().gcs_address)
        if cluster not in (AUTO, here):
            raise ClusterError(f"This program is attached to the cluster at {here}; got cluster={quoted(cluster)}.")
        check_versions(module)
        yield module
        return
    _reach(cluster)
    try:
        module.init(address=cluster, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except Exception as error:  # ConnectionError, ValueError, RuntimeError, grpc errors: it depends on what is wrong
        raise _unreachable(cluster, error) from error
    try:
        check_versions(module)
        yield module
    finally:
        module.shutdown()


def nodes(module: ModuleType) -> list[ClusterNode]:
    """Return the machines that are alive now."""
    alive: list[ClusterNode] = []
    for record in module.nodes():
        if record["Alive"]:
            has = record["Resources"]
            host = str(record["NodeManagerHostname"])
            each = (has.get(name, 0.0) for name in ("CPU", "memory", "GPU"))
            alive.append(ClusterNode(str(record["NodeID"]), host, *each))
    return alive


def task(module: ModuleType, function: Callable[..., Any], **resources: Any) -> Callable[..., Any]:
    """Make ``function`` a task: calling it with arguments returns a reference to the result.

    A worker of another version raises an error. ``resources``: options of ``ray.remote``.
    """
    made = module.remote(_guarded).options(**resources)
    return lambda *arguments: made.remote(__version__, function, *arguments)


def on_every_node(module: ModuleType, function: Callable[..., Any], *arguments: Any) -> dict[ClusterNode, Any]:
    """Return the result of ``function`` on each node, or the exception it raised; raise if a node is silent.

    Nodes that disappear meanwhile are left out: Ray lists a node for some seconds after it is gone.
    """
    strategy = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    calls = {
        node: task(module, function, num_cpus=0, scheduling_strategy=strategy(node.id, soft=False))(*arguments)
        for node in nodes(module)
    }
    _, late = module.wait(list(calls.values()), num_returns=len(calls), timeout=NODE_SECONDS)
    there = {node.id for node in nodes(module)}
    calls = {node: reference for node, reference in calls.items() if node.id in there}
    silent = next((node for node, reference in calls.items() if reference in late), None)
    if silent is not None:
        raise ClusterError(f"The node {silent.host} does not answer; check it with: ray status.")
    return {node: _outcome(module, reference) for node, reference in calls.items()}


def check_versions(module: ModuleType) -> None:
    """Raise if a node has another version of the package, or none."""
    for node, answer in on_every_node(module, socket.gethostname).items():
        if isinstance(answer, TreeplexError):
            raise answer
        if isinstance(answer, Exception):
            words = " ".join(str(answer).split())[-120:]
            raise ClusterError(
                f"The node {node.host} cannot run treeplex ({words}); install it there with: pip install"
                f" 'treeplex[cluster]=={__version__}'"
            )


def _guarded(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call ``function`` on a worker, which must have the driver's version."""
    if version != __version__:
        raise ClusterError(
            f"The worker on {socket.gethostname()} has treeplex {__version__}, not {version}; install the same version"
            " on every machine."
        )
    return function(*arguments)


def _outcome(module: ModuleType, reference: object) -> Any:
    """Return the result, or the exception in its place: the worker's own if it is one of treeplex."""
    try:
        return module.get(reference)
    except Exception as error:
        return cause(error)


def cause(error: Exception) -> Exception:
    """Return the exception that a worker raised, without Ray's wrapper."""
    inner: Any = getattr(error, "cause", None)
    return inner if isinstance(inner, TreeplexError) else error


def _reach(cluster: str) -> None:
    """Raise if nothing listens at the address."""
    if cluster == AUTO:
        return
    host, _, port = str(cluster).removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ParameterError(
            f'The \'cluster\' parameter must be "auto", "HOST:PORT" or "ray://HOST:PORT", got {quoted(cluster)}.'
        )
    try:
        socket.create_connection((host, int(port)), REACH).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise _unreachable(cluster, error) from error


def _unreachable(cluster: str, error: Exception) -> ClusterError:
    if cluster == AUTO:
        return ClusterError("No Ray cluster was found; start one with: ray start --head")
    words = " ".join(str(error).split())[:120]
    return ClusterError(
        f"No Ray cluster answers at {quoted(cluster)} ({words}). On one of its machines, give auto; on any other"
        " machine, give ray://HOST:10001."
    )
