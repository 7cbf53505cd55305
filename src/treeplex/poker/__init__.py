"""The poker player's tools: views of a solved spot, reports, bet sizes and a trainer; see ``treeplex.holdem``."""
