"""Options of growing abstractions, and their checks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, cast

from treeplex.engines.public.game import RULES
from treeplex.errors import ParameterError, within
from treeplex.games.sized import ActionMenu, is_finite
from treeplex.growth.add import METHODS
from treeplex.growth.dealt import ESTIMATES
from treeplex.growth.discount import DISCOUNTS
from treeplex.growth.remove import REMOVALS
from treeplex.spec import parse

CHOICES: Final = {
    "method": METHODS,
    "estimate": ("", *ESTIMATES),
    "discount": DISCOUNTS,
    "remove": REMOVALS,
}
FAMILIES: Final = ("cfr", "cfr+", "lcfr", "dcfr")
"""Algorithms that can grow: the first two on dealt games, all of them on hold'em spots."""

EVERY: Final = 5  # iterations between two checks of a dealt game
COMPILED: Final = "cfr+"
"""Algorithm that games without sizes grow by, unless another one is chosen."""

EVERY_FINITE: Final = 20  # iterations between checks if the rules list their sizes, where a check takes longer
ARCHIVE_EVERY: Final = 10  # checks for new actions per check for subtrees to archive

ALL: Final = 1_000_000  # sizes per check: all that pay

FITTING: Final[dict[str, dict[str, Any]]] = {
    "cfr": {"factor": 1.01, "discount": "recommended", "per_check": 1},
    "cfr+": {"factor": 1.0, "discount": "root", "per_check": ALL},
    "dcfr": {"factor": 1.25, "discount": "recommended", "per_check": ALL},
}
"""Defaults that suit each algorithm: docs/theory/abstraction.md, section on CFR+."""

OLD_DEFAULTS: Final[dict[str, Any]] = {
    "remove": "never",
    "per_check": 1,
    "bets": "",
    "raises": "",
    "street": "",
    "by_class": False,
    "actions": "",
    "recent": 0,
}
"""Options of runs made before these options existed."""


@dataclass(frozen=True)
class Growth:
    """Options of a growing abstraction.

    ``method``: add by "recovery" game or by regret "transfer". ``factor``: the factor by which proposition 1 is made
    stricter; infinity adds nothing. ``every``: iterations between two checks for new actions, each of which adds at
    most ``per_check`` sizes. ``estimate``: how regrets of missing sizes are estimated: by "transfer", without a pass,
    or by "best-response". ``discount``: weight the past by the "recommended" equation (22), its "root", or by the
    "bound" (8). ``algorithm``: "cfr" as in the paper, or "cfr+". ``archive``: move subtrees with zero reach for this
    many checks to disk; 0 never does. ``remove``: remove sizes again. "never" does not. "current" removes sizes that
    the current strategies do not play, which are then the solution ("cfr+" only). "discard" discards early iterations
    and removes sizes chosen only in them. On hold'em spots early iterations weigh little anyway, and "discard" removes
    sizes that the averages hardly bet.

    Options that are 0 or empty get the defaults of the algorithm (``FITTING``): for "cfr" 1.01, one size per check and
    "recommended", as in the paper; for "cfr+" 1, all sizes that pay and "root". Checks come every 5 iterations,
    estimates are by "transfer".

    Rules that list their sizes grow only by recovery games and best responses, with a check every 20 iterations.

    Hold'em spots grow by "cfr", "cfr+", "lcfr" or "dcfr", and only by recovery games and best responses. With ``every``
    0 they are checked after 10, 20, ... iterations, and then after a fifth more each. ``bets``, ``raises``: candidates,
    such as "20%, 33%", "20%:200%:20%" or "every" chip amount. ``street``: the street of the candidates, by default the
    spot's first, or "all". ``by_class``: one menu for each class of the cards dealt on a line, instead of one for all
    boards.

    Any other game grows by actions: ``actions`` has the actions that each infoset starts with, and all others are
    candidates. It is "first", a number of actions, labels of actions such as "fold, call" (infosets without any of them
    keep all actions), a mapping from infosets to such rules, in which "*" stands for all others, or a function of the
    infoset's label. These games grow by "cfr" or "cfr+", only by recovery games and best responses, and are checked
    like hold'em spots.

    ``recent``: how fast regret grows is measured over this many checks, and not over the run so far as in the paper.
    """

    method: str = "recovery"
    factor: float = 0.0
    every: int = 0
    estimate: str = ""
    discount: str = ""
    algorithm: str = "cfr"
    archive: int = 0
    remove: str = "never"
    per_check: int = 0
    bets: str = ""
    raises: str = ""
    street: str = ""
    by_class: bool = False
    actions: Any = ""
    recent: int = 0

    def __post_init__(self) -> None:
        family = parse(self.algorithm)[0]
        for name, value in FITTING.get(family, FITTING["dcfr" if family == "lcfr" else "cfr"]).items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)
        for name, legal in CHOICES.items():
            if getattr(self, name) not in legal:
                options = ", ".join(f'"{option}"' for option in legal)
                raise ParameterError(f"The '{name}' parameter must be one of {options}, got {getattr(self, name)!r}.")
        if not isinstance(cast(Any, self.by_class), bool):
            raise ParameterError(f"The 'by_class' parameter must be true or false, got {self.by_class!r}.")
        within(float, "factor", self.factor, "a number from 1 up", 1)
        within(int, "every", self.every, "a whole number from 0 up", 0)
        if family not in FAMILIES:
            raise ParameterError(
                f"The 'algorithm' parameter must be one of {', '.join(FAMILIES)}, got {self.algorithm!r}."
            )
        within(int, "per_check", self.per_check, "a whole number from 0 up", 1)
        within(int, "archive", self.archive, "a whole number from 0 up", 0)
        within(int, "recent", self.recent, "a whole number from 0 up", 0)
        if self.remove == "current" and family != "cfr+":
            raise ParameterError(
                'The \'remove\' parameter can be "current" only with algorithm "cfr+", whose current strategies'
                f" converge, got {self.algorithm!r}."
            )
        if self.remove != "never" and self.archive:
            raise ParameterError(
                f"The 'archive' parameter must be 0 where sizes are removed (here by \"{self.remove}\")"
                f", got {self.archive}."
            )


def fitted_to_game(growth: Growth) -> Growth:
    """Return the options with defaults for a game whose payoffs are proportional to a size."""
    _not_of_a_spot(growth, "the rules of other games define their sizes")
    return replace(growth, every=growth.every or EVERY, estimate=growth.estimate or "transfer")


def fitted_to_actions(growth: Growth) -> Growth:
    """Return the options with defaults for a compiled game, which grows by single actions."""
    _not_of_a_spot(growth, "other games grow by the actions that 'actions' leaves out")
    for name, only in (("archive", 0), ("remove", "never")):
        if getattr(growth, name) != only:
            raise ParameterError(
                f"The '{name}' parameter must be {only!r} where 'actions' is given, got {getattr(growth, name)!r}."
            )
    fitted = replace(growth, estimate=growth.estimate or "best-response")
    return _only(fitted, "estimate", "best-response", "games that grow by actions")


def _not_of_a_spot(growth: Growth, why: str) -> None:
    """Raise for options and algorithms of hold'em spots."""
    for name in ("bets", "raises", "street", "by_class"):
        if getattr(growth, name):
            raise ParameterError(f"The '{name}' parameter is for hold'em spots; {why}.")
    if growth.algorithm not in RULES:
        names = ", ".join(RULES)
        raise ParameterError(
            f"The 'algorithm' parameter must be one of {names} for games other than hold'em, got {growth.algorithm!r}."
        )


def fitted_to_rules(growth: Growth, rules: ActionMenu) -> Growth:
    """Return the options with defaults for rules that list their sizes; raise for options that need other payoffs."""
    if not is_finite(rules):
        return growth
    fitted = replace(growth, every=growth.every or EVERY_FINITE, estimate=growth.estimate or "best-response")
    return _by_recovery(fitted, f"{rules.name}, because its payoffs do not scale with the size")


def fitted_to_spot(growth: Growth) -> Growth:
    """Return the options with defaults for a hold'em spot; raise for options that spots do not support."""
    fitted = _by_recovery(
        replace(growth, estimate=growth.estimate or "best-response"),
        "hold'em, because payoffs do not scale with the bet size and boards share menus",
    )
    if fitted.archive:
        raise ParameterError(
            "The 'archive' parameter must be 0 for hold'em, because iterations already skip what neither player"
            f" reaches, got {fitted.archive}. Use 'remove' to remove sizes."
        )
    return fitted


def _by_recovery(growth: Growth, where: str) -> Growth:
    """Raise unless ``growth`` adds by recovery games and estimates by best responses."""
    return _only(_only(growth, "method", "recovery", where), "estimate", "best-response", where)


def _only(growth: Growth, name: str, only: str, where: str) -> Growth:
    """Raise unless an option has its only legal value."""
    if getattr(growth, name) != only:
        raise ParameterError(f"The '{name}' parameter must be {only!r} for {where}, got {getattr(growth, name)!r}.")
    return growth


def growth_fields(growth: Growth) -> dict[str, Any]:
    """Return the options for JSON, which has no infinity, without those at the defaults of older runs."""
    fields = asdict(growth) | ({"factor": "inf"} if math.isinf(growth.factor) else {})
    return {name: value for name, value in fields.items() if name not in OLD_DEFAULTS or OLD_DEFAULTS[name] != value}
