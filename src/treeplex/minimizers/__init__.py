"""What an information set learns from the values of its actions: one small file a rule."""

from treeplex.minimizers.regret_matching import RegretMatching, RegretMatchingPlus

__all__ = ["RegretMatching", "RegretMatchingPlus"]
