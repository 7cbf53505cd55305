"""What a poker player sees: views of a solved spot, reports, bet sizes, a trainer. ``treeplex.holdem`` exports it."""
