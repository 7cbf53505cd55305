"""Reproductions of papers: one module per figure or table, with its claims as data, run by ``treeplex reproduce``."""

from treeplex.papers.registry import REPRODUCTIONS
from treeplex.papers.report import PaperReport

__all__ = ["REPRODUCTIONS", "PaperReport"]
