"""Reports: one table of a line of play over many boards. The public name is ``treeplex.holdem.report``."""

from treeplex.poker.report.answer import Report, ReportRow
from treeplex.poker.report.gather import report

__all__ = ["Report", "ReportRow", "report"]
