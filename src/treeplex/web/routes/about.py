"""The route that describes the server."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Response

from treeplex import api
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.compile.memory import available
from treeplex.games.catalog import CATALOG
from treeplex.games.holdem.spot import default_sizes, sizes_for
from treeplex.system import cores
from treeplex.version import __version__
from treeplex.web import formats
from treeplex.web.answers import reply
from treeplex.web.routes.common import router
from treeplex.web.schema.runs import About
from treeplex.web.site import OnSite

routes = router("about")

RANGES: Final = {
    "button opens": "22+,A2s+,K2s+,Q2s+,J4s+,T6s+,96s+,86s+,75s+,65s,54s,A2o+,K8o+,Q9o+,J9o+,T9o",
    "big blind calls the button": "JJ-22,AJs-A2s,K2s+,Q2s+,J2s+,T4s+,95s+,84s+,74s+,63s+,53s+,43s,AQo-A2o,"
    "K5o+,Q7o+,J8o+,T8o+,98o,87o",
    "three-bet": "TT+,A5s-A2s,AQs+,KQs,AQo+",
    "calls a three-bet": "JJ-66,AJs-ATs,KTs+,QTs+,JTs,T9s,98s,87s,76s,AQo",
    "top 15%": "15%",
    "any two": "random",
}
SIZES: Final = {
    "default": default_sizes(),
    "one size": sizes_for("50%", "a"),
    "small and large": sizes_for("33%, 100%", "60%, a"),
    "many": sizes_for("25%, 50%, 75%, 125%, a", "50%, 100%, a"),
    "geometric": sizes_for("e", "a"),
    "all-in or nothing": sizes_for("a", "a"),
}
OF_SPOTS: Final = ("dcfr", "cfr+", "lcfr", "cfr", "pcfr+", "pdcfr+")


@routes.get("/about", response_model=About)
def about(site: OnSite) -> Response:
    """Return version, machine, presets, and the names of games and algorithms."""
    fields: dict[str, Any] = {
        "version": __version__,
        "directory": site.directory.root.name,
        "cores": cores(),
        "memory_free": available(),
        "presets": {"ranges": RANGES, "sizes": SIZES},
        "games": list(CATALOG),
        "algorithms": list(ALGORITHMS),
        "spot_algorithms": [api.DEFAULT_SPOT_ALGORITHM, *OF_SPOTS],
        "formats": formats.names(),
    }
    return reply(fields)
