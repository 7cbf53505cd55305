"""Treeplexes and a payoff operator: every full-width method, first-order methods, best responses."""
