"""Regret matching, and the variant that forgets negative regret."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.kernels import rules


class RegretMatching(NamedTuple):
    """R^t(a) = R^{t-1}(a) + u^t(a) - <sigma^t, u^t>;  sigma^{t+1}(a) ~ max(R^t(a), 0), uniform if none is positive.

    u: counterfactual values of the actions, sigma: the strategy played.
    Hart & Mas-Colell (2000); in every infoset of a game, Zinkevich et al. (2007).
    """

    rule: int = rules.REGRET_MATCHING


class RegretMatchingPlus(NamedTuple):
    """Q^t(a) = max(0, Q^{t-1}(a) + u^t(a) - <sigma^t, u^t>);  sigma^{t+1}(a) ~ Q^t(a), uniform if all are zero.

    Follows the definition of R^{+,T} and sigma^{T+1} in section 2 of Tammelin (2014).
    """

    rule: int = rules.REGRET_MATCHING_PLUS
