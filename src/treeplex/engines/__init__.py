"""One folder per representation of a game; in each: arrays, a NumPy reference, and kernels for the backends it has."""

from __future__ import annotations

from typing import Final

from treeplex.errors import ParameterError

BACKENDS: Final[dict[str, tuple[str, ...]]] = {
    "sequence": ("cpu",),
    "history": ("cpu",),
    "sampling": ("cpu",),
    "public": ("cpu",),
    "boards": ("cpu",),
}
"""Which backends each engine has, the one that ``auto`` takes first. The only place that knows."""


def backend_of(engine: str, wanted: object) -> str:
    """The backend that ``wanted`` stands for in an engine, or a refusal."""
    legal = BACKENDS[engine]
    if wanted == "auto":
        return legal[0]
    if not isinstance(wanted, str) or wanted not in legal:
        raise ParameterError(f"The 'backend' parameter must be one of auto, {', '.join(legal)} here, got {wanted!r}.")
    return wanted
