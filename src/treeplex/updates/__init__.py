"""Update rules: how an information set learns from the values of its actions, with one small file per rule."""

from treeplex.updates.ahead import Ahead
from treeplex.updates.discounted import Discounted
from treeplex.updates.predictive import PredictivePlus
from treeplex.updates.protocol import Minimizer
from treeplex.updates.regret_matching import RegretMatching, RegretMatchingPlus
from treeplex.updates.scheduled import Scheduled
from treeplex.updates.weighted import Weighted

__all__ = [
    "Ahead",
    "Discounted",
    "Minimizer",
    "PredictivePlus",
    "RegretMatching",
    "RegretMatchingPlus",
    "Scheduled",
    "Weighted",
]
