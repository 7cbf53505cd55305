"""The dilated entropy of a game's treeplexes, and scratch for first-order methods that use it."""

from __future__ import annotations

from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.arrays import Floats, pair
from treeplex.compile.game import CompiledGame, Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.entropy import entropy_weights
from treeplex.engines.sequence.cpu.oracle import TreeOperator
from treeplex.engines.sequence.first_order import (
    FARINA_2021,
    KROER_2015,
    KROER_2020,
    Entropy,
    FirstOrderPlayer,
    GapScratch,
    MirrorScratch,
    ProxScratch,
)
from treeplex.errors import ParameterError
from treeplex.updates.exponential import LOWEST

Scratch = TypeVar("Scratch", GapScratch, MirrorScratch)

WEIGHTS: Final = {"kroer2015": KROER_2015, "kroer2020": KROER_2020, "farina2021": FARINA_2021}
"""Weight schemes by name, where M(I) is the largest norm of what begins at infoset I:

kroer2015: 2^(height + 1) M(I). Kroer, Waugh, Kılınç-Karzan & Sandholm, "Faster first-order methods for extensive-form
game solving", EC 2015. Convex of modulus 1 / (number of infosets) in the 1-norm.
kroer2020: 2 + 2 max_a (sum of the weights right below a). Kroer, Waugh, Kılınç-Karzan & Sandholm, "Faster algorithms
for extensive-form game solving via improved smoothing functions", Mathematical Programming 2020. Modulus 1 / M.
farina2021: M(I). Farina, Kroer & Sandholm, "Better regularization for sequential decision spaces", EC 2021.
Modulus 1 / M.
"""


def scheme(name: object) -> int:
    """Return the number of a weight scheme; ParameterError if there is none of this name."""
    if not isinstance(name, str) or name not in WEIGHTS:
        raise ParameterError(f"The 'weights' parameter must be one of {', '.join(WEIGHTS)}, got {name!r}.")
    return WEIGHTS[name]


_KNOWN: WeakKeyDictionary[CompiledGame, dict[int, tuple[tuple[Entropy, Entropy], tuple[float, float]]]] = (
    WeakKeyDictionary()
)


def entropies(game: CompiledGame, kind: int) -> tuple[Entropy, Entropy]:
    """Return both players' dilated entropies."""
    return _known(game, kind)[0]


def moduli(game: CompiledGame, kind: int) -> tuple[float, float]:
    """Moduli of strong convexity of both entropies in the 1-norm, by their authors' theorems."""
    return _known(game, kind)[1]


def smoothing_guess(game: CompiledGame, kind: int) -> float:
    """Smoothing that makes the largest temperature as large as the largest payoff."""
    heaviest = max(float(entropy.weight.max(initial=1.0)) for entropy in entropies(game, kind))
    return (game.largest_payoff or 1.0) / heaviest


def first_order_players(
    game: CompiledGame, kind: int, operator: Operator | TreeOperator, centres: tuple[Floats, ...] = ()
) -> tuple[FirstOrderPlayer, FirstOrderPlayer]:
    """Return the input of first-order methods for both players. ``centres``: dual points; none for uniform play."""
    points = centres or (np.empty(0), np.empty(0))
    return pair(map(FirstOrderPlayer, game.treeplexes, operator, (1.0, -1.0), entropies(game, kind), points))


def spread(game: CompiledGame, kind: int) -> float:
    """Sum of weight(I) ln |A(I)| over both players' first infosets, which measures how large the entropies are."""
    pairs = zip(game.treeplexes, entropies(game, kind), strict=True)
    return float(sum((own.weight * own.log_actions)[treeplex.parent == 0].sum() for treeplex, own in pairs))


def centres(game: CompiledGame, kind: int, strategies: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Dual points G with respond(G) = ``strategies`` and d*(G) = 0: gradients of the dilated entropy there.

        G(I, a) = weight(I) ln b(a) + sum over own infosets J right below (I, a) of weight(J) ln |A(J)|
    and this sum alone at the empty sequence. Responses have exp(``LOWEST``) instead of zero, so lower probabilities
    count as exp(``LOWEST``).
    """
    return pair(
        _centre(treeplex, entropy, strategy)
        for treeplex, entropy, strategy in zip(game.treeplexes, entropies(game, kind), strategies, strict=True)
    )


def _centre(treeplex: Treeplex, entropy: Entropy, strategy: Floats) -> Floats:
    dual: Floats = np.zeros(treeplex.sequences)
    np.add.at(dual, treeplex.parent, entropy.weight * entropy.log_actions)
    dual[1:] += np.repeat(entropy.weight, treeplex.actions) * np.log(np.maximum(strategy[1:], np.exp(LOWEST)))
    return dual


def prox_scratch(treeplex: Treeplex) -> ProxScratch:
    """Allocate scratch for smoothed best responses."""
    sequences, infosets = treeplex.sequences, treeplex.infosets
    return ProxScratch(np.zeros(sequences), np.empty(sequences), np.empty(infosets), np.empty(infosets))


def new_scratch(form: type[Scratch], treeplex: Treeplex) -> Scratch:
    """Allocate scratch of one player for a method."""
    return form(prox_scratch(treeplex), *(np.empty(treeplex.sequences) for _ in form._fields[1:]))


def _known(game: CompiledGame, kind: int) -> tuple[tuple[Entropy, Entropy], tuple[float, float]]:
    known = _KNOWN.setdefault(game, {})
    if kind not in known:
        first, second = (_build(treeplex, kind) for treeplex in game.treeplexes)
        known[kind] = (first[0], second[0]), (first[1], second[1])
    return known[kind]


def _build(treeplex: Treeplex, kind: int) -> tuple[Entropy, float]:
    weight, height = np.empty(treeplex.infosets), np.empty(treeplex.infosets, dtype=np.int32)
    norm = entropy_weights(treeplex, kind, weight, height)
    order = np.argsort(height, kind="stable").astype(np.int32)
    level = np.concatenate(([0], np.cumsum(np.bincount(height)))).astype(np.int32)
    modulus = 1.0 / max(float(treeplex.infosets) if kind == KROER_2015 else norm, 1.0)
    return Entropy(weight, np.log(treeplex.actions), order, level), modulus
