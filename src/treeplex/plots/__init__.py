"""Plots of runs, game trees, hands and bet sizes."""
