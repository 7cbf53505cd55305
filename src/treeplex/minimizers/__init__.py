"""What an information set learns from the values of its actions: one small file a rule."""

from treeplex.minimizers.discounted import Discounted
from treeplex.minimizers.predictive import PredictivePlus
from treeplex.minimizers.protocol import Minimizer
from treeplex.minimizers.regret_matching import RegretMatching, RegretMatchingPlus

__all__ = ["Discounted", "Minimizer", "PredictivePlus", "RegretMatching", "RegretMatchingPlus"]
