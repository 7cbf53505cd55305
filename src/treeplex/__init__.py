"""treeplex."""
