"""How good is a policy? Exact value, best responses and NashConv; policies as tables people can read and save."""

from treeplex.evaluation.exact import Evaluation, best_response, evaluate_policy
from treeplex.policies.policy import Policy

__all__ = ["Evaluation", "Policy", "best_response", "evaluate_policy"]
