"""Solving over treeplexes and a payoff operator: full-width methods, first-order methods and best responses."""
