"""What ``holdem.sizes`` asks for, as a run."""

from __future__ import annotations

from typing import Any

from treeplex.algorithms.portfolio import SPOTS
from treeplex.poker.sizes.algorithm import ChoosingSizes
from treeplex.poker.sizes.problem import SizeOptions, SizeSearch
from treeplex.runs.asking import Asked
from treeplex.runs.limits import Limits
from treeplex.runs.request import SIZES, Request


def size_search(spots: Any, options: SizeOptions, limits: Limits) -> Asked:
    """The run that finds which sizes of a spot, or of several that share a menu, matter; refuses what it refuses."""
    search = SizeSearch.of(spots, options)
    request = Request(
        kind=SIZES,
        game=search.name,
        source=search.source,
        fingerprint=search.fingerprint,
        algorithm=f"sizes({SPOTS})",
        asked="sizes",
        options=search.fields,
        limits=limits,
    )
    return Asked(search, ChoosingSizes(), request)
