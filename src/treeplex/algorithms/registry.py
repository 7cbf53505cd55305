"""Every algorithm by name, for the command line, the conformance tests and the tables in the docs.

``tools/algorithms.py`` writes the table of ``docs/reference/algorithms.md`` from this list. Tests compare that table
and the one in ``docs/theory/algorithms.md`` with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from treeplex.algorithms import hybrid, walk
from treeplex.algorithms.auto import auto
from treeplex.algorithms.best_response import cfr_br, fp, xfp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.cfr import ROWS as FULL_WIDTH
from treeplex.algorithms.excessive_gap import egt, egt_dt
from treeplex.algorithms.hedge import hedge
from treeplex.algorithms.lazy import lazy_cfr
from treeplex.algorithms.linear_program import lp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.mirror import mirror_prox, mirror_prox_dt, omd, omd_dt
from treeplex.algorithms.options import HORIZON, LATEST
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.restarted import (
    cfr_plus_restarted,
    egt_restarted,
    mirror_prox_restarted,
    pcfr_plus_restarted,
)
from treeplex.algorithms.samplers import JU
from treeplex.algorithms.samplers import ROWS as SAMPLERS
from treeplex.algorithms.thresholds import pcfr_plus_dt, rm_plus_dt
from treeplex.algorithms.walk import WalkCFR
from treeplex.algorithms.warm_start import warm_start
from treeplex.errors import ParameterError, quoted, real
from treeplex.games.protocol import name_of
from treeplex.spec import bind, match_name, parameters, parse, unknown, usage
from treeplex.updates.rule import Rule

WALKED: Final = ("cfr", "cfr+")
TRAVERSALS: Final = ("full", "partial", "rbp", "nested-rbp", "zero-reach-br")
RBP = "Brown & Sandholm 2015, Regret-Based Pruning"
DT = "Brown, Kroer & Sandholm 2017"
PDLP = "after Applegate et al. 2021, PDLP"
GILPIN = "after Gilpin, Peña & Sandholm 2012"
SECTIONS: Final = re.compile(r",? (?:and )?(?:section|equation|Theorem) ")


@dataclass(frozen=True)
class AlgorithmEntry:
    """An algorithm in the registry."""

    name: str
    build: Callable[..., Algorithm[Any, Any]]
    summary: str
    source: str
    core: bool = False  # shown on the first screen of ``treeplex list``

    @property
    def paper(self) -> str:
        """The source without sections, by which ``treeplex list --all`` groups algorithms."""
        return SECTIONS.split(self.source.removeprefix("after "))[0]

    @property
    def usage(self) -> str:
        """Name and parameters with defaults: ``name(parameter=default,...)``."""
        return usage(self.name, self.build)


CORE: Final = (
    "auto",
    "lp",
    "cfr",
    "cfr+",
    "dcfr",
    "pcfr+",
    "sapcfr+",
    "cfr+-restarted",
    "cfr-nested-rbp",
    "mccfr-external",
    "pure-mccfr",
    "egt",
)
"""Names on the first screen of ``treeplex list algorithms``."""

_ROWS: Final[tuple[tuple[str, Callable[..., Algorithm[Any, Any]], str, str], ...]] = (
    ("auto", auto, "the default: a race of several algorithms and `lp`", "treeplex"),
    ("lp", lp, "exact, by linear programming over the sequence form", "Koller, Megiddo & von Stengel 1996"),
    *FULL_WIDTH,
    ("cfr+-restarted", cfr_plus_restarted, "CFR+ with restarted averaging", PDLP),
    ("pcfr+-restarted", pcfr_plus_restarted, "predictive CFR+ with restarted averaging", PDLP),
    ("cfr-br", cfr_br, "CFR against a best-responding opponent", "Johanson et al. 2012"),
    ("cfr-full", walk.cfr_full, "CFR by traversals of the whole history tree", RBP),
    ("cfr+-full", walk.cfr_plus_full, "CFR+ by traversals of the whole history tree", RBP),
    ("cfr-partial", walk.cfr_partial, "CFR with partial pruning", RBP),
    ("cfr+-partial", walk.cfr_plus_partial, "CFR+ with partial pruning", RBP),
    ("cfr-rbp", walk.cfr_rbp, "CFR with regret-based pruning", f"{RBP}, section 4"),
    ("cfr+-rbp", walk.cfr_plus_rbp, "CFR+ with regret-based pruning", f"{RBP}, section 4.2"),
    ("cfr-nested-rbp", walk.cfr_nested_rbp, "CFR-RBP with free starts and nested prunings kept", f"after {RBP}"),
    ("cfr+-nested-rbp", walk.cfr_plus_nested_rbp, "CFR+-RBP with free starts and nested prunings kept", f"after {RBP}"),
    ("cfr-hybrid", hybrid.cfr_hybrid, "CFR on arrays, then by traversals with nested prunings", f"after {RBP}"),
    ("cfr+-hybrid", hybrid.cfr_plus_hybrid, "CFR+ on arrays, then by traversals with nested prunings", f"after {RBP}"),
    ("cfr-zero-reach-br", walk.cfr_zero_reach_br, "CFR, best response in zero-reach sequences", f"{RBP}, section 3"),
    (
        "cfr+-zero-reach-br",
        walk.cfr_plus_zero_reach_br,
        "CFR+, best response in zero-reach sequences",
        f"{RBP}, section 3",
    ),
    ("lazy-cfr", lazy_cfr, "CFR whose infosets wait for reach before they update", "Zhou et al. 2020, Lazy-CFR"),
    *SAMPLERS,
    ("warm-start", warm_start, "CFR+ on the actions that pure MCCFR plays", JU),
    ("hedge", hedge, "CFR with Hedge", f"{DT}, equation 8"),
    ("hedge-dt", walk.hedge_dt, "Hedge with dynamic thresholding and partial pruning", f"{DT}, section 3"),
    ("hedge-dt-rbp", walk.hedge_dt_rbp, "Hedge with dynamic thresholding and regret-based pruning", f"{DT}, section 4"),
    ("hedge-dt-hybrid", hybrid.hedge_dt_hybrid, "Hedge on arrays, then `hedge-dt-rbp`", f"{DT}, section 4"),
    ("rm-dt", walk.rm_dt, "CFR with dynamic thresholding and partial pruning", f"{DT}, Theorem 2"),
    (
        "rm-dt-rbp",
        walk.rm_dt_rbp,
        "CFR with dynamic thresholding and regret-based pruning",
        f"{DT}, Theorem 2 and section 4",
    ),
    ("rm+-dt", rm_plus_dt, "CFR+ with dynamic thresholding and partial pruning", f"{DT}, section 3"),
    ("pcfr+-dt", pcfr_plus_dt, "predictive CFR+ with dynamic thresholding and partial pruning", f"{DT}, section 3"),
    ("egt", egt, "excessive gap technique with the dilated entropy", "Hoda et al. 2010, Kroer et al. 2015"),
    ("egt-dt", egt_dt, "EGT with dynamic thresholding (truncated gradients)", f"{DT}, section 5"),
    ("egt-restarted", egt_restarted, "EGT around its last point, whenever NashConv has halved", GILPIN),
    ("mirror-prox", mirror_prox, "mirror prox with the dilated entropy", "Nemirovski 2004, Kroer et al. 2015"),
    ("mirror-prox-restarted", mirror_prox_restarted, "mirror prox with restarted averaging", PDLP),
    ("omd", omd, "optimistic mirror descent with the dilated entropy", "Rakhlin & Sridharan 2013"),
    (
        "mirror-prox-dt",
        mirror_prox_dt,
        "mirror prox with dynamic thresholding (truncated gradients)",
        f"{DT}, section 6",
    ),
    ("omd-dt", omd_dt, "optimistic mirror descent with dynamic thresholding", f"{DT}, section 6"),
    ("fp", fp, "fictitious play, alternating updates", "Brown 1951"),
    ("xfp", xfp, "extensive-form fictitious play, simultaneous updates", "Heinrich, Lanctot & Silver 2015"),
)
"""Name, builder, summary and source of each algorithm; families are listed in their modules, beside their builders."""

ALGORITHMS: Final = {row[0]: AlgorithmEntry(*row, core=row[0] in CORE) for row in _ROWS}


def family() -> str:
    """Return the names of the CFR family on arrays, which hold'em spots and GPUs support: ``cfr, ... and sapcfr+``."""
    names = [name for name, entry in ALGORITHMS.items() if not entry.build().ends and isinstance(entry.build(), CFR)]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def settled(spec: str, iterations: int | None) -> str:
    """Return ``spec`` with values taken from the limits of the run: a ``horizon`` of 0 becomes the iteration limit.

    >>> settled("hs-dcfr(gamma=15)", 500), settled("hs-dcfr", None), settled("cfr+", 500)
    ('hs-dcfr(gamma=15,horizon=500)', 'hs-dcfr(horizon=1000)', 'cfr+')
    """
    entry, values = _bound(spec)
    if (parameters(entry.build) | values).get("horizon") != 0:
        return spec
    fixed = {**values, "horizon": min(iterations or HORIZON, LATEST)}
    return f"{entry.name}({','.join(f'{key}={json.dumps(value)}' for key, value in fixed.items())})"


def with_traversal(spec: str, traversal: str) -> str:
    """Return the name of ``spec`` as walks of a traversal: ``cfr`` with ``partial`` becomes ``cfr-partial``."""
    written, bracket, rest = spec.strip().partition("(")
    name = match_name(written, ALGORITHMS)
    if name not in WALKED or traversal not in TRAVERSALS:
        raise ParameterError(
            f"The option --traversal must be one of {', '.join(TRAVERSALS)}, for the algorithm {' or '.join(WALKED)},"
            f" got {quoted(traversal)} for {quoted(written)}."
        )
    return f"{name}-{traversal}{bracket}{rest}"


def with_parameters(spec: str, options: Mapping[str, Any]) -> str:
    """Return ``spec`` with additional parameters: ``dcfr`` and alpha=2 become ``dcfr(alpha=2)``.

    >>> with_parameters("dcfr(alpha=2)", {"gamma": 3})
    'dcfr(alpha=2,gamma=3)'
    """
    entry, _ = _bound(spec)
    legal = parameters(entry.build)
    for key in options:
        if key not in legal:
            has = f"the parameters {entry.usage}" if legal else "no parameters"
            raise ParameterError(f"'{key}' is not an option of solve, and the algorithm '{entry.name}' has {has}.")
    name, _, rest = spec.strip().partition("(")
    more = [f"{key}={_written(key, value)}" for key, value in options.items()]
    return f"{name}({','.join([*filter(None, [rest.removesuffix(')').strip()]), *more])})"


def _written(key: str, value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    number = value if isinstance(value, bool) else real(value)
    if number is None:
        raise ParameterError(f"The '{key}' parameter must be a number, true, false or text, got {quoted(value)}.")
    return json.dumps(number)


def build(spec: str) -> Algorithm[Any, Any]:
    """Build the algorithm that ``spec`` names: ``name`` or ``name(parameter=value,...)``."""
    entry, values = _bound(spec)
    return entry.build(**values)


def algorithm(spec: str, rule: Any = None) -> Algorithm[Any, Any]:
    """Build the algorithm that ``spec`` names, with your own rule in place of its rule.

    Args:
        spec: ``"name"`` or ``"name(parameter=value,...)"``, as in ``solve``.
        rule: A result of ``minimizer``; its own averaging and order of turns are ignored. None: the algorithm itself.

    >>> algorithm("cfr+-partial").traversal.partial
    True
    """
    built = build(spec)
    if rule is None:
        return built
    own = rule if isinstance(rule, Rule) else getattr(rule, "rule", None)
    if not isinstance(own, Rule):
        raise ParameterError(f"The 'rule' parameter must be made by minimizer, got {quoted(rule)}.")
    name, bracket, rest = spec.strip().partition("(")
    return with_rule(built, own, f"{match_name(name, ALGORITHMS)}[{own.name}]{bracket}{rest}")


def with_rule(algorithm: Algorithm[Any, Any], rule: Rule, name: str) -> Algorithm[Any, Any]:
    """Return the algorithm with another rule, under ``name``; raise ParameterError if it has no rule to replace."""
    if isinstance(algorithm, WalkCFR | MonteCarlo):
        return algorithm.with_rule(rule, name)
    if isinstance(algorithm, CFR):
        return replace(algorithm, rule=rule)
    raise ParameterError(
        f"The 'rule' parameter is for the CFR family, for walks without pruning or with partial pruning, and for"
        f" samplers except pure-cfr and pure-mccfr; the algorithm of {quoted(name)} has no rule to replace."
    )


class Choice(NamedTuple):
    """An algorithm, built once, with its names."""

    algorithm: Algorithm[Any, Any]
    name: str  # with every parameter; identifies a run
    label: str  # name written by the user
    parameters: Mapping[str, Any] = {}  # parameters that the user set


def choose(algorithm: str | Any, iterations: int | None = None) -> Choice:
    """Return the algorithm of that name, or the user's own. ``iterations``: the iteration limit of the run.

    >>> choose("cfr+").name
    'cfr+(delay=0,turns="alternating",order="played")'
    >>> choose("hs-dcfr", 500).name.partition(",turns")[0]
    'hs-dcfr(gamma=30.0,horizon=500,weight="product"'
    """
    if isinstance(algorithm, str):
        entry, values = _bound(algorithm)
        every = parameters(entry.build) | values
        if every.get("horizon") == 0:
            every["horizon"] = min(iterations or HORIZON, LATEST)
        return Choice(entry.build(**every), _spelled(entry, every), algorithm, values)
    if not isinstance(algorithm, Algorithm):
        raise ParameterError(f"The 'algorithm' parameter must be a name or made by minimizer, got {quoted(algorithm)}.")
    name = name_of(algorithm)  # pyright: ignore[reportUnknownArgumentType]
    return Choice(algorithm, name, name)  # pyright: ignore[reportUnknownArgumentType]


def _spelled(entry: AlgorithmEntry, values: Mapping[str, Any]) -> str:
    return f"{entry.name}({','.join(f'{key}={json.dumps(value)}' for key, value in values.items())})"


def _bound(spec: str) -> tuple[AlgorithmEntry, dict[str, Any]]:
    name, values = parse(spec)
    known = match_name(name, ALGORITHMS)
    if known is None:
        raise unknown("algorithm", name, ALGORITHMS, "treeplex list algorithms")
    entry = ALGORITHMS[known]
    return entry, bind("algorithm", known, entry.build, values)
