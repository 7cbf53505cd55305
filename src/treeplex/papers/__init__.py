"""One module a figure or table of a paper, with the paper's claims as data: what ``treeplex reproduce`` runs."""

from treeplex.papers.registry import REPRODUCTIONS
from treeplex.papers.report import Report

__all__ = ["REPRODUCTIONS", "Report"]
