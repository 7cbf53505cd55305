"""treeplex finds Nash equilibria of two-player zero-sum games of imperfect information, and proves how close it is.

>>> import treeplex as tp
>>> solution = tp.solve("kuhn", "cfr+", nash_conv=1e-3)
>>> sorted(solution.policy["0pb"])
['b', 'p']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treeplex.version import __version__ as __version__

if TYPE_CHECKING:
    from treeplex import errors as errors
    from treeplex import holdem as holdem
    from treeplex.algorithms.custom import minimizer
    from treeplex.algorithms.registry import algorithm
    from treeplex.api import (
        batch,
        best_response,
        compare,
        draw,
        evaluate,
        explore,
        grow,
        load,
        merge,
        resume,
        solve,
    )
    from treeplex.compile.game import CompiledGame
    from treeplex.errors import TreeplexError
    from treeplex.evaluation.exact import Evaluation
    from treeplex.games.holdem.spot import Spot
    from treeplex.games.protocol import CHANCE, TERMINAL, Game
    from treeplex.growth.options import Growth
    from treeplex.policies.policy import Policy
    from treeplex.runs.solution import Solution


__all__ = [
    "CHANCE",
    "TERMINAL",
    "CompiledGame",
    "Evaluation",
    "Game",
    "Growth",
    "Policy",
    "Solution",
    "Spot",
    "TreeplexError",
    "algorithm",
    "batch",
    "best_response",
    "compare",
    "draw",
    "evaluate",
    "explore",
    "grow",
    "load",
    "merge",
    "minimizer",
    "resume",
    "solve",
]

_HOMES = dict.fromkeys(__all__, "api") | {
    "CHANCE": "games.protocol",
    "TERMINAL": "games.protocol",
    "CompiledGame": "compile.game",
    "Evaluation": "evaluation.exact",
    "Game": "games.protocol",
    "Growth": "growth.options",
    "Policy": "policies.policy",
    "Solution": "runs.solution",
    "Spot": "games.holdem.spot",
    "TreeplexError": "errors",
    "algorithm": "algorithms.registry",
    "minimizer": "algorithms.custom",
}
_SUBMODULES = ("errors", "holdem")


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import treeplex`` does not wait for Numba and Arrow."""
    if name in _SUBMODULES:
        return import_module(f"treeplex.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'treeplex' has no attribute '{name}'")
    value = getattr(import_module(f"treeplex.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
