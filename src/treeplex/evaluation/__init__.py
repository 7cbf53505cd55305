"""Evaluation of a policy: exact value, best responses and NashConv; policies as tables."""

from treeplex.evaluation.exact import Evaluation, best_response, evaluate_policy
from treeplex.policies.policy import Policy

__all__ = ["Evaluation", "Policy", "best_response", "evaluate_policy"]
