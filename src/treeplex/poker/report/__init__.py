"""Reports: a line of play over many boards, as one table. Public name: ``treeplex.holdem.report``."""

from treeplex.poker.report.answer import Report, ReportRow
from treeplex.poker.report.gather import report

__all__ = ["Report", "ReportRow", "report"]
