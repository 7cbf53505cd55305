"""Compilation of rules into flat arrays: treeplexes, payoff operator and history tree, checked before solving."""

from treeplex.compile.build import compile_game
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import HistoryTree
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.storage import load, save
from treeplex.compile.treeplex import Labels, Treeplex

__all__ = ["CompiledGame", "Csr", "HistoryTree", "Labels", "Payoffs", "Treeplex", "compile_game", "load", "save"]
