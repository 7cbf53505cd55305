"""One folder per representation of a game; in each: arrays, a NumPy reference, and kernels for the backends it has."""

from __future__ import annotations

from typing import Final

from treeplex.errors import ParameterError, quoted
from treeplex.kernels.cuda.found import found, require

BACKENDS: Final[dict[str, tuple[str, ...]]] = {
    "sequence": ("cpu", "cuda"),
    "history": ("cpu",),
    "sampling": ("cpu",),
    "public": ("cpu",),
    "boards": ("cpu", "cuda"),
}
"""Which backends each engine has. The only place that knows."""

NAMES: Final = ("auto", "cpu", "cuda")
PAYS_FROM: Final = {"sequence": 2e7, "boards": 2e8}
"""Numbers read by an iteration from which a usual run, 2,000 iterations of a game or 200 of a spot, is faster on a GPU
than on 16 cores, with the two seconds that a start on it takes: ``benchmarks/gpu/break_even.py``."""


def named_backend(wanted: object) -> str:
    """A backend's name, or a refusal."""
    if not isinstance(wanted, str) or wanted not in NAMES:
        raise ParameterError(f"The 'backend' parameter must be one of {', '.join(NAMES)}, got {quoted(wanted)}.")
    return wanted


def backend_of(engine: str, wanted: object, numbers: float, device: object = 0) -> str:
    """The backend that ``wanted`` stands for in an engine whose iterations read so many ``numbers``, or a refusal."""
    name, legal = named_backend(wanted), BACKENDS[engine]
    if name == "auto":
        pays = "cuda" in legal and numbers >= PAYS_FROM[engine]
        return "cuda" if pays and found(device) is not None else "cpu"
    if name not in legal:
        raise ParameterError(f"The 'backend' parameter must be one of auto, {', '.join(legal)} here, got {name!r}.")
    if name == "cuda":
        require(device)
    return name
